//! `/settings/apps`: the clients that the person allowed to act for them, in each of their orgs.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use http::request::Parts;
use serde_json::json;

use super::Visit;
use crate::app::App;
use crate::error::Result;
use crate::http::authentication::acting_in;
use crate::http::oauth::consent;
use crate::http::pages::{answered, written};
use crate::http::{RequestId, Sender};
use crate::identity::Resource;
use crate::identity::oauth::client::document_host;
use crate::operations::grants::View;
use crate::operations::grants::list_grants::ListGrants;
use crate::operations::grants::revoke_grant::RevokeGrant;
use crate::operations::{Context, perform};
use crate::studio::consent::sentence;
use crate::studio::parts::{Act, Fact, Line, List, Part};
use crate::studio::settings::settings;
use crate::studio::{self, Response, TabbedView, Text};

const AT: &str = "/settings/apps";

/// `GET /settings/apps`.
pub(super) async fn page(State(app): State<Arc<App>>, Extension(id): Extension<RequestId>, parts: Parts) -> Response {
    let shown = async {
        let visit = Visit::of(&app, &parts.headers, &Sender::of(&parts.extensions)).await?;
        view(&app, &visit, &parts).await
    };
    answered(&app, shown.await, AT, &id.0)
}

/// `GET /settings/apps/withdraw`, where loading the answer of the form again leads.
pub(super) async fn back() -> Response {
    studio::see_other(AT)
}

/// `POST /settings/apps/withdraw`: one client may do nothing for the person any more.
pub(super) async fn withdraw(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let done = async {
        let (visit, fields, parts) = Visit::command(&app, request).await?;
        let context = acting_in(&app, &visit.session, fields.get("org"), &parts).await?;
        let withdrawn = perform::<RevokeGrant>(context, json!({ "id": fields.get("id") })).await?;
        let mut view = view(&app, &visit, &parts).await?;
        let words =
            format!("{} can no longer act for you there. Connecting it again asks you again.", name(&withdrawn));
        view.done = Some(Text::new(words));
        Ok(view)
    };
    answered(&app, done.await, AT, &id.0)
}

async fn view(app: &Arc<App>, visit: &Visit, parts: &Parts) -> Result<TabbedView> {
    let mut lines = Vec::new();
    for (context, org) in visit.in_each_org(app, parts).await? {
        let own = own(&context).await?;
        lines.extend(own.iter().map(|grant| line(app, grant, org.id.as_str(), org.name.as_str())));
    }
    let list = List {
        title: "Connected apps".into(),
        words: Some(Text::new(
            "Applications and agents that you let act for you. Withdraw one, and it stops within seconds.",
        )),
        empty: "You have let no application act for you. An agent that connects to this server asks you first.",
        lines,
        ..List::default()
    };
    Ok(settings(visit.frame.clone(), AT, vec![Part::List(list)]))
}

/// Everything the person allowed in the org of the context, newest first.
async fn own(context: &Context) -> Result<Vec<View>> {
    let mut found = Vec::new();
    let mut asked = json!({ "person": context.caller.id(), "limit": 100 });
    loop {
        let page = perform::<ListGrants>(context.clone(), asked.clone()).await?;
        found.extend(page.grants);
        let Some(next) = page.next_cursor else { return Ok(found) };
        asked["cursor"] = next.into();
    }
}

fn name(grant: &View) -> &str {
    if grant.client_name.is_empty() { &grant.client_id } else { &grant.client_name }
}

fn line(app: &App, grant: &View, org: &str, org_name: &str) -> Line {
    let vouched = document_host(&grant.client_id);
    let resources: Vec<Resource> =
        grant.resources.iter().filter_map(|text| Resource::named(text, &app.public_address())).collect();
    Line {
        mark: vouched.is_none().then_some(("warn", "unverified name")),
        detail: Text::new(vouched.map(|host| format!("of {host}")).unwrap_or_default()),
        facts: vec![
            Fact::new("In the org", org_name),
            Fact::new("Returns to", place(&grant.host)),
            Fact::new("It reaches", consent::words(&resources)),
            Fact::several("It may", grant.scopes.iter().map(|scope| sentence(scope))),
            Fact::new("Allowed", written(&grant.created_at)),
            Fact::new("Last used", written(&grant.last_used_at)),
            Fact::new("Ends if unused", written(&grant.expires_at)),
        ],
        acts: vec![Act::Button {
            action: "/settings/apps/withdraw".to_owned(),
            word: "Withdraw",
            hidden: vec![("org", org.to_owned()), ("id", grant.id.clone())],
        }],
        ..Line::new(name(grant))
    }
}

/// Where a client returned to, in words: a host, this computer, or whatever opens a scheme.
fn place(host: &str) -> String {
    match host {
        "localhost" | "127.0.0.1" | "[::1]" => "an application on the computer it was allowed on".to_owned(),
        host if host.contains(['.', ':']) => host.to_owned(),
        scheme => format!("the application that opens {scheme}:"),
    }
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn where_a_client_returns_to_is_told_in_words() {
        assert_eq!(place("app.example"), "app.example");
        assert!(place("127.0.0.1").contains("computer"));
        assert_eq!(place("cursor"), "the application that opens cursor:");
    }
}
