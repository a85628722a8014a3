//! The page at which a person of the simulated provider allows or denies.

use std::collections::HashMap;

use axum::response::{Html, IntoResponse, Redirect, Response};
use http::StatusCode;

use super::grants::Code;
use super::quirks::{Issuer, WORDS};
use super::requests::Request;
use super::{CLIENT, Simulator, State};

impl Simulator {
    /// The person allows at the address a browser was sent to; the path and query it comes back to.
    pub fn allows(&self, visited: &str) -> String {
        path_of(&self.state.back(&self.asked(visited), true))
    }

    /// The person denies; the path and query their browser comes back to.
    pub fn denies(&self, visited: &str) -> String {
        path_of(&self.state.back(&self.asked(visited), false))
    }

    /// The browser comes back with these parameters beside the state, which the provider made up.
    pub fn answers(&self, visited: &str, parameters: &[(&str, &str)]) -> String {
        path_of(&self.state.address(&self.asked(visited), parameters))
    }

    fn asked(&self, visited: &str) -> HashMap<String, String> {
        assert!(visited.starts_with(&self.url("/authorize?")), "{visited}");
        let asked = super::super::provider::query(visited);
        check(&asked).unwrap_or_else(|fault| panic!("{fault}: {visited}"));
        asked
    }
}

impl State {
    /// A page with two buttons; what was asked goes along in the form.
    pub(super) fn authorize_page(&self, request: &Request) -> Response {
        if let Err(fault) = check(&request.query) {
            return (StatusCode::BAD_REQUEST, fault).into_response();
        }
        let escape = |text: &str| text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
        let hidden = request.query.iter().map(|(name, value)| {
            format!("<input type=\"hidden\" name=\"{}\" value=\"{}\">", escape(name), escape(value))
        });
        Html(format!(
            "<!doctype html><html lang=\"en\"><title>Simulated</title><h1>Allow Playmaker?</h1>\
             <form method=\"post\" action=\"/decide\">{}<button name=\"decision\" value=\"allow\">Allow</button>\
             <button name=\"decision\" value=\"deny\">Deny</button></form></html>",
            hidden.collect::<String>()
        ))
        .into_response()
    }

    /// What the person pressed.
    pub(super) fn decided(&self, request: &Request) -> Response {
        Redirect::to(&self.back(&request.members, request.member("decision") == "allow")).into_response()
    }

    fn back(&self, asked: &HashMap<String, String>, allowed: bool) -> String {
        if !allowed {
            return self.address(asked, &[("error", "access_denied"), ("error_description", WORDS)]);
        }
        let code = self.grants().code(Code {
            challenge: asked.get("code_challenge").cloned(),
            redirect: asked["redirect_uri"].clone(),
            scopes: asked.get("scope").map(|all| all.split(' ').map(str::to_owned).collect()).unwrap_or_default(),
            resource: asked.get("resource").cloned(),
            account: self.quirks().account,
        });
        self.address(asked, &[("code", &code)])
    }

    fn address(&self, asked: &HashMap<String, String>, parameters: &[(&str, &str)]) -> String {
        let mut back = url::Url::parse(&asked["redirect_uri"]).unwrap();
        back.query_pairs_mut().extend_pairs(parameters).append_pair("state", &asked["state"]);
        match self.quirks().issuer {
            Issuer::Right => drop(back.query_pairs_mut().append_pair("iss", &self.issuer)),
            Issuer::Wrong => drop(back.query_pairs_mut().append_pair("iss", "https://somebody-else.example")),
            Issuer::Missing => {}
        }
        back.to_string()
    }
}

/// What a provider refuses at its own page, since nobody can be sent back safely.
fn check(asked: &HashMap<String, String>) -> Result<(), &'static str> {
    let says = |name: &str, value: &str| asked.get(name).is_some_and(|given| given == value);
    match () {
        () if !says("response_type", "code") => Err("response_type is not code"),
        () if !says("client_id", CLIENT) => Err("no such client"),
        () if asked.get("state").is_none_or(String::is_empty) => Err("no state"),
        () if asked.contains_key("code_challenge") && !says("code_challenge_method", "S256") => Err("not S256"),
        () if !asked.get("redirect_uri").is_some_and(|uri| uri.ends_with("/connect/return")) => Err("another address"),
        () => Ok(()),
    }
}

fn path_of(address: &str) -> String {
    let url = url::Url::parse(address).unwrap();
    format!("{}?{}", url.path(), url.query().unwrap_or_default())
}
