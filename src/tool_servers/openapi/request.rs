//! The request of a tool call.

use http::{HeaderName, HeaderValue, Method, header};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use serde_json::{Map, Value};
use url::Url;

use super::files;
use super::parameters::is_left_out;
use super::source::escape;
use super::styles;
use super::tool::{Parameter, Place, Tool};
use crate::error::Issue;

/// What a path written in a document may not hold as it is; its own percent-encoding stays.
const PATH: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'`').add(b'#').add(b'{').add(b'}').add(b'^');

/// A request ready to be sent, but for the entry's own headers and the credential.
#[derive(Clone, PartialEq, Eq)]
pub struct Prepared {
    /// The method.
    pub method: Method,
    /// The whole address.
    pub url: Url,
    /// The path and query of the address.
    pub path_and_query: String,
    /// `Accept` and what the arguments ask for; `Content-Type` goes by the body.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// The body, if one is sent.
    pub body: Option<Body>,
}

/// A body with its type.
#[derive(Clone, PartialEq, Eq)]
pub struct Body {
    /// The value of `Content-Type`.
    pub media_type: String,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl std::fmt::Debug for Prepared {
    /// Without what the arguments hold.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Prepared")
            .field("method", &self.method)
            .field("origin", &self.url.origin().ascii_serialization())
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Body {
    /// Without what it holds.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Body").field("media_type", &self.media_type).field("bytes", &self.bytes.len()).finish()
    }
}

/// The parts of a request while they are written.
#[derive(Default)]
struct Parts {
    /// Parameter name and what stands in its place in the path.
    path: Vec<(String, String)>,
    query: Vec<String>,
    headers: Vec<(HeaderName, HeaderValue)>,
    cookies: Vec<String>,
    issues: Vec<Issue>,
}

impl Tool {
    /// Writes the request of a call.
    ///
    /// `idempotency_key` fills in a header `Idempotency-Key` that the operation knows and the arguments leave out.
    ///
    /// # Errors
    /// What is wrong with the arguments, by pointers into them. The schema is not checked here.
    pub fn request(
        &self,
        arguments: &Map<String, Value>,
        idempotency_key: Option<&str>,
    ) -> Result<Prepared, Vec<Issue>> {
        let mut parts = Parts::default();
        for name in arguments.keys().filter(|name| !self.is_argument(name)) {
            parts.issues.push(Issue::new(pointer(name), "This tool has no such argument."));
        }
        for parameter in self.parameters.iter().filter(|parameter| parameter.place != Place::Body) {
            let given = arguments.get(&parameter.property).filter(|value| !value.is_null());
            let key = idempotency_key.filter(|_| parameter.name.eq_ignore_ascii_case("idempotency-key"));
            match (given, key.filter(|_| parameter.place == Place::Header)) {
                (Some(value), _) => parts.write(parameter, value),
                (None, Some(key)) => parts.write(parameter, &Value::from(key)),
                (None, None) if parameter.required => {
                    parts.issues.push(Issue::new(pointer(&parameter.property), "This argument is required."));
                }
                (None, None) => {}
            }
        }
        let body = match &self.body {
            Some(plan) => files::write(plan, arguments).unwrap_or_else(|issue| {
                parts.issues.push(issue);
                None
            }),
            None => None,
        };
        let url = self.address(&mut parts);
        match url {
            Some(url) if parts.issues.is_empty() => Ok(self.prepared(url, parts, body)),
            _ => Err(parts.issues),
        }
    }

    fn is_argument(&self, name: &str) -> bool {
        let is_body = self.body.as_ref().is_some_and(|plan| plan.has_argument(name));
        is_body || self.parameters.iter().any(|parameter| parameter.property == name)
    }

    fn prepared(&self, url: Url, parts: Parts, body: Option<Body>) -> Prepared {
        let mut headers = parts.headers;
        if let Ok(accept) = HeaderValue::from_str(&self.accept)
            && !headers.iter().any(|(name, _)| name == header::ACCEPT)
        {
            headers.insert(0, (header::ACCEPT, accept));
        }
        if let Ok(cookies) = HeaderValue::from_str(&parts.cookies.join("; "))
            && !cookies.is_empty()
        {
            headers.push((header::COOKIE, cookies));
        }
        let path_and_query = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        Prepared { method: self.method.clone(), url, path_and_query, headers, body }
    }

    /// The whole address; nothing, with an issue, where a value would lead out of its place.
    fn address(&self, parts: &mut Parts) -> Option<Url> {
        let template = self.path.split('#').next().unwrap_or_default();
        let (path, fixed_query) = template.split_once('?').unwrap_or((template, ""));
        let path = format!("{}{}", self.server.path().trim_end_matches('/'), filled(path, &parts.path));
        let fixed_query = filled(fixed_query, &parts.path);
        let queries = [self.server.query().unwrap_or_default(), &fixed_query];
        let fixed = queries.into_iter().filter(|query| !query.is_empty()).map(str::to_owned);
        // The members of an object may stand in the query as parameters of their own.
        let guarded = self.credential.as_ref().filter(|(place, _)| *place == Place::Query);
        let is_guarded = |pair: &String| {
            let name = percent_decode_str(pair.split('=').next().unwrap_or_default()).decode_utf8_lossy();
            guarded.is_some_and(|(_, guarded)| name == guarded.as_str())
        };
        if parts.query.iter().any(is_guarded) {
            parts.issues.push(Issue::new("", "An argument would take the place of the credential."));
        }
        let query: Vec<String> = fixed.chain(parts.query.drain(..)).collect();
        let leads_out = path.split('/').any(|segment| {
            let segment = percent_decode_str(segment).decode_utf8_lossy();
            matches!(segment.as_ref(), "." | "..")
        });
        let mut url = self.server.clone();
        url.set_path(&path);
        url.set_query((!query.is_empty()).then(|| query.join("&")).as_deref());
        if leads_out || url.path() != path || url.origin() != self.server.origin() {
            let detail = "The values give a path that would lead elsewhere.";
            parts.issues.push(Issue::new("", detail));
            return None;
        }
        Some(url)
    }
}

/// A path with its placeholders filled in; what the document wrote is made fit for an address.
fn filled(template: &str, values: &[(String, String)]) -> String {
    let mut path = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        path.extend(utf8_percent_encode(before, PATH));
        if let Some((_, value)) = values.iter().find(|(had, _)| had == name) {
            path.push_str(value);
        }
        rest = after;
    }
    path.extend(utf8_percent_encode(rest, PATH));
    path
}

/// The pointer to an argument.
pub(super) fn pointer(name: &str) -> String {
    format!("/{}", escape(name))
}

impl Parts {
    fn write(&mut self, parameter: &Parameter, value: &Value) {
        let as_text;
        let value = if parameter.as_json {
            as_text = Value::from(value.to_string());
            &as_text
        } else {
            value
        };
        match parameter.place {
            Place::Path => self.write_path(parameter, value),
            Place::Query => self.query.extend(styles::in_query(parameter, value)),
            Place::Header => self.write_header(parameter, value),
            Place::Cookie => {
                if let Some(text) = styles::in_header(parameter, value) {
                    self.cookies.push(format!("{}={text}", styles::encode(&parameter.name)));
                }
            }
            Place::Body => {}
        }
    }

    fn write_path(&mut self, parameter: &Parameter, value: &Value) {
        let is_dots = value.as_str().is_some_and(|text| matches!(text, "." | ".."));
        match styles::in_path(parameter, value).filter(|text| !text.is_empty()) {
            _ if is_dots => {
                let detail = "A part of the path may not be `.` or `..`.";
                self.issues.push(Issue::new(pointer(&parameter.property), detail));
            }
            Some(text) => self.path.push((parameter.name.clone(), text)),
            None => {
                let detail = "A part of the path may not be empty.";
                self.issues.push(Issue::new(pointer(&parameter.property), detail));
            }
        }
    }

    fn write_header(&mut self, parameter: &Parameter, value: &Value) {
        let breaks = |text: &str| text.contains(['\r', '\n', '\0']);
        let has_breaks = match value {
            Value::Array(items) => items.iter().any(|item| breaks(&styles::plain(item))),
            Value::Object(members) => members.iter().any(|(name, one)| breaks(name) || breaks(&styles::plain(one))),
            one => breaks(&styles::plain(one)),
        };
        let name = HeaderName::from_bytes(parameter.name.as_bytes()).ok();
        let name = name.filter(|name| !is_left_out(name.as_str()));
        let text = styles::in_header(parameter, value);
        match (name, text) {
            (Some(name), Some(text)) if !has_breaks => match HeaderValue::from_str(&text) {
                Ok(value) => self.headers.push((name, value)),
                Err(_) => self.refuse_header(parameter),
            },
            (Some(_), None) => {}
            _ => self.refuse_header(parameter),
        }
    }

    fn refuse_header(&mut self, parameter: &Parameter) {
        let detail = "This cannot be the value of a header: no line break and no NUL.";
        self.issues.push(Issue::new(pointer(&parameter.property), detail));
    }
}
