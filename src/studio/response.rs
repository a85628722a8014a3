//! Pages on the wire: every HTML answer, errors too, carries the headers of connections.md 9.2.

use askama::Template;
use axum::body::Body;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use url::Url;

/// What a page is served as.
pub type Response = http::Response<Body>;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Shown when a page itself cannot be made.
const FALLBACK: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Something went wrong</title>\
                        <p>Playmaker could not make this page. Load it again; if it stays so, tell whoever runs the server.";

/// `template` as an HTML answer with `status`. A template that fails to render is a 500 of the same kind.
pub fn page(status: StatusCode, template: &impl Template) -> Response {
    let (status, html) = match template.render() {
        Ok(html) => (status, html),
        Err(error) => {
            tracing::error!(error = %error, "a page could not be rendered");
            (StatusCode::INTERNAL_SERVER_ERROR, FALLBACK.to_owned())
        }
    };
    let mut response = Response::new(Body::from(html));
    *response.status_mut() = status;
    secure(response.headers_mut());
    response
}

/// 303 to `path` on this server, after a form that did its work, so that loading again repeats nothing.
pub fn see_other(path: &str) -> Response {
    let mut response = Response::new(Body::empty());
    secure(response.headers_mut());
    match HeaderValue::from_str(path) {
        Ok(location) if path.starts_with('/') && !path.starts_with("//") && !path.contains('\\') => {
            *response.status_mut() = StatusCode::SEE_OTHER;
            response.headers_mut().insert(LOCATION, location);
        }
        _ => *response.status_mut() = StatusCode::NOT_FOUND,
    }
    response
}

/// 303 to a page of somebody else, whose address this server made itself of what the operator trusts.
pub fn leave_for(address: &Url) -> Response {
    let mut response = Response::new(Body::empty());
    secure(response.headers_mut());
    match HeaderValue::from_str(address.as_str()) {
        Ok(location) if matches!(address.scheme(), "https" | "http") => {
            *response.status_mut() = StatusCode::SEE_OTHER;
            response.headers_mut().insert(LOCATION, location);
        }
        _ => *response.status_mut() = StatusCode::NOT_FOUND,
    }
    response
}

/// Sets what each HTML answer carries. `Strict-Transport-Security` is left to whoever knows that the server is on https.
fn secure(headers: &mut HeaderMap) {
    for (name, value) in [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Template)]
    #[template(source = "<p>{{ self.words() }}</p>", ext = "html")]
    struct Words(&'static str);

    impl Words {
        fn words(&self) -> &str {
            self.0
        }
    }

    #[test]
    fn every_page_carries_the_headers_of_the_sheet() {
        let response = page(StatusCode::FORBIDDEN, &Words("no"));
        let mut headers: Vec<String> =
            response.headers().iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
        headers.sort();
        insta::assert_snapshot!(format!("{}\n{}", response.status(), headers.join("\n")), @r"
        403 Forbidden
        cache-control: no-store
        content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'
        content-type: text/html; charset=utf-8
        cross-origin-opener-policy: same-origin
        referrer-policy: no-referrer
        x-content-type-options: nosniff
        x-frame-options: DENY
        ");
    }

    #[test]
    fn a_finished_form_leads_to_a_page_of_this_server_alone() {
        let response = see_other("/connect/link_a");
        assert_eq!(response.status(), StatusCode::SEE_OTHER);
        assert_eq!(response.headers()[LOCATION], "/connect/link_a");
        for path in ["https://evil.example/", "//evil.example/", "/\\evil.example/", "a\nb"] {
            assert_eq!(see_other(path).status(), StatusCode::NOT_FOUND);
        }
    }
}
