//! Who may do what (`identity.md` 2.2 and check 9): every operation for every kind of caller, against a table written from
//! the sheets, over HTTP, over each MCP endpoint, and as admission decides it.
//!
//! A new operation needs its line in [`NEEDED`], a new kind of caller its arm in [`Kind`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use playmaker::app::App;
use playmaker::identity::{By, Caller, Permission, Permissions, Playbooks, Role, SignedIn, Who};
use playmaker::mcp::{self, Agent, CallRequest, Era, Revision, Service};
use playmaker::operations::{Endpoint, Entry, Scope, admission};
use serde_json::{Map, Value, json};

use crate::support::app::{FULL, INSIDE, LIMITED, READER, TestApp};
use crate::support::people;

/// What the sheets ask of whoever does an operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Needed {
    /// Nothing but a good credential.
    Caller,
    /// One of these.
    One(&'static [&'static str]),
    /// This, of a person.
    OfPerson(&'static str),
    /// A person who signed in, whatever their role.
    SignedIn,
    /// A person at the page of a link.
    Page,
}

use Needed::{OfPerson, One, Page, SignedIn as Signed};

/// Each operation of the server, from its sheet.
pub(super) const NEEDED: [(&str, Needed); 45] = [
    ("create_playbook", One(&["org:write"])),
    ("list_playbooks", One(&["org:read", "playbook:read"])),
    ("get_playbook", One(&["org:read"])),
    ("update_playbook", One(&["org:write"])),
    ("retire_playbook", One(&["org:write"])),
    ("list_playbook_events", One(&["playbook:read"])),
    ("get_event", One(&["playbook:read"])),
    ("search", One(&["org:read", "playbook:read"])),
    ("search_in_playbook", One(&["playbook:read"])),
    ("introspect", One(&["playbook:read"])),
    ("dry_run", One(&["playbook:read"])),
    ("validate", One(&["playbook:read"])),
    ("execute", One(&["playbook:write"])),
    ("add_connection", OfPerson("org:write")),
    ("list_connections", One(&["org:read"])),
    ("get_connection", One(&["org:read"])),
    ("remove_connection", One(&["org:write"])),
    ("list_providers", One(&["org:read"])),
    ("get_guide", Needed::Caller),
    ("get_me", Needed::Caller),
    ("list_keys", Signed),
    ("create_key", Signed),
    ("update_key", Signed),
    ("rotate_key", Signed),
    ("revoke_key", Signed),
    ("list_members", OfPerson("org:admin")),
    ("change_role", OfPerson("org:admin")),
    // Anybody may leave; the operation tells who may take out whom.
    ("remove_member", Signed),
    ("invite_member", OfPerson("org:admin")),
    ("list_invitations", OfPerson("org:admin")),
    ("revoke_invitation", OfPerson("org:admin")),
    ("accept_invitation", Signed),
    ("update_org", OfPerson("org:admin")),
    ("delete_org", OfPerson("org:admin")),
    ("restore_org", OfPerson("org:admin")),
    ("list_grants", Signed),
    ("revoke_grant", Signed),
    ("list_audit", OfPerson("org:admin")),
    ("export_audit", OfPerson("org:admin")),
    ("read_link", Page),
    ("approve", Page),
    ("give_credential", Page),
    ("start", Page),
    ("finish", Page),
    ("cancel", Page),
];

/// The table of 2.2, permission by permission.
const RIGHTS: [(Role, &[&str]); 4] = [
    (Role::Viewer, &["org:read", "playbook:read"]),
    (Role::Member, &["org:read", "org:write", "playbook:read", "playbook:write"]),
    (Role::Admin, &["org:read", "org:write", "playbook:read", "playbook:write", "org:admin"]),
    (Role::Owner, &["org:read", "org:write", "playbook:read", "playbook:write", "org:admin"]),
];

/// A kind of caller.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// The developer in local mode.
    Local,
    /// A key that holds these.
    Key(&'static crate::support::app::Key),
    /// A person of a role in a browser, or with a token of these scopes.
    Person(Role, Option<&'static [&'static str]>),
}

pub(super) const EVERYBODY: [Kind; 12] = [
    Kind::Local,
    Kind::Key(&FULL),
    Kind::Key(&READER),
    Kind::Key(&LIMITED),
    Kind::Key(&INSIDE),
    Kind::Person(Role::Viewer, None),
    Kind::Person(Role::Member, None),
    Kind::Person(Role::Admin, None),
    Kind::Person(Role::Owner, None),
    Kind::Person(Role::Viewer, Some(&["org:write", "playbook:write", "org:admin"])),
    Kind::Person(Role::Member, Some(&["playbook:write"])),
    Kind::Person(Role::Owner, Some(&["org:admin", "playbook:read"])),
];

/// What one scope brings with it, by 2.1.
fn closed(words: &[&'static str]) -> BTreeSet<&'static str> {
    let mut all: BTreeSet<&str> = words.iter().copied().collect();
    for (wide, included) in [("org:write", "org:read"), ("playbook:write", "playbook:read"), ("org:admin", "org:read")]
    {
        if all.contains(wide) {
            all.insert(included);
        }
    }
    all
}

impl Kind {
    /// What it may do, by the sheets.
    pub(super) fn rights(self) -> BTreeSet<&'static str> {
        match self {
            Self::Local => closed(&["org:write", "playbook:write"]),
            Self::Key(key) => closed(key.permissions),
            Self::Person(role, scopes) => {
                let of_role = closed(RIGHTS.iter().find(|(one, _)| *one == role).unwrap().1);
                match scopes {
                    None => of_role,
                    Some(scopes) => closed(scopes).intersection(&of_role).copied().collect(),
                }
            }
        }
    }

    /// Whether it may, by the sheets.
    pub(super) fn may(self, needed: Needed) -> bool {
        let is_person = !matches!(self, Self::Key(_));
        match needed {
            Needed::Caller => true,
            One(words) => words.iter().any(|word| self.rights().contains(word)),
            OfPerson(word) => is_person && self.rights().contains(word),
            Signed => matches!(self, Self::Person(..)),
            Page => is_person,
        }
    }

    /// As the program knows it.
    fn caller(self) -> Arc<Caller> {
        let of_words =
            |words: &[&str]| -> Vec<Permission> { words.iter().map(|word| Permission::of(word).unwrap()).collect() };
        Arc::new(match self {
            Self::Local => Caller::local("ada"),
            Self::Key(key) => Caller {
                org: key.org.into(),
                who: Who::Key { id: key.id.into(), name: key.id.into(), person: None },
                permissions: Permissions::of(&of_words(key.permissions)),
                playbooks: key
                    .playbooks
                    .map_or(Playbooks::All, |ids| Playbooks::Only(ids.iter().map(|id| (*id).to_owned()).collect())),
                origin: None,
            },
            Self::Person(role, scopes) => {
                let granted = scopes.map_or(Permissions::EVERY, |scopes| Permissions::of(&of_words(scopes)));
                let by = match scopes {
                    None => By::Session,
                    Some(_) => By::Token { client: None, grant: None },
                };
                Caller {
                    org: "north".into(),
                    permissions: granted.and(role.rights()),
                    playbooks: Playbooks::All,
                    origin: None,
                    who: Who::Person(SignedIn {
                        id: "person:user_0123456789ABCDEFGHIJKL".into(),
                        name: "Ada".into(),
                        role: Some(role),
                        granted,
                        signed_in_at_ms: None,
                        by,
                    }),
                }
            }
        })
    }
}

pub(super) fn needed(entry: &Entry) -> Needed {
    let id = entry.declaration.id;
    NEEDED.iter().find(|(one, _)| *one == id).unwrap_or_else(|| panic!("{id} has no line in the table")).1
}

/// A walk asks more than anybody would.
pub(super) const UNHURRIED: (&str, &str) = ("RATE_CALLER", "1000000/1000000");

/// The server of keys and people, and the one of the local developer, each with the playbook `support`.
pub(super) struct Servers {
    pub(super) north: TestApp,
    pub(super) local: TestApp,
}

impl Servers {
    pub(super) async fn start() -> Self {
        let keys: Vec<Value> = [FULL, READER, LIMITED, INSIDE].iter().map(|key| key.entry()).collect();
        let keys = json!(keys).to_string();
        let north = TestApp::with(&[("PUBLIC_URL", "https://pm.example"), ("API_KEYS", &keys), UNHURRIED]).await;
        let local = TestApp::local().await;
        let body = json!({ "playbook": "support", "name": "Support" });
        north.holder(&FULL).post("/v1/orgs/north/playbooks", &body).await.done(201);
        local.anyone().post("/v1/orgs/local/playbooks", &body).await.done(201);
        Self { north, local }
    }

    pub(super) fn of(&self, kind: Kind) -> &TestApp {
        if matches!(kind, Kind::Local) { &self.local } else { &self.north }
    }

    fn app(&self, kind: Kind) -> &Arc<App> {
        &self.of(kind).app
    }
}

#[tokio::test]
async fn every_operation_is_in_the_table_and_nothing_else() {
    let servers = Servers::start().await;
    let there: BTreeSet<&str> = servers.local.app.operations.iter().map(|entry| entry.declaration.id).collect();
    assert_eq!(there, NEEDED.iter().map(|(id, _)| *id).collect());
}

#[tokio::test]
async fn admission_is_as_the_table_has_it() {
    let servers = Servers::start().await;
    for kind in EVERYBODY {
        let caller = kind.caller();
        let found: BTreeSet<&str> = caller.permissions.each().map(Permission::word).collect();
        assert_eq!(found, kind.rights(), "{kind:?}");
        for entry in servers.app(kind).operations.iter() {
            let (id, needed) = (entry.declaration.id, needed(entry));
            let admitted = admission::permission(entry, &caller);
            // That a connection is for people is decided with the operation itself.
            let expected = match needed {
                OfPerson(word) => kind.rights().contains(word),
                needed => kind.may(needed),
            };
            assert_eq!(admitted.is_ok(), expected, "{id} for {kind:?}");
            if let Err(problem) = admitted {
                assert_eq!((problem.status(), problem.kind_word()), (403, None), "{id} for {kind:?}");
            }
        }
    }
}

/// Whoever comes over HTTP today with a credential of their own.
#[tokio::test]
async fn over_http_nobody_does_more_and_nobody_less() {
    let servers = Servers::start().await;
    for kind in EVERYBODY {
        let (server, org) = (servers.of(kind), if matches!(kind, Kind::Local) { "local" } else { "north" });
        let holder: people::Caller = match kind {
            Kind::Local => server.anyone(),
            Kind::Key(key) => server.holder(key),
            Kind::Person(..) => continue,
        };
        for entry in server.app.operations.iter().filter(|entry| entry.declaration.scope != Scope::Link) {
            let declaration = entry.declaration;
            let path = declaration.route().replace("{org}", org).replace("{playbook}", "support");
            let path = path.replace(['{', '}'], "");
            let answer = match declaration.method.word() {
                "GET" => holder.get(&path).await,
                "DELETE" => holder.delete(&path).await,
                method => holder.send(method, &path, "{}").await,
            };
            // Who reaches some playbooks alone names one of them (`http-api.md` 2.2).
            if answer.status == 403 && answer.text.contains("Name one of them as playbook") {
                assert_eq!((declaration.id, caller_is_limited(kind)), ("search", true));
                continue;
            }
            let expected = kind.may(needed(entry));
            assert_eq!(answer.status != 403, expected, "{} for {kind:?}: {}", declaration.id, answer.text);
            assert_ne!(answer.status, 401, "{} for {kind:?}", declaration.id);
        }
    }
}

/// Whether it reaches some playbooks alone.
fn caller_is_limited(kind: Kind) -> bool {
    matches!(kind, Kind::Key(key) if key.playbooks.is_some())
}

fn call_request() -> CallRequest {
    CallRequest {
        era: Era::Modern,
        revision: Revision::R20260728,
        client_capabilities: Map::new(),
        client_name: None,
        input_responses: None,
        request_state: None,
        trace_parent: None,
        trace_state: None,
    }
}

#[tokio::test]
async fn over_mcp_what_is_listed_is_callable_and_nothing_else() {
    let servers = Servers::start().await;
    let mut counted: BTreeMap<&str, usize> = BTreeMap::new();
    for kind in EVERYBODY {
        let (app, caller) = (servers.app(kind).clone(), kind.caller());
        for endpoint in [Endpoint::Own, Endpoint::Org, Endpoint::Playbook] {
            let playbook = match endpoint {
                Endpoint::Playbook => Some(mcp::endpoint_playbook(&app, &caller, "support").await.unwrap()),
                _ => None,
            };
            let agent =
                Agent { app: app.clone(), caller: caller.clone(), endpoint, playbook, request_id: "one".into() };
            let listed: BTreeSet<String> = agent.tools().await.unwrap().iter().map(name).collect();
            let offered = app.operations.iter().filter(|entry| entry.declaration.tool.at(endpoint));
            for entry in offered {
                let tool = entry.declaration.name;
                let may = kind.may(needed(entry));
                assert_eq!(listed.contains(tool), may, "{tool} at {endpoint:?} for {kind:?}");
                let called = agent.call(tool, Map::new(), &call_request()).await;
                let unknown = called.as_ref().is_err_and(|error| error.message.starts_with("Unknown tool"));
                assert_eq!(!unknown, may, "{tool} at {endpoint:?} for {kind:?}");
                *counted.entry(if may { "callable" } else { "unknown" }).or_default() += 1;
            }
        }
    }
    assert!(counted.values().all(|count| *count > 60), "{counted:?}");
}

fn name(tool: &mcp::Json) -> String {
    let tool: Value = serde_json::to_value(tool).unwrap();
    tool["name"].as_str().unwrap().to_owned()
}
