//! The catalogue: services a person may connect by name, each from one file (connections.md 6).
//!
//! Files come with the program or from the operator's folder; all are checked at the start, which stops at the first
//! fault with file, line and column. Nothing here goes out to the network. Start with [`Catalogue`].

mod address;
mod check;
mod check_way;
mod embedded;
mod folder;
pub mod headers;
mod oauth;
mod offer;
mod pattern;
mod provider;
mod resolve;
mod search;
mod way;
mod yaml;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use folder::read_folder;
pub use oauth::{
    AnswerForm, ClientAuth, Pkce, Refresh, Registration, RequestBody, Revoke, RevokeEnds, RevokeMethod, RevokedToken,
    Rotates, Scopes, Separator, TokenAnswer,
};
pub use offer::{Rules, Shown, variable};
pub use provider::{
    Document, Hints, Identity, IdentityFrom, Limits, Method, Placeholder, PlaceholderIn, Provider, Request, Server,
    Type, Where,
};
pub use resolve::{Resolved, Source};
pub use way::{Encode, Field, Kind, OperatorValue, Put, ValueIn, Way};
pub use yaml::Fault;

use check::Check;

/// A file of the operator's folder: a provider (`.yaml`) or an OpenAPI document one of them names (`.json`).
#[derive(Debug, Clone)]
pub struct File {
    /// Its name within the folder.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// Every provider a server knows, with the toolkits and documents they name.
#[derive(Debug, Clone)]
pub struct Catalogue {
    providers: BTreeMap<String, Provider>,
    toolkits: BTreeMap<String, Arc<str>>,
    documents: BTreeMap<String, Arc<str>>,
}

impl Catalogue {
    /// The providers that come with the program.
    ///
    /// # Errors
    /// None that a test has not seen.
    pub fn built_in() -> Result<Self, Fault> {
        let texts =
            |files: &[(&str, &str)]| files.iter().map(|(name, text)| ((*name).to_owned(), Arc::from(*text))).collect();
        let mut catalogue = Self {
            providers: BTreeMap::new(),
            toolkits: texts(embedded::TOOLKITS),
            documents: texts(embedded::DOCUMENTS),
        };
        for (name, text) in embedded::PROVIDERS {
            catalogue.take(name, text, false)?;
        }
        Ok(catalogue)
    }

    /// The providers that come with the program and those of the operator's files.
    ///
    /// # Errors
    /// The first fault of a file.
    pub fn with(files: &[File]) -> Result<Self, Fault> {
        let mut catalogue = Self::built_in()?;
        for file in files.iter().filter(|file| file.name.ends_with(".json")) {
            catalogue.documents.insert(file.name.clone(), Arc::from(file.text.as_str()));
        }
        let mut taken: Vec<&str> = Vec::new();
        for file in files.iter().filter(|file| !file.name.ends_with(".json")) {
            if taken.contains(&file.name.as_str()) {
                return Err(Fault {
                    file: file.name.clone(),
                    line: 1,
                    column: 1,
                    detail: "a file of this name is there twice".into(),
                });
            }
            catalogue.take(&file.name, &file.text, true)?;
            taken.push(&file.name);
        }
        Ok(catalogue)
    }

    /// The provider of that name, matched exactly.
    pub fn get(&self, name: &str) -> Option<&Provider> {
        self.providers.get(name)
    }

    /// Every provider: the featured ones in their order, then by title.
    pub fn all(&self) -> Vec<&Provider> {
        let mut all: Vec<&Provider> = self.providers.values().collect();
        all.sort_by_cached_key(|provider| {
            (provider.featured.unwrap_or(u8::MAX), provider.title.to_lowercase(), provider.name.clone())
        });
        all
    }

    /// Providers found by words of their name, title, description and terms, the best first; all of them without words.
    pub fn find(&self, terms: &str) -> Vec<&Provider> {
        let asked = search::words(terms);
        let mut found: Vec<(u32, &Provider)> = self
            .all()
            .into_iter()
            .map(|provider| (search::score(provider, &asked), provider))
            .filter(|(score, _)| asked.is_empty() || *score > 0)
            .collect();
        // Stable, so that equals keep the order of `all`.
        found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        found.into_iter().map(|(_, provider)| provider).collect()
    }

    /// Text of a toolkit.
    pub fn toolkit(&self, name: &str) -> Option<Arc<str>> {
        self.toolkits.get(name).cloned()
    }

    /// Text of an OpenAPI document that came with a provider.
    pub fn document(&self, file: &str) -> Option<Arc<str>> {
        self.documents.get(file).cloned()
    }

    fn take(&mut self, file: &str, text: &str, operator: bool) -> Result<(), Fault> {
        let (provider, places) = yaml::read::<Provider>(file, text)?;
        let check = Check { places: &places, provider: &provider, operator };
        check.run(file.strip_suffix(".yaml").unwrap_or(file))?;
        if let Some(name) = &provider.server.toolkit
            && !self.toolkits.contains_key(name)
        {
            return Err(places.fault("/server/toolkit", format!("there is no toolkit {name}")));
        }
        if let Some(name) = provider.server.document.as_ref().and_then(|found| found.file.as_ref())
            && !self.documents.contains_key(name)
        {
            return Err(places.fault(
                "/server/document/file",
                format!("there is no document {name}; expected a .json file beside this one"),
            ));
        }
        match (self.providers.contains_key(&provider.name), provider.replaces) {
            (true, false) => {
                return Err(places.fault(
                    "/name",
                    "a built-in provider has this name; add replaces: true to take its place, or choose another",
                ));
            }
            (false, true) => {
                return Err(places.fault("/replaces", "there is no built-in provider of this name to replace"));
            }
            _ => {}
        }
        self.providers.insert(provider.name.clone(), provider);
        Ok(())
    }
}
