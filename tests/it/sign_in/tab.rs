//! A browser without script: it keeps cookies, sends forms from our own pages and follows nothing by itself.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::support::app::TestApp;
use crate::support::people::{Answer, Caller};

pub use crate::support::visitor::PASSWORD;

/// One browser.
pub struct Tab {
    caller: Caller,
    origin: String,
    jar: RefCell<BTreeMap<String, String>>,
}

impl Tab {
    /// A new one, without a cookie.
    pub fn of(server: &TestApp) -> Self {
        Self { caller: server.anyone(), origin: server.app.public_address(), jar: RefCell::default() }
    }

    /// The cookies it has, as it sends them.
    pub fn cookies(&self) -> String {
        let jar = self.jar.borrow();
        jar.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ")
    }

    /// One of its cookies.
    pub fn cookie(&self, name: &str) -> Option<String> {
        self.jar.borrow().get(name).cloned()
    }

    /// Puts a cookie into it.
    pub fn plant(&self, name: &str, value: &str) {
        self.jar.borrow_mut().insert(name.to_owned(), value.to_owned());
    }

    /// Opens a page.
    pub async fn get(&self, path: &str) -> Answer {
        let request = self.caller.request("GET", path).header("cookie", self.cookies()).header("accept", "text/html");
        self.kept(Answer::of(request).await)
    }

    /// Sends a form from a page of ours.
    pub async fn send(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let request = self.caller.request("POST", path).header("cookie", self.cookies()).header("origin", &self.origin);
        self.kept(Answer::of(form(request, fields)).await)
    }

    /// Sends a form of a page that somebody sees who signed in, with the token that stands in it.
    pub async fn command(&self, page: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
        let html = self.get(page).await.text;
        let csrf = after(&html, "name=\"csrf\" value=\"").to_owned();
        self.send(path, &[&[("csrf", csrf.as_str())], fields].concat()).await
    }

    /// Signs in with a password.
    pub async fn signs_in(&self, email: &str, password: &str) -> Answer {
        self.send("/sign-in", &[("email", email), ("password", password), ("remember", "yes")]).await
    }

    fn kept(&self, answer: Answer) -> Answer {
        for line in answer.headers.get_all("set-cookie") {
            let line = line.to_str().unwrap();
            let (name, rest) = line.split_once('=').unwrap();
            let value = rest.split(';').next().unwrap();
            if line.contains("Max-Age=0") {
                self.jar.borrow_mut().remove(name);
            } else {
                self.plant(name, value);
            }
        }
        answer
    }
}

/// A request with a form as its body.
pub fn form(request: reqwest::RequestBuilder, fields: &[(&str, &str)]) -> reqwest::RequestBuilder {
    let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    request.header("content-type", "application/x-www-form-urlencoded").body(body)
}

/// What stands in a page after `mark`, up to the next quotation mark.
pub fn after<'a>(html: &'a str, mark: &str) -> &'a str {
    html.split_once(mark).and_then(|(_, rest)| rest.split('"').next()).unwrap_or_default()
}

/// The fields of a good set-up.
pub fn set_up(code: &str) -> Vec<(&str, &str)> {
    vec![
        ("code", code),
        ("name", "Ada Lovelace"),
        ("email", "Ada@Acme.test"),
        ("password", PASSWORD),
        ("org", "acme"),
        ("org_name", "Acme"),
    ]
}

impl TestApp {
    /// A server with Ada as its first person, owner of `acme`, and the browser she did it in.
    pub async fn set_up_by_ada(settings: &[(&str, &str)]) -> (Self, Tab) {
        let server = Self::signing_in_with(settings).await;
        let code = server.app.identity.set_up_code(true).await.unwrap().unwrap();
        let tab = Tab::of(&server);
        let answer = tab.send("/setup", &set_up(&code)).await;
        assert_eq!((answer.status, answer.header("location")), (303, "/"), "{}", answer.text);
        (server, tab)
    }
}
