//! Refusals as pages: what happened, what was kept and what to do next, in words.

use askama::Template;
use http::header::{ALLOW, RETRY_AFTER};
use http::{HeaderValue, StatusCode};

use super::response::{Response, page};
use super::text::Text;
use crate::error::Problem;

#[derive(Template)]
#[template(path = "studio/error.html")]
struct ErrorPage {
    title: &'static str,
    detail: Text,
    next: &'static str,
    incident: Option<Text>,
}

/// The page of a problem, with its status.
pub fn error_page(problem: &Problem) -> Response {
    let (title, next) = words(problem.status());
    // An internal problem's own words speak to programs; the page says the same to a person.
    let detail = match problem.status() {
        500 => "Something went wrong inside Playmaker, and what you asked for may not have been done.",
        _ => problem.detail(),
    };
    let incident = problem.document()["instance"]
        .as_str()
        .map(|instance| Text::new(instance.strip_prefix("urn:uuid:").unwrap_or(instance)));
    let status = StatusCode::from_u16(problem.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let template = ErrorPage { title, detail: Text::new(detail), next, incident };
    let mut response = page(status, &template);
    advise(&mut response, problem);
    response
}

/// Adds the headers that say when and how to try again.
pub(super) fn advise(response: &mut Response, problem: &Problem) {
    if let Some(seconds) = problem.retry_after_s() {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    if let Some(methods) = problem.allowed_methods() {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static(methods));
    }
}

/// What happened and what to do, by status.
fn words(status: u16) -> (&'static str, &'static str) {
    match status {
        401 => ("This page needs you to be known", "Nothing was changed. Open the page the way your agent told you."),
        403 => (
            "This is not open to you",
            "Nothing was changed. Open the page from its own address in this browser and try once more.",
        ),
        404 => ("There is nothing at this address", "Nothing was changed. Check the address, or go to the first page."),
        405 => ("This page cannot be used that way", "Nothing was changed. Open the page again and use its buttons."),
        429 => ("Too many tries", "Nothing was changed. Wait a little, then try again."),
        500 => (
            "Something went wrong",
            "Load the page again to see how things stand. If it stays so, tell whoever runs this server.",
        ),
        503 => ("This does not work right now", "Nothing was changed. Wait a little, then try again."),
        _ => ("That did not work", "Nothing was changed. Go back, look over what you gave and try again."),
    }
}

#[cfg(test)]
mod tests {
    use super::super::gallery::html_of;
    use super::*;
    use crate::error::Reason;

    #[tokio::test]
    async fn a_missing_page_says_so_in_words() {
        let response = error_page(&Problem::not_found("There is no page /nowhere."));
        assert_eq!(response.status(), 404);
        let html = html_of(response).await;
        assert!(html.contains("<h1>There is nothing at this address</h1>"), "{html}");
        assert!(html.contains("There is no page /nowhere."));
        assert!(html.contains("href=\"/\""));
    }

    #[tokio::test]
    async fn an_incident_tells_its_number_and_never_its_source() {
        let response = error_page(&Problem::internal("password=hunter2").incident("0190-aa".into()));
        assert_eq!(response.status(), 500);
        let html = html_of(response).await;
        assert!(html.contains("0190-aa") && !html.contains("hunter2"), "{html}");
    }

    #[tokio::test]
    async fn a_page_that_may_work_later_says_when() {
        let response = error_page(&Problem::unavailable("The database does not answer."));
        assert_eq!(response.headers()[RETRY_AFTER], "5");
        let response = error_page(&Problem::new(Reason::MethodNotAllowed, "No PUT here.").allow("GET"));
        assert_eq!(response.headers()[ALLOW], "GET");
        assert!(html_of(response).await.contains("No PUT here."));
    }
}
