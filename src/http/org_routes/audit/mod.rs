//! `/{org}/audit`: what was done in the org, newest first, for who manages it.

mod filter;
mod words;

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, State};
use http::request::Parts;

use super::visit::Visit;
use crate::app::App;
use crate::error::{Problem, Reason, Result};
use crate::http::RequestId;
use crate::http::pages::{refused, whole, written};
use crate::http::sign_in_routes::Fields;
use crate::operations::audit::list_audit::ListAudit;
use crate::operations::audit::{Outcome, View};
use crate::operations::perform;
use crate::studio::parts::{Act, Folded, Line, List, Part};
use crate::studio::{Response, TabbedView, Text, tabbed, tabbed_refused};

const END: &str = "audit";

/// `GET /{org}/audit`.
pub(super) async fn page(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Path(org): Path<String>,
    parts: Parts,
) -> Response {
    let asked = Fields::of_query(&parts.uri);
    let ready = async {
        let visit = Visit::of(&app, &org, &parts.headers, &parts.extensions).await?;
        visit.manages()?;
        Ok::<_, Problem>(visit)
    };
    let visit = match ready.await {
        Ok(visit) => visit,
        Err(problem) => return refused(&app, &whole(&parts.uri), problem, &id.0),
    };
    match view(&app, &visit, &asked).await {
        Ok(view) => tabbed(&view),
        // What does not fit stands beside its field.
        Err(problem) if problem.reason() == Reason::InvalidInput => {
            let path = visit.path(END);
            let view = visit.view(END, "Audit", vec![Part::Form(filter::section(&path, &asked))]);
            tabbed_refused(&view.refused(&path, &filter::plain(&problem)), &problem)
        }
        Err(problem) => refused(&app, &whole(&parts.uri), problem, &id.0),
    }
}

async fn view(app: &Arc<App>, visit: &Visit, asked: &Fields) -> Result<TabbedView> {
    let path = visit.path(END);
    let mut input = filter::input(app, asked).await?;
    let export = filter::export(&visit.org.id, &input);
    if !asked.get("cursor").is_empty() {
        input["cursor"] = asked.get("cursor").into();
    }
    let page = perform::<ListAudit>(visit.context(app), input).await?;
    let list = List {
        title: Text::new("What was done"),
        words: Some(Text::new("Newest first. Times are in UTC.")),
        empty: "Nothing that fits.",
        lines: page.rows.iter().map(|row| line(row, &path)).collect(),
        all: export,
        next: page.next_cursor.map(|cursor| asked.turned(&path, &cursor)),
    };
    Ok(visit.view(END, "Audit", vec![Part::Form(filter::section(&path, asked)), Part::List(list)]))
}

fn line(row: &View, path: &str) -> Line {
    let mut detail = written(&row.time);
    if let Some(way) = words::way(row) {
        detail.push_str(&format!(", {way}"));
    }
    if let Some(address) = &row.address {
        detail.push_str(&format!(", from {address}"));
    }
    let acts = vec![
        Act::link(filter::only(path, "actor", &row.actor), "Everything by them"),
        Act::link(filter::only(path, "target", &row.target.id), "Everything about it"),
    ];
    Line {
        detail: Text::new(detail),
        mark: (row.result == Outcome::Refused).then_some(("warn", "Refused")),
        folded: Some(Folded { facts: words::facts(row), acts }),
        ..Line::new(words::sentence(row))
    }
}
