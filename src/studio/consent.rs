//! The page on which a person allows a client to act for them (`identity.md` 7.3): who asks, where it returns to, what it
//! may then do, in which org, and how to refuse.

use askama::Template;
use http::header::CONTENT_SECURITY_POLICY;
use http::{HeaderValue, StatusCode};

use super::response::{Response, page};
use super::text::Text;

/// Where the browser goes back to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Back {
    /// A host on the web.
    Host(Text),
    /// A program on this computer; `only` where the client has no other address, so that any program could be it.
    ThisComputer {
        /// Whether every address of the client is on this computer.
        only: bool,
    },
    /// A program that owns a scheme.
    Program(Text),
}

/// One thing the client asks to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// The scope's word.
    pub scope: &'static str,
    /// What it lets the client do.
    pub sentence: &'static str,
    /// Whether the person can take it out.
    pub optional: bool,
}

/// An org the person can choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Its id.
    pub id: Text,
    /// Its name.
    pub name: Text,
    /// Whether it is chosen already.
    pub chosen: bool,
}

/// What the page shows. Not `Debug`, since it holds what the form is trusted by.
#[derive(Clone)]
pub struct Consent {
    /// What the client calls itself.
    pub client: Text,
    /// The host that vouches for that name; the name is marked as unverified where there is none.
    pub vouched_by: Option<Text>,
    /// Where the browser goes back to.
    pub back: Back,
    /// What of this server the client wants to reach, in words.
    pub endpoint: Text,
    /// The paths of it.
    pub paths: Vec<Text>,
    /// The person's name.
    pub person: Text,
    /// Their email.
    pub email: Text,
    /// The orgs to choose from; one alone is no choice.
    pub orgs: Vec<Choice>,
    /// What the client asks to do.
    pub wishes: Vec<Wish>,
    /// The token of the session's own commands, for signing out.
    pub csrf: String,
    /// The request's id, for the form.
    pub request: String,
    /// The form's token.
    pub token: String,
    /// What the page's policy must name, so that the form may end at the client's address.
    pub policy_source: String,
}

/// Why there is nothing to allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Barred {
    /// The person is no member of the org the client asks for.
    NotAMember {
        /// The org.
        org: Text,
    },
    /// The person belongs to no org.
    NoOrg,
}

#[derive(Template)]
#[template(path = "signin/consent.html")]
struct ConsentPage<'a> {
    ask: &'a Consent,
}

#[derive(Template)]
#[template(path = "signin/consent_barred.html")]
struct BarredPage<'a> {
    ask: &'a Consent,
    why: &'a Barred,
}

/// The page that asks.
pub fn consent(ask: &Consent) -> Response {
    ending_at(page(StatusCode::OK, &ConsentPage { ask }), &ask.policy_source)
}

/// The page that says why nothing can be allowed here, with the way back.
pub fn consent_barred(ask: &Consent, why: &Barred) -> Response {
    ending_at(page(StatusCode::FORBIDDEN, &BarredPage { ask, why }), &ask.policy_source)
}

/// A form's redirect is held to the policy of the page it stands on (CSP level 3, `form-action`).
fn ending_at(mut response: Response, source: &str) -> Response {
    let policy = response.headers().get(CONTENT_SECURITY_POLICY).and_then(|policy| policy.to_str().ok());
    let widened = policy.map(|policy| policy.replace("form-action 'self'", &format!("form-action 'self' {source}")));
    if let Some(Ok(policy)) = widened.map(|policy| HeaderValue::from_str(&policy)) {
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// What a scope lets a client do, in a sentence.
pub fn sentence(scope: &str) -> &'static str {
    match scope {
        "org:read" => "See the org’s playbooks, models and connections, and look for tools",
        "org:write" => "Create, change and retire playbooks; add and remove connections",
        "playbook:read" => "Read everything inside playbooks, and try inputs without calling anything",
        "playbook:write" => "Change and run what is inside playbooks, answer for you, and call tools",
        "org:admin" => "Manage members, invitations, keys and the org itself, and read its audit",
        _ => "Something this server does not know",
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::gallery::{html_of, words_of};
    use super::*;

    pub(in crate::studio) fn asking() -> Consent {
        let wish = |scope: &'static str, optional| Wish { scope, sentence: sentence(scope), optional };
        Consent {
            client: "Editor".into(),
            vouched_by: None,
            back: Back::ThisComputer { only: true },
            endpoint: "Everything an agent can do in your org".into(),
            paths: vec!["/mcp".into(), "/tools/mcp".into()],
            person: "Ada Lovelace".into(),
            email: "ada@example.org".into(),
            orgs: vec![
                Choice { id: "acme".into(), name: "Acme".into(), chosen: false },
                Choice { id: "north".into(), name: "North".into(), chosen: false },
            ],
            wishes: vec![wish("org:read", false), wish("org:write", true)],
            csrf: "c5rf".into(),
            request: "req_1".into(),
            token: "1.abc".into(),
            policy_source: "http://127.0.0.1:4000".into(),
        }
    }

    /// Security case 38.
    #[tokio::test]
    async fn it_says_who_asks_and_that_nobody_vouches_for_the_name() {
        let response = consent(&asking());
        let policy = response.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned();
        assert!(
            policy.contains("form-action 'self' http://127.0.0.1:4000;") && policy.contains("frame-ancestors 'none'")
        );
        let html = html_of(response).await;
        let words = words_of(&html);
        for shown in [
            "Editor",
            "unverified name",
            "an application on this computer",
            "Any program on this computer could have asked",
            "ada@example.org",
            "Connected apps",
            "/tools/mcp",
        ] {
            assert!(words.contains(shown), "{shown}: {words}");
        }
        assert!(!html.contains("checked required"), "no org is chosen for a new client");
        assert_eq!(html.matches("type=\"checkbox\"").count(), 2);
        assert_eq!(html.matches("disabled").count(), 1, "a read cannot be taken out");
    }

    #[tokio::test]
    async fn a_document_vouches_by_its_host_and_foreign_words_are_cleaned() {
        let mut ask = asking();
        ask.vouched_by = Some("client.example".into());
        ask.client = "<b>Ed\u{202E}itor".into();
        ask.back = Back::Host("client.example".into());
        ask.orgs.truncate(1);
        let html = html_of(consent(&ask)).await;
        assert!(html.contains("client.example") && !html.contains("unverified name") && !html.contains("<b>"));
        assert!(!html.contains("type=\"radio\"") && !html.contains('\u{202E}'));
    }

    #[tokio::test]
    async fn whoever_is_no_member_is_told_so_and_can_go_back() {
        let response = consent_barred(&asking(), &Barred::NotAMember { org: "acme".into() });
        assert_eq!(response.status(), StatusCode::FORBIDDEN);
        let html = html_of(response).await;
        assert!(
            words_of(&html).contains("acme") && html.contains("value=\"deny\"") && !html.contains("value=\"allow\"")
        );
    }
}
