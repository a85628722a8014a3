use http::HeaderMap;
use serde_json::json;

use super::super::{Kind, Outcome};

fn answer(status: u16, headers: &[(&'static str, &'static str)], body: &[u8]) -> Outcome {
    let headers: HeaderMap =
        headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
    super::with_parameters("/a", json!([])).answer(status, &headers, body)
}

#[test]
fn json_is_given_as_it_is() {
    let outcome = answer(200, &[("content-type", "application/json")], b"{ \"a\": [1, null] }");
    assert_eq!(outcome.kind, Kind::Result);
    assert_eq!(outcome.text, r#"{"a":[1,null]}"#);
    assert_eq!(outcome.answer, Some(json!({ "a": [1, null] })));
    assert_eq!(answer(200, &[("content-type", "text/plain")], b"[1]").answer, Some(json!([1])));
}

#[test]
fn text_is_read_by_its_charset() {
    let outcome = answer(200, &[("content-type", "text/plain; charset=iso-8859-1")], b"gr\xfc\xdfe");
    assert_eq!((outcome.text.as_str(), outcome.answer), ("grüße", Some(json!("grüße"))));
    assert_eq!(answer(200, &[("content-type", "text/html")], b"a\xffb\x07").text, "a\u{fffd}b");
}

#[test]
fn streams_and_lines_become_lists() {
    let outcome =
        answer(200, &[("content-type", "text/event-stream")], b"data: {\"a\":1}\n\n: x\ndata: b\ndata: c\n\n");
    assert_eq!(outcome.answer, Some(json!([{ "a": 1 }, "b\nc"])));
    let outcome = answer(200, &[("content-type", "application/x-ndjson")], b"{\"a\":1}\n2\n");
    assert_eq!(outcome.answer, Some(json!([{ "a": 1 }, 2])));
}

#[test]
fn other_bytes_are_named_and_kept_while_small() {
    let outcome = answer(200, &[("content-type", "application/pdf")], &[7; 20_411]);
    assert_eq!(outcome.text, "[application/pdf, 20,411 bytes]");
    let kept = outcome.answer.unwrap();
    assert_eq!((&kept["bytes"], kept["base64"].is_string()), (&json!(20_411), true));
    assert_eq!(kept["sha256"].as_str().unwrap().len(), 64);
    let large = answer(200, &[("content-type", "image/png")], &[7; 40_000]).answer.unwrap();
    assert!(large.get("base64").is_none());
}

#[test]
fn nothing_says_so() {
    let outcome = answer(204, &[], b"");
    assert_eq!((outcome.text.as_str(), outcome.answer), ("The service answered 204 without content.", None));
}

#[test]
fn a_redirect_is_not_followed_and_shows_no_query() {
    let outcome = answer(302, &[("location", "https://other.example/x/y?token=1")], b"");
    assert_eq!(outcome.kind, Kind::ToolError);
    assert!(outcome.text.contains("302 Found") && outcome.text.contains("/x/y") && !outcome.text.contains("token"));
}

#[test]
fn refusals_are_the_tools_and_failures_the_servers() {
    let outcome = answer(404, &[("content-type", "application/problem+json")], b"{\"title\":\"gone\"}");
    assert_eq!(outcome.kind, Kind::ToolError);
    assert!(outcome.text.starts_with("The service answered 404 Not Found.") && outcome.text.contains("gone"));
    assert_eq!(outcome.answer, Some(json!({ "title": "gone" })));
    let outcome = answer(503, &[], &[b'x'; 5000]);
    assert_eq!((outcome.kind, outcome.answer, outcome.text.len()), (Kind::ServerFailure, None, 1024));
}

#[test]
fn only_headers_that_help_are_shown() {
    let outcome = answer(
        200,
        &[("etag", "\"1\""), ("set-cookie", "a=b"), ("x-ratelimit-left", "3"), ("ratelimit", "a"), ("server", "x")],
        b"{}",
    );
    let names: Vec<&str> = outcome.headers_shown.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["etag", "x-ratelimit-left", "ratelimit"]);
    assert_eq!(outcome.line(), None);
    let paged = answer(200, &[("link", "</x?page=2>; rel=\"next\""), ("etag", "1")], b"[]");
    assert_eq!(paged.line().unwrap(), "link: </x?page=2>; rel=\"next\"");
}
