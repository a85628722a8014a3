//! What the desk has and what was ordered, in memory.

use serde::Serialize;

/// One kind of part.
#[derive(Clone, Serialize)]
pub(super) struct Part {
    number: &'static str,
    name: &'static str,
    description: &'static str,
    price_cents: u32,
    in_stock: u32,
}

/// One order.
#[derive(Clone, Serialize)]
pub(super) struct Order {
    id: String,
    number: &'static str,
    name: &'static str,
    quantity: u32,
    total_cents: u64,
    note: Option<String>,
}

/// Why an order is not taken.
pub(super) enum Refused {
    /// No such part.
    Unknown,
    /// Fewer than wanted.
    TooFew {
        /// Pieces there are.
        left: u32,
    },
    /// Not an order at all.
    Wrong,
}

/// The storeroom.
pub(super) struct Stock {
    parts: Vec<Part>,
    orders: Vec<Order>,
}

const fn piece(
    number: &'static str,
    name: &'static str,
    description: &'static str,
    price_cents: u32,
    in_stock: u32,
) -> Part {
    Part { number, name, description, price_cents, in_stock }
}

const PARTS: [Part; 8] = [
    piece("HB-040", "Brass hinge", "Hinge of 40 mm for light doors, with screws", 320, 46),
    piece("HB-080", "Brass hinge, heavy", "Hinge of 80 mm for doors up to 30 kg, with screws", 790, 12),
    piece("HS-060", "Steel hinge", "Hinge of 60 mm, zinc plated", 180, 120),
    piece("KN-025", "Oak knob", "Round drawer knob of 25 mm, oiled", 240, 64),
    piece("LK-010", "Cabinet lock", "Lock for cupboard doors, with two keys", 1250, 9),
    piece("SC-430", "Wood screw", "Countersunk screw of 4 x 30 mm, box of 100", 450, 200),
    piece("SL-450", "Drawer slide", "Full extension slide of 450 mm, a pair", 1890, 17),
    piece("FT-008", "Felt pad", "Self-adhesive pad of 8 mm, sheet of 50", 290, 75),
];

impl Stock {
    /// As it is at the start.
    pub(super) fn full() -> Self {
        Self { parts: PARTS.to_vec(), orders: Vec::new() }
    }

    /// The parts whose name, description or number holds every one of `words`; a plural finds its singular.
    pub(super) fn find(&self, words: &str) -> Vec<Part> {
        let words: Vec<String> =
            words.split_whitespace().map(|word| singular(&word.to_lowercase()).to_owned()).collect();
        let holds = |part: &&Part| {
            let text = format!("{} {} {}", part.number, part.name, part.description).to_lowercase();
            words.iter().all(|word| text.contains(word.as_str()))
        };
        self.parts.iter().filter(holds).cloned().collect()
    }

    /// The part of a number.
    pub(super) fn part(&self, number: &str) -> Option<Part> {
        self.parts.iter().find(|part| part.number.eq_ignore_ascii_case(number)).cloned()
    }

    /// Every order, the oldest first.
    pub(super) fn orders(&self) -> &[Order] {
        &self.orders
    }

    /// Takes an order and its pieces from the stock.
    pub(super) fn order(&mut self, number: &str, quantity: u32, note: Option<String>) -> Result<Order, Refused> {
        if !(1..=1000).contains(&quantity) || note.as_ref().is_some_and(|text| text.chars().count() > 200) {
            return Err(Refused::Wrong);
        }
        let found = self.parts.iter_mut().find(|part| part.number.eq_ignore_ascii_case(number));
        let part = found.ok_or(Refused::Unknown)?;
        let left = part.in_stock.checked_sub(quantity).ok_or(Refused::TooFew { left: part.in_stock })?;
        part.in_stock = left;
        let order = Order {
            id: format!("order-{}", self.orders.len() + 1),
            number: part.number,
            name: part.name,
            quantity,
            total_cents: u64::from(part.price_cents) * u64::from(quantity),
            note,
        };
        self.orders.push(order.clone());
        Ok(order)
    }
}

fn singular(word: &str) -> &str {
    word.strip_suffix('s').filter(|stem| stem.len() > 2).unwrap_or(word)
}
