//! Bad input at every field of every operation is refused at that field, in the words of [`words`], over HTTP and as a
//! tool, and leaves nothing behind.
//!
//! [`making`] reads the schemas, so an operation or a field that is added is walked too; what it cannot make it says.

mod making;
mod words;

use std::collections::BTreeSet;

use making::{Misfit, fitting, misfits};
use playmaker::identity::Role;
use playmaker::ledger::Book;
use playmaker::operations::{Entry, Scope};
use serde_json::{Value, json};

use super::roles::UNHURRIED;
use crate::support::app::TestApp;
use crate::support::people::{Answer, Caller};
use crate::support::upstream::Upstream;
use crate::support::visitor::Visitor;

/// Fewer refusals than these would mean that the walk no longer looks everywhere.
const LEAST_OVER_HTTP: usize = 600;
const LEAST_OVER_MCP: usize = 1_600;
/// Fewer requests than these with a field from two places.
const LEAST_TWICE: usize = 60;

/// A server with a playbook and a connection that waits at its page, one where an owner is signed in, and what went wrong
/// on the walk.
struct Walk {
    server: TestApp,
    north: TestApp,
    owner: Visitor,
    upstream: Upstream,
    developer: Caller,
    link: String,
    page: Caller,
    wrong: Vec<String>,
    refused: usize,
}

/// Where a field of an operation travels over HTTP.
#[derive(PartialEq, Eq)]
enum Place {
    Path,
    Query,
    Body,
    Nowhere,
}

impl Walk {
    async fn begun() -> Self {
        let (server, upstream) = (TestApp::local().await, Upstream::open().await);
        let developer = server.anyone();
        developer
            .post("/v1/orgs/local/playbooks", &json!({ "playbook": "support", "name": "Support" }))
            .await
            .done(201);
        let connection = json!({ "name": "desk", "type": "mcp", "entry": { "url": upstream.url() } });
        let added = developer.post("/v1/orgs/local/connections", &connection).await.done(201);
        let link = added["connect"]["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        let browser = server.anyone().with("origin", &server.origin()).with("sec-fetch-site", "same-origin");
        let read = browser.get(&format!("/v1/links/{link}")).await.done(200);
        let page = browser.with("x-playmaker-csrf", read["csrf"].as_str().unwrap());
        let north = TestApp::signing_in_with(&[UNHURRIED]).await;
        let owner = north.person("Ada", "ada@north.test", "north", Role::Owner).await;
        Self { server, north, owner, upstream, developer, link, page, wrong: Vec::new(), refused: 0 }
    }

    /// All there is that a command could have changed.
    async fn everything(&self) -> Value {
        let app = &self.server.app;
        let mut all = Vec::new();
        for book in [Book::History, Book::Registry, Book::Audit] {
            all.push(json!(app.ledger.book("local", book).await.unwrap().len()));
        }
        for path in ["playbooks?include_retired=true", "connections?include_removed=true", "playbooks/support/events"] {
            all.push(self.developer.get(&format!("/v1/orgs/local/{path}")).await.done(200));
        }
        all.push(self.page.get(&format!("/v1/links/{}", self.link)).await.done(200)["state"].take());
        for book in [Book::History, Book::Registry, Book::Audit] {
            all.push(json!(self.north.app.ledger.book("north", book).await.unwrap().len()));
        }
        for path in ["members", "keys", "invitations"] {
            all.push(self.owner.get(&format!("/v1/orgs/north/{path}")).await.done(200));
        }
        all.into()
    }

    /// Who may do the operation.
    fn caller(&self, entry: &Entry) -> &Caller {
        match entry.declaration.scope {
            Scope::Link => &self.page,
            _ if is_the_developers(entry) => &self.developer,
            _ => &self.owner,
        }
    }

    /// Sends the fields of an input, each where it travels.
    async fn send(&self, entry: &Entry, input: &Value) -> Answer {
        let (path, rest) = self.path(entry, input);
        let caller = self.caller(entry);
        match entry.declaration.method.word() {
            "GET" => {
                let mut query = url::form_urlencoded::Serializer::new(String::new());
                for (name, value) in rest.as_object().unwrap() {
                    query.append_pair(name, &plain(value));
                }
                caller.get(&format!("{path}?{}", query.finish())).await
            }
            "DELETE" => caller.delete(&path).await,
            method => caller.send(method, &path, rest.to_string()).await,
        }
    }

    /// The path of a route with its fields written in, and the fields that travel elsewhere.
    fn path(&self, entry: &Entry, input: &Value) -> (String, Value) {
        let org = if is_the_developers(entry) { "local" } else { "north" };
        let mut path = entry.declaration.route().replace("{org}", org);
        if entry.declaration.scope == Scope::Playbook {
            path = path.replace("{playbook}", "support");
        }
        let mut rest = input.clone();
        for (name, value) in input.as_object().unwrap() {
            let hole = format!("{{{name}}}");
            if path.contains(&hole) {
                let text = plain(value);
                let text = percent_encoding::utf8_percent_encode(&text, percent_encoding::NON_ALPHANUMERIC);
                path = path.replace(&hole, &text.to_string());
                rest.as_object_mut().unwrap().remove(name);
            }
        }
        (path, rest)
    }

    fn fitting(&self, entry: &Entry) -> Value {
        let mut input = fitting(&entry.input.schema);
        if entry.declaration.path.contains("{link}") {
            input["link"] = json!(self.link);
        }
        input
    }

    /// The refusal tells these misfits and nothing else.
    fn check(&mut self, at: &str, told: Option<&Value>, text: &str, misfits: &[&Misfit]) {
        let mut found: Vec<(String, String)> = told
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(|issue| (plain(&issue["pointer"]), plain(&issue["detail"])))
            .collect();
        let mut expected: Vec<_> = misfits.iter().map(|misfit| (misfit.pointer(), misfit.words.clone())).collect();
        found.sort();
        expected.sort();
        if found != expected {
            let values: Vec<_> = misfits.iter().map(|misfit| &misfit.value).collect();
            let sent: String = format!("{values:?}").chars().take(200).collect();
            self.wrong.push(format!("{at} with {sent}\n  expected {expected:?}\n  found {text}"));
        }
        self.refused += 1;
    }

    /// Ends the walk: nothing was wrong, and everything is as it was.
    async fn ends(self, least: usize, before: Value) {
        assert!(self.wrong.is_empty(), "{} wrong:\n{}", self.wrong.len(), self.wrong.join("\n"));
        assert!(self.refused >= least, "only {} refusals", self.refused);
        assert_eq!(self.everything().await, before, "a refused input changes nothing");
        assert_eq!(self.upstream.requests(), 0, "and reaches nobody");
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn place(entry: &Entry, field: &str) -> Place {
    match entry.declaration.method.word() {
        _ if entry.declaration.path.contains(&format!("{{{field}}}")) => Place::Path,
        "GET" => Place::Query,
        "DELETE" => Place::Nowhere,
        _ => Place::Body,
    }
}

/// Whether the developer may do it at all; what only people who signed in may, the owner of another server does.
fn is_the_developers(entry: &Entry) -> bool {
    entry.permitted(&playmaker::identity::Caller::local("ada"))
}

/// Whether HTTP can say it: a path holds texts that are not empty, a query texts.
fn can_be_sent(entry: &Entry, misfit: &Misfit) -> bool {
    match place(entry, misfit.field()) {
        Place::Body => true,
        Place::Nowhere => false,
        Place::Query => misfit.is_outermost() && misfit.plain,
        Place::Path => misfit.value.as_ref().and_then(Value::as_str).is_some_and(|text| !text.is_empty()),
    }
}

/// Where a path is refused before its operation reads any field: a playbook that cannot be is unknown (`http-api.md` 1.7,
/// step 8), and a command carries the token of the very link it is about (`connections.md` 9.3).
fn refused_sooner(entry: &Entry, misfit: &Misfit) -> Option<(u16, &'static str)> {
    match misfit.field() {
        field if place(entry, field) != Place::Path => None,
        "playbook" => Some((404, "not_found")),
        "link" if entry.declaration.method.word() != "GET" => Some((403, "forbidden")),
        _ => None,
    }
}

/// One misfit of each field, to be told together.
fn one_of_each(misfits: &[Misfit], take: impl Fn(&Misfit) -> bool) -> Vec<&Misfit> {
    let mut fields = BTreeSet::new();
    misfits.iter().filter(|misfit| misfit.is_outermost() && take(misfit) && fields.insert(misfit.field())).collect()
}

#[tokio::test]
async fn every_field_over_http() {
    let mut walk = Walk::begun().await;
    let before = walk.everything().await;
    let app = walk.server.app.clone();
    for entry in app.operations.iter() {
        let id = entry.declaration.id;
        let (fitting, made) = (walk.fitting(entry), misfits(&entry.input.schema));
        let sent: Vec<&Misfit> = made.iter().filter(|misfit| can_be_sent(entry, misfit)).collect();
        assert!(!sent.is_empty(), "{id} is refused nothing");
        for misfit in sent {
            let mut input = fitting.clone();
            misfit.spoil(&mut input);
            let answer = walk.send(entry, &input).await;
            let at = format!("{id} at {}", misfit.pointer());
            match refused_sooner(entry, misfit) {
                Some((status, reason)) => drop(answer.refused(status, reason)),
                None if answer.status == 422 => {
                    let problem = answer.refused(422, "invalid_input");
                    walk.check(&at, problem.get("errors"), &answer.text, &[misfit]);
                }
                None => walk.check(&at, None, &answer.text, &[misfit]),
            }
        }
        let all = one_of_each(&made, |misfit| can_be_sent(entry, misfit) && refused_sooner(entry, misfit).is_none());
        let mut input = fitting.clone();
        all.iter().for_each(|misfit| misfit.spoil(&mut input));
        let answer = walk.send(entry, &input).await;
        walk.check(&format!("{id} everywhere"), answer.json().get("errors"), &answer.text, &all);
    }
    walk.ends(LEAST_OVER_HTTP, before).await;
}

#[tokio::test]
async fn every_argument_of_every_tool() {
    let mut walk = Walk::begun().await;
    let before = walk.everything().await;
    let agent = walk.developer.clone();
    for endpoint in ["/mcp", "/orgs/local/mcp", "/orgs/local/playbooks/support/mcp"] {
        for tool in agent.tools(endpoint).await {
            let (name, schema) = (tool["name"].as_str().unwrap(), &tool["inputSchema"]);
            let (fitting, made) = (fitting(schema), misfits(schema));
            let missing = one_of_each(&made, |misfit| misfit.value.is_none());
            let everywhere = one_of_each(&made, |misfit| misfit.value.is_some());
            let mut nothing = fitting.clone();
            missing.iter().for_each(|misfit| misfit.spoil(&mut nothing));
            let alone = made.iter().map(|misfit| vec![misfit]);
            for misfits in alone.chain([everywhere, missing].into_iter().filter(|all| !all.is_empty())) {
                let mut input = fitting.clone();
                misfits.iter().for_each(|misfit| misfit.spoil(&mut input));
                let called = agent.call(endpoint, name, &input).await;
                let at = format!("{name} on {endpoint} at {}", misfits[0].pointer());
                let problem = &called.value;
                let refused = called.is_error && problem["reason"] == "invalid_input" && problem["status"] == 422;
                walk.check(&at, problem.get("errors").filter(|_| refused), &problem.to_string(), &misfits);
                // A model reads the words first: they say it all.
                for misfit in misfits.iter().filter(|misfit| !called.words.contains(&misfit.words)) {
                    walk.wrong.push(format!("{at}: {:?} does not say {:?}", called.words, misfit.words));
                }
            }
        }
    }
    walk.ends(LEAST_OVER_MCP, before).await;
}

/// `http-api.md` 1.2 and 1.3: a field comes once, and from one place.
#[tokio::test]
async fn every_field_given_twice() {
    let walk = Walk::begun().await;
    let before = walk.everything().await;
    let app = walk.server.app.clone();
    let mut refused = 0;
    let mut refuse = |at: String, answer: Answer| {
        assert_eq!(answer.status, 400, "{at}: {}", answer.text);
        answer.refused(400, "bad_request");
        refused += 1;
    };
    for entry in app.operations.iter() {
        let (id, method) = (entry.declaration.id, entry.declaration.method.word());
        let caller = walk.caller(entry);
        let fitting = walk.fitting(entry);
        let (path, _) = walk.path(entry, &fitting);
        for field in fitting.as_object().unwrap().keys() {
            let at = format!("{id} at {field}");
            match (place(entry, field), method) {
                (Place::Query, _) => refuse(at, caller.get(&format!("{path}?{field}=1&{field}=1")).await),
                (Place::Path, "GET") => refuse(at, caller.get(&format!("{path}?{field}=1")).await),
                (Place::Path, "POST" | "PUT") => {
                    refuse(at, caller.send(method, &path, json!({ field: "1" }).to_string()).await);
                }
                (Place::Body, _) => {
                    refuse(at, caller.send(method, &path, format!("{{{field:?}: 1, {field:?}: 1}}")).await);
                }
                _ => {}
            }
        }
        if method != "GET" {
            refuse(format!("{id} with a query"), caller.send(method, &format!("{path}?odd=1"), "{}").await);
        }
        if method == "DELETE" {
            refuse(format!("{id} with a body"), caller.send(method, &path, "{}").await);
        }
    }
    assert!(refused >= LEAST_TWICE, "only {refused} refusals");
    assert_eq!(walk.everything().await, before);
}

/// What no schema can say is refused at its field all the same, alike over both protocols.
#[tokio::test]
async fn what_a_schema_cannot_say() {
    let walk = Walk::begun().await;
    let before = walk.everything().await;
    let large = json!({ "text": "x".repeat(16_384) });
    let cases = [
        ("list_playbook_events", json!({ "type": "playbook_created" }), vec!["/type"]),
        ("list_playbook_events", json!({ "since": "2026-02-30T00:00:00Z" }), vec!["/since"]),
        ("list_playbook_events", json!({ "since": "2026-10-01T24:00:00Z" }), vec!["/since"]),
        ("list_playbook_events", json!({ "type": "x", "since": "2016-12-31T23:59:60Z" }), vec!["/since", "/type"]),
        ("list_playbook_events", json!({ "cursor": "bm90aGluZw" }), vec!["/cursor"]),
        ("list_connections", json!({ "cursor": "" }), vec!["/cursor"]),
        ("search", json!({ "server": "elsewhere" }), vec!["/server"]),
        ("search", json!({ "cursor": "x" }), vec!["/cursor"]),
        ("execute", json!({ "server": "desk", "tool": "look", "arguments": large }), vec!["/arguments"]),
    ];
    for (name, input, expected) in cases {
        let mut entries = walk.server.app.operations.iter();
        let entry = entries.find(|entry| entry.declaration.id == name).unwrap();
        let problem = walk.send(entry, &input).await.refused(422, "invalid_input");
        let mut found = crate::support::people::pointers(&problem);
        found.sort();
        assert_eq!(found, expected, "{name} with {input}: {problem}");
        let mut arguments = input.clone();
        if entry.declaration.scope == Scope::Playbook {
            arguments["playbook"] = json!("support");
        }
        let called = walk.developer.call("/mcp", name, &arguments).await;
        assert_eq!(called.refused("invalid_input"), problem, "{name} with {input}");
    }
    let path = "/v1/orgs/local/playbooks/support/tool-servers/desk/tools/look/execute";
    let keyed = |key: &str| walk.developer.clone().with("idempotency-key", key);
    for key in ["", "two words", &"x".repeat(129)] {
        assert_eq!(keyed(key).post(path, &json!({})).await.invalid_at(), ["/idempotency_key"], "{key}");
    }
    keyed("one").post(path, &json!({ "idempotency_key": "one" })).await.refused(400, "bad_request");
    assert_eq!(walk.everything().await, before);
}
