//! What broke down inside: logged once, at the edge, under the id the caller is told.

use crate::error::{Problem, Reason};

/// Logs an incident and puts its id into the problem; other problems pass as they are.
pub fn noted(problem: Problem, request_id: &str) -> Problem {
    if problem.reason() != Reason::Internal {
        return problem;
    }
    let cause = problem.private_source().map(ToString::to_string).unwrap_or_default();
    tracing::error!(request.id = request_id, incident = request_id, cause, "a request failed inside the server");
    problem.incident(request_id.to_owned())
}
