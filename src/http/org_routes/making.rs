//! `/orgs/new`: another org, where the operator lets people make them (`identity.md` 1.3).

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use http::{Extensions, HeaderMap};

use super::may_make;
use super::visit::refused_form;
use crate::app::App;
use crate::error::{Problem, Reason, Result};
use crate::http::pages::refused;
use crate::http::sign_in_routes::{Fields, checked};
use crate::http::{RequestId, Sender, Session, page_routes, studio_session, through};
use crate::identity::Caller;
use crate::ledger::Via;
use crate::studio::parts::{Part, Section, Weight};
use crate::studio::{self, Frame, Input, Response, TabbedView, Text, tabbed};

const AT: &str = "/orgs/new";

/// A person who may make an org, in a browser.
struct Maker {
    session: Session,
    caller: Arc<Caller>,
    frame: Frame,
}

impl Maker {
    async fn of(app: &App, headers: &HeaderMap, extensions: &Extensions) -> Result<Self> {
        let away = || Problem::new(Reason::Unauthenticated, "Sign in to make an org.");
        let session = studio_session(app, headers).await?.ok_or_else(away)?;
        Sender::of(extensions).set_known();
        let caller = app.identity.acting_nowhere(&session.person, Some(session.auth_time_ms)).await?;
        let caller = through(&*caller.ok_or_else(away)?, Via::Studio, headers, extensions);
        if !may_make(app, &session.person).await? {
            let words = "You may not make another org here. Whoever runs the server decides who may.";
            return Err(Problem::forbidden(words).challenge(None));
        }
        let frame = page_routes::frame(app, &session, None).await?;
        Ok(Self { session, caller, frame })
    }
}

/// `GET /orgs/new`.
pub(super) async fn page(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    headers: HeaderMap,
    request: Extensions,
) -> Response {
    match Maker::of(&app, &headers, &request).await {
        Ok(maker) => tabbed(&view(&maker, None)),
        Err(problem) => refused(&app, AT, problem, &id.0),
    }
}

/// `POST /orgs/new`.
pub(super) async fn make(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let (parts, sent) = request.into_parts();
    let sent = async {
        let maker = Maker::of(&app, &parts.headers, &parts.extensions).await?;
        let fields = checked(&app, &parts.headers, sent, &maker.session).await?;
        Ok::<_, Problem>((maker, fields))
    };
    let (maker, fields) = match sent.await {
        Ok(sent) => sent,
        Err(problem) => return refused(&app, AT, problem, &id.0),
    };
    let rule = app.settings.administration.org_creation;
    match app.identity.make_org(&maker.caller, fields.get("id").trim(), fields.get("name"), rule).await {
        Ok(org) => studio::see_other(&format!("/{}/members", org.id)),
        Err(problem) => refused_form(&app, view(&maker, Some(&fields)), AT, AT, problem, &id.0),
    }
}

fn view(maker: &Maker, sent: Option<&Fields>) -> TabbedView {
    let given = |name: &str| sent.map_or("", |fields| fields.get(name));
    let section = Section::new("Another org", AT, "Make the org")
        .words("An org keeps its people, playbooks, connections and keys apart from every other. You own it.")
        .input(Input::new("name", "Name", "text", "organization").hint("As people call it, such as Acme.").given(given("name")))
        .input(
            Input::new("id", "Id", "text", "off")
                .hint("3 to 48 lowercase letters, digits and hyphens, such as acme. It stays for good and stands in addresses.")
                .given(given("id")),
        )
        .weight(Weight::Primary)
        .way("/", "Go back");
    TabbedView {
        frame: maker.frame.clone(),
        heading: Text::new("Make an org"),
        title: Text::new("New"),
        tabs: Vec::new(),
        at: AT.to_owned(),
        done: None,
        warning: None,
        parts: vec![Part::Form(section)],
    }
}
