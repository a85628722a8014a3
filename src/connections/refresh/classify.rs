//! What an answer without tokens means (`connections.md` 10.3).

use crate::connections::catalogue::Refresh;
use crate::connections::oauth::Refusal;

/// What becomes of a renewal that brought no tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The consent is over, for this cause.
    Over(&'static str),
    /// The issuer does not know the client; told three times a minute apart, the consent is over.
    Client,
    /// It may pass.
    Passing,
    /// A refusal that says nothing known: it may pass, and after a day it does not.
    Unclassified,
}

/// The verdict over a refusal; `rules` are the provider's own.
pub(super) fn verdict(refusal: &Refusal, rules: &Refresh) -> Verdict {
    let own = |codes: &[String], code: &str| codes.iter().any(|own| own == code);
    match (refusal.code.as_deref(), refusal.status) {
        (Some(code), _) if own(&rules.terminal, code) => Verdict::Over("consent_ended"),
        (Some(code), _) if own(&rules.transient, code) => Verdict::Passing,
        (Some("invalid_grant"), _) => Verdict::Over("consent_ended"),
        (Some("unauthorized_client" | "unsupported_grant_type"), _) => Verdict::Over("client"),
        (Some("invalid_client"), _) => Verdict::Client,
        (Some("temporarily_unavailable" | "server_error" | "slow_down"), _) => Verdict::Passing,
        (_, Some(400 | 401 | 403)) => Verdict::Unclassified,
        _ => Verdict::Passing,
    }
}

/// The code kept of a refusal, for the audit and the page: one of ours or of the protocol, never the provider's words.
pub(super) fn code(refusal: &Refusal) -> String {
    match (&refusal.code, refusal.status, refusal.failure) {
        (Some(code), _, _) => code.clone(),
        (None, Some(status), _) if !(200..300).contains(&status) => format!("http_{status}"),
        (None, Some(_), _) => "unreadable".into(),
        (None, None, Some(crate::egress::Failure::TimedOut)) => "timed_out".into(),
        (None, None, _) => "unreachable".into(),
    }
}

/// Whether nobody can tell if the provider took the refresh token: what was sent may have had its effect.
pub(super) fn is_unclear(refusal: &Refusal) -> bool {
    let sent = refusal.failure.is_none_or(|failure| !failure.before_sending());
    !refusal.is_answer && sent && !matches!(refusal.status, Some(300..=499))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::egress::Failure;

    fn refusal(status: u16, code: Option<&str>) -> Refusal {
        let (status, code) = (Some(status), code.map(str::to_owned));
        Refusal { is_answer: code.is_some(), status, code, ..Refusal::default() }
    }

    #[test]
    fn every_class_of_answer_has_its_verdict() {
        let rules = Refresh {
            terminal: vec!["token_revoked".into()],
            transient: vec!["internal_error".into(), "invalid_client".into()],
            ..Refresh::default()
        };
        let plain = Refresh::default();
        for (status, code, rules, expected) in [
            (400, Some("invalid_grant"), &plain, Verdict::Over("consent_ended")),
            (200, Some("token_revoked"), &rules, Verdict::Over("consent_ended")),
            (400, Some("unauthorized_client"), &plain, Verdict::Over("client")),
            (400, Some("unsupported_grant_type"), &plain, Verdict::Over("client")),
            (401, Some("invalid_client"), &plain, Verdict::Client),
            (401, Some("invalid_client"), &rules, Verdict::Passing),
            (200, Some("internal_error"), &rules, Verdict::Passing),
            (400, Some("temporarily_unavailable"), &plain, Verdict::Passing),
            (400, Some("slow_down"), &plain, Verdict::Passing),
            (400, Some("server_error"), &plain, Verdict::Passing),
            (400, Some("invalid_request"), &plain, Verdict::Unclassified),
            (403, None, &plain, Verdict::Unclassified),
            (408, None, &plain, Verdict::Passing),
            (425, None, &plain, Verdict::Passing),
            (429, None, &plain, Verdict::Passing),
            (302, None, &plain, Verdict::Passing),
            (404, None, &plain, Verdict::Passing),
            (503, None, &plain, Verdict::Passing),
            (200, None, &plain, Verdict::Passing),
        ] {
            assert_eq!(verdict(&refusal(status, code), rules), expected, "{status} {code:?}");
        }
        let failed = |failure| Refusal { failure: Some(failure), ..Refusal::default() };
        assert_eq!(verdict(&failed(Failure::TimedOut), &plain), Verdict::Passing);
        assert_eq!(code(&failed(Failure::TimedOut)), "timed_out");
        assert_eq!(code(&failed(Failure::Resolve)), "unreachable");
        assert_eq!(code(&refusal(429, None)), "http_429");
        assert_eq!(code(&refusal(200, None)), "unreadable");
    }

    #[test]
    fn what_may_have_been_taken_is_told_from_what_was_not() {
        let failed = |failure| Refusal { failure: Some(failure), ..Refusal::default() };
        assert!(is_unclear(&failed(Failure::TimedOut)) && is_unclear(&failed(Failure::Broken)));
        assert!(!is_unclear(&failed(Failure::Resolve)) && !is_unclear(&failed(Failure::Connect)));
        assert!(is_unclear(&refusal(200, None)) && is_unclear(&refusal(502, None)));
        assert!(!is_unclear(&refusal(429, None)) && !is_unclear(&refusal(400, Some("invalid_grant"))));
    }
}
