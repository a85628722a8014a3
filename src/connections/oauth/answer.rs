//! Reading a token answer (RFC 6749, sections 5.1 and 5.2; `connections.md` 10.3).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::tokens::{Grant, Tokens};
use super::{Endpoint, Refusal};
use crate::connections::catalogue::AnswerForm;
use crate::json;
use crate::secrets::Fields;

/// The most levels of an answer.
const MAX_DEPTH: usize = 16;
/// The longest token.
const MAX_TOKEN: usize = 16 << 10;
/// The shortest and the longest life a token is believed to have, in seconds.
const LIFE_S: std::ops::RangeInclusive<i64> = 60..=365 * 24 * 60 * 60;

/// The tokens of an answer (status, content type, body), or what it says instead.
pub(super) fn read(
    (status, content_type, body): (u16, Option<&str>, &[u8]),
    endpoint: &Endpoint,
    now_ms: i64,
) -> Result<Tokens, Refusal> {
    let rules = &endpoint.answer;
    let refusal = |code: Option<&str>| Err(Refusal::of(status, code, &endpoint.codes));
    let answer = std::str::from_utf8(body).ok().and_then(|text| members(text, content_type, rules.answer));
    let Some(answer) = answer else { return refusal(None) };
    let at = |rule: &Option<String>, usual: &str| -> Option<Value> {
        answer.pointer(rule.as_deref().unwrap_or(usual)).filter(|value| !value.is_null()).cloned()
    };
    let text = |rule, usual| at(rule, usual).and_then(|value| value.as_str().map(str::to_owned));
    let code = text(&rules.error, "/error");
    let token = text(&rules.access_token, "/access_token").filter(|token| is_token(token));
    if !(200..300).contains(&status) || (code.is_some() && (rules.error_in_200 || token.is_none())) {
        return refusal(code.as_deref());
    }
    let Some(token) = token.map(Zeroizing::new) else { return refusal(None) };
    let kind = text(&rules.token_type, "/token_type");
    if kind.is_some_and(|kind| !kind.eq_ignore_ascii_case("bearer")) && rules.token_type.is_none() {
        return Err(Refusal { is_answer: true, ..Refusal::unclear(Some(status), None) });
    }
    let refresh = text(&rules.refresh_token, "/refresh_token").filter(|token| is_token(token)).map(Zeroizing::new);
    let life = at(&rules.expires_in, "/expires_in").as_ref().map(seconds);
    let until = at(&rules.expires_at, "/expires_at").as_ref().and_then(moment_ms);
    let expires_at_ms = life
        .map(|life| now_ms + life * 1_000)
        .or(until)
        .or_else(|| end_of_jwt(&token))
        .or_else(|| rules.default_lifetime.map(|life| now_ms + i64::from(life) * 1_000));
    let scopes = at(&rules.scope, "/scope").as_ref().and_then(scopes);
    let expires_at_ms = expires_at_ms.map(|end| bounded(end, now_ms));
    let grant = Grant { obtained_at_ms: now_ms, expires_at_ms, scopes, found: None };
    Ok(Tokens { access_token: token, refresh_token: refresh, grant, given: Fields::new() })
}

/// The members of an answer, by what it says it is, then by how it looks. One that is there twice makes it no answer.
fn members(text: &str, content_type: Option<&str>, form: AnswerForm) -> Option<Value> {
    let says = |kind: &str| content_type.is_some_and(|given| given.trim_start().to_ascii_lowercase().starts_with(kind));
    let is_form = match form {
        AnswerForm::Json => false,
        AnswerForm::Form => true,
        AnswerForm::Auto => {
            says("application/x-www-form-urlencoded")
                || (!says("application/json") && !text.trim_start().starts_with(['{', '[', '<']) && text.contains('='))
        }
    };
    if !is_form {
        return json::strict(text, MAX_DEPTH).filter(Value::is_object);
    }
    let mut members = Map::new();
    for (name, value) in url::form_urlencoded::parse(text.trim().as_bytes()) {
        if members.insert(name.into_owned(), value.into_owned().into()).is_some() {
            return None;
        }
    }
    Some(Value::Object(members))
}

/// What may be sent in a header (RFC 6750, section 2.1, taken widely: visible characters).
fn is_token(text: &str) -> bool {
    (1..=MAX_TOKEN).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// A life in seconds, of whatever form; what is no number at all counts as the shortest.
fn seconds(value: &Value) -> i64 {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse::<f64>().ok(),
        _ => None,
    };
    let number = number.filter(|number| number.is_finite()).unwrap_or(0.0);
    #[expect(clippy::cast_possible_truncation, reason = "within the bounds of a life, which are far inside an i64")]
    let number = number.clamp(0.0, 1e12) as i64;
    if !LIFE_S.contains(&number) {
        tracing::warn!("a token's life is not believable and is taken to be within a minute and a year");
    }
    number.clamp(*LIFE_S.start(), *LIFE_S.end())
}

/// A moment in seconds since the epoch or in RFC 3339, in milliseconds.
fn moment_ms(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64()?.checked_mul(1_000),
        Value::String(text) => {
            text.parse::<i64>().ok().and_then(|s| s.checked_mul(1_000)).or_else(|| crate::clock::parse_iso(text))
        }
        _ => None,
    }
}

/// The end a token says of itself, for timing alone: nobody checked its signature.
fn end_of_jwt(token: &str) -> Option<i64> {
    let mut parts = token.split('.');
    let (_, claims, _) = (parts.next()?, parts.next()?, parts.next()?);
    let claims = URL_SAFE_NO_PAD.decode(claims).ok()?;
    let claims: Value = serde_json::from_slice(&claims).ok()?;
    claims.get("exp")?.as_i64()?.checked_mul(1_000)
}

fn bounded(end_ms: i64, now_ms: i64) -> i64 {
    end_ms.clamp(now_ms + LIFE_S.start() * 1_000, now_ms + LIFE_S.end() * 1_000)
}

/// Scopes as one text with spaces or commas between them, or as a list.
fn scopes(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => {
            Some(text.split([' ', ',']).filter(|scope| !scope.is_empty()).map(str::to_owned).collect())
        }
        Value::Array(list) => list.iter().map(|scope| scope.as_str().map(str::to_owned)).collect(),
        _ => None,
    }
}
