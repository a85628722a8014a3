//! The guides: what an agent reads before it builds something, as Markdown, the same text on every endpoint.
//!
//! One file a guide, in the binary. [`ALL`] is the list in its order; a guide is served as the answer of `get_guide`, as
//! the resource `guide://<name>` and over HTTP. To add one, write its file and add its line to [`ALL`].

mod negotiation;
mod resources;

pub use negotiation::prefers_markdown;
pub use resources::{MEDIA_TYPE, Resource, ResourceText, read, resources};

/// A guide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guide {
    /// Its name, for `get_guide` and its address.
    pub name: &'static str,
    /// Its title, as its first line has it.
    pub title: &'static str,
    /// What it is good for, in a sentence.
    pub description: &'static str,
    /// The whole of it, as Markdown.
    pub text: &'static str,
}

/// Every guide there is, in the order in which they are listed.
pub const ALL: [Guide; 1] = [Guide {
    name: "terminology",
    title: "The words of a playbook",
    description: "What the words of a playbook mean, and which of them to use with a person.",
    text: include_str!("terminology.md"),
}];

/// The guide of a name.
pub fn find(name: &str) -> Option<&'static Guide> {
    const { &ALL }.iter().find(|guide| guide.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guide_is_found_by_its_name_alone() {
        assert_eq!(find("terminology").map(|guide| guide.title), Some("The words of a playbook"));
        assert_eq!(find("Terminology"), None);
    }

    #[test]
    fn each_guide_begins_with_its_title_and_has_no_other() {
        for guide in ALL {
            assert!(guide.text.starts_with(&format!("# {}\n", guide.title)), "{}", guide.name);
            assert_eq!(guide.text.lines().filter(|line| line.starts_with("# ")).count(), 1, "{}", guide.name);
        }
    }

    #[test]
    fn the_words_fit_in_12_kib_and_state_no_limit() {
        let text = find("terminology").map(|guide| guide.text).unwrap();
        assert!(text.len() <= 12 * 1_024, "{}", text.len());
        assert!(!text.contains(|c: char| c.is_ascii_digit()), "a number belongs to the code it comes from");
    }

    #[test]
    fn the_words_explain_each_type_and_each_way_a_run_ends() {
        let text = find("terminology").map(|guide| guide.text).unwrap();
        for word in [
            "reasoning",
            "interaction",
            "prediction",
            "recall",
            "computation",
            "workflow",
            "`started`",
            "`succeeded`",
            "`rejected`",
            "`failed`",
            "provider",
            "connection",
            "trainer",
            "overview",
        ] {
            assert!(text.contains(word), "{word}");
        }
    }
}
