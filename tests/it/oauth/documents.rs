//! Clients whose id is the address of a document (security case 43).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::FutureExt;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use playmaker::identity::oauth::AuthorizationServer;
use playmaker::identity::oauth::documents::{Fault, Fetch, Found};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{BACK, Scene, another, query};

const ID: &str = "https://client.example/metadata.json";
const MINUTE: i64 = 60_000;

/// An authorization server over a scene's database, whose documents come from the test.
struct Web {
    scene: Scene,
    oauth: AuthorizationServer,
    asked: Arc<AtomicUsize>,
    answer: Arc<Mutex<Result<(String, &'static str), String>>>,
}

fn document() -> Value {
    json!({ "client_id": ID, "client_name": "Editor", "redirect_uris": [BACK] })
}

impl Web {
    async fn new() -> Self {
        let scene = Scene::new().await;
        let asked = Arc::new(AtomicUsize::new(0));
        let answer = Arc::new(Mutex::new(Ok((document().to_string(), "max-age=600"))));
        let (counted, told) = (asked.clone(), answer.clone());
        let fetch: Fetch = Arc::new(move |url, most| {
            assert_eq!((url.as_str(), most), (ID, 5 << 10));
            counted.fetch_add(1, Ordering::SeqCst);
            let told = told.lock().unwrap().clone();
            async move {
                told.map_err(Fault::from).map(|(text, cache)| {
                    let headers = [
                        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
                        (CACHE_CONTROL, HeaderValue::from_static(cache)),
                    ];
                    Found { headers: HeaderMap::from_iter(headers), body: Bytes::from(text) }
                })
            }
            .boxed()
        });
        let oauth = another(&scene.server, fetch).await;
        Self { scene, oauth, asked, answer }
    }

    fn tells(&self, answer: Result<(Value, &'static str), &str>) {
        *self.answer.lock().unwrap() =
            answer.map(|(document, cache)| (document.to_string(), cache)).map_err(str::to_owned);
    }

    async fn known(&self) -> bool {
        self.oauth.client(ID).await.unwrap().is_some()
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

/// Security case 43. What `auth/basic-cimd` of the conformance suite relies on.
#[tokio::test]
async fn a_document_is_asked_for_once_while_it_is_fresh() {
    let web = Web::new().await;
    assert!(web.known().await);
    web.scene.server.clock.advance_ms(10 * MINUTE - 1);
    assert!(web.known().await && web.asked() == 1);
    web.scene.server.clock.advance_ms(1);
    assert!(web.known().await && web.asked() == 2);
    let many = futures_util::future::join_all((0..20).map(|_| web.known())).await;
    assert!(many.into_iter().all(|known| known) && web.asked() == 2);
}

/// Security case 43: a bad document is forgotten after a minute, and never takes a good one's place for long.
#[tokio::test]
async fn a_failure_is_kept_for_a_minute() {
    let web = Web::new().await;
    web.tells(Err("The server cannot be reached."));
    assert!(!web.known().await && !web.known().await && web.asked() == 1);
    web.scene.server.clock.advance_ms(MINUTE);
    let mut lying = document();
    lying["client_id"] = "https://client.example/other.json".into();
    web.tells(Ok((lying, "max-age=86400")));
    assert!(!web.known().await && web.asked() == 2);
    web.scene.server.clock.advance_ms(MINUTE);
    web.tells(Ok((document(), "no-store")));
    assert!(web.known().await && web.asked() == 3);
    web.scene.server.clock.advance_ms(5 * MINUTE - 1);
    assert!(web.known().await && web.asked() == 3);
}

/// Security case 43: no address inside, no matter how it is written; a page of ours and no redirect.
#[tokio::test]
async fn an_address_inside_is_never_asked() {
    let scene = Scene::new().await;
    let inside = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = inside.local_addr().unwrap().port();
    for id in [
        format!("https://127.0.0.1:{port}/c"),
        format!("https://localhost:{port}/c"),
        format!("https://[::1]:{port}/c"),
        format!("https://[::ffff:127.0.0.1]:{port}/c"),
        "https://169.254.169.254/latest/meta-data".to_owned(),
        "https://10.0.0.1/c".to_owned(),
        format!("http://127.0.0.1:{port}/c"),
    ] {
        let answer = scene.server.anyone().get(&format!("/oauth/authorize?{}", query(&id, &[]))).await;
        assert_eq!((answer.status, answer.header("location")), (400, ""), "{id}");
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
    }
    let nobody_came = tokio::time::timeout(std::time::Duration::from_millis(50), inside.accept()).await;
    assert!(nobody_came.is_err());
}
