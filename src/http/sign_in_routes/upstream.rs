//! `/sign-in/upstream/{name}`: away to a provider of identities, and back (`identity.md` 8.5).

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, RawQuery, State};
use http::{HeaderMap, StatusCode};

use super::enter::password_view;
use super::{after_sign_in, browser, set, way_back};
use crate::app::App;
use crate::error::Problem;
use crate::http::cookies::Cookie;
use crate::http::problems::nothing;
use crate::http::{RequestId, Sender, studio_session};
use crate::identity::sign_in::upstream::{AWAY_MS, Arrival, Departure, Returned, Trouble, Upstream, WAITS_MS};
use crate::operations::noted;
use crate::studio::{self, FormView, ProviderLink, Response, Text, Told};

/// Where a person goes for each provider.
pub(super) fn links(app: &App) -> Vec<ProviderLink> {
    let link = |upstream: &Arc<Upstream>| ProviderLink { address: at(upstream), title: Text::new(&upstream.title) };
    app.upstreams.each().map(link).collect()
}

/// The page where providers are the only way.
pub(super) fn only_these(app: &App, again: bool) -> FormView {
    let title = if again { "Show that it is still you" } else { "Sign in" };
    FormView { title, providers: links(app), ..FormView::default() }
}

fn at(upstream: &Upstream) -> String {
    format!("/sign-in/upstream/{}", upstream.name)
}

fn link_path(upstream: &Upstream) -> String {
    format!("{}/link", at(upstream))
}

/// Where a provider sends browsers back to.
fn redirect(app: &App, upstream: &Upstream) -> String {
    format!("{}{}/callback", app.public_address(), at(upstream))
}

fn named<'a>(app: &'a App, name: &str) -> Result<&'a Arc<Upstream>, Problem> {
    app.upstreams.get(name).ok_or_else(nothing)
}

/// `GET /sign-in/upstream/{name}`. Whoever is signed in is asked for a new proof there.
pub(super) async fn leave(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Extension(sender): Extension<Sender>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Response {
    let upstream = match named(&app, &name) {
        Ok(upstream) => upstream,
        Err(problem) => return studio::error_page(&noted(problem, &id.0)),
    };
    let left = async {
        let before = studio_session(&app, &headers, &sender).await?.map(|session| session.kept);
        let (held, address) = (Cookie::Upstream.read(&app, &headers), browser(&headers, &sender).address);
        app.identity.depart(upstream, &redirect(&app, upstream), held, before.as_ref(), &address).await
    };
    match left.await {
        Ok(Departure { address, browser }) => {
            let mut response = studio::leave_for(&address);
            set(&mut response, Cookie::Upstream.set(&app, &browser, Some(AWAY_MS / 1_000)));
            response
        }
        Err(trouble) => refused(upstream, trouble, &id.0),
    }
}

/// `GET /sign-in/upstream/{name}/callback`.
pub(super) async fn come_back(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Extension(sender): Extension<Sender>,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let upstream = match named(&app, &name) {
        Ok(upstream) => upstream,
        Err(problem) => return studio::error_page(&noted(problem, &id.0)),
    };
    let came = async {
        let before = studio_session(&app, &headers, &sender).await?.map(|session| session.kept);
        let held = Cookie::Upstream.read(&app, &headers);
        let (redirect, back) = (redirect(&app, upstream), way_back::read(&app, &headers));
        let from = (&browser(&headers, &sender), before.as_ref());
        let returned = returned(query.as_deref().unwrap_or_default());
        app.identity.arrive(upstream, (&redirect, back), &returned, held, from).await
    };
    match came.await {
        Ok(Arrival::SignedIn(entered)) => {
            sender.set_known();
            let (person, opened) = *entered;
            after_sign_in(&app, &headers, &person, &opened)
        }
        Ok(Arrival::Link(secret)) => {
            let mut response = studio::see_other(&link_path(upstream));
            set(&mut response, Cookie::Link.set(&app, &secret, Some(WAITS_MS / 1_000)));
            response
        }
        Err(trouble) => refused(upstream, trouble, &id.0),
    }
}

/// The parameters of an answer (RFC 6749, section 4.1.2); one that is there twice counts as none, since two readers could
/// take either.
fn returned(query: &str) -> Returned {
    let one = |name: &str| {
        let mut found = url::form_urlencoded::parse(query.as_bytes()).filter(|(key, _)| key == name);
        let first = found.next().map(|(_, value)| value.into_owned());
        first.filter(|_| found.next().is_none())
    };
    Returned { state: one("state"), code: one("code"), error: one("error"), issuer: one("iss") }
}

/// `GET /sign-in/upstream/{name}/link`: asks whoever a provider brought to sign in to their account here once; when they
/// have, the two belong together.
pub(super) async fn link(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Extension(sender): Extension<Sender>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Response {
    let upstream = match named(&app, &name) {
        Ok(upstream) => upstream,
        Err(problem) => return studio::error_page(&noted(problem, &id.0)),
    };
    let secret = Cookie::Link.read(&app, &headers);
    let linked = async {
        let pending = app.identity.pending_link(upstream, secret).await?;
        let session = studio_session(&app, &headers, &sender).await?.map(|session| session.kept);
        match session.filter(|session| pending.is_shown_by(session)) {
            Some(session) => {
                sender.set_known();
                app.identity.link_account(&pending, secret.unwrap_or_default(), &session).await?;
                let mut response = studio::see_other(pending.back.as_deref().unwrap_or("/"));
                set(&mut response, Cookie::Link.clear(&app));
                Ok(response)
            }
            None => Ok(ask(&app, upstream, pending.person.email.as_deref().unwrap_or_default())),
        }
    };
    linked.await.unwrap_or_else(|trouble| refused(upstream, trouble, &id.0))
}

/// The sign-in of the account itself, which leads back to the page of the link.
fn ask(app: &App, upstream: &Upstream, email: &str) -> Response {
    let mut view = password_view(app, email, false);
    view.title = "Sign in to your account once";
    view.lead = Some(Text::new(format!(
        "{email} has an account here already. Sign in to it the way you did before, and {} signs you in from then on.",
        upstream.title
    )));
    view.providers.retain(|link| link.address != at(upstream));
    let mut response = studio::form(&view);
    set(&mut response, way_back::remember(app, &link_path(upstream)));
    response
}

/// The page after signing out here of somebody who came from a provider that has a page for signing out.
pub(super) async fn signed_out(app: &App, name: Option<&str>) -> Option<Response> {
    let upstream = app.upstreams.get(name?)?;
    let address = upstream.sign_out_address().await?;
    let words = format!("You are signed out here. {} may still know you in this browser.", upstream.title);
    let there = format!("Sign out at {} too", Text::new(&upstream.title));
    Some(studio::told(&Told {
        title: "You are signed out",
        tone: "good",
        words: Text::new(words),
        ways: &[(address.as_str(), &there), ("/sign-in", "Sign in again")],
    }))
}

/// The page of a sign-in that did not come about: what to do next, and nothing that anybody sent.
fn refused(upstream: &Upstream, trouble: Trouble, id: &str) -> Response {
    let name = &upstream.title;
    let (status, title, words) = match trouble {
        Trouble::Problem(problem) => return studio::error_page(&noted(problem, id)),
        Trouble::Attempt => (
            StatusCode::BAD_REQUEST,
            "This sign-in is over",
            "It was used already, took longer than ten minutes, or began in another browser. Start again.".to_owned(),
        ),
        Trouble::Denied => (
            StatusCode::FORBIDDEN,
            "You are not signed in",
            format!("{name} did not sign you in, or you said no there. Start again, or sign in another way."),
        ),
        Trouble::Unanswered => (
            StatusCode::SERVICE_UNAVAILABLE,
            "You are not signed in",
            format!(
                "{name} did not answer as it should. Wait a little and try again; if it stays so, tell whoever runs this server."
            ),
        ),
        Trouble::Untrusted => (
            StatusCode::BAD_REQUEST,
            "This answer is not taken",
            format!("What came back is not what {name} was asked for just now. Start again from the page of sign-in."),
        ),
        Trouble::Unverified => (
            StatusCode::FORBIDDEN,
            "Your email is not confirmed yet",
            format!("{name} does not say that your email is yours. Confirm it there, then sign in again."),
        ),
        Trouble::NotInvited => (
            StatusCode::FORBIDDEN,
            "You are not invited yet",
            format!("{name} knows you, and you belong to no org here. Ask an admin to invite the email you use there."),
        ),
        Trouble::Stopped => (
            StatusCode::FORBIDDEN,
            "Your account is stopped",
            "It cannot be used just now. Whoever runs this server can let it be used again.".to_owned(),
        ),
        Trouble::OtherPerson => (
            StatusCode::FORBIDDEN,
            "That is another account",
            format!(
                "You are signed in here as somebody else than {name} says. Sign out first, or use the same account there."
            ),
        ),
    };
    let view = Told {
        title,
        tone: "warn",
        words: Text::new(words),
        ways: &[("/sign-in", "Sign in"), ("/", "Go to the first page")],
    };
    studio::told_with(status, &view)
}

#[cfg(test)]
mod tests {
    use super::returned;

    #[test]
    fn a_parameter_that_is_there_twice_counts_as_none() {
        let back = returned("state=s1&code=c%2F1&iss=https%3A%2F%2Fid.example&code=c2");
        assert_eq!((back.state.as_deref(), back.code, back.error), (Some("s1"), None, None));
        assert_eq!(back.issuer.as_deref(), Some("https://id.example"));
    }
}
