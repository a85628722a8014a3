//! How a request's fields arrive: bodies, queries, paths, and what is refused of them (`http-api.md` 1.2 and 1.3).

use serde_json::json;

use crate::support::app::TestApp;
use crate::support::people::Answer;

const PLAYBOOKS: &str = "/v1/orgs/local/playbooks";

fn nested(levels: usize) -> String {
    format!(r#"{{"playbook":{}1{}}}"#, "[".repeat(levels), "]".repeat(levels))
}

#[tokio::test]
async fn a_body_is_plain_json_in_utf_8() {
    let server = TestApp::local().await;
    let body = r#"{"playbook":"support","name":"Support"}"#;
    let post = async |headers: &[(&str, &str)]| {
        let request = headers
            .iter()
            .fold(server.anyone().request("POST", PLAYBOOKS), |request, (name, value)| request.header(*name, *value));
        Answer::of(request.body(body)).await
    };
    let odd: [&[(&str, &str)]; 8] = [
        &[],
        &[("content-type", "text/plain")],
        &[("content-type", "application/json; charset=iso-8859-1")],
        &[("content-type", "application/x-www-form-urlencoded")],
        &[("content-type", "application/problem+json")],
        &[("content-type", "application/json"), ("content-type", "application/json")],
        &[("content-type", "application/json"), ("content-encoding", "gzip")],
        &[("content-type", "application/json"), ("content-encoding", "identity, br")],
    ];
    for headers in odd {
        post(headers).await.refused(415, "unsupported_media_type");
    }
    let good = [("content-type", "Application/JSON; charset=\"UTF-8\""), ("content-encoding", "identity")];
    post(&good).await.done(201);
}

#[tokio::test]
async fn a_body_is_one_object_of_at_most_a_mebibyte() {
    let server = TestApp::local().await;
    for text in ["", "nothing", "[]", "null", "1", r#""text""#, r#"{"playbook":"support""#, "{}{}", "\u{feff}{}"] {
        server.anyone().send("POST", PLAYBOOKS, text).await.refused(400, "bad_request");
    }
    server.anyone().send("POST", PLAYBOOKS, b"{\"name\":\"\xff\"}".to_vec()).await.refused(400, "bad_request");

    let of_size = |bytes: usize| {
        let frame = r#"{"playbook":"support","name":""}"#.len();
        json!({ "playbook": "support", "name": "x".repeat(bytes - frame) }).to_string()
    };
    let largest = server.anyone().send("POST", PLAYBOOKS, of_size(1_048_576)).await;
    assert_eq!(largest.invalid_at(), ["/name"]);
    server.anyone().send("POST", PLAYBOOKS, of_size(1_048_577)).await.refused(413, "content_too_large");
}

#[tokio::test]
async fn deep_nesting_is_refused_in_words() {
    let server = TestApp::local().await;
    for levels in [5, 600] {
        let mut pointers = server.anyone().send("POST", PLAYBOOKS, nested(levels)).await.invalid_at();
        pointers.sort();
        assert_eq!(pointers, ["/name", "/playbook"]);
    }
    for levels in [700, 100_000] {
        assert_eq!(server.anyone().send("POST", PLAYBOOKS, nested(levels)).await.invalid_at(), [""]);
    }
}

#[tokio::test]
async fn a_field_comes_from_one_place_and_is_given_once() {
    let server = TestApp::local().await;
    let developer = server.anyone();
    developer.post(PLAYBOOKS, &json!({ "playbook": "support", "name": "Support" })).await.done(201);
    let both = json!({ "playbook": "support", "name": "Other", "description": "" });
    developer.put("/v1/orgs/local/playbooks/support", &both).await.refused(400, "bad_request");
    developer.post("/v1/orgs/local/playbooks?name=Other", &json!({})).await.refused(400, "bad_request");
    developer
        .send("POST", PLAYBOOKS, r#"{"playbook":"one-id","playbook":"another","name":"N"}"#)
        .await
        .refused(400, "bad_request");
    developer
        .get("/v1/orgs/local/playbooks?include_retired=true&include_retired=true")
        .await
        .refused(400, "bad_request");
    developer.send("POST", "/v1/orgs/local/playbooks/support/retire?now=true", "{}").await.refused(400, "bad_request");
    developer
        .delete("/v1/orgs/local/connections/conn_0123456789ABCDEFGHIJKL?really=true")
        .await
        .refused(400, "bad_request");
    let with_body = developer.send("DELETE", "/v1/orgs/local/connections/conn_0123456789ABCDEFGHIJKL", "{}").await;
    with_body.refused(400, "bad_request");
}

#[tokio::test]
async fn every_fault_is_told_at_once_and_only_the_first_hundred() {
    let server = TestApp::local().await;
    let developer = server.anyone();
    let answer = developer.post(PLAYBOOKS, &json!({ "playbook": "No", "name": "", "descripton": 1, "a/b~c": 2 })).await;
    let mut pointers = answer.invalid_at();
    pointers.sort();
    assert_eq!(pointers, ["/a~1b~0c", "/descripton", "/name", "/playbook"]);
    for issue in answer.json()["errors"].as_array().unwrap() {
        let members: Vec<&String> = issue.as_object().unwrap().keys().collect();
        assert_eq!(members, ["detail", "pointer"]);
    }
    let many: serde_json::Map<_, _> = (0..300).map(|n| (format!("field{n}"), json!(n))).collect();
    assert_eq!(developer.post(PLAYBOOKS, &many.into()).await.invalid_at().len(), 100);

    assert_eq!(developer.get("/v1/orgs/local/playbooks?retired=true").await.invalid_at(), ["/retired"]);
    assert_eq!(
        developer.get("/v1/orgs/local/playbooks?include_retired=perhaps").await.invalid_at(),
        ["/include_retired"]
    );
    developer.get("/v1/orgs/local/playbooks?include_retired=true").await.done(200);
}
