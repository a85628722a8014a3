use proptest::prelude::*;

use super::super::{HostRules, Policy, Provenance};
use super::{client, refused};

const REFUSED: &[(&str, &str)] = &[
    ("http://example.com/", "scheme"),
    ("ftp://example.com/", "scheme"),
    ("javascript:alert(1)", "syntax"),
    ("file:///etc/passwd", "syntax"),
    ("example.com", "syntax"),
    ("", "syntax"),
    ("https://", "syntax"),
    ("https:example.com", "syntax"),
    ("https:///example.com", "syntax"),
    ("https://ex%61mple.com/", "syntax"),
    ("https://[fe80::1%25eth0]/", "syntax"),
    ("https://[fe80::1%eth0]/", "syntax"),
    ("https://user@example.com/", "user"),
    ("https://user:secret@example.com/", "user"),
    ("https://@example.com/", "user"),
    ("https://example.com/#part", "fragment"),
    ("https://example.com/#", "fragment"),
    ("https://example.com\\@evil.example/", "characters"),
    ("https:\\\\example.com", "characters"),
    (" https://example.com", "characters"),
    ("https://example.com/a b", "characters"),
    ("https://exam\tple.com/", "characters"),
    ("https://example.com/\n", "characters"),
    ("https://example.com/\u{85}", "characters"),
    ("https://2130706433/", "ipv4_form"),
    ("https://017700000001/", "ipv4_form"),
    ("https://0x7f000001/", "ipv4_form"),
    ("https://0x7f.0.0.1/", "ipv4_form"),
    ("https://0177.0.0.1/", "ipv4_form"),
    ("https://127.1/", "ipv4_form"),
    ("https://127.0.1/", "ipv4_form"),
    ("https://8.8.8/", "ipv4_form"),
    ("https://08.8.8.8/", "syntax"),
    ("https://8.8.8.8./", "ipv4_form"),
    ("https://127.0.0.1./", "ipv4_form"),
    ("https://１２７.0.0.1/", "ipv4_form"),
    ("https://127。0。0。1/", "ipv4_form"),
    ("https://intranet/", "name"),
    ("https://intranet./", "name"),
    ("https://localhost/", "name"),
    ("https://LOCALHOST/", "name"),
    ("https://localhost./", "name"),
    ("https://a.localhost/", "name"),
    ("https://printer.local/", "name"),
    ("https://db.internal/", "name"),
    ("https://db.internal./", "name"),
    ("https://router.home.arpa/", "name"),
    ("https://nas.lan/", "name"),
    ("https://metadata.google.internal/", "name"),
    ("https://api.default.svc.cluster.local/", "name"),
    ("https://host.docker.internal/", "name"),
    ("https://example..com/", "name"),
    ("https://example.com../", "name"),
    ("https://example.com:80/", "port"),
    ("https://example.com:22/", "port"),
    ("https://example.com:1023/", "port"),
    ("https://example.com:0/", "port"),
    ("https://0.0.0.0/", "range"),
    ("https://10.0.0.1/", "range"),
    ("https://100.64.0.1/", "range"),
    ("https://127.0.0.1/", "range"),
    ("https://169.254.169.254/", "range"),
    ("https://172.16.0.1/", "range"),
    ("https://192.168.1.1/", "range"),
    ("https://198.18.0.1/", "range"),
    ("https://203.0.113.1/", "range"),
    ("https://224.0.0.1/", "range"),
    ("https://255.255.255.255/", "range"),
    ("https://168.63.129.16/", "range"),
    ("https://[::]/", "range"),
    ("https://[::1]/", "range"),
    ("https://[::ffff:127.0.0.1]/", "range"),
    ("https://[::ffff:7f00:1]/", "range"),
    ("https://[::127.0.0.1]/", "range"),
    ("https://[64:ff9b::10.0.0.1]/", "range"),
    ("https://[64:ff9b:1::8.8.8.8]/", "range"),
    ("https://[2002:7f00:1::]/", "range"),
    ("https://[2001:0:4136:e378::1]/", "range"),
    ("https://[2001:db8::1]/", "range"),
    ("https://[fd00::1]/", "range"),
    ("https://[fe80::1]/", "range"),
    ("https://[ff02::1]/", "range"),
    ("https://[2606:4700::5efe:10.0.0.1]/", "range"),
];

#[test]
fn an_address_of_a_person_is_refused_by_its_text() {
    let client = client(Policy::default());
    for (text, rule) in REFUSED {
        for provenance in [Provenance::Person, Provenance::Learned] {
            let found = client.check_address(text, provenance);
            assert!(found.is_err(), "{text} passes");
            assert_eq!(refused(found), *rule, "{text}");
        }
    }
}

#[test]
fn public_addresses_pass() {
    let client = client(Policy::default());
    for text in [
        "https://example.com",
        "https://example.com:443/mcp?a=b",
        "https://example.com:1024/",
        "https://example.com:65535/",
        "HTTPS://Example.COM/",
        "https://bücher.example/",
        "https://8.8.8.8/",
        "https://[2606:4700::1111]/",
        "https://[64:ff9b::8.8.8.8]/",
        "https://notlocal/".replace("notlocal", "my.notlocal").as_str(),
        "https://internal.example.com/",
    ] {
        assert!(client.check_address(text, Provenance::Person).is_ok(), "{text}");
    }
}

#[test]
fn a_trailing_dot_is_cut() {
    let url = client(Policy::default()).check_address("https://example.com./mcp", Provenance::Person).unwrap();
    assert_eq!(url.as_str(), "https://example.com/mcp");
}

#[test]
fn the_operator_may_write_any_http_address() {
    let client = client(Policy::default());
    for text in ["http://localhost:11434/", "http://10.0.0.1/", "https://db.internal:22/", "http://169.254.169.254/"] {
        assert!(client.check_address(text, Provenance::Operator).is_ok(), "{text}");
    }
    assert_eq!(refused(client.check_address("ftp://db.internal/", Provenance::Operator)), "scheme");
}

#[test]
fn a_listed_origin_is_listed_alone_and_for_the_own_server_alone() {
    let client = client(Policy {
        private_origins: ["https://crm.internal:8443", "http://10.1.2.3:81", "http://169.254.169.254"]
            .into_iter()
            .map(|text| Policy::origin(text).unwrap())
            .collect(),
        ..Policy::default()
    });
    for text in ["https://crm.internal:8443/mcp", "https://crm.internal.:8443/mcp", "http://10.1.2.3:81/"] {
        assert!(client.check_address(text, Provenance::Person).is_ok(), "{text}");
        assert!(client.check_address(text, Provenance::Learned).is_err(), "{text}, learned");
    }
    for text in [
        "https://crm.internal/",
        "https://crm.internal:8444/",
        "http://crm.internal:8443/",
        "https://a.crm.internal:8443/",
        "https://10.1.2.3:81/",
        "https://user@crm.internal:8443/",
        "https://crm.internal:8443/#a",
        "http://0xa.1.2.3:81/",
        "http://169.254.169.254/",
    ] {
        assert!(client.check_address(text, Provenance::Person).is_err(), "{text}");
    }
}

#[test]
fn local_mode_opens_http_on_loopback_for_the_own_server() {
    let policy =
        |local_mode| Policy { local_mode, own_addresses: vec!["0.0.0.0:8080".parse().unwrap()], ..Policy::default() };
    let (local, served) = (client(policy(true)), client(policy(false)));
    for text in ["http://localhost:9000/mcp", "http://127.0.0.1:9000/", "http://[::1]:9000/"] {
        assert!(local.check_address(text, Provenance::Person).is_ok(), "{text}");
        assert!(local.check_address(text, Provenance::Learned).is_err(), "{text}, learned");
        assert!(served.check_address(text, Provenance::Person).is_err(), "{text}, not local");
    }
    for text in
        ["http://127.0.0.2:9000/", "http://10.0.0.1:9000/", "http://a.localhost:9000/", "http://example.com:9000/"]
    {
        assert!(local.check_address(text, Provenance::Person).is_err(), "{text}");
    }
    for text in ["http://localhost:8080/", "http://127.0.0.1:8080/", "http://[::1]:8080/"] {
        for provenance in [Provenance::Person, Provenance::Operator] {
            assert_eq!(refused(local.check_address(text, provenance)), "own_address", "{text}");
        }
    }
}

#[test]
fn only_hosts_of_the_operators_list_pass() {
    let client = client(Policy {
        hosts: HostRules::parse("*.example.com").unwrap(),
        private_origins: vec![Policy::origin("https://crm.internal").unwrap()],
        ..Policy::default()
    });
    assert!(client.check_address("https://api.example.com/", Provenance::Person).is_ok());
    assert!(client.check_address("https://crm.internal/", Provenance::Person).is_ok());
    assert!(client.check_address("https://other.example/", Provenance::Operator).is_ok());
    assert_eq!(refused(client.check_address("https://other.example/", Provenance::Person)), "hosts");
}

proptest! {
    #[test]
    fn no_text_panics_and_what_passes_is_https(text in "(https?://)?[a-z0-9.:@/\\[\\]%x#-]{0,30}|\\PC{0,40}") {
        if let Ok(url) = client_of_nobody().check_address(&text, Provenance::Person) {
            prop_assert_eq!(url.scheme(), "https");
            prop_assert!(url.username().is_empty() && url.fragment().is_none());
            prop_assert!(client_of_nobody().check_address(url.as_str(), Provenance::Person).is_ok());
        }
    }
}

fn client_of_nobody() -> &'static super::Client {
    static CLIENT: std::sync::LazyLock<super::Client> = std::sync::LazyLock::new(|| client(Policy::default()));
    &CLIENT
}
