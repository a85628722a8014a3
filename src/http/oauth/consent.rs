//! The consent page and its form (`identity.md` 7.3).

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::response::Response;
use http::StatusCode;
use http::header::SET_COOKIE;

use super::answers::{form, leave};
use super::authorize::{client_of, nothing_waits, places};
use super::person::{self, SignedIn};
use crate::app::App;
use crate::error::{Problem, Reason, Result};
use crate::http::cookies::Cookie;
use crate::http::entrance::RequestId;
use crate::http::oauth_routes::server;
use crate::http::same_origin;
use crate::identity::Resource;
use crate::identity::oauth::client::Client;
use crate::identity::oauth::consent::{Decision, Place, granted};
use crate::identity::oauth::parameters::Parameters;
use crate::identity::oauth::redirect_uri::{self, Kind};
use crate::identity::oauth::refusal::{Code, Refusal};
use crate::identity::oauth::requests::Waiting;
use crate::identity::oauth::scopes::Scopes;
use crate::operations::noted;
use crate::studio::consent::{self as view, Back, Barred, Choice, Consent, Wish};
use crate::studio::{self, Text};

/// `POST /oauth/consent`: what the person decided.
pub(in crate::http) async fn post(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    match answer(&app, request).await {
        Ok(mut response) => {
            response.headers_mut().extend(Cookie::Request.clear(&app).map(|cookie| (SET_COOKIE, cookie)));
            response
        }
        Err(problem) => studio::error_page(&noted(problem, &id.0)),
    }
}

async fn answer(app: &Arc<App>, request: Request) -> Result<Response> {
    let (parts, body) = request.into_parts();
    same_origin(app, &parts.headers)?;
    let server = server(app)?;
    let person = person::signed_in(app, &parts).await?.ok_or_else(|| {
        Problem::new(Reason::Unauthenticated, "You are signed in no more. Begin again in your application.")
    })?;
    let sent =
        form(app, &parts.headers, body).await.map_err(|refusal| Problem::new(Reason::BadRequest, refusal.words))?;
    let request = sent.only("request").unwrap_or_default();
    server.check_consent_token(&person.who.session, request, sent.only("token").unwrap_or_default())?;
    let waiting = server.find_request(request).await?.ok_or_else(nothing_waits)?;
    let client = client_of(app, &waiting).await?;
    let places = places(&person, &waiting, server.issuer());
    match sent.only("decision") {
        Some("allow") => {
            let decision = decided(&sent, &waiting, &places)?;
            let code = server.allow(&waiting, &client, &person.who, &decision).await?.ok_or_else(nothing_waits)?;
            Ok(leave(StatusCode::SEE_OTHER, &waiting.asked.answered(&code, server.issuer())))
        }
        Some("deny") => {
            let org = match places.as_slice() {
                [only] => Some(only.org.as_str()),
                _ => None,
            };
            if !server.deny(&waiting, &client, &person.who, org).await? {
                return Err(nothing_waits());
            }
            let refusal = Refusal::new(Code::AccessDenied, "The person did not allow it");
            Ok(leave(StatusCode::SEE_OTHER, &waiting.asked.refused(&refusal, server.issuer())))
        }
        _ => Err(Problem::new(Reason::BadRequest, "The page was sent without a decision. Use its buttons.")),
    }
}

/// The org and the scopes the person chose, never more than the page offered.
fn decided(sent: &Parameters, waiting: &Waiting, places: &[Place]) -> Result<Decision> {
    let org = sent.only("org").unwrap_or_default();
    let place = places.iter().find(|place| place.org == org).ok_or_else(|| {
        Problem::new(Reason::BadRequest, "Choose the org it may act in, then allow it. Go back to do so.")
    })?;
    let ticked: Scopes = sent.all("scope").collect();
    Ok(Decision { org: place.org.clone(), scopes: granted(waiting.asked.scopes, place.rights, ticked) })
}

/// The page that asks.
pub(super) async fn consent_page(
    app: &App,
    client: &Client,
    person: &SignedIn,
    places: &[Place],
    waiting: &Waiting,
) -> Result<Response> {
    let last = server(app)?.last_org(&person.who.person, &client.id).await?;
    let mut ask = view(app, client, person, waiting)?;
    let rights = places.iter().fold(Scopes::default(), |all, place| all.or(place.rights));
    let offered = waiting.asked.scopes.and(rights);
    ask.wishes = offered
        .words()
        .map(|scope| Wish {
            scope,
            sentence: view::sentence(scope),
            optional: !Scopes::from_iter([scope]).within(offered.reads()),
        })
        .collect();
    let choice = |place: &Place| Choice {
        id: Text::new(&place.org),
        name: Text::new(&place.name),
        chosen: last.as_deref() == Some(place.org.as_str()),
    };
    ask.orgs = places.iter().map(choice).collect();
    ask.orgs.sort_by_key(|org| !org.chosen);
    Ok(view::consent(&ask))
}

/// The page for somebody who can allow nothing here.
pub(super) fn barred_page(app: &App, client: &Client, person: &SignedIn, waiting: &Waiting) -> Result<Response> {
    let why = match waiting.asked.fixed_org(server(app)?.issuer()) {
        Some(org) => Barred::NotAMember { org: Text::new(org) },
        None => Barred::NoOrg,
    };
    Ok(view::consent_barred(&view(app, client, person, waiting)?, &why))
}

fn view(app: &App, client: &Client, person: &SignedIn, waiting: &Waiting) -> Result<Consent> {
    let server = server(app)?;
    let address = waiting.asked.redirect_uri.as_str();
    let host = redirect_uri::host(address).unwrap_or_default();
    let back = match redirect_uri::kind(address) {
        Some(Kind::Loopback) => Back::ThisComputer { only: client.is_local_only() },
        Some(Kind::Private) => Back::Program(Text::new(address.split(':').next().unwrap_or_default())),
        Some(Kind::Https) | None => Back::Host(Text::new(host)),
    };
    let resources: Vec<Resource> =
        waiting.asked.resources.iter().filter_map(|text| Resource::named(text, server.issuer())).collect();
    Ok(Consent {
        client: Text::new(if client.name.is_empty() { &client.id } else { &client.name }),
        vouched_by: client.document_host().map(Text::new),
        back,
        endpoint: Text::new(words(&resources)),
        paths: resources.iter().map(|resource| Text::new(path(resource))).collect(),
        person: Text::new(&person.who.name),
        email: Text::new(&person.email),
        orgs: Vec::new(),
        wishes: Vec::new(),
        request: waiting.id.clone(),
        csrf: person.csrf.clone(),
        token: server.consent_token(&person.who.session, &waiting.id)?,
        policy_source: redirect_uri::policy_source(address),
    })
}

fn path(resource: &Resource) -> String {
    match resource {
        Resource::Server => "/".to_owned(),
        other => other.path(),
    }
}

/// What a client wants to reach, in words.
pub(in crate::http) fn words(resources: &[Resource]) -> String {
    match resources {
        [Resource::Server] => "Everything on this server".into(),
        [Resource::Own] => "The org’s playbooks and connections, for agents".into(),
        [Resource::Tools] => "The org’s tools, for agents".into(),
        [Resource::Api] => "The HTTP API".into(),
        [Resource::Org(org)] => format!("The org {org}, for agents"),
        [Resource::Playbook(org, playbook)] => format!("The playbook {playbook} of the org {org}, for agents"),
        _ => "The org’s playbooks, connections and tools, for agents".into(),
    }
}
