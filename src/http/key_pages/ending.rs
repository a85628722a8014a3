//! Giving a key a new text, and ending it: both are asked once more on a page of their own.

use serde_json::json;

use super::{Done, Place, making, number};
use crate::error::Result;
use crate::http::pages::written;
use crate::http::sign_in_routes::Fields;
use crate::operations::keys::View;
use crate::operations::keys::revoke_key::RevokeKey;
use crate::operations::keys::rotate_key::RotateKey;
use crate::operations::perform;
use crate::studio::Input;
use crate::studio::parts::{Section, Weight};

/// How long the text from before may still work: seconds and words.
const GRACES: [(&str, &str); 4] = [
    ("0", "stops at once"),
    ("3600", "for one more hour"),
    ("86400", "for one more day"),
    ("604800", "for seven more days"),
];
const USUAL: &str = "86400";

/// The form that gives a key a new text.
pub(super) fn rotating(place: &Place, key: &View, given: &Fields) -> Section {
    let chosen = if given.has("grace_seconds") { given.get("grace_seconds") } else { USUAL };
    let graces = GRACES.map(|(value, words)| (value, words, value == chosen));
    let mut words = "It gets a new text, which is shown once, and stays the same key in every other way.".to_owned();
    if let Some(until) = &key.previous_until {
        let before = written(until);
        words.push_str(&format!(" A text from an earlier rotation works until {before}; it ends now if you go on."));
    }
    let address = format!("{}/{}/rotate", place.base, key.id);
    Section::new(format!("Rotate {}", key.name), address, "Give it a new text")
        .words(words)
        .input(Input::choice("grace_seconds", "The text it has now works", "select", graces))
        .weight(Weight::Primary)
        .way(&place.list, "Go back")
}

/// Gives it, and shows it.
pub(super) async fn rotate(place: &Place, id: &str, given: &Fields) -> Result<Done> {
    let input = json!({ "id": id, "grace_seconds": number(given.get("grace_seconds")) });
    let made = perform::<RotateKey>(place.context.clone(), input).await?;
    let before = match &made.view.previous_until {
        Some(until) => format!("Its text from before works until {}.", written(until)),
        None => "Its text from before no longer works.".to_owned(),
    };
    Ok(Done::Shown(making::shown(place, &made.view.name, made.key, before)))
}

/// The form that ends a key.
pub(super) fn revoking(place: &Place, key: &View) -> Section {
    let address = format!("{}/{}/revoke", place.base, key.id);
    Section::new(format!("Revoke {}?", key.name), address, "Revoke the key")
        .words("Whatever uses it is refused from then on, and it cannot be brought back. What it has begun goes on.")
        .weight(Weight::Ends)
        .way(&place.list, "Keep the key")
}

/// Ends it.
pub(super) async fn revoke(place: &Place, id: &str) -> Result<Done> {
    perform::<RevokeKey>(place.context.clone(), json!({ "id": id })).await?;
    Ok(Done::Listed("revoked"))
}
