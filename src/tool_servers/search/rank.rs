//! Ranking tools by words: BM25 over weighted fields (`tool-servers.md` 7).

use std::collections::HashMap;

use super::words::words;

const K1: f64 = 1.2;
const B: f64 = 0.75;
/// What a tool gains that has every word.
const ALL_WORDS: f64 = 1.5;
/// What a word counts that only begins another.
const BEGINNING: f64 = 0.5;
/// From how many letters on a beginning counts.
const SHORTEST_BEGINNING: usize = 3;

/// A tool as the ranking sees it.
#[derive(Default)]
pub(super) struct Entry {
    /// `server/tool`, in lower case.
    reference: String,
    /// How much each word of its fields weighs.
    weights: HashMap<String, f64>,
    length: f64,
}

impl Entry {
    /// The tool `tool` of `server`.
    pub(super) fn new(server: &str, tool: &str) -> Self {
        Self { reference: format!("{server}/{tool}").to_lowercase(), ..Self::default() }
    }

    /// The same with a field, whose words count `weight` each.
    pub(super) fn with(mut self, text: &str, weight: f64) -> Self {
        for word in words(text) {
            *self.weights.entry(word).or_default() += weight;
            self.length += 1.0;
        }
        self
    }

    fn weight(&self, word: &str) -> f64 {
        let whole = self.weights.get(word).copied().unwrap_or_default();
        if word.chars().count() < SHORTEST_BEGINNING {
            return whole;
        }
        let longer = |found: &&String| found.len() > word.len() && found.starts_with(word);
        let begun: f64 = self.weights.keys().filter(longer).map(|found| self.weights[found]).sum();
        whole + BEGINNING * begun
    }

    fn is_named(&self, terms: &str) -> bool {
        self.reference == terms || self.reference.split_once('/').is_some_and(|(_, tool)| tool == terms)
    }
}

/// An entry that matches, by its place in what was given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Hit {
    pub(super) index: usize,
    pub(super) score: f64,
}

/// The entries that match, the best first; equals keep the order they were given in.
pub(super) fn rank(terms: &str, entries: &[Entry]) -> Vec<Hit> {
    let mut asked = words(terms);
    asked.sort();
    asked.dedup();
    let exact = terms.trim().to_lowercase();
    let weights: Vec<Vec<f64>> =
        entries.iter().map(|entry| asked.iter().map(|word| entry.weight(word)).collect()).collect();
    let count = entries.len() as f64;
    let rarity: Vec<f64> = (0..asked.len())
        .map(|word| {
            let with = weights.iter().filter(|weights| weights[word] > 0.0).count() as f64;
            ((count - with + 0.5) / (with + 0.5)).ln_1p()
        })
        .collect();
    let average = entries.iter().map(|entry| entry.length).sum::<f64>() / count.max(1.0);
    let mut hits: Vec<Hit> = entries
        .iter()
        .zip(&weights)
        .enumerate()
        .map(|(index, (entry, weights))| {
            let norm = K1 * (1.0 - B + B * entry.length / average.max(1.0));
            let sum: f64 = weights
                .iter()
                .zip(&rarity)
                .map(|(weight, rarity)| rarity * weight * (K1 + 1.0) / (weight + norm))
                .sum();
            let all = !weights.is_empty() && weights.iter().all(|weight| *weight > 0.0);
            Hit { index, score: if all { sum * ALL_WORDS } else { sum } }
        })
        .collect();
    let best = hits.iter().map(|hit| hit.score).fold(0.0, f64::max);
    for hit in &mut hits {
        // Above every other, and still a score by which the order can be read.
        if entries[hit.index].is_named(&exact) {
            hit.score += best + 1.0;
        }
        hit.score = (hit.score * 1_000.0).round() / 1_000.0;
    }
    hits.retain(|hit| hit.score > 0.0);
    hits.sort_by(|one, other| other.score.total_cmp(&one.score));
    hits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, description: &str) -> Entry {
        Entry::new("crm", name).with(name, 4.0).with("crm", 2.0).with(description, 1.0)
    }

    fn order(terms: &str, entries: &[Entry]) -> Vec<String> {
        rank(terms, entries).iter().map(|hit| entries[hit.index].reference.clone()).collect()
    }

    #[test]
    fn a_name_counts_more_than_a_description_and_an_exact_name_most() {
        let entries = [
            named("send_mail", "Writes to a contact."),
            named("find_contact", "Finds people."),
            named("contact", "One."),
            named("list_contacts_of_list", "Contacts, contacts, contacts."),
        ];
        let found = order("contact", &entries);
        assert_eq!(found.first().map(String::as_str), Some("crm/contact"));
        assert_eq!(found.last().map(String::as_str), Some("crm/send_mail"));
        assert_eq!(order("CRM/find_contact", &entries)[0], "crm/find_contact");
    }

    #[test]
    fn a_beginning_finds_less_than_the_word_and_two_letters_find_nothing() {
        let entries = [named("open_issues", ""), named("open_iss", ""), named("close", "")];
        assert_eq!(order("iss", &entries), ["crm/open_iss", "crm/open_issues"]);
        assert_eq!(order("is", &entries), Vec::<String>::new());
    }

    #[test]
    fn every_word_present_comes_before_one_word_often() {
        let entries = [named("invoice_invoice", "invoice"), named("send", "Sends an invoice.")];
        assert_eq!(order("send invoice", &entries)[0], "crm/send");
        assert_eq!(order("nothing", &entries), Vec::<String>::new());
    }
}
