use http::HeaderMap;
use serde_json::json;
use url::Url;

use super::super::toolkit;
use super::request;

const NOTES: &str = "
title: Notes
tools:
  - name: notes_get
    title: Get a note
    description: Reads one note.
    method: GET
    path: /notes/{note_id}
    read_only: true
    arguments:
      note_id: { type: string, description: The note }
      parts: { place: query, name: 'part[]', type: array, items: { type: string } }
    result: /note
    scopes: [notes.read]
  - name: notes_add
    description: Adds a note.
    method: post
    path: /notes
    arguments:
      text: { place: body, required: true, type: string }
      notebook_id: { place: body, name: notebookId, type: string }
    result: [id, text]
";

fn base() -> Url {
    Url::parse("https://notes.example/v1").unwrap()
}

#[test]
fn a_toolkit_gives_tools_like_a_document() {
    let read = toolkit(NOTES, &base()).unwrap();
    let [add, get] = read.tools.as_slice() else { panic!("two tools") };
    assert_eq!((get.title.as_str(), get.hints.read_only, get.hints.destructive), ("Get a note", true, false));
    assert_eq!(get.scopes, ["notes.read"]);
    let prepared = request(get, json!({ "note_id": "a/b", "parts": ["x", "y"] })).unwrap();
    assert_eq!(prepared.url.as_str(), "https://notes.example/v1/notes/a%2Fb?part%5B%5D=x&part%5B%5D=y");
    let prepared = request(add, json!({ "text": "hi", "notebook_id": "n1" })).unwrap();
    let body = prepared.body.unwrap();
    assert_eq!(body.media_type, "application/json");
    assert_eq!(body.bytes, br#"{"notebookId":"n1","text":"hi"}"#);
    assert_eq!(add.input_schema["required"], json!(["text"]));
}

#[test]
fn an_answer_is_reduced() {
    let read = toolkit(NOTES, &base()).unwrap();
    let outcome = read.tools[1].answer(200, &HeaderMap::new(), br#"{"note":{"id":1},"more":2}"#);
    assert_eq!(outcome.answer, Some(json!({ "id": 1 })));
    let outcome = read.tools[0].answer(201, &HeaderMap::new(), br#"{"id":1,"text":"t","etag":2}"#);
    assert_eq!(outcome.answer, Some(json!({ "id": 1, "text": "t" })));
}

#[test]
fn any_fault_refuses_the_file_and_names_the_tool() {
    let refused = |tool: &str| toolkit(&format!("tools: [{tool}]"), &base()).unwrap_err().detail;
    assert!(refused("{ name: t, method: GET, path: '/{x}' }").contains("\"x\""));
    assert!(refused("{ name: 'a b', method: GET, path: / }").contains("name"));
    assert!(refused("{ name: t, method: GET, path: /, arguments: { a: { type: 5 } } }").contains("JSON Schema"));
    assert!(
        refused("{ name: t, method: GET, path: /, arguments: { a: { place: header, name: Cookie } } }")
            .contains("header")
    );
    assert!(refused("{ name: t, method: GET, path: /, colour: red }").contains("colour"));
}
