use serde_json::{Value, json};
use url::Url;

use super::super::{Bounds, Document, Placement, Refusal, read};
use super::{because, sole};

fn read_with(servers: Value, item: Value, place: &Placement) -> Result<Document, Refusal> {
    let text = json!({ "openapi": "3.0.0", "servers": servers, "paths": { "/a": item } });
    read(&text.to_string(), Bounds::OPERATOR, place)
}

fn from(document: &str) -> Placement {
    Placement { document_url: Some(Url::parse(document).unwrap()), ..Placement::default() }
}

#[test]
fn the_first_https_server_is_taken() {
    let servers = json!([{ "url": "http://a.example" }, { "url": "https://b.example/v2?key=1" }]);
    let read = read_with(servers, json!({ "get": {} }), &Placement::default()).unwrap();
    let prepared = super::request(&sole(&read), json!({})).unwrap();
    assert_eq!(prepared.url.as_str(), "https://b.example/v2/a?key=1");
}

#[test]
fn a_relative_server_or_none_goes_by_the_documents_address() {
    let place = from("https://docs.example/api/openapi.json");
    let read = read_with(json!([{ "url": "../v1" }]), json!({ "get": {} }), &place).unwrap();
    assert_eq!(read.base_url.as_str(), "https://docs.example/v1");
    let read = read_with(json!([]), json!({ "get": {} }), &place).unwrap();
    assert_eq!(read.base_url.as_str(), "https://docs.example/");
    assert!(read_with(json!([]), json!({ "get": {} }), &Placement::default()).is_err());
}

#[test]
fn variables_take_a_given_value_or_their_default_within_their_list() {
    let servers = json!([{
        "url": "https://{region}.example/{version}",
        "variables": { "region": { "default": "eu", "enum": ["eu", "us.west"] }, "version": { "default": "v1" } },
    }]);
    let with = |name: &str, value: &str| {
        let mut place = Placement::default();
        place.server_variables.insert(name.to_owned(), value.to_owned());
        read_with(servers.clone(), json!({ "get": {} }), &place).map(|read| read.base_url.to_string())
    };
    assert_eq!(with("region", "us.west").unwrap(), "https://us.west.example/v1");
    assert_eq!(with("version", "v2/beta").unwrap(), "https://eu.example/v2/beta");
    for (name, value) in [("region", "asia"), ("version", "../x"), ("version", "a?b"), ("version", "a#b")] {
        assert!(with(name, value).is_err(), "{name} {value}");
    }
    let open = json!([{ "url": "https://{host}/", "variables": { "host": { "default": "a.example" } } }]);
    for value in ["user@evil.example", "evil.example/x", "evil.example#", "", "a..b"] {
        let mut place = Placement::default();
        place.server_variables.insert("host".to_owned(), value.to_owned());
        assert!(read_with(open.clone(), json!({ "get": {} }), &place).is_err(), "{value}");
    }
}

#[test]
fn an_operation_of_another_origin_is_unusable_unless_it_is_a_known_host() {
    let servers = json!([{ "url": "https://a.example" }]);
    let item = json!({ "get": { "servers": [{ "url": "https://uploads.example/up" }] } });
    let read = read_with(servers.clone(), item.clone(), &Placement::default()).unwrap();
    assert_eq!(because(&read), ["foreign_server"]);
    let place =
        Placement { hosts: vec![Url::parse("https://uploads.example").unwrap().origin()], ..Placement::default() };
    assert_eq!(
        sole(&read_with(servers.clone(), item.clone(), &place).unwrap()).server.as_str(),
        "https://uploads.example/up"
    );
    // The entry's own address goes before every server of the document.
    let read = read_with(servers, item, &super::at("https://own.example/x")).unwrap();
    assert_eq!(sole(&read).server.as_str(), "https://own.example/x");
}

#[test]
fn addresses_with_a_user_part_or_another_scheme_are_bad_servers() {
    for url in
        ["https://user:pass@a.example", "ftp://a.example", "https://a.example/#x", "https://{x", "http://b.example"]
    {
        let item = json!({ "get": { "servers": [{ "url": url }] } });
        let read = read_with(json!([{ "url": "https://a.example" }]), item, &Placement::default()).unwrap();
        assert_eq!(because(&read), ["bad_server"], "{url}");
    }
}
