//! One key in a list.

use super::words;
use crate::http::pages::written;
use crate::identity::keys::Status;
use crate::operations::keys::{Source, View};
use crate::studio::Text;
use crate::studio::parts::{Act, Fact, Folded, Line};

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
        (Some(at), _) => Fact::new("Revoked", written(at)),
        (None, Some(at)) => Fact::new("Works until", written(at)),
        (None, None) => Fact::new("Works until", "it is revoked"),
    });
    if let Some(until) = &key.previous_until {
        facts.push(Fact::new("Old text until", written(until)));
    }
    if !configured {
        facts.push(Fact::new("Last used", key.last_used_at.as_deref().map_or_else(|| "not yet".into(), written)));
    }
    facts.push(Fact::new("Calls", words::calls(key.usage_count, key.usage_limit, key.usage_period)));
    let mut folded = vec![Fact::several("It may", key.permissions.iter().map(|one| words::may(*one)))];
    if let Some(made) = &key.created_at {
        folded.push(Fact::new("Made", written(made)));
    }
    folded.push(Fact::new("Id", &key.id));
    let detail = match &key.display {
        Some(display) => format!("begins with {display}"),
        None => "stands in the server’s configuration, where whoever runs the server changes it".to_owned(),
    };
    let mut line = Line::new(&key.name);
    line.mark = Some(words::mark(key.status));
    line.detail = Text::new(detail);
    (line.facts, line.folded) = (facts, Some(Folded { facts: folded, acts: Vec::new() }));
    if !configured && !matches!(key.status, Status::Revoked | Status::Expired) {
        let way = |act: &str, word: &'static str| Act::link(format!("{base}/{}/{act}", key.id), word);
        line.acts.push(way("change", "Change"));
        if rotates {
            line.acts.push(way("rotate", "Rotate"));
        }
        line.acts.push(way("revoke", "Revoke"));
    }
    line
}
