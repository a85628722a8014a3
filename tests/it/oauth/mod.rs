//! The built-in authorization server, as clients and people meet it (`identity.md` 7).

mod authorizing;
mod claude;
mod clients;
mod commands;
mod conformance;
mod consenting;
mod discovering;
mod documents;
mod ending;
pub mod metadata;
pub mod official;
mod proving;
mod refreshing;
mod registering;
mod signing;
mod tokens;
mod using;

use std::sync::Arc;

use playmaker::identity::oauth::authorize;
use playmaker::identity::oauth::consent::{Consenter, Decision};
use playmaker::identity::oauth::documents::Fetch;
use playmaker::identity::oauth::parameters::Parameters;
use playmaker::identity::oauth::scopes::Scopes;
use playmaker::identity::oauth::{AuthorizationServer, Needs, Revocations};
use playmaker::identity::{Membership, Org, Person, Playbooks, Role, members, orgs, people};
use playmaker::ledger::{Changed, Row};
use serde_json::{Value, json};

use crate::support::app::{BEGINNING_MS, TestApp};
use crate::support::people::{Answer, Caller};

/// The public URL of these tests.
pub const P: &str = "https://pm.example";
/// Where the tests' web client returns to.
pub const BACK: &str = "https://app.example/cb";
/// A verifier and its challenge (RFC 7636, appendix B).
pub const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
/// The digest of [`VERIFIER`].
pub const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// A server people sign in at, with one person in one org.
pub struct Scene {
    pub server: TestApp,
    pub ada: Consenter,
}

impl Scene {
    pub async fn new() -> Self {
        Self::with(&[]).await
    }

    pub async fn with(settings: &[(&str, &str)]) -> Self {
        let mut all = vec![("PUBLIC_URL", P)];
        all.extend(settings);
        let server = TestApp::with(&all).await;
        let ada = person(&server, "ada", "acme", Role::Owner).await;
        Self { server, ada }
    }

    pub fn oauth(&self) -> &AuthorizationServer {
        self.server.app.oauth.as_ref().unwrap()
    }

    /// Posts a form.
    pub async fn form(&self, path: &str, pairs: &[(&str, &str)]) -> Answer {
        form(&self.server.anyone(), path, pairs).await
    }

    pub async fn token(&self, pairs: &[(&str, &str)]) -> Answer {
        self.form("/oauth/token", pairs).await
    }

    /// Registers a client with these members beside its return address; the answer.
    pub async fn registered(&self, more: Value) -> Value {
        let mut body = json!({ "redirect_uris": [BACK] });
        for (member, value) in more.as_object().unwrap() {
            body[member] = value.clone();
        }
        let answer = self.server.anyone().post("/oauth/register", &body).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        answer.json()
    }

    /// The id of a public client.
    pub async fn public_client(&self) -> String {
        self.registered(json!({ "client_name": "Editor" })).await["client_id"].as_str().unwrap().to_owned()
    }

    /// A code that Ada allows the client, with these parameters beside the needed ones.
    pub async fn code(&self, client: &str, more: &[(&str, &str)]) -> String {
        self.code_of(&self.ada, "acme", client, more).await
    }

    pub async fn code_of(&self, person: &Consenter, org: &str, client: &str, more: &[(&str, &str)]) -> String {
        let oauth = self.oauth();
        let client = oauth.client(client).await.unwrap().unwrap();
        let query = query(&client.id, more);
        let parameters = Parameters::of(query.as_bytes());
        let address = authorize::return_address(&parameters, &client).unwrap();
        let asked = authorize::read(&parameters, &client, address, P).unwrap();
        let decision = Decision { org: org.to_owned(), scopes: asked.scopes };
        let waiting = oauth.create_request(asked).await.unwrap();
        oauth.allow(&waiting, &client, person, &decision).await.unwrap().unwrap().to_string()
    }

    /// Exchanges a code for tokens.
    pub async fn exchange(&self, client: &str, code: &str) -> Answer {
        self.token(&[
            ("grant_type", "authorization_code"),
            ("client_id", client),
            ("code", code),
            ("redirect_uri", BACK),
            ("code_verifier", VERIFIER),
        ])
        .await
    }

    /// Tokens of a new grant.
    pub async fn tokens(&self, client: &str, more: &[(&str, &str)]) -> Value {
        let code = self.code(client, more).await;
        self.exchange(client, &code).await.done(200)
    }

    pub async fn refresh(&self, client: &str, token: &str) -> Answer {
        self.token(&[("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", token)]).await
    }

    /// What another server on the same database holds in memory.
    pub async fn another(&self) -> AuthorizationServer {
        another(&self.server, Arc::new(|_, _| Box::pin(async { Err("nothing is fetched".into()) }))).await
    }

    /// The audit of an org, by the kinds of its rows.
    pub async fn audited(&self, org: &str) -> Vec<String> {
        self.server.audit(org).await.into_iter().map(|row: Row| row.kind).collect()
    }
}

/// An authorization server over a server's database, with a memory and documents of its own.
pub async fn another(server: &TestApp, fetch: Fetch) -> AuthorizationServer {
    let app = &server.app;
    AuthorizationServer::open(Needs {
        issuer: P.into(),
        access_token_ttl_ms: 900_000,
        registers: true,
        clients: Vec::new(),
        ledger: app.ledger.clone(),
        secrets: app.secrets.clone(),
        fetch,
        on_keys: Box::new(|_| {}),
        revoked: Revocations::default(),
        clock: app.clock.clone(),
        ids: app.ids.clone(),
    })
    .await
    .unwrap()
}

/// An authorization request's query.
pub fn query(client: &str, more: &[(&str, &str)]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    let own = [("response_type", "code"), ("client_id", client), ("redirect_uri", BACK)];
    let pkce = [("code_challenge", CHALLENGE), ("code_challenge_method", "S256")];
    for (name, value) in own.iter().chain(&pkce) {
        if !more.iter().any(|(other, _)| other == name) {
            query.append_pair(name, value);
        }
    }
    query.extend_pairs(more.iter().filter(|(_, value)| *value != "-"));
    query.finish()
}

/// Posts a form.
pub async fn form(caller: &Caller, path: &str, pairs: &[(&str, &str)]) -> Answer {
    let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    let request = caller.request("POST", path).header("content-type", "application/x-www-form-urlencoded");
    Answer::of(request.body(body)).await
}

/// Makes a person, the org where it is new, and the membership.
pub async fn person(server: &TestApp, name: &str, org: &str, role: Role) -> Consenter {
    let id = server.app.ids.base62("user_", 22);
    let one = Person {
        id: id.clone(),
        name: name.to_owned(),
        email: Some(format!("{name}@{org}.test")),
        email_verified_at_ms: Some(BEGINNING_MS),
        status: people::Status::Active,
        created_at_ms: BEGINNING_MS,
        refreshed_at_ms: BEGINNING_MS,
    };
    server
        .app
        .ledger
        .commit::<()>(
            org,
            Box::new(move |connection| {
                Box::pin(async move {
                    people::insert(connection, &one).await?;
                    Ok(Changed::nothing(()))
                })
            }),
        )
        .await
        .unwrap();
    join(server, &id, org, role).await;
    Consenter {
        person: id,
        name: name.to_owned(),
        session: "session-of-ada".into(),
        auth_time_ms: BEGINNING_MS - 5_000,
    }
}

/// Makes a membership, and the org where it is new.
pub async fn join(server: &TestApp, person: &str, org: &str, role: Role) {
    let made = Org {
        id: org.to_owned(),
        name: org.to_uppercase(),
        status: orgs::Status::Active,
        created_at_ms: BEGINNING_MS,
        created_by: "operator".into(),
        deletes_at_ms: None,
    };
    let membership = Membership {
        org: org.to_owned(),
        person: person.to_owned(),
        role,
        playbooks: Playbooks::All,
        created_at_ms: BEGINNING_MS,
        created_by: "operator".into(),
        last_seen_at_ms: None,
    };
    server
        .app
        .ledger
        .commit::<()>(
            org,
            Box::new(move |connection| {
                Box::pin(async move {
                    orgs::insert(connection, &made).await?;
                    members::insert(connection, &membership).await?;
                    Ok(Changed::nothing(()))
                })
            }),
        )
        .await
        .unwrap();
}

/// The claims of a token, unchecked.
pub fn claims(token: &str) -> Value {
    part(token, 1)
}

/// A part of a JWT: 0 the header, 1 the claims.
pub fn part(token: &str, at: usize) -> Value {
    use base64::Engine;
    let text = token.split('.').nth(at).unwrap();
    let bytes = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(text).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

/// The text of a member.
pub fn text(value: &Value, member: &str) -> String {
    value[member].as_str().unwrap_or_else(|| panic!("{member}: {value}")).to_owned()
}

impl Answer {
    /// The error of an OAuth refusal.
    pub fn oauth_error(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", self.text);
        assert_eq!((self.header("content-type"), self.header("cache-control")), ("application/json", "no-store"));
        let body = self.json();
        assert!(body["error_description"].as_str().is_some_and(|words| !words.is_empty() && words.is_ascii()));
        text(&body, "error")
    }
}

/// The scopes of words.
pub fn scopes(words: &str) -> Scopes {
    Scopes::known(words)
}
