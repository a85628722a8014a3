//! Where a link goes: a browser that sends everything through a proxy which writes all of it down.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use thirtyfour::prelude::*;
use tokio::net::TcpListener;

use super::{Page, secret};
use crate::support::app::TestApp;
use crate::support::browser::{Browser, Scheme, Screen};
use crate::support::eventually;
use crate::support::upstream::Upstream;

const KEY: &str = "the-key-of-the-desk";

/// A forward proxy for plain HTTP: it knows the way to one server, and answers for every other host itself.
struct Recorder {
    address: String,
    seen: Arc<Mutex<Vec<(String, String)>>>,
}

impl Recorder {
    async fn before(server: &TestApp) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let seen = Arc::<Mutex<Vec<(String, String)>>>::default();
        let (own, kept, target) = (server.address().port(), seen.clone(), server.url(""));
        #[expect(clippy::disallowed_methods, reason = "a test's own requests, not the program's")]
        let http = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let router = Router::new().fallback(move |request: Request| {
            let (kept, target, http) = (kept.clone(), target.clone(), http.clone());
            async move {
                let host = request.uri().authority().map(ToString::to_string).unwrap_or_default();
                let ours = host == format!("localhost:{own}");
                let (parts, body) = request.into_parts();
                let text = format!("{} {}\n{:?}", parts.method, parts.uri, parts.headers);
                kept.lock().unwrap().push((host, text));
                if !ours {
                    return (StatusCode::OK, "Somebody else's page.").into_response();
                }
                let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
                let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
                let sent = http.request(parts.method, format!("{target}{path}")).headers(parts.headers).body(body);
                let answer = sent.send().await.unwrap();
                let mut response = Response::builder().status(answer.status());
                *response.headers_mut().unwrap() = answer.headers().clone();
                response.body(Body::from(answer.bytes().await.unwrap())).unwrap()
            }
        });
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, seen }
    }

    /// Each host that was asked, with the request line and the headers.
    fn seen(&self) -> Vec<(String, String)> {
        self.seen.lock().unwrap().clone()
    }
}

/// Security case 27: the page loads nothing from elsewhere, tells nobody where it was, and is not kept.
#[tokio::test(flavor = "multi_thread")]
async fn a_link_reaches_nobody_but_the_server() {
    let server = TestApp::local().await;
    let upstream = Upstream::behind(KEY).await;
    let page = Page::of(&server, &secret(&upstream)).await;
    let recorder = Recorder::before(&server).await;
    let browser = Browser::behind(Screen::Desktop, Scheme::Light, &recorder.address).await;
    let driver = browser.driver();
    browser.visit(&format!("{}/connect/{}", server.origin(), page.link)).await;
    let field = driver.find(By::Css("input[name=value]")).await.unwrap();
    assert!(["off", "new-password", "one-time-code"].contains(&&*field.attr("autocomplete").await.unwrap().unwrap()));
    assert_eq!(field.attr("type").await.unwrap().as_deref(), Some("password"));
    field.send_keys(KEY).await.unwrap();
    driver.find(By::Css("button.primary")).await.unwrap().click().await.unwrap();
    eventually("the connection", async || driver.find(By::Css("main[data-state=connected]")).await.ok()).await;
    let source = driver.source().await.unwrap();
    assert!(!source.contains(KEY), "the page shows no credential");
    // From the page to a page of somebody else, as a link in it would lead.
    driver.execute("location.href = 'http://elsewhere.test/next'", Vec::new()).await.unwrap();
    eventually("the other page", async || {
        recorder.seen().iter().any(|(host, _)| host.contains("elsewhere.test")).then_some(())
    })
    .await;

    let own = format!("localhost:{}", server.address().port());
    let seen = recorder.seen();
    assert!(seen.iter().filter(|(host, _)| *host == own).count() >= 4, "it goes through the proxy: {seen:?}");
    for (host, request) in seen.iter().filter(|(host, _)| *host != own) {
        // What the browser asks its maker for is not the page's doing; the link is in none of it.
        assert!(!request.contains(&page.link) && !request.contains(KEY), "{host}: {request}");
        assert!(!request.contains(&own), "no referrer names the server: {request}");
    }
    let loaded: Vec<&String> = seen.iter().map(|(host, _)| host).filter(|host| host.ends_with(".test")).collect();
    assert!(loaded.iter().all(|host| host.contains("elsewhere.test")), "{loaded:?}");
    let answer = page.browser.get(&format!("/connect/{}", page.link)).await;
    assert_eq!((answer.header("cache-control"), answer.header("referrer-policy")), ("no-store", "no-referrer"));
    // The server's own pages alone get a referrer, so that a form's origin is known.
    assert!(answer.text.contains("<meta name=\"referrer\" content=\"same-origin\">"));
    for part in ["src=", "href="] {
        for other in answer.text.split(part).skip(1) {
            assert!(other.starts_with("\"/") && !other.starts_with("\"//"), "{part}{}", &other[..other.len().min(60)]);
        }
    }
    browser.close().await;
}
