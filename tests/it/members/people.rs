//! The people of these tests, made as the server makes them, and acting as a browser's session does.

use std::sync::Arc;

use playmaker::app::App;
use playmaker::clock::Clock;
use playmaker::error::Problem;
use playmaker::identity::orgs::Status as OrgStatus;
use playmaker::identity::people::{self, Status};
use playmaker::identity::{By, Caller, Membership, Org, Permissions, Person, Playbooks, Role, members, orgs};
use playmaker::ledger::{Changed, Origin, Via};
use playmaker::operations::admission;
use serde_json::Value;

use crate::support::app::TestApp;

/// A server where people sign in.
pub async fn signing_in(settings: &[(&str, &str)]) -> TestApp {
    let mut all = vec![("PUBLIC_URL", "https://pm.example")];
    all.extend_from_slice(settings);
    TestApp::with(&all).await
}

/// A server with the org `acme` and its owner Ada.
pub async fn acme() -> (TestApp, Somebody) {
    let server = signing_in(&[]).await;
    org(&server, "acme").await;
    let ada = Somebody::new(&server, "ada").await.joins("acme", Role::Owner).await;
    (server, ada)
}

/// An org with nobody in it.
pub async fn org(server: &TestApp, id: &str) {
    let org = Org {
        id: id.into(),
        name: id.to_uppercase(),
        status: OrgStatus::Active,
        created_at_ms: server.clock.now_ms(),
        created_by: "operator".into(),
        deletes_at_ms: None,
    };
    let work: playmaker::ledger::Work<()> = Box::new(move |connection| {
        Box::pin(async move {
            assert!(orgs::insert(connection, &org).await?);
            Ok(Changed::nothing(()))
        })
    });
    server.app.ledger.commit(id, work).await.unwrap();
}

/// A person, and the session they act with.
#[derive(Clone)]
pub struct Somebody {
    app: Arc<App>,
    /// `user_…`.
    pub id: String,
    /// Their email.
    pub email: String,
    org: String,
    signed_in_at_ms: i64,
}

impl Somebody {
    /// A person with an account, `<name>@acme.test`, whose email is not verified.
    pub async fn new(server: &TestApp, name: &str) -> Self {
        let (app, now) = (server.app.clone(), server.clock.now_ms());
        let person = Person {
            id: app.ids.person(),
            name: name.into(),
            email: Some(format!("{name}@acme.test")),
            email_verified_at_ms: None,
            status: Status::Active,
            created_at_ms: now,
            refreshed_at_ms: now,
        };
        let (id, email) = (person.id.clone(), format!("{name}@acme.test"));
        let work: playmaker::ledger::Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                people::insert(connection, &person).await?;
                Ok(Changed::nothing(()))
            })
        });
        app.ledger.commit("", work).await.unwrap();
        Self { app, id, email, org: String::new(), signed_in_at_ms: now }
    }

    /// The same person, a member of an org from now on and acting in it.
    pub async fn joins(self, org: &str, role: Role) -> Self {
        self.joins_at(org, role, Playbooks::All).await
    }

    /// The same, narrowed to some playbooks.
    pub async fn joins_at(mut self, org: &str, role: Role, playbooks: Playbooks) -> Self {
        let membership = Membership {
            org: org.into(),
            person: self.id.clone(),
            role,
            playbooks,
            created_at_ms: self.app.clock.now_ms(),
            created_by: "operator".into(),
            last_seen_at_ms: None,
        };
        let work: playmaker::ledger::Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                assert!(members::insert(connection, &membership).await?);
                Ok(Changed::nothing(()))
            })
        });
        self.app.ledger.commit(org, work).await.unwrap();
        org.clone_into(&mut self.org);
        self
    }

    /// The same person acting in another org of theirs.
    pub fn acting_in(mut self, org: &str) -> Self {
        org.clone_into(&mut self.org);
        self
    }

    /// The same person, on another server of the same database.
    pub fn on(mut self, server: &TestApp) -> Self {
        self.app = server.app.clone();
        self
    }

    /// The same person, who proved who they are just now.
    pub fn signed_in_again(mut self) -> Self {
        self.signed_in_at_ms = self.app.clock.now_ms();
        self
    }

    /// Their caller id.
    pub fn caller_id(&self) -> String {
        format!("person:{}", self.id)
    }

    /// The checked caller a request of theirs has now; none where it has none.
    pub async fn caller(&self) -> Option<Arc<Caller>> {
        self.with(Permissions::EVERY, By::Session).await
    }

    /// The same with a token or a session of these permissions.
    pub async fn with(&self, granted: Permissions, by: By) -> Option<Arc<Caller>> {
        let (identity, at) = (&self.app.identity, Some(self.signed_in_at_ms));
        let caller = if self.org.is_empty() {
            identity.acting_nowhere(&self.id, at).await.unwrap()
        } else {
            identity.acting(&self.id, &self.org, granted, at, by).await.unwrap()
        };
        let agent = Some("Mozilla/5.0 (a test)");
        let origin = Origin::of_request(Via::Studio, "request-1", "2001:db8:1:2:3::4".parse().ok(), agent);
        caller.map(|caller| Arc::new(caller.through(origin)))
    }

    /// Does an operation, as its route does after it knows the caller.
    pub async fn does(&self, operation: &str, input: Value) -> Result<Value, Problem> {
        let caller = self.caller().await.expect("the person belongs to the org");
        self.does_as(caller, operation, input).await
    }

    /// The same as this caller.
    pub async fn does_as(&self, caller: Arc<Caller>, operation: &str, input: Value) -> Result<Value, Problem> {
        let entry = self.app.operations.iter().find(|entry| entry.declaration.id == operation).unwrap();
        let done = async {
            admission::permission(entry, &caller)?;
            entry.run(admission::context(self.app.clone(), caller.clone(), false), input).await
        };
        let answer = done.await.inspect_err(|problem| self.app.refusals.note(&caller, operation, problem))?;
        Ok(serde_json::from_str(answer.output.get()).unwrap())
    }

    /// What an operation refuses: status, reason and kind.
    pub async fn refused(&self, operation: &str, input: Value) -> (u16, &'static str, Option<&'static str>) {
        told(&self.does(operation, input).await.expect_err("it is refused"))
    }

    /// The audit as this person reads it, newest first.
    pub async fn reads_audit(&self, input: Value) -> Vec<Value> {
        self.does("list_audit", input).await.unwrap()["rows"].as_array().unwrap().clone()
    }
}

/// Status, reason and kind of a refusal.
pub fn told(problem: &Problem) -> (u16, &'static str, Option<&'static str>) {
    (problem.status(), problem.reason().word(), problem.kind_word())
}
