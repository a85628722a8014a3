//! The fields of an entry of type `openapi`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::decode::Fault;
use super::names;
use super::secret::Secret;
use super::tool_servers::{Document, OpenApi};
use super::tool_servers_check::{address, tool_names};
use super::tool_servers_file::{DocumentWritten, Written};

const HOUR_S: u64 = 3600;

/// The most bytes of `document_source`.
const MAX_SOURCE: usize = 512 * 1024;

/// A key, and whether an entry has it.
type Key = (&'static str, fn(&Written) -> bool);

/// The keys that only an entry of type `openapi` may have.
pub(super) const OF_OPENAPI: [Key; 9] = [
    ("document", |entry| entry.document.is_some()),
    ("document_source", |entry| entry.document_source.is_some()),
    ("server_variables", |entry| entry.server_variables.is_some()),
    ("hosts", |entry| entry.hosts.is_some()),
    ("include", |entry| entry.include.is_some()),
    ("exclude", |entry| entry.exclude.is_some()),
    ("rename", |entry| entry.rename.is_some()),
    ("hints", |entry| entry.hints.is_some()),
    ("refresh", |entry| entry.refresh.is_some()),
];

/// Checks them.
pub(super) fn open_api(entry: Written, headers: BTreeMap<String, Secret>) -> Result<OpenApi, Fault> {
    let document = document(entry.document, entry.document_source)?;
    let hosts = entry.hosts.unwrap_or_default();
    if let Some(index) = hosts.iter().position(|origin| !names::is_origin(origin)) {
        return Err(Fault::at(&["hosts", &index.to_string()], names::ORIGIN));
    }
    for (field, list) in [("include", entry.include.as_ref()), ("exclude", entry.exclude.as_ref())] {
        tool_names(field, list.map_or(&[][..], |list| list))?;
    }
    if entry.include.as_ref().is_some_and(Vec::is_empty) {
        return Err(Fault::at(&["include"], "one operation or more; all are taken when it is left out"));
    }
    let rename = entry.rename.unwrap_or_default();
    let mut renamed: Vec<&String> = Vec::new();
    for (from, to) in &rename {
        if !names::is_tool(to) || renamed.contains(&to) {
            return Err(Fault::at(&["rename", from], "a name for the tool that no other is renamed to"));
        }
        renamed.push(to);
    }
    Ok(OpenApi {
        document,
        url: entry.url.map(|url| address("url", &url)).transpose()?,
        server_variables: entry.server_variables.unwrap_or_default(),
        hosts,
        include: entry.include,
        exclude: entry.exclude.unwrap_or_default(),
        rename,
        headers,
        hints: entry.hints.unwrap_or_default(),
        refresh: refresh(entry.refresh.as_deref())?,
    })
}

fn document(document: Option<DocumentWritten>, source: Option<String>) -> Result<Document, Fault> {
    match (document, source) {
        (Some(DocumentWritten::Address(text)), None) => Ok(Document::Address(address("document", &text)?)),
        (Some(DocumentWritten::File(written)), None) if !written.file.is_empty() => {
            Ok(Document::File(PathBuf::from(written.file)))
        }
        (Some(DocumentWritten::File(_)), None) => Err(Fault::at(&["document", "file"], "the path of a file")),
        (None, Some(text)) if (1..=MAX_SOURCE).contains(&text.len()) => Ok(Document::Text(text)),
        (None, Some(_)) => Err(Fault::at(&["document_source"], "the text of a document, at most 512 KiB")),
        _ => Err(Fault::new("either document or document_source, and not both")),
    }
}

fn refresh(text: Option<&str>) -> Result<Duration, Fault> {
    let Some(text) = text else {
        return Ok(Duration::from_secs(24 * HOUR_S));
    };
    text.parse::<jiff::Span>()
        .ok()
        .and_then(|span| span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()).ok())
        .and_then(|duration| Duration::try_from(duration).ok())
        .filter(|duration| (HOUR_S..=30 * 24 * HOUR_S).contains(&duration.as_secs()))
        .ok_or_else(|| Fault::at(&["refresh"], "a duration from PT1H to P30D"))
}
