//! A row of the audit in words a person understands, and everything else that is known of it.

use serde_json::Value;

use crate::identity::caller::PERSON;
use crate::ledger::Via;
use crate::operations::audit::{Outcome, View};
use crate::studio::Text;
use crate::studio::parts::Fact;

/// What people do and what is done: the action's word, and what is said of it. `{}` stands for what it was about.
pub(super) const PHRASES: [(&str, &str); 59] = [
    ("access_refused", "was refused what they may not do"),
    ("add_refused", "was refused to add a connection"),
    ("audit_exported", "took out the audit"),
    ("client_registered", "registered the application {}"),
    ("code_reuse", "used a sign-in code of {} twice, so what it allowed was withdrawn"),
    ("connection_added", "asked to connect {}"),
    ("connection_allowed", "may use {} again"),
    ("connection_attempt_failed", "could not connect {}"),
    ("connection_authorization_started", "went to sign in for the connection {}"),
    ("connection_broken", "found the connection {} broken"),
    ("connection_cancelled", "cancelled the connection {}"),
    ("connection_connected", "connected {}"),
    ("connection_link_expired", "let the link for {} expire"),
    ("connection_link_refused", "was refused at the link for {}"),
    ("connection_not_allowed", "may no longer use the connection {}"),
    ("connection_opened", "opened the link for {}"),
    ("connection_recovered", "found the connection {} working again"),
    ("connection_removed", "removed the connection {}"),
    ("connection_unavailable", "could not reach the connection {}"),
    ("consent_denied", "did not let {} act for them"),
    ("consent_given", "let {} act for them"),
    ("definition_retired", "retired the definition {}"),
    ("grant_revoked", "withdrew what {} was allowed"),
    ("identity_linked", "was linked to a sign-in elsewhere"),
    ("introspected", "looked at what a token may do"),
    ("invitation_revoked", "took back the invitation of {}"),
    ("key_created", "made the key {}"),
    ("key_expired", "saw the key {} end"),
    ("key_revoked", "revoked the key {}"),
    ("key_rotated", "rotated the key {}"),
    ("key_updated", "changed the key {}"),
    ("limit_reached", "reached a limit"),
    ("member_invited", "invited {}"),
    ("member_joined", "let {} into the org"),
    ("member_left", "left the org"),
    ("member_removed", "removed {} from the org"),
    ("member_role_changed", "changed what {} may do"),
    ("org_created", "made the org {}"),
    ("org_deleted", "had the org deleted"),
    ("org_renamed", "renamed the org to {}"),
    ("org_restored", "kept the org from being deleted"),
    ("passkey_added", "added a passkey"),
    ("passkey_removed", "took a passkey away"),
    ("password_changed", "changed their password"),
    ("password_reset", "set a new password"),
    ("playbook_created", "created the playbook {}"),
    ("playbook_retired", "retired the playbook {}"),
    ("playbook_updated", "changed the playbook {}"),
    ("refresh_reuse", "used an old token of {}, so what it allowed was withdrawn"),
    ("secrets_rekeyed", "sealed the credentials with a new key"),
    ("session_revoked", "ended sessions"),
    ("setup", "set up the server"),
    ("setup_code_created", "made a code for the set-up"),
    ("setup_refused", "was refused at the set-up"),
    ("sign_in", "signed in"),
    ("sign_in_failed", "could not sign in"),
    ("sign_out", "signed out"),
    ("signing_key_rotated", "rotated the key tokens are signed with"),
    ("tool_executed", "called the tool {}"),
];

/// What was done, by whom and to what, in a sentence.
pub(super) fn sentence(row: &View) -> String {
    let who = if row.actor_name.is_empty() { &row.actor } else { &row.actor_name };
    let joined_alone = row.action == "member_joined" && row.target.id == row.actor;
    let phrase = PHRASES.iter().find(|(action, _)| *action == row.action).map(|(_, phrase)| *phrase);
    let said = match phrase {
        Some(_) if joined_alone => "joined the org".to_owned(),
        Some(phrase) => phrase.replace("{}", &thing(row)),
        None => format!("did {} to {}", row.action.replace('_', " "), thing(row)),
    };
    format!("{who} {said}")
}

/// What it was about, by the name it had then.
fn thing(row: &View) -> String {
    let told = |field: &str| row.changes[field].as_str().filter(|text| !text.is_empty());
    let named = row.target.name.as_deref().or_else(|| ["name", "client_name", "email"].into_iter().find_map(told));
    named.unwrap_or(&row.target.id).to_owned()
}

/// The way somebody came, in words; nothing where it is not known how a person came.
pub(super) fn way(row: &View) -> Option<&'static str> {
    Some(match row.via {
        Via::Studio => "in the browser",
        Via::Http => "over the API",
        Via::Mcp => "through an agent",
        Via::ToolsMcp => "through an agent’s tools",
        Via::Oauth => "by an application’s sign-in",
        Via::Command => "by a command on the server",
        Via::Server if row.actor.starts_with(PERSON) => return None,
        Via::Server => "by the server itself",
    })
}

/// Everything known of a row, for who unfolds it.
pub(super) fn facts(row: &View) -> Vec<Fact> {
    let mut facts = vec![
        Fact::new("Action", &row.action),
        Fact::new("By", &row.actor),
        Fact::new("About", format!("{} {}", row.target.kind.replace('_', " "), row.target.id)),
    ];
    let result = if row.result == Outcome::Refused { "refused" } else { "done" };
    let result = row.reason.as_ref().map_or_else(|| result.to_owned(), |reason| format!("{result}: {reason}"));
    facts.push(Fact::new("Result", result));
    for (term, known) in [
        ("Application", &row.client_id),
        ("Address", &row.address),
        ("Browser", &row.user_agent),
        ("Request", &row.request_id),
    ] {
        facts.extend(known.as_ref().map(|known| Fact::new(term, known)));
    }
    if let Value::Object(changes) = &row.changes {
        facts.extend(changes.iter().map(|(name, value)| Fact::new(said(name), change(value))));
    }
    facts.push(Fact::new("Row", &row.id));
    facts
}

/// A name of the ledger, such as `key_created`, as a person writes it.
pub(super) fn said(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// A fact of an act: what it was and became, a list, or a plain value.
fn change(value: &Value) -> Text {
    let plain = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null => "none".to_owned(),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    match (value.get("before"), value.get("after")) {
        (Some(before), Some(after)) => Text::new(format!("{} → {}", plain(before), plain(after))),
        _ => Text::new(plain(value)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_fact_is_told_plainly() {
        for (value, told) in [
            (json!("viewer"), "viewer"),
            (json!({ "before": "ACME", "after": "Acme Works" }), "ACME → Acme Works"),
            (json!(["org:read", "org:write"]), "org:read, org:write"),
            (json!(null), "none"),
            (json!(3), "3"),
            (json!({ "before": null, "after": 5 }), "none → 5"),
        ] {
            assert_eq!(change(&value).as_str(), told);
        }
    }

    #[test]
    fn each_action_has_its_words_once() {
        assert!(PHRASES.windows(2).all(|pair| pair[0].0 < pair[1].0), "in order, so that one is found");
    }
}
