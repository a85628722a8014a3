use super::super::{Client, Failure, Policy, Provenance, Redirects, Request, Response};
use super::{Served, Silent, client, get, ok, refused};

fn to(location: &str) -> Vec<u8> {
    format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n").into_bytes()
}

fn asking(url: &str) -> Request {
    let mut request = get(url, Provenance::Operator);
    request.redirects = Redirects::SameHost(3);
    for (name, value) in [("authorization", "Bearer canary"), ("x-api-key", "canary"), ("accept", "application/json")] {
        request.headers.insert(name, value.parse().unwrap());
    }
    request
}

async fn sent(request: Request) -> Result<Response, Failure> {
    let client: Client = client(Policy::default());
    client.send(request).await
}

#[tokio::test]
async fn a_call_hands_its_redirect_back() {
    let served = Served::new(|_| to("/elsewhere")).await;
    let answer = sent(get(&served.url("/"), Provenance::Operator)).await.unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(answer.status, 302);
    assert_eq!(served.count(), 1);
}

#[tokio::test]
async fn a_document_follows_three_hops_without_the_credential() {
    let served = Served::new(|head| match head.split(' ').nth(1) {
        Some("/0") => to("/1#part"),
        Some("/1") => to("2"),
        Some("/2") => to("/3"),
        _ => ok("", b"here"),
    })
    .await;
    let answer = sent(asking(&served.url("/0"))).await.unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(answer.body.bytes().await.unwrap(), "here");
    let heads = served.heads.lock().unwrap();
    assert!(heads[0].contains("canary"));
    for head in &heads[1..] {
        assert!(!head.contains("canary") && head.contains("application/json"), "{head}");
    }
}

#[tokio::test]
async fn a_fourth_hop_is_one_too_many() {
    let served = Served::new(|_| to("/again")).await;
    assert_eq!(refused(sent(asking(&served.url("/"))).await), "redirects");
    assert_eq!(served.count(), 4);
}

#[tokio::test]
async fn hops_to_other_places_are_refused_without_a_socket() {
    let silent = Silent::new();
    let port = silent.port();
    for (location, rule) in [
        (format!("http://localhost:{port}/"), "redirect_host"),
        (format!("http://127.0.0.2:{port}/"), "redirect_host"),
        ("https://example.com/".to_owned(), "redirect_host"),
        ("ftp://127.0.0.1/".to_owned(), "redirect_scheme"),
        ("http://[::zz]/".to_owned(), "redirect_syntax"),
        (format!("http://127.0.0.1:{port}/"), "scheme"),
        (format!("https://127.0.0.1:{port}/"), "range"),
        (format!("//user@127.0.0.1:{port}/"), "user"),
    ] {
        let served = Served::new(move |_| to(&location)).await;
        assert_eq!(refused(sent(asking(&served.url("/"))).await), rule);
        assert_eq!(served.count(), 1);
    }
    silent.stays_silent();
}

#[tokio::test]
async fn a_hop_to_another_port_is_refused_where_the_origin_has_to_stay() {
    let silent = Silent::new();
    let elsewhere = format!("http://127.0.0.1:{}/", silent.port());
    let served = Served::new(move |head| match head.split(' ').nth(1) {
        Some("/0") => to("/1"),
        _ => to(&elsewhere),
    })
    .await;
    let mut request = asking(&served.url("/0"));
    request.redirects = Redirects::SameOrigin(3);
    assert_eq!(refused(sent(request.clone()).await), "redirect_origin");
    assert_eq!(served.count(), 2);
    request.redirects = Redirects::SameOrigin(0);
    assert_eq!(refused(sent(request).await), "redirects");
    silent.stays_silent();
}

#[tokio::test]
async fn a_post_is_never_redirected() {
    let served = Served::new(|_| to("/again")).await;
    let mut request = asking(&served.url("/"));
    request.method = http::Method::POST;
    let answer = sent(request).await.unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(answer.status, 302);
}
