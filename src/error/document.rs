//! A problem as it is told: the problem document for programs, the words for agents.

use serde_json::{Value, json};

use super::{Problem, Reason, named};

/// Kinds whose problem type is their own, and not that of the reason (`http-api.md` 3.3).
const KINDS_WITH_TYPE: [&str; 4] = ["tools_called", "effect_unknown", "tools_unfinished", "rebuilding"];

impl Problem {
    /// The problem document (RFC 9457): `type`, `title`, `status`, `detail`, `reason` and what else it has.
    pub fn document(&self) -> Value {
        let inner = &self.0;
        let word = match inner.kind {
            Some(kind) if KINDS_WITH_TYPE.contains(&kind) => kind,
            _ => inner.reason.word(),
        };
        let mut document = json!({
            "type": format!("urn:playmaker:problem:{word}"),
            "title": word.replace('_', " "),
            "status": inner.reason.status(),
            "detail": inner.detail,
            "reason": inner.reason.word(),
        });
        let Some(members) = document.as_object_mut() else {
            return document;
        };
        if inner.reason == Reason::InvalidInput {
            members.insert("errors".into(), json!(inner.issues));
        }
        for (member, value) in [("kind", inner.kind), ("because", inner.because)] {
            if let Some(value) = value {
                members.insert(member.into(), value.into());
            }
        }
        if let Some(incident) = &inner.incident {
            members.insert("instance".into(), format!("urn:uuid:{incident}").into());
        }
        for (member, value) in &inner.extensions {
            members.entry(member.clone()).or_insert_with(|| value.clone());
        }
        document
    }

    /// The words for an agent over MCP: the detail, each fault of the input, and when to try again.
    pub fn words(&self) -> String {
        let mut words = self.0.detail.to_string();
        if self.0.issues.len() > 1 {
            for issue in self.0.issues.iter().take(20) {
                words.push_str(&format!("\n{}: {}", named(&issue.pointer), issue.detail));
            }
        }
        if let Some(seconds) = self.0.retry_after_s {
            words.push_str(&format!(" Try again in {seconds} seconds."));
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_names_the_fault_and_its_place() {
        let problem = Problem::invalid("/name", "must be text");
        assert_eq!(
            problem.document(),
            json!({
                "type": "urn:playmaker:problem:invalid_input",
                "title": "invalid input",
                "status": 422,
                "detail": "The input does not fit at /name: must be text",
                "reason": "invalid_input",
                "errors": [{ "detail": "must be text", "pointer": "/name" }],
            })
        );
    }

    #[test]
    fn the_private_source_is_in_no_document() {
        let problem = Problem::internal("password=hunter2").incident("0190".into());
        assert!(!problem.document().to_string().contains("hunter2"));
        assert_eq!(problem.document()["instance"], "urn:uuid:0190");
    }
}
