//! Connections that a person signs in for at a provider: the trip there and back, what may go wrong on it, and what is left
//! of it (`connections.md` 9.3).

mod finishing;
mod leaks;
mod matrix;
mod story;

use playmaker::identity::Role;
use serde_json::{Map, Value, json};

use crate::support::app::{OWN_ORIGIN, TestApp};
use crate::support::people::{Answer, Caller};
use crate::support::provider::query;
use crate::support::simulator::Simulator;

/// A server whose operator offers the simulated provider, with a connection to it that waits for its person.
struct Scene {
    simulator: Simulator,
    server: TestApp,
    org: &'static str,
    /// The session's cookie; empty in local mode.
    session: String,
    link: String,
    connection: String,
}

/// A browser away at the provider.
struct Trip {
    /// Where it went.
    address: String,
    /// The cookie it was given: name and value.
    cookie: String,
}

impl Scene {
    /// In local mode.
    async fn local() -> Self {
        Self::of(|_| {}).await
    }

    /// The same with the provider's file changed.
    async fn of(change: impl FnOnce(&mut Value)) -> Self {
        let simulator = Simulator::start().await;
        let settings = simulator.settings(change);
        let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let server = TestApp::with(&settings).await;
        Self::waits(simulator, server, "local", String::new()).await
    }

    /// Where people sign in: Ada of `acme` added it.
    async fn signing_in() -> Self {
        let simulator = Simulator::start().await;
        let mut settings = simulator.settings(|_| {});
        settings.push(("PUBLIC_URL", OWN_ORIGIN.to_owned()));
        let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let server = TestApp::with(&settings).await;
        let ada = server.person("Ada", "ada@acme.test", "acme", Role::Member).await;
        Self::waits(simulator, server, "acme", ada.cookie.clone()).await
    }

    async fn waits(simulator: Simulator, server: TestApp, org: &'static str, session: String) -> Self {
        simulator.follow(server.clock.clone());
        let mut scene = Self { simulator, server, org, session, link: String::new(), connection: String::new() };
        let caller = scene.browser(&scene.session.clone(), "");
        let caller = match scene.session.is_empty() {
            true => caller,
            false => caller.with("x-playmaker-csrf", &scene.own_csrf().await),
        };
        let added = caller.post(&scene.connections(), &json!({ "provider": "sim" })).await.done(201);
        scene.connection = added["id"].as_str().unwrap().to_owned();
        scene.link = added["connect"]["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        scene
    }

    fn connections(&self) -> String {
        format!("/v1/orgs/{}/connections", self.org)
    }

    /// A browser with these cookies, at a page of the server.
    fn browser(&self, session: &str, other: &str) -> Caller {
        let cookies: Vec<&str> = [session, other].into_iter().filter(|cookie| !cookie.is_empty()).collect();
        let caller = self.server.anyone().with("origin", &self.server.origin()).with("sec-fetch-site", "same-origin");
        if cookies.is_empty() { caller } else { caller.with("cookie", &cookies.join("; ")) }
    }

    /// The token of the session's own commands, as the page of the way back has it.
    async fn own_csrf(&self) -> String {
        self.csrf_of(&self.session).await
    }

    async fn csrf_of(&self, session: &str) -> String {
        let page = self.browser(session, "").get("/connect/return?state=any").await.text;
        page.split("name=\"csrf\" value=\"").nth(1).unwrap_or_default().split('"').next().unwrap().to_owned()
    }

    async fn read(&self) -> Value {
        self.browser(&self.session, "").get(&format!("/v1/links/{}", self.link)).await.done(200)
    }

    async fn command(&self, command: &str) -> Answer {
        let csrf = self.read().await["csrf"].as_str().unwrap_or_default().to_owned();
        let browser = self.browser(&self.session, "").with("x-playmaker-csrf", &csrf);
        browser.post(&format!("/v1/links/{}/{command}", self.link), &json!({})).await
    }

    /// The person leaves.
    async fn leaves(&self) -> Trip {
        let answer = self.command("start").await;
        let started = answer.done(200);
        let set = answer.header("set-cookie");
        for part in ["; HttpOnly", "; SameSite=Lax", "; Path=/", "; Max-Age=600"] {
            assert!(set.contains(part), "{set}");
        }
        Trip {
            address: started["authorize_url"].as_str().unwrap().to_owned(),
            cookie: set.split(';').next().unwrap().to_owned(),
        }
    }

    /// They come back to this path and query, in the browser they left in, with the token of the link.
    async fn back(&self, trip: &Trip, path: &str) -> Answer {
        let csrf = self.read().await["csrf"].as_str().unwrap_or_default().to_owned();
        self.returns(&self.session, &trip.cookie, &csrf, path).await
    }

    /// Somebody comes back with these cookies and this token.
    async fn returns(&self, session: &str, held: &str, csrf: &str, path: &str) -> Answer {
        let browser = self.browser(session, held).with("x-playmaker-csrf", csrf);
        browser.post("/v1/links/finish", &brought(path)).await
    }

    async fn audit(&self) -> Vec<String> {
        self.server.audit_of(self.org, &self.connection).await
    }

    /// The facts of the last row of the audit.
    async fn last_row(&self) -> (String, Value) {
        let row = self.server.audit(self.org).await.pop().unwrap();
        (row.kind, row.data)
    }

    async fn standing(&self) -> Value {
        let csrf = if self.session.is_empty() { String::new() } else { self.own_csrf().await };
        let browser = self.browser(&self.session, "").with("x-playmaker-csrf", &csrf);
        browser.get(&format!("{}/{}", self.connections(), self.connection)).await.done(200)
    }
}

/// What `finish` is told of a way back.
fn brought(path: &str) -> Value {
    let query = query(&format!("http://any{path}"));
    let taken = ["state", "code", "iss", "error"].into_iter();
    let fields = taken.filter_map(|name| Some((name.to_owned(), query.get(name)?.as_str().into())));
    Value::Object(fields.collect::<Map<_, _>>())
}
