//! Reading an authorization request (`identity.md` 7.2; RFC 6749 section 4.1.1, RFC 7636, RFC 8707).
//!
//! Until client and return address are known to fit each other, a fault is told on a page of ours and nobody is sent
//! anywhere (security case 36); every later one is told at the return address.

use serde::{Deserialize, Serialize};

use super::challenge;
use super::client::Client;
use super::parameters::Parameters;
use super::redirect_uri;
use super::refusal::{Code, Refusal, Result};
use super::scopes::Scopes;
use crate::identity::resource::Resource;

/// The most bytes of `state`.
const LONGEST_STATE: usize = 2 << 10;
/// Parameters that must not come twice; `resource` has an error of its own.
const ONCE: [&str; 8] = [
    "response_type",
    "response_mode",
    "code_challenge",
    "code_challenge_method",
    "scope",
    "state",
    "prompt",
    "login_hint",
];

/// Whether the person is to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Prompt {
    /// Unless they were before.
    Needed,
    /// In any case.
    Consent,
    /// In no case.
    None,
}

/// A checked authorization request, kept until the person has answered it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The client's id.
    pub client: String,
    /// Where to return to, as the request named it.
    pub redirect_uri: String,
    /// What the client wants back.
    pub state: Option<String>,
    /// The digest of the client's verifier.
    pub challenge: String,
    /// What it asks for, each write with its read.
    pub scopes: Scopes,
    /// The resources, in their canonical form: the one that was named, or the two general MCP endpoints.
    pub resources: Vec<String>,
    /// Whether to ask the person.
    pub prompt: Prompt,
    /// The email the client would have the person sign in with; shown as text and nothing else.
    pub login_hint: Option<String>,
}

/// Why a request is told about on a page of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Astray {
    /// `client_id` is missing, doubled or not known.
    Client,
    /// `redirect_uri` is missing, doubled or not one of the client's.
    Address,
}

/// The id of the client that asks.
pub fn client_id(parameters: &Parameters) -> std::result::Result<&str, Astray> {
    parameters.only("client_id").ok_or(Astray::Client)
}

/// Where to return to.
pub fn return_address<'a>(parameters: &'a Parameters, client: &Client) -> std::result::Result<&'a str, Astray> {
    parameters.only("redirect_uri").filter(|address| client.returns_to(address)).ok_or(Astray::Address)
}

/// What the client wants back with any answer.
pub fn state(parameters: &Parameters) -> Option<&str> {
    parameters.only("state").filter(|state| state.len() <= LONGEST_STATE)
}

/// Reads the rest of a request whose client and return address fit each other; `public_url` is this server's.
///
/// # Errors
///
/// What goes to the return address.
pub fn read(parameters: &Parameters, client: &Client, redirect_uri: &str, public_url: &str) -> Result<Asked> {
    if ONCE.iter().any(|name| parameters.once(name).is_err()) {
        return Err(Refusal::request("A parameter came twice"));
    }
    match parameters.only("response_type") {
        Some("code") => {}
        Some(_) => return Err(Refusal::new(Code::UnsupportedResponseType, "response_type must be code")),
        None => return Err(Refusal::request("response_type is missing")),
    }
    if parameters.only("response_mode").is_some_and(|mode| mode != "query") {
        return Err(Refusal::request("response_mode must be query"));
    }
    if parameters.all("state").any(|state| state.len() > LONGEST_STATE) {
        return Err(Refusal::request("state is over 2 KiB"));
    }
    let challenge = challenge(parameters)?;
    let (resources, limit, default) = resources(parameters, public_url)?;
    let asked = Scopes::known(parameters.only("scope").unwrap_or_default()).and(limit);
    let scopes = if asked.is_empty() { default } else { asked };
    let prompts: Vec<&str> = parameters.only("prompt").unwrap_or_default().split(' ').collect();
    Ok(Asked {
        client: client.id.clone(),
        redirect_uri: redirect_uri.to_owned(),
        state: state(parameters).map(str::to_owned),
        challenge: challenge.to_owned(),
        scopes: scopes.closure(),
        resources,
        prompt: match prompts.as_slice() {
            ["none"] => Prompt::None,
            words if words.contains(&"consent") => Prompt::Consent,
            _ => Prompt::Needed,
        },
        login_hint: parameters.only("login_hint").filter(|hint| hint.len() <= 254).map(str::to_owned),
    })
}

fn challenge(parameters: &Parameters) -> Result<&str> {
    let given = parameters.only("code_challenge").ok_or_else(|| Refusal::request("code_challenge is missing"))?;
    if parameters.only("code_challenge_method") != Some("S256") {
        return Err(Refusal::request("code_challenge_method must be S256"));
    }
    if challenge::is_challenge(given) {
        Ok(given)
    } else {
        Err(Refusal::request("code_challenge must be 43 characters of base64url"))
    }
}

/// The resources, the scopes a token for them can have, and those it has where the request names none.
fn resources(parameters: &Parameters, public_url: &str) -> Result<(Vec<String>, Scopes, Scopes)> {
    let Ok(named) = parameters.once("resource") else {
        return Err(Refusal::new(Code::InvalidTarget, "resource came twice"));
    };
    let Some(named) = named else {
        let both = [Resource::Own, Resource::Tools].map(|resource| resource.canonical(public_url));
        return Ok((both.to_vec(), Scopes::FOUR, Scopes::FOUR));
    };
    let resource = Resource::named(named, public_url)
        .ok_or_else(|| Refusal::new(Code::InvalidTarget, "resource is none of this server's resources"))?;
    // Administration is done over /v1 alone: a token for an MCP endpoint never carries it.
    let limit = if matches!(resource, Resource::Server | Resource::Api) { Scopes::ALL } else { Scopes::FOUR };
    let default = resource.asked().iter().map(|permission| permission.word()).collect();
    Ok((vec![resource.canonical(public_url)], limit, default))
}

impl Asked {
    /// The org of its resource, where the resource has one.
    pub fn fixed_org(&self, public_url: &str) -> Option<String> {
        let [resource] = self.resources.as_slice() else { return None };
        match Resource::named(resource, public_url)? {
            Resource::Org(org) | Resource::Playbook(org, _) => Some(org),
            Resource::Server | Resource::Own | Resource::Tools | Resource::Api => None,
        }
    }

    /// The address that tells the client `refusal`.
    pub fn refused(&self, refusal: &Refusal, issuer: &str) -> String {
        refused(&self.redirect_uri, self.state.as_deref(), refusal, issuer)
    }

    /// The address that hands the client its code (RFC 6749 section 4.1.2, RFC 9207).
    pub fn answered(&self, code: &str, issuer: &str) -> String {
        returned(&self.redirect_uri, &[("code", code)], self.state.as_deref(), issuer)
    }
}

/// The address that tells a client `refusal` (RFC 6749 section 4.1.2.1, RFC 9207).
pub fn refused(redirect_uri: &str, state: Option<&str>, refusal: &Refusal, issuer: &str) -> String {
    let parameters = [("error", refusal.code.word()), ("error_description", refusal.words)];
    returned(redirect_uri, &parameters, state, issuer)
}

fn returned(redirect_uri: &str, parameters: &[(&str, &str)], state: Option<&str>, issuer: &str) -> String {
    let mut parameters = parameters.to_vec();
    parameters.extend(state.map(|state| ("state", state)));
    parameters.push(("iss", issuer));
    redirect_uri::with_parameters(redirect_uri, &parameters)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::identity::oauth::client::{Keys, Method, Origin};

    const P: &str = "https://pm.example";
    const BACK: &str = "https://app.example/cb";
    const GOOD: &str =
        "response_type=code&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256";

    fn client() -> Client {
        Client {
            id: "client_1".into(),
            name: "App".into(),
            origin: Origin::Registered,
            redirect_uris: vec![BACK.into()],
            method: Method::None,
            secret_sha256: None,
            keys: Keys::None,
            refreshes: true,
        }
    }

    fn read_query(query: &str) -> Result<Asked> {
        read(&Parameters::of(query.as_bytes()), &client(), BACK, P)
    }

    fn asked(more: &str) -> Asked {
        read_query(&format!("{GOOD}{more}")).unwrap()
    }

    #[test]
    fn without_a_resource_the_two_general_endpoints_are_meant() {
        let both = ["https://pm.example/mcp", "https://pm.example/tools/mcp"];
        for (more, scopes) in [
            ("", "org:read org:write playbook:read playbook:write"),
            ("&scope=", "org:read org:write playbook:read playbook:write"),
            ("&scope=openid+offline_access", "org:read org:write playbook:read playbook:write"),
            ("&scope=org:admin+org:read", "org:read"),
            ("&scope=playbook:write", "playbook:read playbook:write"),
        ] {
            let asked = asked(more);
            assert_eq!(
                (asked.scopes.to_string().as_str(), asked.resources.as_slice()),
                (scopes, both.map(str::to_owned).as_slice())
            );
        }
    }

    #[test]
    fn a_resource_is_named_in_any_of_its_spellings() {
        for (resource, canonical, scopes) in [
            ("https://pm.example/mcp/", "https://pm.example/mcp", "org:read org:write playbook:read playbook:write"),
            ("HTTPS://PM.example:443", "https://pm.example", "org:read org:write playbook:read playbook:write"),
            ("https://pm.example/orgs/acme/mcp", "https://pm.example/orgs/acme/mcp", "org:read org:write"),
            ("https://pm.example/tools/mcp", "https://pm.example/tools/mcp", "playbook:read playbook:write"),
        ] {
            let asked = asked(&format!("&resource={resource}"));
            assert_eq!((asked.scopes.to_string().as_str(), asked.resources), (scopes, vec![canonical.to_owned()]));
        }
        assert_eq!(asked("&resource=https://pm.example/v1&scope=org:admin").scopes.to_string(), "org:read org:admin");
        assert_eq!(
            asked("&resource=https://pm.example/mcp&scope=org:admin+org:write").scopes.to_string(),
            "org:read org:write"
        );
        assert_eq!(asked("&resource=https://pm.example/orgs/acme/mcp").fixed_org(P).as_deref(), Some("acme"));
        assert_eq!(asked("").fixed_org(P), None);
    }

    #[test]
    fn prompts_are_read_and_what_is_unknown_is_not() {
        assert_eq!(asked("&prompt=none").prompt, Prompt::None);
        assert_eq!(asked("&prompt=login+consent&nonce=1&max_age=0&display=page").prompt, Prompt::Consent);
        assert_eq!(asked("&prompt=select_account").prompt, Prompt::Needed);
        assert_eq!(asked("&login_hint=ada@acme.test").login_hint.as_deref(), Some("ada@acme.test"));
    }

    /// Security case 34.
    #[test]
    fn each_fault_has_its_error() {
        let challenge = "code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        for (query, error) in [
            ("", "invalid_request"),
            (&format!("{challenge}&code_challenge_method=S256"), "invalid_request"),
            (&format!("response_type=token&{challenge}&code_challenge_method=S256"), "unsupported_response_type"),
            ("response_type=code", "invalid_request"),
            (&format!("response_type=code&{challenge}"), "invalid_request"),
            (&format!("response_type=code&{challenge}&code_challenge_method=plain"), "invalid_request"),
            (&format!("response_type=code&{challenge}&code_challenge_method=s256"), "invalid_request"),
            ("response_type=code&code_challenge=short&code_challenge_method=S256", "invalid_request"),
            (&format!("{GOOD}&code_challenge_method=S256"), "invalid_request"),
            (&format!("{GOOD}&response_mode=fragment"), "invalid_request"),
            (&format!("{GOOD}&state=a&state=b"), "invalid_request"),
            (&format!("{GOOD}&scope=a&scope=b"), "invalid_request"),
            (&format!("{GOOD}&state={}", "x".repeat(LONGEST_STATE + 1)), "invalid_request"),
            (&format!("{GOOD}&resource=https://pm.example/mcp&resource=https://pm.example/mcp"), "invalid_target"),
            (&format!("{GOOD}&resource=https://other.example/mcp"), "invalid_target"),
            (&format!("{GOOD}&resource=https://pm.example/mcp-other"), "invalid_target"),
            (&format!("{GOOD}&resource=mcp"), "invalid_target"),
        ] {
            assert_eq!(read_query(query).unwrap_err().code.word(), error, "{query}");
        }
    }

    #[test]
    fn client_and_address_come_once_and_fit() {
        let told = |query: &str| {
            let parameters = Parameters::of(query.as_bytes());
            client_id(&parameters).and_then(|_| return_address(&parameters, &client()).map(drop))
        };
        let back = "redirect_uri=https%3A%2F%2Fapp.example%2Fcb";
        assert_eq!(told(&format!("client_id=client_1&{back}")), Ok(()));
        assert_eq!(told(back), Err(Astray::Client));
        assert_eq!(told(&format!("client_id=&{back}")), Err(Astray::Client));
        assert_eq!(told(&format!("client_id=client_1&client_id=client_1&{back}")), Err(Astray::Client));
        assert_eq!(told("client_id=client_1"), Err(Astray::Address));
        assert_eq!(told(&format!("client_id=client_1&{back}&{back}")), Err(Astray::Address));
        assert_eq!(told(&format!("client_id=client_1&{back}%2F")), Err(Astray::Address));
    }

    #[test]
    fn answers_carry_state_as_sent_and_the_issuer() {
        let asked = asked("&state=a%20b%26%2B%C3%A9");
        assert_eq!(
            asked.answered("pmc_1", P),
            "https://app.example/cb?code=pmc_1&state=a%20b%26%2B%C3%A9&iss=https%3A%2F%2Fpm.example"
        );
        let refusal = Refusal::new(Code::AccessDenied, "The person said no");
        assert_eq!(
            refused(BACK, None, &refusal, P),
            "https://app.example/cb?error=access_denied&error_description=The%20person%20said%20no&iss=https%3A%2F%2Fpm.example"
        );
    }

    proptest! {
        #[test]
        fn no_query_panics_and_no_answer_leaves_the_address(query in "\\PC{0,200}", state in "\\PC{0,50}") {
            let _ = read_query(&query);
            let state_given = format!("{GOOD}&{}", url::form_urlencoded::Serializer::new(String::new()).append_pair("state", &state).finish());
            let address = url::Url::parse(&read_query(&state_given).unwrap().answered("c", P)).unwrap();
            prop_assert_eq!(address.host_str(), Some("app.example"));
            let back = address.query_pairs().find(|(name, _)| name == "state").map(|(_, value)| value.into_owned());
            prop_assert_eq!(back.unwrap_or_default(), state);
        }
    }
}
