use std::sync::Arc;
use std::time::Duration;

use super::super::{Failure, Limits, Policy, Provenance, ProxySettings};
use super::{Script, Served, Silent, client, failed, get, ok, refused};

fn scripted(script: &Arc<Script>) -> Policy {
    Policy { resolver: Arc::clone(script) as _, ..Policy::default() }
}

fn listing(origin: &str, script: &Arc<Script>) -> Policy {
    Policy { private_origins: vec![Policy::origin(origin).unwrap()], ..scripted(script) }
}

#[tokio::test]
async fn a_name_with_one_private_address_is_refused_without_a_socket() {
    for answers in [&["127.0.0.1"][..], &["8.8.8.8", "127.0.0.1"], &["::ffff:127.0.0.1"], &["2606:4700::1", "::1"]] {
        let silent = Silent::new();
        let client = client(scripted(&Script::new(&[answers])));
        let url = format!("https://mixed.example:{}/", silent.port());
        assert_eq!(refused(client.send(get(&url, Provenance::Person)).await), "range");
        assert_eq!(refused(client.check_resolved(&url.parse().unwrap(), Provenance::Person).await), "range");
        silent.stays_silent();
    }
}

#[tokio::test]
async fn a_name_that_changes_its_mind_after_the_check_is_refused() {
    let silent = Silent::new();
    let client = client(scripted(&Script::new(&[&["8.8.8.8"], &["127.0.0.1"]])));
    let url = format!("https://rebind.example:{}/", silent.port());
    assert_eq!(client.check_resolved(&url.parse().unwrap(), Provenance::Person).await, Ok(()));
    assert_eq!(refused(client.send(get(&url, Provenance::Person)).await), "range");
    silent.stays_silent();
}

#[tokio::test]
async fn the_checked_address_is_dialled_after_one_lookup_and_again_for_each_new_socket() {
    let served = Served::new(|head| {
        let close = if head.contains("/last") { "Connection: close\r\n" } else { "" };
        ok(close, b"fine")
    })
    .await;
    let origin = format!("http://crm.internal:{}", served.port);
    let script = Script::new(&[&["127.0.0.1"], &["169.254.169.254"]]);
    let client = client(listing(&origin, &script));
    for path in ["/first", "/last"] {
        let answer = client.send(get(&format!("{origin}{path}"), Provenance::Person)).await.unwrap();
        assert_eq!(answer.body.bytes().await.unwrap(), "fine");
    }
    assert_eq!(*script.asked.lock().unwrap(), ["crm.internal"]);
    assert!(served.heads.lock().unwrap()[0].contains(&format!("host: crm.internal:{}", served.port)));
    assert_eq!(refused(client.send(get(&format!("{origin}/again"), Provenance::Person)).await), "range");
}

#[tokio::test]
async fn a_socket_of_the_operator_is_not_lent_to_a_person() {
    let served = Served::new(|_| ok("", b"fine")).await;
    let url = format!("https://crm.example:{}/", served.port);
    let plain = url.replace("https", "http");
    let client = client(scripted(&Script::new(&[&["127.0.0.1"]])));
    client.send(get(&plain, Provenance::Operator)).await.unwrap().body.bytes().await.unwrap();
    assert_eq!(refused(client.send(get(&url, Provenance::Person)).await), "range");
    assert_eq!(refused(client.send(get(&plain, Provenance::Learned)).await), "scheme");
    assert_eq!(served.count(), 1);
}

#[tokio::test]
async fn the_servers_own_addresses_are_refused_always() {
    let silent = Silent::new();
    for own in [
        format!("127.0.0.1:{}", silent.port()),
        format!("0.0.0.0:{}", silent.port()),
        format!("[::]:{}", silent.port()),
    ] {
        let client = client(Policy {
            local_mode: true,
            own_addresses: vec![own.parse().unwrap()],
            private_origins: vec![Policy::origin(&format!("http://self.internal:{}", silent.port())).unwrap()],
            ..scripted(&Script::new(&[&["127.0.0.1"]]))
        });
        for host in ["127.0.0.1", "localhost", "self.internal", "0.0.0.0", "[::ffff:127.0.0.1]", "self.example"] {
            let url = format!("http://{host}:{}/", silent.port());
            assert_eq!(refused(client.send(get(&url, Provenance::Operator)).await), "own_address", "{url}");
        }
        for host in ["127.0.0.1", "localhost", "self.internal"] {
            let url = format!("http://{host}:{}/", silent.port());
            assert_eq!(refused(client.send(get(&url, Provenance::Person)).await), "own_address", "{url}");
        }
    }
    silent.stays_silent();
}

#[tokio::test]
async fn local_mode_reaches_loopback_without_asking_a_resolver() {
    let served = Served::new(|_| ok("", b"fine")).await;
    let script = Script::new(&[&["8.8.8.8"]]);
    let client = client(Policy { local_mode: true, ..scripted(&script) });
    for host in ["127.0.0.1", "localhost"] {
        let url = format!("http://{host}:{}/", served.port);
        let answer = client.send(get(&url, Provenance::Person)).await.unwrap();
        assert_eq!(answer.body.bytes().await.unwrap(), "fine");
    }
    assert!(script.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn names_without_or_with_too_many_addresses_do_not_resolve() {
    for script in [Script::new(&[]), Script::new(&[&[]]), Script::new(&[&["8.8.8.8"; 17]])] {
        let failure = failed(client(scripted(&script)).send(get("https://some.example/", Provenance::Person)).await);
        assert_eq!(failure, Failure::Resolve);
        assert!(failure.before_sending());
    }
}

#[tokio::test]
async fn failures_before_sending_are_told_apart() {
    let client = client(Policy::default());
    let closed = Silent::new().port();
    let url = format!("http://127.0.0.1:{closed}/");
    assert_eq!(failed(client.send(get(&url, Provenance::Operator)).await), Failure::Connect);
    let plain = Served::new(|_| Vec::new()).await;
    let not_tls = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://127.0.0.1:{}/", not_tls.local_addr().unwrap().port());
    tokio::spawn(async move {
        let (mut socket, _) = not_tls.accept().await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut socket, b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        let mut rest = Vec::new();
        let _ = tokio::io::AsyncReadExt::read_to_end(&mut socket, &mut rest).await;
    });
    assert_eq!(failed(client.send(get(&url, Provenance::Operator)).await), Failure::Tls);
    assert_eq!(plain.count(), 0);
}

#[tokio::test]
async fn a_silent_server_times_out_after_sending() {
    let served = Served::new(|_| Vec::new()).await;
    let mut request = get(&served.url("/"), Provenance::Operator);
    request.limits.first_byte = Duration::from_millis(50);
    let failure = failed(client(Policy::default()).send(request).await);
    assert_eq!(failure, Failure::TimedOut);
    assert!(!failure.before_sending());
}

#[tokio::test]
async fn a_server_that_takes_the_socket_but_no_tls_is_a_failed_connect() {
    let silent = Silent::new();
    let mut request = get(&format!("https://127.0.0.1:{}/", silent.port()), Provenance::Operator);
    request.limits = Limits { connect: Duration::from_millis(50), ..Limits::CALL };
    assert_eq!(failed(client(Policy::default()).send(request).await), Failure::Connect);
}

#[tokio::test]
async fn the_proxy_dials_what_the_names_allow() {
    let proxy = Served::new(|_| ok("", b"by proxy")).await;
    let script = Script::new(&[&["10.0.0.7"]]);
    let client = client(Policy {
        local_mode: true,
        proxy: Some(ProxySettings {
            url: proxy.url("/").parse().unwrap(),
            no_proxy: vec![".direct.example".to_owned()],
        }),
        ..scripted(&script)
    });
    let answer = client.send(get("http://api.example/a", Provenance::Operator)).await.unwrap();
    assert_eq!(answer.body.bytes().await.unwrap(), "by proxy");
    assert!(proxy.heads.lock().unwrap()[0].starts_with("GET http://api.example/a HTTP/1.1\r\n"));
    assert!(script.asked.lock().unwrap().is_empty());

    assert_eq!(refused(client.send(get("https://private.example/", Provenance::Person)).await), "range");
    assert_eq!(refused(client.send(get("https://a.direct.example/", Provenance::Person)).await), "range");
    assert_eq!(refused(client.send(get("https://db.internal/", Provenance::Person)).await), "name");

    let server = Served::new(|_| ok("", b"direct")).await;
    let answer = client.send(get(&server.url("/"), Provenance::Person)).await.unwrap();
    assert_eq!(answer.body.bytes().await.unwrap(), "direct");
    assert_eq!(proxy.count(), 1);
}

#[test]
fn extra_certificates_must_be_some() {
    for pem in ["", "no certificate", "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n"] {
        let policy = Policy { extra_ca_pem: Some(pem.into()), ..Policy::default() };
        assert!(super::Client::new(policy).is_err(), "{pem}");
    }
}
