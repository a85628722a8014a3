//! One key in a list.

use super::words;
use crate::http::told;
use crate::identity::keys::Status;
use crate::operations::keys::{Source, View};
use crate::studio::{Fact, Line, Text};

/// A key with what can be done about it, at addresses below `base`. `whose` is told where keys of several stand together;
/// `rotates` is whether this person may have its new text.
pub(in crate::http) fn line(key: &View, base: &str, whose: Option<&str>, rotates: bool) -> Line {
    let configured = key.source == Source::Configuration;
    let mut facts = Vec::new();
    if let Some(whose) = whose {
        facts.push(Fact::new("Whose", whose));
    }
    facts.push(Fact::new("Playbooks", words::playbooks(&key.playbooks.0)));
    facts.push(match (&key.revoked_at, &key.expires_at) {
        (Some(at), _) => Fact::new("Revoked", told(at)),
        (None, Some(at)) => Fact::new("Works until", told(at)),
        (None, None) => Fact::new("Works until", "it is revoked"),
    });
    if let Some(until) = &key.previous_until {
        facts.push(Fact::new("Old text until", told(until)));
    }
    if !configured {
        facts.push(Fact::new("Last used", key.last_used_at.as_deref().map_or_else(|| "not yet".into(), told)));
    }
    facts.push(Fact::new("Calls", words::calls(key.usage_count, key.usage_limit, key.usage_period)));
    let mut folded = vec![Fact::several("It may", key.permissions.iter().map(|one| words::may(*one)))];
    if let Some(made) = &key.created_at {
        folded.push(Fact::new("Made", told(made)));
    }
    folded.push(Fact::new("Id", &key.id));
    let detail = match &key.display {
        Some(display) => format!("begins with {display}"),
        None => "stands in the server’s configuration, where whoever runs the server changes it".to_owned(),
    };
    let mut line = Line::new(&key.name);
    line.pill = Some(words::pill(key.status));
    line.detail = Some(Text::new(detail));
    (line.facts, line.folded) = (facts, folded);
    if !configured && !matches!(key.status, Status::Revoked | Status::Expired) {
        let way = |act: &str, word: &'static str| (format!("{base}/{}/{act}", key.id), Text::new(word));
        line.ways.push(way("change", "Change"));
        if rotates {
            line.ways.push(way("rotate", "Rotate"));
        }
        line.ways.push(way("revoke", "Revoke"));
    }
    line
}
