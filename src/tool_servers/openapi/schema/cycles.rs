//! Which schemas lead back to themselves: Tarjan's search for strongly connected parts.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::Shape;

/// The state of the search.
struct Search<'a> {
    shapes: &'a BTreeMap<String, Rc<Shape>>,
    /// The order in which a schema was met, and the earliest one on the way that it leads back to.
    met: BTreeMap<&'a str, (usize, usize)>,
    way: Vec<&'a str>,
    on_way: BTreeSet<&'a str>,
    cyclic: BTreeSet<String>,
}

/// The pointers among `shapes` that are part of a cycle.
pub(super) fn cyclic(shapes: &BTreeMap<String, Rc<Shape>>) -> BTreeSet<String> {
    let mut search =
        Search { shapes, met: BTreeMap::new(), way: Vec::new(), on_way: BTreeSet::new(), cyclic: BTreeSet::new() };
    for pointer in shapes.keys() {
        if !search.met.contains_key(pointer.as_str()) {
            search.visit(pointer);
        }
    }
    search.cyclic
}

impl<'a> Search<'a> {
    fn visit(&mut self, pointer: &'a str) -> usize {
        let order = self.met.len();
        let mut earliest = order;
        self.met.insert(pointer, (order, order));
        self.way.push(pointer);
        self.on_way.insert(pointer);
        let shapes = self.shapes;
        for target in shapes.get(pointer).into_iter().flat_map(|shape| shape.refs.keys()) {
            if !shapes.contains_key(target) {
                continue;
            }
            match self.met.get(target.as_str()) {
                None => earliest = earliest.min(self.visit(target)),
                Some((met, _)) if self.on_way.contains(target.as_str()) => earliest = earliest.min(*met),
                Some(_) => {}
            }
            if target == pointer {
                self.cyclic.insert(pointer.to_owned());
            }
        }
        self.met.insert(pointer, (order, earliest));
        if earliest == order {
            let start = self.way.iter().rposition(|one| *one == pointer).unwrap_or(0);
            let part = self.way.split_off(start);
            let is_cycle = part.len() > 1;
            for one in part {
                self.on_way.remove(one);
                if is_cycle {
                    self.cyclic.insert(one.to_owned());
                }
            }
        }
        earliest
    }
}
