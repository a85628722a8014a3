//! How people sign in to Studio: who may make an account, and with what (`identity.md` 8).

use super::given::Sheet;
use super::refusal::Refusal;
use super::sign_in_providers::{self, SignInProvider};
use super::{Environment, Secret};

/// Whether a stranger may make an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SignUp {
    /// Only by an invitation.
    #[default]
    Invited,
    /// Anybody.
    Open,
}

/// The ways to sign in that are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Methods {
    /// Passwords.
    pub password: bool,
    /// Passkeys.
    pub passkey: bool,
    /// Providers of identities.
    pub upstream: bool,
}

/// Where mail goes out.
#[derive(Clone)]
pub struct Mail {
    /// The address of the server that takes it, `smtps://user:password@host`; it may hold a password.
    pub url: Secret,
    /// Who sends it.
    pub from: String,
}

/// Everything an operator can set about signing in.
#[derive(Clone)]
pub struct SignIn {
    /// Whether a stranger may make an account.
    pub sign_up: SignUp,
    /// The ways to sign in.
    pub methods: Methods,
    /// Where mail goes out; without it links are handed on by people.
    pub mail: Option<Mail>,
    /// Providers of identities, in the order they are offered.
    pub providers: Vec<SignInProvider>,
}

pub(super) fn read(sheet: &mut Sheet, environment: &Environment) -> Result<SignIn, Refusal> {
    let sign_up = match environment.get("SIGN_UP").map(String::as_str) {
        None | Some("invited") => SignUp::Invited,
        Some("open") => SignUp::Open,
        Some(_) => return Err(Refusal::variable("SIGN_UP", "invited or open")),
    };
    let providers = match sheet.take("sign_in_providers") {
        Some(given) => sign_in_providers::read(&given, environment)?,
        None => Vec::new(),
    };
    let methods = methods(environment, !providers.is_empty())?;
    Ok(SignIn { sign_up, methods, mail: mail(environment)?, providers })
}

/// The ways that are set up, or those of them that the operator names. Where people sign in at an issuer outside, that is
/// the one way.
fn methods(environment: &Environment, has_providers: bool) -> Result<Methods, Refusal> {
    let outside = environment.contains_key("IDENTITY_ISSUER");
    let Some(text) = environment.get("SIGN_IN_METHODS") else {
        return Ok(Methods { password: !outside, passkey: !outside, upstream: outside || has_providers });
    };
    let refuse = || Refusal::variable("SIGN_IN_METHODS", "one or more of password, passkey, upstream, between commas");
    let mut methods = Methods { password: false, passkey: false, upstream: false };
    for word in text.split(',').map(str::trim) {
        match word {
            "password" => methods.password = true,
            "passkey" => methods.passkey = true,
            "upstream" => methods.upstream = true,
            _ => return Err(refuse()),
        }
    }
    if outside {
        return Ok(Methods { password: false, passkey: false, upstream: true });
    }
    methods.upstream &= has_providers;
    if !(methods.password || methods.passkey || methods.upstream) {
        return Err(Refusal::variable(
            "SIGN_IN_METHODS",
            "SIGN_IN_PROVIDERS to be set beside upstream, or another way",
        ));
    }
    Ok(methods)
}

fn mail(environment: &Environment) -> Result<Option<Mail>, Refusal> {
    let Some(text) = environment.get("SMTP_URL") else { return Ok(None) };
    let fits = url::Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "smtp" | "smtps") && url.has_host());
    if !fits {
        return Err(Refusal::variable("SMTP_URL", "an address such as smtps://user:password@mail.example"));
    }
    let from = environment.get("MAIL_FROM").filter(|from| from.contains('@') && !from.chars().any(char::is_control));
    let from = from
        .ok_or_else(|| Refusal::variable("MAIL_FROM", "who mail comes from, such as Playmaker <studio@example.org>"))?;
    Ok(Some(Mail { url: Secret::new(text.as_str()), from: from.clone() }))
}
