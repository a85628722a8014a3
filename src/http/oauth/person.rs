//! The person in front of the browser, for the pages of the authorization server.

use std::sync::Arc;

use http::request::Parts;

use crate::app::App;
use crate::error::Result;
use crate::http::{Sender, studio_session};
use crate::identity::oauth::consent::{Consenter, Place};
use crate::identity::oauth::scopes::Scopes;
use crate::identity::orgs::Status;

/// Who is signed in, and the orgs they could allow something in.
pub(super) struct SignedIn {
    /// The person, as the consent knows them.
    pub(super) who: Consenter,
    /// Their email; empty where none is known.
    pub(super) email: String,
    /// Their orgs, the one last used first.
    pub(super) places: Vec<Place>,
    /// The token of their session's commands.
    pub(super) csrf: String,
}

/// Who is signed in at this browser.
pub(super) async fn signed_in(app: &Arc<App>, parts: &Parts) -> Result<Option<SignedIn>> {
    let sender = Sender::of(&parts.extensions);
    let Some(session) = studio_session(app, &parts.headers, &sender).await? else { return Ok(None) };
    let Some(person) = app.identity.person(&session.person).await?.filter(|person| person.is_active()) else {
        return Ok(None);
    };
    sender.set_known();
    let mut places = Vec::new();
    for membership in app.identity.memberships_of(&person.id).await? {
        let Some(org) = app.identity.org(&membership.org).await?.filter(|org| org.status == Status::Active) else {
            continue;
        };
        let rights: Scopes = membership.role.rights().each().map(|permission| permission.word()).collect();
        places.push(Place { org: org.id, name: org.name, rights });
    }
    let who =
        Consenter { person: person.id, name: person.name, session: session.digest, auth_time_ms: session.auth_time_ms };
    Ok(Some(SignedIn { who, email: person.email.unwrap_or_default(), places, csrf: session.csrf }))
}
