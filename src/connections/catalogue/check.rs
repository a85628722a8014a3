//! What a provider file must be beyond its shape. Each fault names the value it is about.

use std::collections::BTreeSet;

use super::address::{Template, fits, is_name};
use super::provider::{Placeholder, PlaceholderIn, Provider, Server, Type, hours};
use super::yaml::{Fault, Places};
use super::{check_way, headers, pattern};

/// One file being checked.
pub(super) struct Check<'a> {
    pub(super) places: &'a Places,
    pub(super) provider: &'a Provider,
    /// Whether the file is the operator's; its servers may then be plain http, which the egress rules judge.
    pub(super) operator: bool,
}

impl Check<'_> {
    /// Checks the whole file, which `stem` names.
    pub(super) fn run(&self, stem: &str) -> Result<(), Fault> {
        let provider = self.provider;
        if !is_provider_name(&provider.name) {
            return self.refuse("/name", "expected 1 to 32 of a-z, 0-9 and -, first a letter");
        }
        if provider.name != stem {
            return self.refuse("/name", format!("expected {stem}, as the file is named"));
        }
        self.text("/title", &provider.title, 60)?;
        self.text("/description", &provider.description, 300)?;
        if provider.terms.len() > 20 {
            return self.refuse("/terms", "at most 20 terms");
        }
        for (index, term) in provider.terms.iter().enumerate() {
            self.text(&format!("/terms/{index}"), term, 60)?;
        }
        if provider.featured.is_some_and(|place| !(1..=99).contains(&place)) {
            return self.refuse("/featured", "expected a number from 1 to 99");
        }
        if provider.replaces && !self.operator {
            return self.refuse("/replaces", "only an operator's file may replace another");
        }
        if let Some(icon) = &provider.icon {
            self.icon(icon)?;
        }
        if let Some(docs) = &provider.docs {
            self.shown_address("/docs", docs)?;
        }
        self.placeholders()?;
        self.server(&provider.server)?;
        self.requests()?;
        check_way::run(self)?;
        self.all_used()
    }

    /// A fault at `pointer`.
    pub(super) fn refuse(&self, pointer: &str, detail: impl Into<String>) -> Result<(), Fault> {
        Err(self.places.fault(pointer, detail))
    }

    /// Plain text of 1 to `most` characters.
    pub(super) fn text(&self, pointer: &str, text: &str, most: usize) -> Result<(), Fault> {
        let plain = text.chars().all(|c| !c.is_control() && !is_bidi(c)) && text.trim() == text;
        if plain && (1..=most).contains(&text.chars().count()) {
            return Ok(());
        }
        self.refuse(pointer, format!("expected plain text of 1 to {most} characters on one line"))
    }

    /// An address people open, without placeholders.
    pub(super) fn shown_address(&self, pointer: &str, text: &str) -> Result<(), Fault> {
        match Template::parse(text, false) {
            Ok(found) if found.names().is_empty() => Ok(()),
            Ok(_) => self.refuse(pointer, "no placeholder may stand here"),
            Err(expected) => self.refuse(pointer, expected),
        }
    }

    /// An address the server or the browser goes to, with placeholders in their places.
    pub(super) fn address(&self, pointer: &str, text: &str) -> Result<(), Fault> {
        let found = Template::parse(text, self.operator).map_err(|expected| self.places.fault(pointer, expected))?;
        for name in found.names() {
            let Some(placeholder) = self.provider.placeholders.iter().find(|known| known.name == name) else {
                return self.refuse(pointer, format!("{{{name}}} is not among the placeholders"));
            };
            if let Err(expected) = found.takes(name, placeholder.place) {
                return self.refuse(pointer, expected);
            }
        }
        Ok(())
    }

    /// A JSON Pointer.
    pub(super) fn pointer(&self, pointer: &str, text: &str) -> Result<(), Fault> {
        if text.is_empty() || text.starts_with('/') {
            return Ok(());
        }
        self.refuse(pointer, "expected a JSON Pointer, such as /user/email")
    }

    /// A pattern.
    pub(super) fn pattern(&self, pointer: &str, text: &str) -> Result<regex::Regex, Fault> {
        pattern::compile(text).map_err(|expected| self.places.fault(pointer, expected))
    }

    fn icon(&self, icon: &str) -> Result<(), Fault> {
        let stem = icon.strip_suffix(".png").or_else(|| icon.strip_suffix(".webp"));
        if stem.is_some_and(is_provider_name) {
            return Ok(());
        }
        self.refuse("/icon", "expected the name of a .png or .webp file in the folder icons")
    }

    fn placeholders(&self) -> Result<(), Fault> {
        if self.provider.placeholders.len() > 16 {
            return self.refuse("/placeholders", "at most 16 placeholders");
        }
        let mut seen = BTreeSet::new();
        for (index, placeholder) in self.provider.placeholders.iter().enumerate() {
            let at = format!("/placeholders/{index}");
            if !is_name(&placeholder.name) {
                return self.refuse(&format!("{at}/name"), "expected 1 to 32 of a-z, 0-9 and _, first a letter");
            }
            if !seen.insert(&placeholder.name) {
                return self.refuse(&format!("{at}/name"), "a placeholder of this name is there twice");
            }
            self.text(&format!("{at}/title"), &placeholder.title, 60)?;
            self.text(&format!("{at}/description"), &placeholder.description, 300)?;
            self.placeholder_values(&at, placeholder)?;
        }
        Ok(())
    }

    fn placeholder_values(&self, at: &str, placeholder: &Placeholder) -> Result<(), Fault> {
        let compiled = match &placeholder.pattern {
            Some(text) => Some(self.pattern(&format!("{at}/pattern"), text)?),
            None => None,
        };
        let singles = [("example", &placeholder.example), ("default", &placeholder.default)];
        let values = singles
            .into_iter()
            .filter_map(|(field, value)| value.as_ref().map(|value| (format!("{at}/{field}"), value)))
            .chain(
                placeholder.options.iter().enumerate().map(|(index, value)| (format!("{at}/options/{index}"), value)),
            );
        for (pointer, value) in values {
            if let Err(expected) = fits(value, placeholder.place) {
                return self.refuse(&pointer, expected);
            }
            if compiled.as_ref().is_some_and(|pattern| !pattern.is_match(value)) {
                return self.refuse(&pointer, "does not match the placeholder's own pattern");
            }
            if !placeholder.options.is_empty() && !placeholder.options.contains(value) {
                return self.refuse(&pointer, "is not among the placeholder's own options");
            }
        }
        // A place in the path or the query takes any text, so its file says which.
        let open = matches!(placeholder.place, PlaceholderIn::Path | PlaceholderIn::Query);
        if open && placeholder.pattern.is_none() && placeholder.options.is_empty() {
            return self.refuse(at, "expected a pattern or options for a placeholder of the path or the query");
        }
        Ok(())
    }

    fn server(&self, server: &Server) -> Result<(), Fault> {
        self.address("/server/url", &server.url)?;
        match (server.r#type, &server.toolkit, &server.document) {
            (Type::Mcp, None, None) => {}
            (Type::Mcp, Some(_), _) => return self.refuse("/server/toolkit", "an MCP server has no toolkit"),
            (Type::Mcp, None, Some(_)) => return self.refuse("/server/document", "an MCP server has no document"),
            (Type::Openapi, Some(_), None) => {}
            (Type::Openapi, None, Some(document)) => match (&document.file, &document.url) {
                (Some(_), None) => {}
                (None, Some(url)) => self.address("/server/document/url", url)?,
                _ => return self.refuse("/server/document", "expected exactly one of file and url"),
            },
            (Type::Openapi, ..) => return self.refuse("/server", "expected exactly one of toolkit and document"),
        }
        for field in ["server_variables", "hosts", "include", "exclude", "rename", "hints", "refresh"] {
            let pointer = format!("/server/{field}");
            if self.places.has(&pointer) && server.document.is_none() {
                return self.refuse(&pointer, "only a server with a document has this field");
            }
        }
        for (index, host) in server.hosts.iter().enumerate() {
            self.address(&format!("/server/hosts/{index}"), host)?;
        }
        if server.refresh.as_deref().is_some_and(|text| hours(text).is_none()) {
            return self.refuse("/server/refresh", "expected 1h to 30d, such as 24h");
        }
        if let Some(limits) = &server.limits
            && (limits.calls_per_minute == Some(0) || limits.concurrent == Some(0))
        {
            return self.refuse("/server/limits", "expected limits above 0");
        }
        self.headers("/server/headers", &server.headers)
    }

    fn headers(&self, at: &str, headers: &std::collections::BTreeMap<String, String>) -> Result<(), Fault> {
        if headers.len() > 16 {
            return self.refuse(at, "at most 16 headers");
        }
        for (name, value) in headers {
            let pointer = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
            if !headers::is_token(name, 64) || headers::is_reserved(name) {
                return self.refuse(&pointer, "this header may not be set by a file");
            }
            if value.is_empty() || !value.chars().all(|c| c.is_ascii_graphic() || c == ' ') {
                return self.refuse(&pointer, "expected visible ASCII text");
            }
        }
        Ok(())
    }

    fn requests(&self) -> Result<(), Fault> {
        if let Some(verify) = &self.provider.verify {
            self.address("/verify/url", &verify.url)?;
            self.headers("/verify/headers", &verify.headers)?;
            if let Some(wanted) = &verify.r#where {
                self.pointer("/verify/where/pointer", &wanted.pointer)?;
            }
        }
        let Some(identity) = &self.provider.identity else {
            return Ok(());
        };
        match (&identity.from, &identity.url, &identity.method) {
            (Some(_), None, None) => {}
            (None, Some(url), Some(_)) => self.address("/identity/url", url)?,
            _ => return self.refuse("/identity", "expected method and url, or from: token"),
        }
        self.headers("/identity/headers", &identity.headers)?;
        if identity.label.is_empty() {
            return self.refuse("/identity", "expected label, a list of JSON Pointers");
        }
        for (index, label) in identity.label.iter().enumerate() {
            self.pointer(&format!("/identity/label/{index}"), label)?;
        }
        identity.id.as_ref().map_or(Ok(()), |id| self.pointer("/identity/id", id))
    }

    /// A placeholder nothing uses would be asked of a person for nothing.
    fn all_used(&self) -> Result<(), Fault> {
        let provider = self.provider;
        let mut texts = vec![provider.server.url.as_str()];
        texts.extend(provider.server.document.iter().filter_map(|found| found.url.as_deref()));
        texts.extend(provider.ways.iter().flat_map(check_way::addresses).map(|(_, text)| text));
        for (index, placeholder) in provider.placeholders.iter().enumerate() {
            let braced = format!("{{{}}}", placeholder.name);
            if !texts.iter().any(|text| text.contains(&braced)) {
                return self.refuse(
                    &format!("/placeholders/{index}/name"),
                    format!("{braced} stands in no address of the server or of a way"),
                );
            }
        }
        Ok(())
    }
}

/// Whether `text` may be a provider's name.
pub(super) fn is_provider_name(text: &str) -> bool {
    (1..=32).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// Whether a character changes the direction of the text around it, and so what a person reads.
fn is_bidi(c: char) -> bool {
    matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
