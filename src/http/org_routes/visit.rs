//! Somebody at a page of an org.

use std::sync::Arc;

use axum::extract::Request;
use http::{Extensions, HeaderMap};

use super::pages;
use crate::app::App;
use crate::error::{Problem, Reason, Result};
use crate::http::pages::{is_sign_in_again, refused};
use crate::http::problems::nothing;
use crate::http::sign_in_routes::{Fields, checked};
use crate::http::{Sender, Session, page_routes, studio_session, through};
use crate::identity::orgs::Status;
use crate::identity::{By, Caller, Org, Permission, Permissions, Role};
use crate::ledger::Via;
use crate::operations::{Context, admission, noted};
use crate::studio::parts::Part;
use crate::studio::{Frame, Response, TabbedView, Text, tabbed_refused};

/// A member of an org at one of its pages.
pub(super) struct Visit {
    /// Their session.
    pub(super) session: Session,
    /// They themselves, acting in the org through this request.
    pub(super) caller: Arc<Caller>,
    /// The org.
    pub(super) org: Org,
    frame: Frame,
}

impl Visit {
    /// Whoever opens a page of the org in its path.
    ///
    /// # Errors
    /// 401 for who has not signed in, 404 alike for an org that is not there and one of others.
    pub(super) async fn of(app: &App, org: &str, headers: &HeaderMap, extensions: &Extensions) -> Result<Self> {
        let away = || Problem::new(Reason::Unauthenticated, "Sign in to see this page.");
        let sender = Sender::of(extensions);
        let session = studio_session(app, headers, &sender).await?.ok_or_else(away)?;
        sender.set_known();
        let at = Some(session.auth_time_ms);
        let caller = app.identity.acting(&session.person, org, Permissions::EVERY, at, By::Session).await?;
        let (Some(caller), Some(org)) = (caller, app.identity.org(org).await?) else { return Err(nothing()) };
        app.limits.admit(&caller)?;
        let frame = page_routes::frame(app, &session, Some(&org.id)).await?;
        let caller = through(&caller, Via::Studio, headers, extensions);
        Ok(Self { session, caller, org, frame })
    }

    /// Whoever sent a form of such a page, and its fields.
    pub(super) async fn command(app: &App, org: &str, request: Request) -> Result<(Self, Fields)> {
        let (parts, sent) = request.into_parts();
        let visit = Self::of(app, org, &parts.headers, &parts.extensions).await?;
        let fields = checked(app, &parts.headers, sent, &visit.session).await?;
        Ok((visit, fields))
    }

    /// Their role in the org.
    pub(super) fn role(&self) -> Role {
        self.caller.role().unwrap_or(Role::Viewer)
    }

    /// Whether anything in the org changes now.
    pub(super) fn takes_commands(&self) -> bool {
        self.org.status == Status::Active
    }

    /// Refuses who does not manage the org.
    ///
    /// # Errors
    /// 403.
    pub(super) fn manages(&self) -> Result<()> {
        if self.caller.may(Permission::OrgAdmin) {
            return Ok(());
        }
        let role = self.role().word();
        let words = format!(
            "Your role in this org, {role}, does not let you see this. Those who manage the org can change it."
        );
        Err(Problem::forbidden(words).challenge(None))
    }

    /// They, about to do something on the page: what [`crate::operations::perform`] takes.
    pub(super) fn context(&self, app: &Arc<App>) -> Context {
        admission::context(app.clone(), self.caller.clone(), false)
    }

    /// The address of a page of this org, or of what is below one.
    pub(super) fn path(&self, rest: &str) -> String {
        format!("/{}/{rest}", self.org.id)
    }

    /// The page that ends so, or what belongs to it, with these parts.
    pub(super) fn view(&self, end: &str, title: &str, parts: Vec<Part>) -> TabbedView {
        let tabs = pages(&self.org.id, self.role()).into_iter().map(|page| (page.address, page.word)).collect();
        TabbedView {
            frame: self.frame.clone(),
            heading: Text::new(&self.org.name),
            title: Text::new(title),
            tabs,
            at: self.path(end),
            done: None,
            warning: self.warning(),
            parts,
        }
    }

    /// What everybody has to know who works in an org that is going.
    fn warning(&self) -> Option<(&'static str, Text)> {
        let end = self.org.deletes_at_ms.filter(|_| self.org.status == Status::Deleting)?;
        let words = format!(
            "It goes on {}, with everything in it. Until then it can be read, nothing in it changes, and no key and no \
             agent reaches it. An owner can keep it, under Settings.",
            crate::http::pages::minute(end)
        );
        Some(("This org is being deleted", Text::new(words)))
    }
}

/// The page again whose form, which goes to `action`, was refused; who has to sign in goes there, and then back to `back`.
pub(super) fn refused_form(
    app: &App,
    view: TabbedView,
    action: &str,
    back: &str,
    problem: Problem,
    id: &str,
) -> Response {
    if is_sign_in_again(&problem) {
        return refused(app, back, problem, id);
    }
    let problem = noted(problem, id);
    tabbed_refused(&view.refused(action, &problem), &problem)
}
