//! Which ways a person is offered.

use super::{Kind, Provider, Way};

/// Which providers the operator shows (`CONNECTIONS_PROVIDERS`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shown {
    all: bool,
    named: Vec<String>,
    left_out: Vec<String>,
}

impl Shown {
    /// Reads names separated by commas; `*` is every provider and `-name` leaves one out. With names left out alone,
    /// every other is shown.
    pub fn parse(text: &str) -> Self {
        let mut shown = Self::default();
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            match item.strip_prefix('-') {
                Some(name) => shown.left_out.push(name.to_owned()),
                None if item == "*" => shown.all = true,
                None => shown.named.push(item.to_owned()),
            }
        }
        shown.all |= shown.named.is_empty() && !shown.left_out.is_empty();
        shown
    }

    /// Whether the provider of that name is shown.
    pub fn contains(&self, name: &str) -> bool {
        let is = |item: &String| item == name;
        (self.all || self.named.iter().any(is)) && !self.left_out.iter().any(is)
    }
}

/// What the operator's rules say about ways (connections.md 14).
#[derive(Debug, Clone)]
pub struct Rules {
    /// Kinds allowed (`CONNECTIONS_KINDS`).
    pub kinds: Vec<Kind>,
    /// Providers shown (`CONNECTIONS_PROVIDERS`).
    pub providers: Shown,
    /// Whether any variable may be named by a reference (`CONNECTIONS_VARIABLES`).
    pub variables: bool,
    /// Whether a provider can send people back here: `PUBLIC_URL` is set, or they are at this machine.
    pub returns: bool,
}

/// The environment variable that holds a provider's value: `PROVIDER_<NAME>_<VALUE>`.
pub fn variable(provider: &str, value: &str) -> String {
    format!("PROVIDER_{provider}_{value}").to_ascii_uppercase().replace('-', "_")
}

impl Provider {
    /// Its ways, each with whether a person is offered it. `is_set` answers for the name of a variable.
    pub fn ways<'a>(
        &'a self,
        is_set: &'a dyn Fn(&str) -> bool,
        rules: &'a Rules,
    ) -> impl Iterator<Item = (&'a Way, bool)> {
        self.ways.iter().map(move |way| (way, self.offered(way, is_set, rules)))
    }

    /// The way taken when none is named: the first offered, else the first (connections.md 3.2).
    pub fn preferred_way(&self, is_set: &dyn Fn(&str) -> bool, rules: &Rules) -> Option<&Way> {
        self.ways.iter().find(|way| self.offered(way, is_set, rules)).or(self.ways.first())
    }

    /// The way of a kind.
    pub fn way(&self, kind: Kind) -> Option<&Way> {
        self.ways.iter().find(|way| way.kind == kind)
    }

    /// Names of the variables the operator has not set for a way; for the log alone.
    pub fn missing_variables(&self, way: &Way, is_set: &dyn Fn(&str) -> bool) -> Vec<String> {
        way.values
            .iter()
            .filter(|value| !value.optional)
            .map(|value| variable(&self.name, &value.name))
            .filter(|name| !is_set(name))
            .collect()
    }

    fn offered(&self, way: &Way, is_set: &dyn Fn(&str) -> bool, rules: &Rules) -> bool {
        // Without a client for these nobody could finish them.
        let usable = match way.kind {
            Kind::Authorization => rules.returns,
            Kind::ClientCredentials => false,
            Kind::Secret => true,
            Kind::Reference => rules.variables,
        };
        usable
            && rules.kinds.contains(&way.kind)
            && rules.providers.contains(&self.name)
            && self.missing_variables(way, is_set).is_empty()
    }
}
