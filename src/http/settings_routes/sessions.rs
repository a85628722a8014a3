//! `/settings/sessions`: where the person is signed in.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use http::HeaderMap;

use super::{Visit, answered, minute, refused};
use crate::app::App;
use crate::error::Result;
use crate::http::{RequestId, Sender};
use crate::studio::parts::{Act, Line, List, Part};
use crate::studio::settings::settings;
use crate::studio::{self, Response, TabbedView, Text};

const AT: &str = "/settings/sessions";

/// `GET /settings/sessions`.
pub(super) async fn page(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Extension(sender): Extension<Sender>,
    headers: HeaderMap,
) -> Response {
    let shown = async {
        let visit = Visit::of(&app, &headers, &sender).await?;
        view(&app, &visit).await
    };
    answered(&app, shown.await, AT, &id.0)
}

/// `POST /settings/sessions/end`: one of the person's other sessions.
pub(super) async fn end(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let done = async {
        let (visit, fields, _) = Visit::command(&app, request).await?;
        app.identity.end_session(&visit.person, fields.get("id"), "session_revoked").await
    };
    match done.await {
        Ok(_) => studio::see_other(AT),
        Err(problem) => refused(&app, AT, problem, &id.0),
    }
}

/// `POST /settings/sessions/end-others`: every other one.
pub(super) async fn end_others(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let done = async {
        let (visit, _, _) = Visit::command(&app, request).await?;
        app.identity.end_other_sessions(&visit.person, Some(&visit.session.digest)).await
    };
    match done.await {
        Ok(_) => studio::see_other(AT),
        Err(problem) => refused(&app, AT, problem, &id.0),
    }
}

async fn view(app: &App, visit: &Visit) -> Result<TabbedView> {
    let sessions = app.identity.sessions_of(&visit.person.id).await?;
    let lines = sessions.into_iter().map(|session| {
        let here = session.digest == visit.session.digest;
        Line {
            title: Text::new(named(&session.user_agent)),
            detail: Text::new(format!(
                "Since {}, last used {}, from {}, signed in with a {}",
                minute(session.created_at_ms),
                minute(session.last_seen_at_ms),
                session.address,
                session.auth_methods
            )),
            mark: here.then_some(("good", "This browser")),
            acts: if here {
                Vec::new()
            } else {
                vec![Act::button("/settings/sessions/end", "Sign out", session.digest)]
            },
            ..Line::default()
        }
    });
    let lines: Vec<Line> = lines.collect();
    let all = (lines.len() > 1).then(|| Act::Button {
        action: "/settings/sessions/end-others".to_owned(),
        word: "Sign out everywhere else",
        hidden: Vec::new(),
    });
    let title = Text::new("Where you are signed in");
    let list = List { title, empty: "Nowhere.", lines, all, ..List::default() };
    Ok(settings(visit.frame.clone(), AT, vec![Part::List(list)]))
}

/// A browser as a person knows it, by what it says of itself; all of that where nothing in it is known.
fn named(user_agent: &str) -> String {
    let says = |words: &[(&str, &'static str)]| {
        words.iter().find(|(word, _)| user_agent.contains(word)).map(|(_, name)| *name)
    };
    // The order counts: most of them also say the names of older ones.
    let browser = says(&[("Edg", "Edge"), ("Firefox", "Firefox"), ("Chrome", "Chrome"), ("Safari", "Safari")]);
    let system = says(&[
        ("Android", "Android"),
        ("iPhone", "an iPhone"),
        ("iPad", "an iPad"),
        ("Windows", "Windows"),
        ("Mac OS X", "a Mac"),
        ("Linux", "Linux"),
    ]);
    match (browser, system) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        _ if user_agent.is_empty() => "A browser without a name".to_owned(),
        _ => user_agent.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn a_browser_is_called_as_people_call_it() {
        let chrome =
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";
        assert_eq!(named(chrome), "Chrome on Linux");
        assert_eq!(named("curl/8"), "curl/8");
    }
}
