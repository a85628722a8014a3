//! A person who signed in, with the browser they did it in.

use std::ops::Deref;

use playmaker::http;
use playmaker::identity::sign_in::SERVER;
use playmaker::identity::sign_in::passwords::{self, Password};
use playmaker::identity::sign_in::sessions::{Browser, Method};
use playmaker::identity::{Changed, Membership, Org, Person, Playbooks, Role, members, orgs, people};
use playmaker::ledger;
use reqwest::header::{COOKIE, HeaderMap, HeaderValue};

use super::app::TestApp;
use super::people::Caller;

/// The password everybody has who has one.
pub const PASSWORD: &str = "a lantern in the north window";

/// Somebody at a page of Studio: each request carries the cookie of their session and what a page's own commands carry.
#[derive(Clone)]
pub struct Visitor {
    /// Their id, `user_…`.
    pub id: String,
    /// The cookie, as a browser sends it back: name and value.
    pub cookie: String,
    /// The token of their session's commands.
    pub csrf: String,
    browser: Caller,
}

impl Deref for Visitor {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.browser
    }
}

impl TestApp {
    /// Somebody of this name and email who belongs to `org` and has just signed in; person and org are made where they are
    /// not there yet.
    pub async fn person(&self, name: &str, email: &str, org: &str, role: Role) -> Visitor {
        let identity = &self.app.identity;
        let person = match identity.person_of_email(email).await.unwrap() {
            Some(person) => person,
            None => self.somebody(name, email).await,
        };
        self.joins(&person, org, role).await;
        self.signs_in(&person).await
    }

    /// The same somebody, who also has the password every person of the tests has.
    pub async fn with_password(&self, name: &str, email: &str, org: &str, role: Role) -> Visitor {
        let visitor = self.person(name, email, org, role).await;
        let identity = &self.app.identity;
        let hash = identity.hashed(Password::chosen(PASSWORD, email).unwrap()).await.unwrap();
        let (person, now) = (visitor.id.clone(), identity.now_ms());
        let write: ledger::Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                passwords::put(connection, &person, &hash, now).await?;
                Ok(ledger::Changed::nothing(()))
            })
        });
        identity.ledger().commit(SERVER, write).await.unwrap();
        visitor
    }

    /// A new session of a person, in a browser of its own.
    pub async fn signs_in(&self, person: &Person) -> Visitor {
        let browser = Browser { user_agent: "a test".into(), address: "127.0.0.1".into() };
        let identity = &self.app.identity;
        let opened = identity.sign_in(person, Method::Password, true, &browser, None).await.unwrap();
        self.visitor(&person.id, &opened.id).await
    }

    /// Whoever has the session of this id.
    pub async fn visitor(&self, person: &str, session: &str) -> Visitor {
        let secure = self.app.public_address().starts_with("https://");
        let cookie = format!("{}playmaker={session}", if secure { "__Host-" } else { "" });
        let headers = HeaderMap::from_iter([(COOKIE, HeaderValue::from_str(&cookie).unwrap())]);
        let sender = http::Sender::of(&::http::Extensions::new());
        let session = http::studio_session(&self.app, &headers, &sender).await.unwrap().expect("the session lives");
        let browser = self.anyone().with("cookie", &cookie).with("origin", &self.app.public_address());
        let browser = browser.with("x-playmaker-csrf", &session.csrf);
        Visitor { id: person.to_owned(), cookie, csrf: session.csrf, browser }
    }

    async fn somebody(&self, name: &str, email: &str) -> Person {
        let identity = &self.app.identity;
        let now = identity.now_ms();
        let person = Person {
            id: identity.ids().person(),
            name: name.to_owned(),
            email: Some(email.to_owned()),
            email_verified_at_ms: Some(now),
            status: people::Status::Active,
            created_at_ms: now,
            refreshed_at_ms: now,
        };
        let row = person.clone();
        let write: ledger::Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                people::insert(connection, &row).await?;
                Ok(ledger::Changed::nothing(()))
            })
        });
        identity.ledger().commit(SERVER, write).await.unwrap();
        identity.forget(Changed::Person(&person.id));
        person
    }

    async fn joins(&self, person: &Person, org: &str, role: Role) {
        let identity = &self.app.identity;
        let now = identity.now_ms();
        let new = Org {
            id: org.to_owned(),
            name: org.to_owned(),
            status: orgs::Status::Active,
            created_at_ms: now,
            created_by: person.caller_id(),
            deletes_at_ms: None,
        };
        let membership = Membership {
            org: org.to_owned(),
            person: person.id.clone(),
            role,
            playbooks: Playbooks::All,
            created_at_ms: now,
            created_by: person.caller_id(),
            last_seen_at_ms: None,
        };
        let write: ledger::Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                orgs::insert(connection, &new).await?;
                members::insert(connection, &membership).await?;
                Ok(ledger::Changed::nothing(()))
            })
        });
        identity.ledger().commit(org, write).await.unwrap();
        identity.forget(Changed::Org(org));
        identity.forget(Changed::Membership(org, &person.id));
    }
}
