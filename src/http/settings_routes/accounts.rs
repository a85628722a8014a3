//! `/settings/accounts`: accounts elsewhere that are the person's own. None can be connected yet, and the page says so.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use http::HeaderMap;

use super::Visit;
use crate::app::App;
use crate::http::pages::refused;
use crate::http::{RequestId, Sender};
use crate::studio::parts::{List, Part};
use crate::studio::settings::settings;
use crate::studio::{Response, Text, tabbed};

const AT: &str = "/settings/accounts";

/// `GET /settings/accounts`.
pub(super) async fn page(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Extension(sender): Extension<Sender>,
    headers: HeaderMap,
) -> Response {
    let visit = match Visit::of(&app, &headers, &sender).await {
        Ok(visit) => visit,
        Err(problem) => return refused(&app, AT, problem, &id.0),
    };
    let list = List {
        title: "Accounts of your own".into(),
        words: Some(Text::new("What an org has connected belongs to the org, and is not listed here.")),
        empty: "You have connected no account of your own.",
        ..List::default()
    };
    tabbed(&settings(visit.frame, AT, vec![Part::List(list)]))
}
