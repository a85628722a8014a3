//! Reading a request's body: UTF-8 JSON of at most 1 MiB, unencoded. The one reader of bodies, of MCP's too.

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http_body_util::BodyExt;
use hyper::body::Body as _;

use crate::error::{Problem, Reason, Result};
use crate::limits::Bodies;

/// The most bytes of a body.
pub const LIMIT: usize = 1_048_576;
/// How long a body may take to arrive.
const READ_LIMIT: std::time::Duration = std::time::Duration::from_secs(30);

/// Reads the whole body. One that is told to be too large is refused unread; one that does not come in one piece takes
/// room as it arrives, and beyond [`Bodies::SMALL`] waits until there is memory for all of it.
pub async fn read_body(bodies: &Bodies, body: Body) -> Result<Bytes> {
    match tokio::time::timeout(READ_LIMIT, read(bodies, body)).await {
        Ok(read) => read,
        Err(_) => Err(Problem::new(Reason::BadRequest, "The body took longer than 30 seconds to arrive.")),
    }
}

async fn read(bodies: &Bodies, mut body: Body) -> Result<Bytes> {
    let told = body.size_hint().exact().map(|told| usize::try_from(told).unwrap_or(usize::MAX));
    if told.is_some_and(|told| told > LIMIT) {
        return Err(too_large());
    }
    let mut whole = BytesMut::new();
    let mut share = None;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Problem::new(Reason::BadRequest, "The body could not be read to its end."))?;
        let Ok(data) = frame.into_data() else { continue };
        if whole.is_empty() && body.is_end_stream() && data.len() <= LIMIT {
            return Ok(data);
        }
        let length = whole.len() + data.len();
        if length > LIMIT {
            return Err(too_large());
        }
        whole.extend_from_slice(&data);
        drop(data);
        if share.is_none() && length > Bodies::SMALL {
            share = Some(bodies.share(told.unwrap_or(LIMIT)).await?);
        }
    }
    Ok(whole.freeze())
}

fn too_large() -> Problem {
    Problem::new(Reason::ContentTooLarge, "The body is over 1 MiB. Send less.")
}

/// Refuses a body that is not plain JSON in UTF-8.
pub fn check_media_type(headers: &HeaderMap) -> Result<()> {
    let encoded = headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .any(|value| !value.to_str().is_ok_and(|value| value.trim().eq_ignore_ascii_case("identity")));
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let json = types.next().and_then(|value| value.to_str().ok()).is_some_and(is_json) && types.next().is_none();
    if json && !encoded {
        return Ok(());
    }
    Err(Problem::new(
        Reason::UnsupportedMediaType,
        "The body must be JSON in UTF-8, not compressed: Content-Type: application/json.",
    ))
}

fn is_json(value: &str) -> bool {
    let mut parts = value.split(';').map(str::trim);
    parts.next().is_some_and(|media_type| media_type.eq_ignore_ascii_case("application/json"))
        && parts.filter_map(|parameter| parameter.split_once('=')).all(|(name, value)| {
            !name.trim().eq_ignore_ascii_case("charset") || value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_in_utf_8_alone_is_taken() {
        for good in ["application/json", "Application/JSON; charset=UTF-8", "application/json;charset=\"utf-8\""] {
            assert!(is_json(good), "{good}");
        }
        for bad in ["text/json", "application/json; charset=latin1", "application/jsonp", ""] {
            assert!(!is_json(bad), "{bad}");
        }
    }
}
