//! A harbour desk: a small service with an HTTP API of its own that lets in whoever brings its key, in the one place it
//! looks, and nobody else. It remembers each request, so that a test can see what went where.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use http::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;

/// The right key.
pub const KEY: &str = "north-pier-9-key";

/// Where the desk looks for its key.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// In a header, after a word such as `Bearer`, or alone.
    Header(&'static str, Option<&'static str>),
    /// In the query.
    Query(&'static str),
    /// In a cookie.
    Cookie(&'static str),
}

/// What the desk was asked: the request line and the headers, in one text.
type Seen = Arc<Mutex<Vec<String>>>;

/// A desk that is open until the test ends.
pub struct Harbour {
    address: SocketAddr,
    seen: Seen,
    providers: TempDir,
}

#[derive(Clone)]
struct Door {
    place: Place,
    seen: Seen,
}

impl Harbour {
    /// Opens a desk that wants its key as a bearer token.
    pub async fn open() -> Self {
        Self::wanting(Place::Header("authorization", Some("Bearer"))).await
    }

    /// Opens a desk that wants its key in `place`.
    pub async fn wanting(place: Place) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Seen::default();
        let door = Door { place, seen: seen.clone() };
        let router = Router::new()
            .route("/account", get(async || Json(json!({ "id": "p-9", "name": "North pier" }))))
            .route("/berths", get(async || Json(json!({ "berths": [{ "number": 4, "metres": 12 }] }))))
            .route("/bookings", post(book))
            .layer(middleware::from_fn_with_state(door, look_for_key))
            .route("/document", get(async move || Json(document(address))));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, seen, providers: tempfile::tempdir().unwrap() }
    }

    /// The address of a path at the desk.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Settings of a server whose operator offers the desk as a provider.
    pub fn offered(&self) -> [(&'static str, String); 2] {
        let folder = self.providers.path();
        std::fs::write(folder.join("harbour-desk.json"), document(self.address).to_string()).unwrap();
        std::fs::write(folder.join("harbour-desk.yaml"), PROVIDER.replace("http://desk.invalid", &self.url("")))
            .unwrap();
        [("CONNECTIONS_PROVIDERS_DIR", folder.display().to_string()), ("CONNECTIONS_PRIVATE_HOSTS", self.url(""))]
    }

    /// The requests since the last look.
    pub fn seen(&self) -> Vec<String> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }
}

async fn look_for_key(State(door): State<Door>, request: Request, next: Next) -> Response {
    let mut text = format!("{} {}", request.method(), request.uri());
    for (name, value) in request.headers() {
        text.push_str(&format!("\n{name}: {}", value.to_str().unwrap()));
    }
    door.seen.lock().unwrap().push(text.clone());
    let expected = match door.place {
        Place::Header(name, Some(scheme)) => format!("\n{name}: {scheme} {KEY}"),
        Place::Header(name, None) => format!("\n{name}: {KEY}"),
        Place::Query(name) => format!("{name}={KEY}"),
        Place::Cookie(name) => format!("\ncookie: {name}={KEY}"),
    };
    if text.contains(&expected) && text.matches(KEY).count() == 1 {
        return next.run(request).await;
    }
    (StatusCode::UNAUTHORIZED, Json(json!({ "error": "This desk knows no such key." }))).into_response()
}

async fn book(Json(wanted): Json<Value>) -> Response {
    match wanted["berth"].as_u64() {
        Some(4) => (StatusCode::CREATED, Json(json!({ "booking": "b-1", "berth": 4 }))).into_response(),
        _ => (StatusCode::CONFLICT, Json(json!({ "error": "That berth is taken." }))).into_response(),
    }
}

fn document(address: SocketAddr) -> Value {
    let answers = |status: &str, properties: Value| {
        let schema = json!({ "type": "object", "properties": properties });
        json!({ (status): { "description": "Done.", "content": { "application/json": { "schema": schema } } } })
    };
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Harbour desk", "version": "1", "description": "Berths of a small harbour, and their bookings." },
        "servers": [{ "url": format!("http://{address}") }],
        "paths": {
            "/berths": { "get": {
                "operationId": "list_berths",
                "summary": "List free berths",
                "responses": answers("200", json!({ "berths": { "type": "array", "items": { "type": "object" } } })),
            } },
            "/bookings": { "post": {
                "operationId": "book_berth",
                "summary": "Book a berth",
                "requestBody": { "required": true, "content": { "application/json": { "schema": {
                    "type": "object",
                    "required": ["berth"],
                    "properties": { "berth": { "type": "integer" } },
                    "additionalProperties": false,
                } } } },
                "responses": answers("201", json!({ "booking": { "type": "string" } })),
            } },
        },
    })
}

const PROVIDER: &str = "\
name: harbour-desk
title: Harbour desk
description: See the free berths of the harbour and book one.
terms: [harbour, berths, moorings, boats]
server:
  type: openapi
  url: http://desk.invalid
  document: { file: harbour-desk.json }
ways:
  - kind: secret
    title: Key of the harbour desk
    name: Authorization
    in: header
    scheme: Bearer
verify: { method: GET, url: http://desk.invalid/account }
identity: { method: GET, url: http://desk.invalid/account, label: [/name], id: /id }
";
