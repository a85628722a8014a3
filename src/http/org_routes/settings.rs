//! `/{org}/settings`: the org itself.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, State};
use http::{Extensions, HeaderMap};

use super::Visit;
use crate::app::App;
use crate::http::RequestId;
use crate::http::pages::{minute, refused};
use crate::studio::parts::{Facts, Part};
use crate::studio::{Response, Text, tabbed};

const END: &str = "settings";

/// `GET /{org}/settings`.
pub(super) async fn page(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Path(org): Path<String>,
    headers: HeaderMap,
    request: Extensions,
) -> Response {
    match Visit::of(&app, &org, &headers, &request).await {
        Ok(visit) => tabbed(&visit.view(END, "Settings", vec![Part::Facts(facts(&visit))])),
        Err(problem) => refused(&app, &format!("/{org}/{END}"), problem, &id.0),
    }
}

fn facts(visit: &Visit) -> Facts {
    let org = &visit.org;
    Facts {
        title: Text::new("The org"),
        facts: vec![
            ("Name", Text::new(&org.name)),
            ("Id", Text::new(&org.id)),
            ("Made", Text::new(minute(org.created_at_ms))),
            ("Your role", Text::new(visit.role().word())),
        ],
    }
}
