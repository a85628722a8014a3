//! The one table of reasons and statuses.

/// Why a request was refused, in the machine's words. The table of `http-api.md` 3.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The request itself is malformed.
    BadRequest,
    /// A credential is missing or not valid.
    Unauthenticated,
    /// The credential may not do this.
    Forbidden,
    /// The browser's origin, or the `Host`, is not allowed.
    OriginNotAllowed,
    /// Something named does not exist.
    NotFound,
    /// The path has no such method.
    MethodNotAllowed,
    /// The `Accept` of an MCP request leaves no answer.
    NotAcceptable,
    /// Clashes with what is there.
    Conflict,
    /// Over the size of a body.
    ContentTooLarge,
    /// Not JSON in UTF-8, or encoded.
    UnsupportedMediaType,
    /// The input does not fit.
    InvalidInput,
    /// A rate or usage limit.
    TooManyRequests,
    /// The client went away first.
    ClientClosedRequest,
    /// An incident inside the server.
    Internal,
    /// Something relied on cannot serve now.
    Unavailable,
}

impl Reason {
    /// Every reason, in the order of the table.
    pub const ALL: [Self; 15] = [
        Self::BadRequest,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::OriginNotAllowed,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::NotAcceptable,
        Self::Conflict,
        Self::ContentTooLarge,
        Self::UnsupportedMediaType,
        Self::InvalidInput,
        Self::TooManyRequests,
        Self::ClientClosedRequest,
        Self::Internal,
        Self::Unavailable,
    ];

    /// The reason's word and its HTTP status.
    pub const fn row(self) -> (&'static str, u16) {
        match self {
            Self::BadRequest => ("bad_request", 400),
            Self::Unauthenticated => ("unauthenticated", 401),
            Self::Forbidden => ("forbidden", 403),
            Self::OriginNotAllowed => ("origin_not_allowed", 403),
            Self::NotFound => ("not_found", 404),
            Self::MethodNotAllowed => ("method_not_allowed", 405),
            Self::NotAcceptable => ("not_acceptable", 406),
            Self::Conflict => ("conflict", 409),
            Self::ContentTooLarge => ("content_too_large", 413),
            Self::UnsupportedMediaType => ("unsupported_media_type", 415),
            Self::InvalidInput => ("invalid_input", 422),
            Self::TooManyRequests => ("too_many_requests", 429),
            Self::ClientClosedRequest => ("client_closed_request", 499),
            Self::Internal => ("internal", 500),
            Self::Unavailable => ("unavailable", 503),
        }
    }

    /// The reason's word, such as `not_found`.
    pub const fn word(self) -> &'static str {
        self.row().0
    }

    /// The HTTP status of the reason.
    pub const fn status(self) -> u16 {
        self.row().1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_reasons() {
        let rows: Vec<String> =
            Reason::ALL.iter().map(|reason| format!("{} {}", reason.status(), reason.word())).collect();
        insta::assert_snapshot!(rows.join("\n"), @r"
        400 bad_request
        401 unauthenticated
        403 forbidden
        403 origin_not_allowed
        404 not_found
        405 method_not_allowed
        406 not_acceptable
        409 conflict
        413 content_too_large
        415 unsupported_media_type
        422 invalid_input
        429 too_many_requests
        499 client_closed_request
        500 internal
        503 unavailable
        ");
    }
}
