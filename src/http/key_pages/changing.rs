//! Changing a key's name, its allowance, or its end to an earlier one.

use serde_json::json;

use super::{Done, Place, end_of_day, making, number};
use crate::error::Result;
use crate::http::pages::written;
use crate::http::sign_in_routes::Fields;
use crate::operations::keys::View;
use crate::operations::keys::update_key::UpdateKey;
use crate::operations::perform;
use crate::studio::Input;
use crate::studio::parts::{Section, Weight};

/// The form, filled in with how the key stands.
pub(super) fn section(place: &Place, key: &View, given: &Fields) -> Section {
    let was = |name: &str, before: String| if given.has(name) { given.get(name).to_owned() } else { before };
    let name = Input::new("name", "Name", "text", "off").hint("Small letters, digits and hyphens.");
    let calls = was("usage_limit", key.usage_limit.map(|calls| calls.to_string()).unwrap_or_default());
    let period = was("usage_period", key.usage_period.map(|period| period.word().to_owned()).unwrap_or_default());
    let ends = match &key.expires_at {
        Some(at) => format!("In UTC, and no later than now: it works until {}.", written(at)),
        None => "In UTC. Now it works until it is revoked.".to_owned(),
    };
    let end = Input::new("expires_at", "Works until the end of this day", "date", "off").hint(&ends);
    let address = format!("{}/{}/change", place.base, key.id);
    let mut section = Section::new(format!("Change {}", key.name), address, "Save")
        .words("What it may do, and in which playbooks, never changes: make another key for that.")
        .weight(Weight::Primary)
        .way(&place.list, "Go back");
    section.inputs.push(name.given(&was("name", key.name.clone())));
    let hint = if key.usage_limit.is_some() { "A limit can be moved, not taken away." } else { "Empty for no limit." };
    section.inputs.extend(making::limits(&calls, &period, hint));
    section.inputs.push(end.given(given.get("expires_at")).optional());
    section
}

/// Does it.
pub(super) async fn change(place: &Place, id: &str, given: &Fields) -> Result<Done> {
    let mut input = json!({ "id": id, "name": given.get("name").trim() });
    let calls = given.get("usage_limit");
    if !calls.is_empty() {
        input["usage_limit"] = number(calls);
        input["usage_period"] = given.get("usage_period").into();
    }
    if !given.get("expires_at").is_empty() {
        input["expires_at"] = end_of_day(given.get("expires_at"));
    }
    perform::<UpdateKey>(place.context.clone(), input).await?;
    Ok(Done::Listed("changed"))
}
