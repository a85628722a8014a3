//! What a client may register by itself (RFC 7591, `identity.md` 7.7): from the body of the request to what is kept.

use serde_json::{Map, Value, json};

use super::client::{Method, cleaned_name, is_public_key_set};
use super::redirect_uri;
use super::refusal::{Code, Refusal, Result};
use super::scopes::SUPPORTED;

/// The most bytes of a body.
pub const LONGEST: usize = 16 << 10;
/// The most return addresses of a client.
const MOST_ADDRESSES: usize = 10;
/// The grant types there are.
const GRANT_TYPES: [&str; 2] = ["authorization_code", "refresh_token"];

/// What is kept of a registration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registration {
    /// What the client calls itself.
    pub name: Option<String>,
    /// Where it may return to.
    pub redirect_uris: Vec<String>,
    /// How it will prove itself.
    pub method: Method,
    /// Its public keys, as a JWK set.
    pub keys: Option<Value>,
    /// The grant types it may use.
    pub grant_types: Vec<&'static str>,
    /// Those of the scopes it named that are ours.
    pub scope: Option<String>,
}

impl Registration {
    /// Reads the body of a registration.
    ///
    /// # Errors
    ///
    /// `invalid_redirect_uri` for the whole request when one address is not allowed, `invalid_client_metadata` else.
    pub fn read(body: &[u8]) -> Result<Self> {
        if body.len() > LONGEST {
            return Err(metadata("The registration is over 16 KiB"));
        }
        let Ok(Value::Object(given)) = serde_json::from_slice(body) else {
            return Err(metadata("The registration must be one JSON object"));
        };
        let redirect_uris = addresses(&given)?;
        let method = match word(&given, "token_endpoint_auth_method")? {
            None => Method::None,
            Some(word) => Method::of(word).ok_or_else(|| {
                metadata("token_endpoint_auth_method must be one of those the server's metadata lists")
            })?,
        };
        let keys = match given.get("jwks").filter(|_| method == Method::PrivateKeyJwt) {
            Some(set) if is_public_key_set(set) => Some(set.clone()),
            None if method != Method::PrivateKeyJwt => None,
            _ => return Err(metadata("private_key_jwt needs jwks with 1 to 16 public keys")),
        };
        if words(&given, "response_types")?.is_some_and(|types| !types.contains(&"code")) {
            return Err(metadata("response_types must have code"));
        }
        let name = match word(&given, "client_name")? {
            None => None,
            Some(name) => Some(cleaned_name(name).ok_or_else(|| metadata("client_name has at most 100 characters"))?),
        };
        Ok(Self {
            name: name.filter(|name| !name.is_empty()),
            redirect_uris,
            method,
            keys,
            grant_types: grant_types(&given, method)?,
            scope: scope(&given)?,
        })
    }

    /// What is answered beside id and secret: all that was kept.
    pub fn answer(&self) -> Map<String, Value> {
        let mut answer = Map::new();
        if let Some(name) = &self.name {
            answer.insert("client_name".into(), name.as_str().into());
        }
        answer.insert("redirect_uris".into(), json!(self.redirect_uris));
        answer.insert("grant_types".into(), json!(self.grant_types));
        answer.insert("response_types".into(), json!(["code"]));
        answer.insert("token_endpoint_auth_method".into(), self.method.word().into());
        if let Some(scope) = &self.scope {
            answer.insert("scope".into(), scope.as_str().into());
        }
        if let Some(keys) = &self.keys {
            answer.insert("jwks".into(), keys.clone());
        }
        answer
    }
}

const fn metadata(words: &'static str) -> Refusal {
    Refusal::new(Code::InvalidClientMetadata, words)
}

fn addresses(given: &Map<String, Value>) -> Result<Vec<String>> {
    const WORDS: &str = "redirect_uris must be 1 to 10 addresses of at most 512 characters: https, http on a loopback host \
                         with its exact name, or a private-use scheme with a dot; without fragment or user";
    let refused = || Refusal::new(Code::InvalidRedirectUri, WORDS);
    let list = given.get("redirect_uris").and_then(Value::as_array).ok_or_else(refused)?;
    if !(1..=MOST_ADDRESSES).contains(&list.len()) {
        return Err(refused());
    }
    let taken = list.iter().map(|one| {
        let text = one.as_str().filter(|text| redirect_uri::kind(text).is_some());
        text.map(str::to_owned).ok_or_else(refused)
    });
    taken.collect()
}

fn grant_types(given: &Map<String, Value>, method: Method) -> Result<Vec<&'static str>> {
    let kept: Vec<&'static str> = match words(given, "grant_types")? {
        Some(asked) => GRANT_TYPES.into_iter().filter(|ours| asked.contains(ours)).collect(),
        None if method == Method::None => GRANT_TYPES.to_vec(),
        None => vec![GRANT_TYPES[0]],
    };
    if kept.contains(&GRANT_TYPES[0]) { Ok(kept) } else { Err(metadata("grant_types must have authorization_code")) }
}

fn scope(given: &Map<String, Value>) -> Result<Option<String>> {
    let kept = word(given, "scope")?.map(|asked| {
        let asked: Vec<&str> = asked.split(' ').collect();
        SUPPORTED.into_iter().filter(|ours| asked.contains(ours)).collect::<Vec<_>>().join(" ")
    });
    Ok(kept.filter(|kept| !kept.is_empty()))
}

/// A member that is text; null is as if it were not there.
fn word<'a>(given: &'a Map<String, Value>, member: &str) -> Result<Option<&'a str>> {
    match given.get(member) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(metadata("client_name, scope and token_endpoint_auth_method must be text")),
    }
}

/// A member that is a list of texts.
fn words<'a>(given: &'a Map<String, Value>, member: &str) -> Result<Option<Vec<&'a str>>> {
    let refused = || metadata("grant_types and response_types must be lists of texts");
    match given.get(member) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(items)) => {
            items.iter().map(Value::as_str).collect::<Option<Vec<_>>>().map(Some).ok_or_else(refused)
        }
        Some(_) => Err(refused()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(body: Value) -> Result<Registration> {
        Registration::read(body.to_string().as_bytes())
    }

    fn refused(body: Value) -> &'static str {
        read(body).unwrap_err().code.word()
    }

    #[test]
    fn a_plain_registration_is_a_public_client_with_both_grant_types() {
        let kept = read(json!({ "redirect_uris": ["https://a.example/cb"] })).unwrap();
        assert_eq!(
            Value::Object(kept.answer()),
            json!({
                "redirect_uris": ["https://a.example/cb"],
                "grant_types": ["authorization_code", "refresh_token"],
                "response_types": ["code"],
                "token_endpoint_auth_method": "none",
            })
        );
    }

    #[test]
    fn what_is_not_ours_is_cut_or_ignored() {
        let kept = read(json!({
            "redirect_uris": ["http://127.0.0.1:33418/", "https://vscode.dev/redirect", "cursor://anysphere.cursor-x/cb"],
            "client_name": "Ada\u{202E}'s \u{0}editor ",
            "grant_types": ["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"],
            "response_types": ["code", "token"],
            "scope": "openid playbook:read offline_access email org:read",
            "token_endpoint_auth_method": "client_secret_post",
            "logo_uri": "javascript:alert(1)", "tos_uri": 5, "policy_uri": null, "contacts": ["a"],
            "software_statement": "x.y.z", "jwks": { "keys": [] }, "unknown": { "a": 1 },
        }))
        .unwrap();
        assert_eq!(kept.name.as_deref(), Some("Ada's editor"));
        assert_eq!(kept.grant_types, ["authorization_code"]);
        assert_eq!(kept.scope.as_deref(), Some("org:read playbook:read offline_access"));
        assert_eq!((kept.method, kept.keys), (Method::ClientSecretPost, None));
    }

    /// Security case 42.
    #[test]
    fn one_bad_address_refuses_the_whole_registration() {
        for address in
            ["javascript:alert(1)", "data:text/html,x", "http://a.example/", "ftp://a.example/", "https://a.example/#x"]
        {
            assert_eq!(refused(json!({ "redirect_uris": ["https://a.example/cb", address] })), "invalid_redirect_uri");
        }
        let many = |count: usize| (0..count).map(|n| format!("https://a.example/{n}")).collect::<Vec<_>>();
        assert!(read(json!({ "redirect_uris": many(10) })).is_ok());
        for bad in [json!(many(11)), json!([]), json!("https://a.example/"), json!([1]), Value::Null] {
            assert_eq!(refused(json!({ "redirect_uris": bad })), "invalid_redirect_uri");
        }
        assert_eq!(refused(json!({})), "invalid_redirect_uri");
    }

    /// Security case 42.
    #[test]
    fn everything_else_that_is_wrong_is_client_metadata() {
        let with = |member: &str, value: Value| {
            let mut body = json!({ "redirect_uris": ["https://a.example/cb"] });
            body[member] = value;
            body
        };
        let private = json!({ "keys": [{ "kty": "EC", "crv": "P-256", "x": "a", "y": "b", "d": "c" }] });
        let mut keyed = with("token_endpoint_auth_method", json!("private_key_jwt"));
        assert_eq!(refused(keyed.clone()), "invalid_client_metadata");
        keyed["jwks"] = private;
        assert_eq!(refused(keyed.clone()), "invalid_client_metadata");
        keyed["jwks"] = json!({ "keys": [{ "kty": "EC", "crv": "P-256", "x": "a", "y": "b" }] });
        assert!(read(keyed).is_ok());
        for (member, value) in [
            ("client_name", json!("x".repeat(101))),
            ("client_name", json!(5)),
            ("token_endpoint_auth_method", json!("client_secret_jwt")),
            ("token_endpoint_auth_method", json!(["none"])),
            ("grant_types", json!(["client_credentials"])),
            ("grant_types", json!("authorization_code")),
            ("response_types", json!(["token"])),
            ("scope", json!(["org:read"])),
        ] {
            assert_eq!(refused(with(member, value.clone())), "invalid_client_metadata", "{member}: {value}");
        }
        for body in ["", "[]", "null", "{", "\u{FEFF}{}"] {
            assert_eq!(Registration::read(body.as_bytes()).unwrap_err().code, Code::InvalidClientMetadata);
        }
        assert_eq!(Registration::read(&vec![b' '; LONGEST + 1]).unwrap_err().code, Code::InvalidClientMetadata);
    }

    proptest! {
        #[test]
        fn no_body_panics(body in proptest::collection::vec(any::<u8>(), 0..200), name in any::<String>()) {
            let _ = Registration::read(&body);
            let kept = read(json!({ "redirect_uris": ["https://a.example/"], "client_name": name }));
            prop_assert!(kept.map_or(true, |kept| kept.name.is_none_or(|name| name.chars().count() <= 100)));
        }
    }
}
