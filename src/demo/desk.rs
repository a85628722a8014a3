//! The parts desk: a small HTTP API to connect, as foreign to the server as any other service.
//!
//! It names axum although only the doors of the server may: it stands for a service of somebody else and shares nothing
//! with the server but the process. Its document is `parts-desk.json`; a test holds the two together.

mod stock;

use std::sync::{Arc, Mutex, PoisonError};

use aws_lc_rs::constant_time::verify_slices_are_equal;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, RawQuery, Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use http::StatusCode;
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use stock::{Refused, Stock};

struct Desk {
    key: String,
    stock: Mutex<Stock>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    number: String,
    quantity: u32,
    #[serde(default)]
    note: Option<String>,
}

/// Serves the desk to whoever has `key`, until `stop`.
pub(super) async fn serve(listener: TcpListener, key: String, stop: CancellationToken) {
    let served = axum::serve(listener, router(key)).with_graceful_shutdown(stop.cancelled_owned());
    if let Err(error) = served.await {
        tracing::error!(%error, "the parts desk ended");
    }
}

fn router(key: String) -> Router {
    let desk = Arc::new(Desk { key, stock: Mutex::new(Stock::full()) });
    Router::new()
        .route("/account", get(account))
        .route("/parts", get(parts))
        .route("/parts/{number}", get(part))
        .route("/orders", get(orders).post(order))
        .layer(middleware::from_fn_with_state(desk.clone(), need_key))
        .with_state(desk)
}

async fn need_key(State(desk): State<Arc<Desk>>, request: Request, next: Next) -> Response {
    let given = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let given = given.and_then(|text| text.strip_prefix("Bearer ")).unwrap_or_default();
    if verify_slices_are_equal(given.as_bytes(), desk.key.as_bytes()).is_ok() {
        return next.run(request).await;
    }
    let words = json!({ "error": "The key is missing or wrong. The demo printed it when it started." });
    (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")], Json(words)).into_response()
}

async fn account() -> Json<Value> {
    Json(json!({ "id": "workshop", "name": "Demo workshop" }))
}

async fn parts(State(desk): State<Arc<Desk>>, RawQuery(query): RawQuery) -> Json<Value> {
    let query = query.unwrap_or_default();
    let words = url::form_urlencoded::parse(query.as_bytes())
        .find_map(|(name, value)| (name == "words").then(|| value.into_owned()))
        .unwrap_or_default();
    Json(json!({ "parts": desk.stock().find(&words) }))
}

async fn part(State(desk): State<Arc<Desk>>, Path(number): Path<String>) -> Response {
    match desk.stock().part(&number) {
        Some(part) => Json(part).into_response(),
        None => refused(&Refused::Unknown),
    }
}

async fn orders(State(desk): State<Arc<Desk>>) -> Json<Value> {
    Json(json!({ "orders": desk.stock().orders() }))
}

async fn order(State(desk): State<Arc<Desk>>, wanted: Result<Json<Wanted>, JsonRejection>) -> Response {
    let Ok(Json(wanted)) = wanted else {
        return refused(&Refused::Wrong);
    };
    match desk.stock().order(&wanted.number, wanted.quantity, wanted.note) {
        Ok(order) => (StatusCode::CREATED, Json(order)).into_response(),
        Err(why) => refused(&why),
    }
}

fn refused(why: &Refused) -> Response {
    let (status, words) = match why {
        Refused::Unknown => (
            StatusCode::NOT_FOUND,
            "There is no part of this number. List the parts to see those there are.".to_owned(),
        ),
        Refused::TooFew { left } => (StatusCode::CONFLICT, format!("There are only {left} left.")),
        Refused::Wrong => (
            StatusCode::UNPROCESSABLE_ENTITY,
            "Expected the number of a part and a quantity from 1 to 1000.".to_owned(),
        ),
    };
    (status, Json(json!({ "error": words }))).into_response()
}

impl Desk {
    fn stock(&self) -> std::sync::MutexGuard<'_, Stock> {
        self.stock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    use super::*;

    async fn ask(desk: &Router, method: &str, path: &str, key: &str, body: Option<Value>) -> (StatusCode, Value) {
        let request = http::Request::builder().method(method).uri(path).header(AUTHORIZATION, format!("Bearer {key}"));
        let request = request.header("content-type", "application/json");
        let body = axum::body::Body::from(body.map(|value| value.to_string()).unwrap_or_default());
        let answer = desk.clone().oneshot(request.body(body).unwrap()).await.unwrap();
        let status = answer.status();
        let bytes = answer.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&bytes).unwrap_or_default())
    }

    #[tokio::test]
    async fn what_is_ordered_leaves_the_stock_and_stands_among_the_orders() {
        let desk = router("the-key".into());
        let (_, found) = ask(&desk, "GET", "/parts?words=brass+hinge", "the-key", None).await;
        let part = found["parts"][0].clone();
        let wanted = json!({ "number": part["number"], "quantity": 2, "note": "for the cupboard" });
        let (status, order) = ask(&desk, "POST", "/orders", "the-key", Some(wanted)).await;
        assert_eq!((status, &order["name"], &order["quantity"]), (StatusCode::CREATED, &part["name"], &json!(2)));
        let path = format!("/parts/{}", part["number"].as_str().unwrap());
        let (_, after) = ask(&desk, "GET", &path, "the-key", None).await;
        assert_eq!(after["in_stock"], json!(part["in_stock"].as_u64().unwrap() - 2));
        let (_, orders) = ask(&desk, "GET", "/orders", "the-key", None).await;
        assert_eq!(orders["orders"], json!([order]));
    }

    #[tokio::test]
    async fn nothing_is_answered_without_the_key() {
        let desk = router("the-key".into());
        for key in ["", "another-key", "the-key "] {
            for path in ["/account", "/parts", "/orders"] {
                assert_eq!(ask(&desk, "GET", path, key, None).await.0, StatusCode::UNAUTHORIZED, "{key} {path}");
            }
        }
    }

    #[tokio::test]
    async fn an_order_that_cannot_be_filled_changes_nothing() {
        let desk = router("the-key".into());
        for (wanted, expected) in [
            (json!({ "number": "XX-000", "quantity": 1 }), StatusCode::NOT_FOUND),
            (json!({ "number": "HB-040", "quantity": 999 }), StatusCode::CONFLICT),
            (json!({ "number": "HB-040", "quantity": 0 }), StatusCode::UNPROCESSABLE_ENTITY),
            (json!({ "number": "HB-040" }), StatusCode::UNPROCESSABLE_ENTITY),
            (json!([]), StatusCode::UNPROCESSABLE_ENTITY),
        ] {
            let (status, answer) = ask(&desk, "POST", "/orders", "the-key", Some(wanted.clone())).await;
            assert_eq!(status, expected, "{wanted}");
            assert!(answer["error"].is_string());
        }
        assert_eq!(ask(&desk, "GET", "/orders", "the-key", None).await.1, json!({ "orders": [] }));
    }

    /// Every operation of the document is answered by the desk, and with what the document promises.
    #[tokio::test]
    async fn the_document_describes_the_desk() {
        let document: Value = serde_json::from_str(include_str!("parts-desk.json")).unwrap();
        let desk = router("the-key".into());
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let body = (method == "post").then(|| json!({ "number": "HB-040", "quantity": 1 }));
                let path = path.replace("{number}", "HB-040");
                let (status, answer) = ask(&desk, &method.to_uppercase(), &path, "the-key", body).await;
                let promised = &operation["responses"][status.as_str()]["content"]["application/json"]["schema"];
                let mut schema = promised.clone();
                schema["components"] = document["components"].clone();
                assert!(promised.is_object() && jsonschema::is_valid(&schema, &answer), "{method} {path}: {answer}");
            }
        }
    }
}
