//! `/{org}/members`: who belongs to the org, and who was invited.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, State};
use http::{Extensions, HeaderMap};
use serde::Deserialize;
use serde_json::json;

use super::Visit;
use crate::app::App;
use crate::error::Result;
use crate::http::RequestId;
use crate::http::pages::refused;
use crate::operations::members::list_members::ListMembers;
use crate::studio::parts::{Cell, Part, Table};
use crate::studio::{Response, TabbedView, Text, tabbed};

const END: &str = "members";

#[derive(Deserialize)]
struct Listed {
    members: Vec<Member>,
}

#[derive(Deserialize)]
struct Member {
    name: String,
    email: Option<String>,
    role: String,
}

/// `GET /{org}/members`.
pub(super) async fn page(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Path(org): Path<String>,
    headers: HeaderMap,
    request: Extensions,
) -> Response {
    let shown = async {
        let visit = Visit::of(&app, &org, &headers, &request).await?;
        visit.manages()?;
        view(&app, &visit).await
    };
    match shown.await {
        Ok(view) => tabbed(&view),
        Err(problem) => refused(&app, &format!("/{org}/{END}"), problem, &id.0),
    }
}

async fn view(app: &Arc<App>, visit: &Visit) -> Result<TabbedView> {
    let listed: Listed = visit.run::<ListMembers, _>(app, json!({})).await?;
    let row = |member: &Member| {
        let detail = Text::new(member.email.as_deref().unwrap_or_default());
        vec![Cell::Named { title: Text::new(&member.name), detail }, Cell::words(&member.role)]
    };
    let table = Table {
        title: Text::new("Members"),
        empty: "Nobody.",
        heads: vec!["Name", "Role"],
        rows: listed.members.iter().map(row).collect(),
        next: None,
    };
    Ok(visit.view(END, "Members", vec![Part::Table(table)]))
}
