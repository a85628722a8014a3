//! Which revision a message speaks, and whether its headers agree with its body (`mcp.md` 3.2 to 3.4).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderValue};
use serde_json::Value;

use super::message::Message;
use super::revision::{Era, Revision, names_modern};
use super::rpc::RpcError;

/// Where a modern request says its revision.
pub(super) const META_REVISION: &str = "io.modelcontextprotocol/protocolVersion";
/// Where a modern request says what its client can do.
pub(super) const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

const VERSION_HEADER: &str = "mcp-protocol-version";
const METHOD_HEADER: &str = "mcp-method";
const NAME_HEADER: &str = "mcp-name";

/// What client and server speak for this request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Agreement {
    pub(super) era: Era,
    pub(super) revision: Revision,
}

/// Finds the revision, or says why there is none.
pub(super) fn agree(message: &Message, headers: &HeaderMap) -> Result<Agreement, RpcError> {
    let modern_meta = message.meta().is_some_and(|meta| meta.contains_key(META_REVISION));
    // An `initialize` that says its revision in the modern way alone opens no handshake: it asks for a method that the
    // modern era does not have. One that says it in both ways is a handshake.
    if message.method == "initialize" && (message.params.contains_key("protocolVersion") || !modern_meta) {
        return handshake(message, headers);
    }
    let says_modern = |value: &HeaderValue| value.to_str().is_ok_and(names_modern);
    let modern =
        modern_meta || message.method == "server/discover" || headers.get_all(VERSION_HEADER).iter().any(says_modern);
    match (modern, message.id.is_some()) {
        (true, true) => complete(message, headers),
        (true, false) => notified(message, headers),
        (false, _) => legacy(headers),
    }
}

fn handshake(message: &Message, headers: &HeaderMap) -> Result<Agreement, RpcError> {
    let requested = message.params.get("protocolVersion").and_then(Value::as_str);
    let differs = |name: &str, wanted: &str| {
        let mut given = headers.get_all(name).iter();
        given.any(|value| value.as_bytes() != wanted.as_bytes())
    };
    if requested.is_some_and(|requested| differs(VERSION_HEADER, requested)) {
        let words = "The header MCP-Protocol-Version differs from params.protocolVersion.";
        return Err(RpcError::invalid_request(words));
    }
    if differs(METHOD_HEADER, "initialize") {
        return Err(RpcError::invalid_request("The header Mcp-Method differs from method."));
    }
    Ok(Agreement { era: Era::Legacy, revision: Revision::for_handshake(requested.unwrap_or_default()) })
}

fn legacy(headers: &HeaderMap) -> Result<Agreement, RpcError> {
    let given: Vec<_> =
        headers.get_all(VERSION_HEADER).iter().map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
    let revision = match given.as_slice() {
        [] => Some(Revision::R20250326),
        [one] => Revision::from_text(one),
        _ => None,
    };
    Ok(Agreement {
        era: Era::Legacy,
        revision: revision.ok_or_else(|| RpcError::unsupported_revision(&given.join(", ")))?,
    })
}

/// The checks of a modern request, in the order of `mcp.md` 3.3.
fn complete(message: &Message, headers: &HeaderMap) -> Result<Agreement, RpcError> {
    let meta = |name: &str| message.meta().and_then(|meta| meta.get(name));
    let requested = meta(META_REVISION).and_then(Value::as_str);
    let capable = meta(META_CAPABILITIES).is_some_and(Value::is_object);
    let requested = match (requested, capable) {
        (Some(requested), true) => requested,
        (found, _) => {
            let missing = [
                found.is_none().then(|| format!("{META_REVISION} (text)")),
                (!capable).then(|| format!("{META_CAPABILITIES} (object)")),
            ];
            let missing: Vec<String> = missing.into_iter().flatten().collect();
            let words = format!("params._meta must have {}.", missing.join(" and "));
            return Err(RpcError::invalid_params(words));
        }
    };
    let words = "it must equal the protocolVersion of params._meta";
    equal(headers, VERSION_HEADER, "MCP-Protocol-Version", requested, words)?;
    let revision = Revision::from_text(requested).ok_or_else(|| RpcError::unsupported_revision(requested))?;
    let words = "it must equal method";
    equal(headers, METHOD_HEADER, "Mcp-Method", &message.method, words)?;
    named(message, headers)?;
    Ok(Agreement { era: Era::Modern, revision })
}

/// A modern notification needs no `_meta`; what it does carry must agree.
fn notified(message: &Message, headers: &HeaderMap) -> Result<Agreement, RpcError> {
    let in_body = message.meta().and_then(|meta| meta.get(META_REVISION)).and_then(Value::as_str);
    let in_header = only(headers, VERSION_HEADER, "MCP-Protocol-Version")?;
    if let (Some(body), Some(header)) = (in_body, in_header)
        && body != header
    {
        let words = "The header MCP-Protocol-Version differs from the protocolVersion of params._meta.";
        return Err(RpcError::header_mismatch(words));
    }
    if only(headers, METHOD_HEADER, "Mcp-Method")?.is_some_and(|header| header != message.method) {
        return Err(RpcError::header_mismatch("The header Mcp-Method differs from method."));
    }
    let requested = in_body.or(in_header).unwrap_or_default();
    Ok(Agreement {
        era: Era::Modern,
        revision: Revision::from_text(requested).ok_or_else(|| RpcError::unsupported_revision(requested))?,
    })
}

/// The one value of a header, where it was sent.
fn only<'a>(headers: &'a HeaderMap, name: &str, shown: &str) -> Result<Option<&'a str>, RpcError> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => match value.to_str() {
            Ok(text) => Ok(Some(text.trim_matches([' ', '\t']))),
            Err(_) => {
                Err(RpcError::header_mismatch(format!("The header {shown} holds signs that no header may hold.")))
            }
        },
        (Some(_), Some(_)) => Err(RpcError::header_mismatch(format!("The header {shown} is given twice."))),
    }
}

fn equal(headers: &HeaderMap, name: &str, shown: &str, wanted: &str, rule: &str) -> Result<(), RpcError> {
    match only(headers, name, shown)? {
        Some(given) if given == wanted => Ok(()),
        Some(_) => Err(RpcError::header_mismatch(format!("The header {shown} differs: {rule}."))),
        None => Err(RpcError::header_mismatch(format!("The header {shown} is missing: {rule}."))),
    }
}

/// `Mcp-Name` on the three methods that name something.
fn named(message: &Message, headers: &HeaderMap) -> Result<(), RpcError> {
    let member = match message.method.as_str() {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return Ok(()),
    };
    let wanted = message.params.get(member).and_then(Value::as_str);
    let Some(given) = only(headers, NAME_HEADER, "Mcp-Name")? else {
        // A body that names nothing is told so by its method, in plainer words.
        return wanted.map_or(Ok(()), |_| {
            let words = format!("The header Mcp-Name is missing: it must equal params.{member}.");
            Err(RpcError::header_mismatch(words))
        });
    };
    let decoded = decode(given).ok_or_else(|| RpcError::header_mismatch("The header Mcp-Name cannot be decoded."))?;
    if wanted == Some(decoded.as_str()) {
        return Ok(());
    }
    let words = format!("The header Mcp-Name differs: it must equal params.{member}.");
    Err(RpcError::header_mismatch(words))
}

/// A header's value as the sender meant it: `=?base64?…?=` holds UTF-8, anything else is meant literally.
fn decode(value: &str) -> Option<String> {
    let wrapped = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    let text = match wrapped {
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok()?,
        None => value.to_owned(),
    };
    (!text.chars().any(char::is_control)).then_some(text)
}
