//! The walk of [`super::roles`] with people themselves: in a browser's session over HTTP, with an access token over HTTP and
//! at each MCP endpoint, and with keys at each MCP endpoint.

use std::collections::BTreeSet;

use playmaker::operations::{Endpoint, Scope};
use serde_json::{Value, json};

use super::roles::{EVERYBODY, Kind, Servers, needed};
use crate::oauth::{P, Scene, person, text};
use crate::support::people::{Answer, Caller};

/// What each endpoint asks for before it reads a request: one of these.
const MCP: [(Endpoint, &str, &[&str]); 3] = [
    (Endpoint::Own, "/mcp", &["org:read", "org:write", "playbook:read", "playbook:write"]),
    (Endpoint::Org, "/orgs/{org}/mcp", &["org:read", "org:write"]),
    (Endpoint::Playbook, "/orgs/{org}/playbooks/support/mcp", &["playbook:read", "playbook:write"]),
];

/// Only an owner does these; their inputs are such that nothing comes of it.
const OWNERS: [(&str, &str); 3] = [("update_org", "{\"name\":5}"), ("delete_org", "{}"), ("restore_org", "{}")];

/// Everybody there is, at the servers of the walk.
struct Walk {
    north: Scene,
    local: crate::support::app::TestApp,
}

impl Walk {
    async fn begun() -> Self {
        let Servers { north, local } = Servers::start().await;
        let ada = person(&north, "ada", "north", playmaker::identity::Role::Owner).await;
        Self { north: Scene { server: north, ada }, local }
    }

    /// As they come with what proves who they are, for this resource.
    async fn comes(&self, kind: Kind, resource: &str) -> Caller {
        let server = &self.north.server;
        match kind {
            Kind::Local => self.local.anyone(),
            Kind::Key(key) => server.holder(key),
            Kind::Person(role, None) => {
                let email = format!("{}@north.test", role.word());
                Caller::clone(&*server.person("Ada", &email, "north", role).await)
            }
            Kind::Person(role, Some(scopes)) => {
                let somebody = person(server, &format!("{}{}", role.word(), resource.len()), "north", role).await;
                let client = self.north.public_client().await;
                let (resource, scopes) = (format!("{P}{resource}"), scopes.join(" "));
                let asked = [("resource", resource.as_str()), ("scope", scopes.as_str())];
                let code = self.north.code_of(&somebody, "north", &client, &asked).await;
                let tokens = self.north.exchange(&client, &code).await.done(200);
                Caller::new(server.url(""), Some(&text(&tokens, "access_token")))
            }
        }
    }

    /// What is left of somebody's scopes at the endpoints for agents: none administers there (`identity.md` 4.1).
    fn among_agents(kind: Kind) -> Kind {
        match kind {
            Kind::Person(role, Some(["org:write", "playbook:write", "org:admin"])) => {
                Kind::Person(role, Some(&["org:write", "playbook:write"]))
            }
            Kind::Person(role, Some(["org:admin", "playbook:read"])) => Kind::Person(role, Some(&["playbook:read"])),
            Kind::Person(_, Some(scopes)) if scopes.contains(&"org:admin") => panic!("{kind:?} needs its arm here"),
            kind => kind,
        }
    }

    fn server(&self, kind: Kind) -> (&crate::support::app::TestApp, &'static str) {
        if matches!(kind, Kind::Local) { (&self.local, "local") } else { (&self.north.server, "north") }
    }
}

#[tokio::test]
async fn over_http_people_do_what_the_table_says() {
    let walk = Walk::begun().await;
    for kind in EVERYBODY.into_iter().filter(|kind| matches!(kind, Kind::Person(..))) {
        let (holder, (server, org)) = (walk.comes(kind, "/v1").await, walk.server(kind));
        let me = holder.get("/v1/me").await.done(200);
        let rights: BTreeSet<&str> =
            me["permissions"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
        assert_eq!(rights, kind.rights(), "{kind:?}");
        for entry in server.app.operations.iter().filter(|entry| entry.declaration.scope != Scope::Link) {
            let declaration = entry.declaration;
            let path = declaration.route().replace("{org}", org).replace("{playbook}", "support");
            let path = path.replace(['{', '}'], "");
            let answer: Answer = match declaration.method.word() {
                "GET" => holder.get(&path).await,
                "DELETE" => holder.delete(&path).await,
                method => holder.send(method, &path, "{}").await,
            };
            let owners = OWNERS.iter().any(|(id, _)| *id == declaration.id);
            let may = kind.may(needed(entry));
            let is_owner = matches!(kind, Kind::Person(playmaker::identity::Role::Owner, _));
            // Whether it is an owner's alone is told once the input is whole; the tests of members look at that.
            if may && ((owners && !is_owner) || ["remove_member", "accept_invitation"].contains(&declaration.id)) {
                continue;
            }
            assert_eq!(answer.status != 403, may, "{} for {kind:?}: {}", declaration.id, answer.text);
            assert_ne!(answer.status, 401, "{} for {kind:?}", declaration.id);
        }
    }
}

/// Check 9 of the sheet: what an endpoint lists is what it calls, for each who may come to it.
#[tokio::test]
async fn at_each_mcp_endpoint_what_is_listed_is_callable_and_nothing_else() {
    let walk = Walk::begun().await;
    let mut called = 0;
    for kind in EVERYBODY {
        let (holder, (server, org)) = (walk.comes(kind, "/mcp").await, walk.server(kind));
        let kind = Walk::among_agents(kind);
        for (endpoint, path, wanted) in MCP {
            let path = path.replace("{org}", org);
            let listing = holder.ask(&path, "tools/list", json!({})).await;
            // A browser's session is none at an endpoint for agents.
            if matches!(kind, Kind::Person(_, None)) {
                listing.refused(401, "unauthenticated");
                continue;
            }
            // A key that lacks them all still finds what either of two permissions is enough for (`mcp.md` 3).
            let is_token = matches!(kind, Kind::Person(..));
            if is_token && !wanted.iter().any(|scope| kind.rights().contains(scope)) {
                listing.refused(403, "forbidden");
                continue;
            }
            assert_eq!(listing.status, 200, "{path} for {kind:?}: {}", listing.text);
            let listed: BTreeSet<String> = holder.tool_names(&path).await.into_iter().collect();
            let offered = || server.app.operations.iter().filter(|entry| entry.declaration.tool.at(endpoint));
            let expected: BTreeSet<String> = offered()
                .filter(|entry| kind.may(needed(entry)))
                .map(|entry| entry.declaration.name.to_owned())
                .collect();
            assert_eq!(listed, expected, "{path} for {kind:?}");
            for entry in server.app.operations.iter() {
                let tool = entry.declaration.name;
                let unknown =
                    holder.try_call(&path, tool, &Value::Object(serde_json::Map::new())).await.is_err_and(|error| {
                        error["code"] == -32602 && error["message"].as_str().unwrap().starts_with("Unknown tool")
                    });
                assert_eq!(!unknown, listed.contains(tool), "{tool} at {path} for {kind:?}");
                called += 1;
            }
        }
    }
    assert!(called > 700, "{called}");
}
