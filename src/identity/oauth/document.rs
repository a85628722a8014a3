//! Client id metadata documents: which address can be a client's id, and what is read from the document there
//! (draft-ietf-oauth-client-id-metadata-document, `identity.md` 7.7). Fetching them is [`super::documents`]'.

use serde_json::Value;
use url::Url;

use super::client::{Client, Keys, Method, Origin, cleaned_name, is_public_key_set};
use super::redirect_uri;

/// The most bytes of a document.
pub const LONGEST: usize = 5 << 10;
/// The most bytes of a client's id.
const LONGEST_ID: usize = 512;
/// The most return addresses of a document.
const MOST_ADDRESSES: usize = 100;

/// The address of a document, where `client_id` is one: https, with a path, without fragment, user and dot segments, and
/// written the one way a parser writes it too.
pub fn address(client_id: &str) -> Option<Url> {
    if client_id.len() > LONGEST_ID || !client_id.starts_with("https://") {
        return None;
    }
    let url = Url::parse(client_id).ok()?;
    let plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    let pathed = url.path() != "/" && !client_id.to_ascii_lowercase().contains("%2e");
    (plain && pathed && url.as_str() == client_id).then_some(url)
}

/// Reads the document of `client_id`. Unknown members and further grant types are ignored; a shared secret is refused.
///
/// # Errors
///
/// What is wrong with it, for the log and the page that refuses.
pub fn read(client_id: &str, body: &[u8]) -> Result<Client, &'static str> {
    if body.len() > LONGEST {
        return Err("it is over 5 KiB");
    }
    let document: Value = serde_json::from_slice(body).map_err(|_| "it is not JSON")?;
    let document = document.as_object().ok_or("it is no JSON object")?;
    if document.get("client_id").and_then(Value::as_str) != Some(client_id) {
        return Err("its client_id is not its address");
    }
    if document.contains_key("client_secret") || document.contains_key("client_secret_expires_at") {
        return Err("it holds a secret, which a public document cannot");
    }
    let redirect_uris = document.get("redirect_uris").and_then(Value::as_array).ok_or("it has no redirect_uris")?;
    if !(1..=MOST_ADDRESSES).contains(&redirect_uris.len()) {
        return Err("it has no redirect_uris, or more than a hundred");
    }
    let redirect_uris = redirect_uris
        .iter()
        .map(|one| one.as_str().filter(|text| redirect_uri::kind(text).is_some()).map(str::to_owned))
        .collect::<Option<Vec<_>>>()
        .ok_or("one of its redirect_uris is not allowed")?;
    let name = match document.get("client_name") {
        None | Some(Value::Null) => String::new(),
        Some(name) => {
            name.as_str().and_then(cleaned_name).ok_or("its client_name is no text of at most 100 characters")?
        }
    };
    let keys = keys(document.get("jwks"), document.get("jwks_uri"))?;
    let method = method(document.get("token_endpoint_auth_method"), &keys)?;
    let refreshes = document
        .get("grant_types")
        .and_then(Value::as_array)
        .is_some_and(|types| types.iter().any(|one| one == "refresh_token"));
    Ok(Client {
        id: client_id.to_owned(),
        name,
        origin: Origin::Document,
        redirect_uris,
        method,
        secret_sha256: None,
        keys,
        refreshes,
    })
}

fn keys(here: Option<&Value>, at: Option<&Value>) -> Result<Keys, &'static str> {
    match (here, at) {
        (Some(set), _) if is_public_key_set(set) => Ok(Keys::Here(set.clone())),
        (Some(_), _) => Err("its jwks is no set of 1 to 16 public keys"),
        (None, Some(at)) => {
            let url = at.as_str().and_then(|text| Url::parse(text).ok()).filter(|url| url.scheme() == "https");
            url.map(Keys::At).ok_or("its jwks_uri is no https address")
        }
        (None, None) => Ok(Keys::None),
    }
}

/// A client that offers several ways is taken as a public one where that is among them.
fn method(given: Option<&Value>, keys: &Keys) -> Result<Method, &'static str> {
    const REFUSED: &str = "its token_endpoint_auth_method is neither none nor private_key_jwt";
    let offered: Vec<&str> = match given {
        None | Some(Value::Null) => vec!["none"],
        Some(Value::String(word)) => vec![word.as_str()],
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect(),
        Some(_) => return Err(REFUSED),
    };
    if offered.contains(&"none") {
        Ok(Method::None)
    } else if !offered.contains(&"private_key_jwt") {
        Err(REFUSED)
    } else if *keys == Keys::None {
        Err("private_key_jwt needs jwks or jwks_uri")
    } else {
        Ok(Method::PrivateKeyJwt)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const ID: &str = "https://client.example/oauth/metadata.json";

    fn document() -> Value {
        json!({
            "client_id": ID,
            "client_name": "Editor",
            "redirect_uris": ["https://client.example/cb", "http://127.0.0.1/cb"],
            "grant_types": ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:jwt-bearer"],
            "client_uri": "https://client.example",
        })
    }

    fn with(member: &str, value: Value) -> Result<Client, &'static str> {
        let mut document = document();
        document[member] = value;
        read(ID, document.to_string().as_bytes())
    }

    /// Security case 43.
    #[test]
    fn an_id_is_an_https_address_with_a_path_and_nothing_that_reads_two_ways() {
        assert!(address(ID).is_some() && address("https://client.example:8443/c?x=1").is_some());
        for bad in [
            "https://client.example",
            "https://client.example/",
            "http://client.example/c",
            "https://u@client.example/c",
            "https://client.example/c#x",
            "https://client.example/a/../c",
            "https://client.example/./c",
            "https://client.example/%2e%2e/c",
            "https://Client.example/c",
            "HTTPS://client.example/c",
            "https://client.example:443/c",
            "https://client.example\\c",
            "https://0x7f.1/c",
            "client_abc",
            "",
        ] {
            assert_eq!(address(bad), None, "{bad}");
        }
        assert_eq!(address(&format!("https://client.example/{}", "x".repeat(LONGEST_ID))), None);
    }

    #[test]
    fn a_document_makes_a_client() {
        let client = read(ID, document().to_string().as_bytes()).unwrap();
        assert_eq!((client.name.as_str(), client.method, client.refreshes), ("Editor", Method::None, true));
        assert_eq!(client.document_host().as_deref(), Some("client.example"));
        assert!(client.returns_to("http://127.0.0.1:7/cb") && !client.returns_to("http://127.0.0.1:7/x"));
    }

    #[test]
    fn none_is_taken_where_it_is_among_several() {
        let keyed = |method: Value| {
            let mut document = document();
            document["token_endpoint_auth_method"] = method;
            document["jwks_uri"] = "https://client.example/keys".into();
            read(ID, document.to_string().as_bytes()).map(|client| client.method)
        };
        assert_eq!(keyed(json!("private_key_jwt")), Ok(Method::PrivateKeyJwt));
        assert_eq!(keyed(json!(["private_key_jwt", "none"])), Ok(Method::None));
    }

    /// Security case 43.
    #[test]
    fn a_document_that_lies_or_asks_too_much_is_refused() {
        for (member, value) in [
            ("client_id", json!("https://client.example/oauth/metadata.json/")),
            ("client_id", json!("https://other.example/")),
            ("client_id", Value::Null),
            ("client_secret", json!("x")),
            ("redirect_uris", json!([])),
            ("redirect_uris", json!(["javascript:alert(1)"])),
            ("redirect_uris", json!("https://client.example/cb")),
            ("client_name", json!("x".repeat(101))),
            ("client_name", json!([])),
            ("token_endpoint_auth_method", json!("client_secret_basic")),
            ("token_endpoint_auth_method", json!("private_key_jwt")),
            ("token_endpoint_auth_method", json!(7)),
            ("jwks", json!({ "keys": [{ "kty": "oct", "k": "x" }] })),
            ("jwks_uri", json!("http://client.example/keys")),
        ] {
            assert!(with(member, value.clone()).is_err(), "{member}: {value}");
        }
        assert!(read(ID, b"[]").is_err() && read(ID, b"").is_err());
        assert!(with("padding", json!("x".repeat(LONGEST))).is_err());
    }

    proptest! {
        #[test]
        fn nothing_panics(id in any::<String>(), body in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = (address(&id), read(&id, &body));
        }
    }
}
