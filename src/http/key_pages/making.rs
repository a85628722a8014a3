//! Making a key.

use serde_json::{Value, json};

use super::{Done, Place, end_of_day, number, words};
use crate::clock::iso;
use crate::error::Result;
use crate::http::pages::written;
use crate::http::sign_in_routes::Fields;
use crate::identity::keys::DEFAULT_LIFE_MS;
use crate::identity::{Permission, Playbooks};
use crate::operations::keys::create_key::CreateKey;
use crate::operations::perform;
use crate::studio::form::Choice;
use crate::studio::parts::{Once, Section, Weight};
use crate::studio::{Input, Text};

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
/// The lives one chooses from, in days; the default is another one where the operator has keys end sooner.
const LIVES: [(&str, i64); 4] = [("7", 7), ("30", 30), ("90", 90), ("365", 365)];

/// The form of a new key.
pub(super) fn section(place: &Place, given: &Fields) -> Section {
    let title = if place.own { "Make a key of your own" } else { "Make a key" };
    let org = place.context.org();
    let mut section = Section::new(title, format!("{}/new", place.base), "Make the key")
        .words(format!("A key lets a program act in {org} without signing in. Give it only what it needs."))
        .weight(Weight::Primary)
        .way(&place.list, "Go back");
    let name = Input::new("name", "Name", "text", "off");
    section
        .inputs
        .push(name.hint("Small letters, digits and hyphens, such as nightly-report.").given(given.get("name")));
    if !place.own && place.context.caller.may(Permission::OrgAdmin) {
        let chosen = if given.get("whose") == "mine" { "mine" } else { "org" };
        let picks = [
            ("org", "The org’s: it works whoever comes and goes"),
            ("mine", "Your own: it never does more than you may, and ends when you leave"),
        ];
        let picks = picks.map(|(value, words)| (value, words, value == chosen));
        section.inputs.push(Input::choice("whose", "Whose key is it?", "radio", picks));
    }
    section.inputs.push(permissions(place, given));
    section.inputs.push(playbooks(place, given));
    section.inputs.push(Input::choice("ends", "Works for", "select", lives(place, given.get("ends"))));
    section.inputs.push(
        Input::new("expires_at", "Or until the end of this day", "date", "off")
            .hint("In UTC. Leave it empty to go by the choice above.")
            .given(given.get("expires_at"))
            .optional(),
    );
    section.inputs.extend(limits(given.get("usage_limit"), given.get("usage_period"), "Empty for no limit."));
    section
}

fn permissions(place: &Place, given: &Fields) -> Input {
    let held = Permission::ALL.into_iter().filter(|one| place.context.caller.may(*one));
    let choice = |one: Permission| Choice {
        value: Text::new(one.word()),
        words: Text::new(words::may(one)),
        note: Some(one.word()),
        chosen: given.all("permissions").any(|word| word == one.word()),
    };
    let choices = held.map(choice).collect();
    Input { choices, ..Input::new("permissions", "What may it do?", "checkbox", "off") }
}

fn playbooks(place: &Place, given: &Fields) -> Input {
    let hint = match &place.context.caller.playbooks {
        Playbooks::All => "Their ids with commas between them. Empty for all.".to_owned(),
        Playbooks::Only(ids) => {
            format!("Their ids with commas between them. Empty for all of yours: {}.", ids.join(", "))
        }
    };
    let input = Input::new("playbooks", "In which playbooks?", "text", "off");
    input.hint(&hint).given(given.get("playbooks")).optional()
}

/// How long a key may work: within what the operator allows, for ever where they set no bound.
fn lives(place: &Place, chosen: &str) -> Vec<(&'static str, String, bool)> {
    let most = place.context.app.settings.key_max_age_ms;
    let usual = most.map_or(DEFAULT_LIFE_MS, |most| most.min(DEFAULT_LIFE_MS));
    let fits = |days: i64| most.is_none_or(|most| days * DAY_MS <= most);
    let mut lives = Vec::new();
    if !LIVES.iter().any(|(_, days)| days * DAY_MS == usual) {
        lives.push(("", "as long as this server allows".to_owned()));
    }
    for (value, days) in LIVES.into_iter().filter(|(_, days)| fits(*days)) {
        lives.push((if days * DAY_MS == usual { "" } else { value }, format!("{days} days")));
    }
    if most.is_none() {
        lives.push(("never", "ever, until it is revoked".to_owned()));
    }
    lives.into_iter().map(|(value, words)| (value, words, value == chosen)).collect()
}

/// The fields of an allowance.
pub(super) fn limits(calls: &str, period: &str, hint: &str) -> [Input; 2] {
    let period = if period.is_empty() { "month" } else { period };
    let picks = [("day", "each day"), ("month", "each month"), ("total", "in its whole life")];
    let picks = picks.map(|(value, words)| (value, words, value == period));
    [
        Input::new("usage_limit", "Most calls of tools", "number", "off").hint(hint).given(calls).optional(),
        Input::choice("usage_period", "Counted", "select", picks),
    ]
}

/// Makes it, and shows its text.
pub(super) async fn make(place: &Place, given: &Fields) -> Result<Done> {
    let made = perform::<CreateKey>(place.context.clone(), input(place, given)).await?;
    let until = made.view.expires_at.as_deref();
    let until = until.map_or_else(|| "until it is revoked".to_owned(), |at| format!("until {}", written(at)));
    Ok(Done::Shown(shown(place, &made.view.name, made.key, format!("It works {until}."))))
}

fn input(place: &Place, given: &Fields) -> Value {
    let permissions: Vec<&str> = given.all("permissions").collect();
    let personal = place.own || given.get("whose") == "mine" || !place.context.caller.may(Permission::OrgAdmin);
    let mut input = json!({ "name": given.get("name").trim(), "permissions": permissions, "personal": personal });
    let ids = given.get("playbooks").split([',', ' ']).map(str::trim).filter(|id| !id.is_empty());
    let ids: Vec<&str> = ids.collect();
    if !ids.is_empty() {
        input["playbooks"] = if ids == ["*"] { "*".into() } else { json!(ids) };
    }
    match (given.get("expires_at"), given.get("ends")) {
        ("", "") => {}
        ("", "never") => input["expires_at"] = "never".into(),
        ("", days) => {
            let end = days.parse::<i64>().ok().and_then(|days| days.checked_mul(DAY_MS));
            let end = end.and_then(|life| place.context.now_ms().checked_add(life));
            input["expires_at"] = end.map_or_else(|| days.into(), |end| iso(end).into());
        }
        (date, _) => input["expires_at"] = end_of_day(date),
    }
    let calls = given.get("usage_limit");
    if !calls.is_empty() {
        input["usage_limit"] = number(calls);
        input["usage_period"] = given.get("usage_period").into();
    }
    input
}

/// A key's text, this once.
pub(super) fn shown(place: &Place, name: &str, key: String, more: String) -> Once {
    let words = "Copy it now and keep it where its program reads it: it is shown this once and kept nowhere here.";
    Once {
        title: Text::new(format!("The key {name}")),
        words: Text::new(format!("{words} {more}")),
        label: "key",
        secret: key,
        way: Some((place.list.clone(), "Go to the keys")),
    }
}
