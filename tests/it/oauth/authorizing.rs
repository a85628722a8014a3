//! `/oauth/authorize` before anybody has signed in: who is sent where (`identity.md` 7.2; security cases 34, 36, 37).

use super::{BACK, P, Scene, form, query};
use crate::support::people::Answer;

/// The parameters an answer sends back to the client.
fn sent_back(answer: &Answer) -> Vec<(String, String)> {
    assert_eq!(answer.status, 302, "{}", answer.text);
    let location = answer.header("location");
    assert!(location.starts_with(&format!("{BACK}?")), "{location}");
    url::Url::parse(location).unwrap().query_pairs().into_owned().collect()
}

/// The cookie by which a request that waits is found again.
fn request_cookie(answer: &Answer) -> String {
    let cookies = answer.headers.get_all("set-cookie").iter().map(|value| value.to_str().unwrap());
    cookies.into_iter().find(|cookie| cookie.contains("playmaker-request=")).unwrap().to_owned()
}

fn value(pairs: &[(String, String)], name: &str) -> String {
    pairs.iter().find(|(given, _)| given == name).map(|(_, value)| value.clone()).unwrap_or_default()
}

/// Security case 37.
#[tokio::test]
async fn who_is_not_signed_in_goes_to_our_page_and_nothing_of_it_stands_in_the_address() {
    let scene = Scene::new().await;
    let client = scene.public_client().await;
    let asked = query(&client, &[("state", "abc"), ("login_hint", "//evil.example")]);
    let answer = scene.server.anyone().get(&format!("/oauth/authorize?{asked}")).await;
    assert_eq!((answer.status, answer.header("location")), (303, "/sign-in"));
    let cookie = request_cookie(&answer);
    assert!(cookie.starts_with("__Host-playmaker-request=req_"), "{cookie}");
    for attribute in ["; Path=/", "; Max-Age=900", "; HttpOnly", "; SameSite=Lax", "; Secure"] {
        assert!(cookie.contains(attribute), "{attribute}: {cookie}");
    }
    assert_eq!(answer.header("cache-control"), "no-store");
    let id = cookie.split(['=', ';']).nth(1).unwrap();
    let waiting = scene.oauth().find_request(id).await.unwrap().unwrap();
    assert_eq!((waiting.asked.client, waiting.asked.state.as_deref()), (client, Some("abc")));
    assert!(!scene.server.database().everything().await.contains(id));
    scene.server.clock.advance_ms(15 * 60_000);
    assert!(scene.oauth().find_request(id).await.unwrap().is_none());
}

#[tokio::test]
async fn on_loopback_the_cookie_goes_without_its_prefix() {
    let scene = Scene::with(&[("PUBLIC_URL", "http://localhost:5555")]).await;
    let client = scene.public_client().await;
    let answer = scene.server.anyone().get(&format!("/oauth/authorize?{}", query(&client, &[]))).await;
    let cookie = request_cookie(&answer);
    assert!(cookie.starts_with("playmaker-request=req_") && !cookie.contains("Secure"), "{cookie}");
}

/// Security case 36.
#[tokio::test]
async fn an_unknown_client_or_address_is_told_on_a_page_of_ours() {
    let scene = Scene::new().await;
    let client = scene.public_client().await;
    let doubled = format!("{}&client_id={client}", query(&client, &[]));
    let twice_back = format!("{}&redirect_uri=https%3A%2F%2Fapp.example%2Fcb", query(&client, &[]));
    for asked in [
        query("client_nobody", &[]),
        query(&client, &[("client_id", "")]),
        doubled,
        query(&client, &[("redirect_uri", "-")]),
        query(&client, &[("redirect_uri", "https://app.example/cb/")]),
        query(&client, &[("redirect_uri", "https://evil.example/cb")]),
        query(&client, &[("redirect_uri", "https://app.example/cb#x")]),
        query(&client, &[("redirect_uri", "https://app.example:443/cb")]),
        query(&client, &[("redirect_uri", "javascript:alert(1)")]),
        twice_back,
        "state=x".to_owned(),
    ] {
        let answer = scene.server.anyone().get(&format!("/oauth/authorize?{asked}")).await;
        assert_eq!((answer.status, answer.header("location")), (400, ""), "{asked}");
        assert_eq!(answer.header("x-frame-options"), "DENY");
        assert!(answer.header("content-security-policy").contains("frame-ancestors 'none'"));
        assert!(!answer.text.contains("evil.example"));
    }
    let resumed = scene.server.anyone().get("/oauth/authorize").await;
    assert_eq!(resumed.status, 400, "nothing waits in this browser");
}

/// Security case 34. In the conformance suite: `auth/iss-supported`, `auth/iss-wrong-issuer`, `auth/iss-normalized`.
#[tokio::test]
async fn any_other_fault_goes_back_to_the_client() {
    let scene = Scene::new().await;
    let client = scene.public_client().await;
    for (member, given, error) in [
        ("response_type", "token", "unsupported_response_type"),
        ("response_type", "-", "invalid_request"),
        ("code_challenge", "-", "invalid_request"),
        ("code_challenge", "short", "invalid_request"),
        ("code_challenge_method", "-", "invalid_request"),
        ("code_challenge_method", "plain", "invalid_request"),
        ("resource", "https://other.example/mcp", "invalid_target"),
        ("prompt", "none", "consent_required"),
    ] {
        let asked = query(&client, &[(member, given), ("state", "a b&c")]);
        let answer = scene.server.anyone().get(&format!("/oauth/authorize?{asked}")).await;
        let pairs = sent_back(&answer);
        assert_eq!(value(&pairs, "error"), error, "{member}={given}");
        assert_eq!((value(&pairs, "state").as_str(), value(&pairs, "iss").as_str()), ("a b&c", P));
        assert!(!value(&pairs, "error_description").is_empty());
    }
    let without_state = query(&client, &[("response_type", "token")]);
    let posted = form_of(&scene, &without_state).await;
    assert_eq!(value(&sent_back(&posted), "error"), "unsupported_response_type");
    assert!(!posted.header("location").contains("state="));
    let long = query(&client, &[("state", &"x".repeat(2_049))]);
    let answer = scene.server.anyone().get(&format!("/oauth/authorize?{long}")).await;
    let pairs = sent_back(&answer);
    assert_eq!((value(&pairs, "error").as_str(), value(&pairs, "state").as_str()), ("invalid_request", ""));
}

async fn form_of(scene: &Scene, query: &str) -> Answer {
    let pairs: Vec<(String, String)> = url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    form(&scene.server.anyone(), "/oauth/authorize", &pairs).await
}

/// Security case 36: the port is free on this computer, for public clients alone.
#[tokio::test]
async fn the_port_of_this_computer_is_free() {
    let scene = Scene::new().await;
    let body = serde_json::json!({ "redirect_uris": ["http://127.0.0.1:33418/cb", "https://vscode.dev/redirect"] });
    let public = scene.registered(body.clone()).await;
    let mut secret = body;
    secret["token_endpoint_auth_method"] = "client_secret_post".into();
    let confidential = scene.registered(secret).await;
    for (client, address, status) in [
        (&public, "http://127.0.0.1:4000/cb", 303),
        (&public, "http://127.0.0.1/cb", 303),
        (&public, "http://localhost:4000/cb", 400),
        (&public, "http://127.0.0.1:4000/other", 400),
        (&confidential, "http://127.0.0.1:4000/cb", 400),
        (&confidential, "http://127.0.0.1:33418/cb", 303),
    ] {
        let asked = query(client["client_id"].as_str().unwrap(), &[("redirect_uri", address)]);
        assert_eq!(scene.server.anyone().get(&format!("/oauth/authorize?{asked}")).await.status, status, "{address}");
    }
}

/// What is no credential at a page buys nothing: a request that is over the rate is refused before a row is kept of it.
#[tokio::test]
async fn no_made_up_credential_passes_the_rate_of_an_address() {
    let scene = Scene::with(&[("RATE_ANONYMOUS", "1/2")]).await;
    let client = scene.public_client().await;
    let path = format!("/oauth/authorize?{}", super::query(&client, &[]));
    let kept = async || {
        let count = playmaker::on_pool!(scene.server.app.ledger.store(), pool =>
            sqlx::query_scalar::<_, i64>("SELECT COUNT(*) FROM oauth_requests").fetch_one(pool).await);
        count.unwrap()
    };
    assert_eq!(scene.server.anyone().get(&path).await.status, 303);
    for (header, value) in [("cookie", "a=b"), ("cookie", "playmaker=x"), ("authorization", "Bearer made-up")] {
        let answer = scene.server.anyone().with(header, value).get(&path).await;
        assert_eq!((answer.status, kept().await), (429, 1), "{header}: {value}");
    }
    // A session that is none is looked up thirty times, and then as good as nothing.
    let forged = format!("__Host-playmaker={}", "A".repeat(43));
    for number in 0..40 {
        let answer = scene.server.anyone().with("cookie", &forged).get(&path).await;
        assert_eq!(answer.status, 429, "{number}");
    }
    assert_eq!(kept().await, 31);
}
