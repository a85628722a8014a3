//! What the pages about keys share, whether they stand under a person's settings or under an org: the lines of a list,
//! and the pages on which one is made, changed, rotated and revoked (`identity.md` 3 and 8.1).
//!
//! A page stands at a [`Place`], and its address ([`At`]) says what is done there. [`shown`] answers with what is to be
//! filled in, [`done`] does it by the declared operation. What needs a fresh sign-in asks for it before anything is filled in; who comes too late all the same finds the form as it
//! was, after signing in.

mod act;
mod changing;
mod ending;
mod line;
mod making;
mod words;

use std::sync::Arc;

use http::Uri;
use http::request::Parts;
use serde_json::{Value, json};

use act::Act;
pub(super) use act::At;
pub(super) use line::line;

use super::RequestId;
use super::pages::{answered, is_sign_in_again, refused, whole};
use super::problems::nothing;
use super::sign_in_routes::{Fields, to_sign_in};
use crate::app::App;
use crate::error::{Problem, Result};
use crate::operations::keys::View;
use crate::operations::keys::list_keys::ListKeys;
use crate::operations::{Context, admission, noted, perform};
use crate::studio::parts::{Once, Part, Section};
use crate::studio::{self, Response, TabbedView, tabbed, tabbed_refused};

/// The most pages of a list that are read to find one key.
const MOST_PAGES: usize = 20;

/// Where pages about an org's keys stand, and who is at them.
pub(super) struct Place {
    /// The person, acting in the org.
    pub(super) context: Context,
    /// Where the list is.
    pub(super) list: String,
    /// What the address of every page about a key of this org begins with.
    pub(super) base: String,
    /// Whether only the person's own keys are here.
    pub(super) own: bool,
    /// The page around.
    pub(super) shell: TabbedView,
}

/// What came of a form.
enum Done {
    /// The text of a key, which is shown this once.
    Shown(Once),
    /// Nothing to show but the list, with the word of what was done.
    Listed(&'static str),
}

/// What the list says was done, by the word in its address.
pub(super) fn was_done(word: &str) -> Option<&'static str> {
    match word {
        "changed" => Some("The key is changed."),
        "revoked" => Some("The key is revoked and no longer works."),
        _ => None,
    }
}

/// The answer to who opens the page of an act at a place, or could not come there.
pub(super) async fn shown(
    app: &App,
    place: impl Future<Output = Result<Place>>,
    act: Option<Act>,
    parts: &Parts,
    id: &RequestId,
) -> Response {
    let view = async {
        let place = place.await?;
        page(&place, &act.ok_or_else(nothing)?, &Fields::of_query(&parts.uri)).await
    };
    answered(app, view.await, &whole(&parts.uri), &id.0)
}

/// The answer to who sends the form of an act at a place.
pub(super) async fn done(
    app: &App,
    ready: impl Future<Output = Result<(Place, Fields)>>,
    act: Option<Act>,
    at: &Uri,
    id: &RequestId,
) -> Response {
    let ready = async {
        let (place, fields) = ready.await?;
        Ok::<_, Problem>((place, fields, act.ok_or_else(nothing)?))
    };
    match ready.await {
        Ok((place, fields, act)) => sent(&place, &act, &fields, at, &id.0).await,
        Err(problem) => refused(app, at.path(), problem, &id.0),
    }
}

/// The page of an act, filled in with what was given before.
async fn page(place: &Place, act: &Act, given: &Fields) -> Result<TabbedView> {
    if act.needs_fresh_sign_in() {
        admission::recent_sign_in(&place.context)?;
    }
    Ok(place.view(section(place, act, given).await?))
}

impl Place {
    fn view(&self, section: Section) -> TabbedView {
        TabbedView { title: section.title.clone(), parts: vec![Part::Form(section)], ..self.shell.clone() }
    }
}

async fn section(place: &Place, act: &Act, given: &Fields) -> Result<Section> {
    Ok(match act {
        Act::Make => making::section(place, given),
        Act::Change(id) => changing::section(place, &key(place, id).await?, given),
        Act::Rotate(id) => ending::rotating(place, &key(place, id).await?, given),
        Act::Revoke(id) => ending::revoking(place, &key(place, id).await?),
    })
}

/// The answer to the form of an act.
async fn sent(place: &Place, act: &Act, given: &Fields, at: &Uri, id: &str) -> Response {
    let done = match act {
        Act::Make => making::make(place, given).await,
        Act::Change(key) => changing::change(place, key, given).await,
        Act::Rotate(key) => ending::rotate(place, key, given).await,
        Act::Revoke(key) => ending::revoke(place, key).await,
    };
    let problem = match done {
        Ok(Done::Listed(word)) => return studio::see_other(&format!("{}?done={word}", place.list)),
        Ok(Done::Shown(once)) => {
            let title = once.title.clone();
            return tabbed(&TabbedView { title, parts: vec![Part::Once(once)], ..place.shell.clone() });
        }
        Err(problem) if is_sign_in_again(&problem) => {
            return to_sign_in(&place.context.app, &given.address(at.path()));
        }
        Err(problem) => noted(words::plain(problem), id),
    };
    match section(place, act, given).await {
        Ok(section) => {
            let action = section.action.clone();
            tabbed_refused(&place.view(section).refused(&action, &problem), &problem)
        }
        Err(_) => studio::error_page(&problem),
    }
}

/// Every key of the org that this person sees; their own alone with `own`.
pub(super) async fn keys(context: &Context, own: bool) -> Result<Vec<View>> {
    let mut found = Vec::new();
    let mut asked = json!({ "limit": 100 });
    if own {
        asked["person"] = context.caller.id().into();
    }
    for _ in 0..MOST_PAGES {
        let page = perform::<ListKeys>(context.clone(), asked.clone()).await?;
        found.extend(page.keys);
        let Some(next) = page.next_cursor else { break };
        asked["cursor"] = next.into();
    }
    Ok(found)
}

async fn key(place: &Place, id: &str) -> Result<View> {
    let found = keys(&place.context, place.own).await?.into_iter().find(|key| key.id == id);
    found.ok_or_else(|| Problem::not_found("There is no such key here."))
}

/// A date of a form as the instant at which its day ends, in UTC; what is no date is left to the operation to refuse.
fn end_of_day(date: &str) -> Value {
    format!("{date}T23:59:59Z").into()
}

/// A number of a form; what is none is left to the operation to refuse.
fn number(text: &str) -> Value {
    text.trim().parse::<i64>().map_or_else(|_| text.into(), Value::from)
}

/// The person's name, for a list; who is gone is called so.
pub(super) async fn whose(app: &Arc<App>, person: &str) -> Result<String> {
    let id = person.strip_prefix(crate::identity::caller::PERSON).unwrap_or(person);
    let found = app.identity.person(id).await?;
    Ok(found.map_or_else(|| "a person who is gone".to_owned(), |person| person.name))
}
