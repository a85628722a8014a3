//! API keys of the database: who makes them, what they may do, and how they end (`identity.md` 3 and 9).
//!
//! Every test plays in the org `north` of a server where people sign in, with one key of the configuration beside.

mod commands;
mod counted;
mod ending;
mod listed;
mod looked_up;
mod making;
mod me;
mod rotating;
mod sessions;
mod streams;

use std::sync::Arc;

use playmaker::app::App;
use playmaker::error::Problem;
use playmaker::identity::orgs::{self, Org};
use playmaker::identity::people::{self, Status};
use playmaker::identity::{By, Caller, Changed as Forget, Membership, Permissions, Person, Playbooks, Role, members};
use playmaker::ledger::Changed;
use playmaker::on_connection;
use playmaker::operations::admission;
use serde_json::{Value, json};

use crate::support::app::{FULL, TestApp};
use crate::support::people::{Answer, Caller as Holder};

/// The org the tests play in.
const NORTH: &str = "north";

/// A server where people sign in.
pub struct House {
    /// It.
    pub server: TestApp,
}

/// Somebody who signed in, in one org.
#[derive(Clone)]
pub struct Acting {
    app: Arc<App>,
    /// As the program sees them.
    pub caller: Arc<Caller>,
}

impl House {
    pub async fn open() -> Self {
        Self::with(&[]).await
    }

    pub async fn with(settings: &[(&str, &str)]) -> Self {
        let keys = json!([FULL.entry()]).to_string();
        let all: Vec<_> =
            [("PUBLIC_URL", "https://pm.example"), ("API_KEYS", &keys)].iter().chain(settings).copied().collect();
        let house = Self { server: TestApp::with(&all).await };
        for org in [NORTH, "south"] {
            house.org(org).await;
        }
        house
    }

    pub fn app(&self) -> &Arc<App> {
        &self.server.app
    }

    async fn org(&self, id: &str) {
        let org = Org {
            id: id.to_owned(),
            name: id.to_uppercase(),
            status: orgs::Status::Active,
            created_at_ms: 0,
            created_by: "operator".into(),
            deletes_at_ms: None,
        };
        let work: playmaker::ledger::Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                orgs::insert(connection, &org).await?;
                Ok(Changed::nothing(()))
            })
        });
        self.app().ledger.commit(id, work).await.unwrap();
    }

    /// A new member of `north`, who signed in just now.
    pub async fn member(&self, role: Role) -> Acting {
        self.member_of(NORTH, role, Playbooks::All).await
    }

    /// A new member of an org, who signed in just now.
    pub async fn member_of(&self, org: &str, role: Role, playbooks: Playbooks) -> Acting {
        let id = self.app().ids.person();
        let person = Person {
            id: id.clone(),
            name: format!("A {}", role.word()),
            email: None,
            email_verified_at_ms: None,
            status: Status::Active,
            created_at_ms: 0,
            refreshed_at_ms: 0,
        };
        let membership = Membership {
            org: org.to_owned(),
            person: id.clone(),
            role,
            playbooks,
            created_at_ms: 0,
            created_by: "operator".into(),
            last_seen_at_ms: None,
        };
        let work: playmaker::ledger::Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                people::insert(connection, &person).await?;
                members::insert(connection, &membership).await?;
                Ok(Changed::nothing(()))
            })
        });
        self.app().ledger.commit(org, work).await.unwrap();
        self.acting(&id, org).await
    }

    /// A person, signed in just now.
    pub async fn acting(&self, person: &str, org: &str) -> Acting {
        let app = self.app().clone();
        let (now, by) = (app.clock.now_ms(), By::Session);
        let caller = app.identity.acting(person, org, Permissions::EVERY, Some(now), by).await.unwrap().unwrap();
        Acting { app, caller }
    }

    /// Changes a row as another room would, and says so.
    pub async fn sets(&self, sql: &'static str, values: [&str; 2], forget: Forget<'_>) {
        let [one, two] = values.map(str::to_owned);
        let work: playmaker::ledger::Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                on_connection!(connection, c => sqlx::query(sql).bind(one).bind(two).execute(c).await.map(|_| ()))?;
                Ok(Changed::nothing(()))
            })
        });
        self.app().ledger.commit(NORTH, work).await.unwrap();
        self.app().identity.forget(forget);
    }

    /// The caller with a key's text.
    pub fn holds(&self, text: &str) -> Holder {
        Holder::new(self.server.url(""), Some(text))
    }

    /// A read with a key's text.
    pub async fn reads(&self, text: &str) -> Answer {
        self.holds(text).get("/v1/orgs/north/playbooks").await
    }

    /// The words of the audit about a key, in order.
    pub async fn audit_of(&self, key: &Value) -> Vec<String> {
        let stream = format!("keys/{}", key["id"].as_str().unwrap());
        let rows = self.server.audit(NORTH).await;
        rows.into_iter().filter(|row| row.stream == stream).map(|row| row.kind).collect()
    }
}

impl Acting {
    /// Does an operation, as over HTTP once the caller is known.
    pub async fn does(&self, operation: &str, input: Value) -> Result<Value, Problem> {
        let entry = self.app.operations.iter().find(|entry| entry.declaration.id == operation).unwrap();
        admission::permission(entry, &self.caller)?;
        let context = admission::context(self.app.clone(), self.caller.clone(), false);
        let answer = entry.run(context, input).await?;
        Ok(serde_json::from_str(answer.output.get()).unwrap())
    }

    /// Makes a key that reads.
    pub async fn makes(&self, name: &str) -> Value {
        self.does("create_key", json!({ "name": name, "permissions": ["org:read"] })).await.unwrap()
    }

    /// The person's own id.
    pub fn person(&self) -> &str {
        self.caller.person().unwrap()
    }

    /// Whoever signed in with fewer scopes.
    pub fn with_scopes(&self, granted: Permissions) -> Self {
        let caller = Caller { permissions: self.caller.permissions.and(granted), ..Caller::clone(&self.caller) };
        Self { app: self.app.clone(), caller: Arc::new(caller) }
    }
}

/// The text of a key just made or rotated.
pub fn text(made: &Value) -> &str {
    made["key"].as_str().unwrap()
}

/// Status, reason and kind of a refusal.
pub fn told(refused: Result<Value, Problem>) -> (u16, &'static str, Option<&'static str>) {
    let problem = refused.unwrap_err();
    (problem.status(), problem.reason().word(), problem.kind_word())
}

/// Where an input was refused.
pub fn at(refused: Result<Value, Problem>) -> String {
    let problem = refused.unwrap_err();
    assert_eq!(problem.status(), 422, "{problem}");
    problem.issues()[0].pointer.clone()
}
