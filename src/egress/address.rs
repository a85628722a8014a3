//! The text of an address: the rules of `connections.md` 16.1, and what an address that keeps them may reach.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

use super::ranges::{Range, is_own, range_of};
use super::{Failure, Policy, Provenance};

/// Where the sockets for an address may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Reach {
    /// Everywhere; the operator wrote it.
    Anywhere,
    /// Public and private addresses and loopback; the operator listed its origin.
    Listed,
    /// Loopback alone; local mode.
    Loopback,
    /// Public addresses alone.
    Public,
}

const PRIVATE_NAMES: [&str; 2] = ["metadata.google.internal", "host.docker.internal"];

const PRIVATE_SUFFIXES: [&str; 6] = [".localhost", ".local", ".internal", ".home.arpa", ".lan", ".svc.cluster.local"];

fn refuse<T>(rule: &'static str) -> Result<T, Failure> {
    Err(Failure::NotAllowed { rule })
}

impl Policy {
    /// Judges an address as it was written, and answers it parsed, without a trailing dot.
    pub(super) fn judge_text(&self, text: &str, provenance: Provenance) -> Result<(Url, Reach), Failure> {
        let Ok(url) = Url::parse(text) else {
            return refuse("syntax");
        };
        if provenance != Provenance::Operator {
            judge_form(text, &url)?;
        }
        self.judge_url(url, provenance)
    }

    /// Judges a parsed address; literal addresses by their range too.
    pub(super) fn judge_url(&self, mut url: Url, provenance: Provenance) -> Result<(Url, Reach), Failure> {
        if !matches!(url.scheme(), "http" | "https") {
            return refuse("scheme");
        }
        if provenance == Provenance::Operator {
            self.judge_literal(&url, Reach::Anywhere)?;
            return Ok((url, Reach::Anywhere));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return refuse("user");
        }
        if url.fragment().is_some() {
            return refuse("fragment");
        }
        cut_trailing_dot(&mut url)?;
        let reach = self.reach_of(&url, provenance)?;
        self.judge_literal(&url, reach)?;
        Ok((url, reach))
    }

    fn reach_of(&self, url: &Url, provenance: Provenance) -> Result<Reach, Failure> {
        let own_server = provenance == Provenance::Person;
        if own_server && self.private_origins.contains(&url.origin()) {
            return Ok(Reach::Listed);
        }
        let reach = if own_server && self.local_mode && url.scheme() == "http" && is_loopback_name(url) {
            Reach::Loopback
        } else if url.scheme() == "https" {
            judge_name(url)?;
            Reach::Public
        } else {
            return refuse("scheme");
        };
        if !matches!(url.port_or_known_default(), Some(443 | 1024..)) {
            return refuse("port");
        }
        if !self.hosts.allow(url.host_str().unwrap_or_default()) {
            return refuse("hosts");
        }
        Ok(reach)
    }

    fn judge_literal(&self, url: &Url, reach: Reach) -> Result<(), Failure> {
        let port = url.port_or_known_default().unwrap_or_default();
        match url.host() {
            Some(Host::Ipv4(address)) => self.judge_address(reach, address.into(), port),
            Some(Host::Ipv6(address)) => self.judge_address(reach, address.into(), port),
            Some(Host::Domain("localhost")) => {
                LOCALHOST.into_iter().try_for_each(|address| self.judge_address(reach, address, port))
            }
            Some(Host::Domain(_)) => Ok(()),
            None => refuse("syntax"),
        }
    }

    /// Judges one address a socket would be opened to.
    pub(super) fn judge_address(&self, reach: Reach, address: IpAddr, port: u16) -> Result<(), Failure> {
        if is_own(&self.own_addresses, address, port) {
            return refuse("own_address");
        }
        let passes = match (reach, range_of(address)) {
            (Reach::Anywhere, _) => true,
            (Reach::Listed, range) => range != Range::Reserved,
            (Reach::Loopback, range) => range == Range::Loopback,
            (Reach::Public, range) => range == Range::Public,
        };
        if passes { Ok(()) } else { refuse("range") }
    }
}

/// What `localhost` stands for, whatever a resolver says (RFC 6761, section 6.3).
pub(super) const LOCALHOST: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];

/// What parsing would hide: odd characters, a user part and IPv4 addresses in disguise.
fn judge_form(text: &str, url: &Url) -> Result<(), Failure> {
    if text.chars().any(|c| c == '\\' || c.is_whitespace() || c.is_control()) {
        return refuse("characters");
    }
    let Some((_, after)) = text.split_once("://") else {
        return refuse("syntax");
    };
    let authority = after.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.is_empty() || authority.contains('%') {
        return refuse("syntax");
    }
    if authority.contains('@') {
        return refuse("user");
    }
    if let Some(Host::Ipv4(address)) = url.host() {
        let written = authority.split(':').next().unwrap_or_default();
        if written != address.to_string() {
            return refuse("ipv4_form");
        }
    }
    Ok(())
}

fn cut_trailing_dot(url: &mut Url) -> Result<(), Failure> {
    let Some(cut) = url.domain().and_then(|name| name.strip_suffix('.')).map(str::to_owned) else {
        return Ok(());
    };
    if url.set_host(Some(&cut)).is_err() {
        return refuse("name");
    }
    // A host such as `2130706433.` turns into an address only now.
    if url.domain().is_none() { refuse("ipv4_form") } else { Ok(()) }
}

fn is_loopback_name(url: &Url) -> bool {
    matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"))
}

/// Whether an address is one that servers everywhere can open: https, on a public name or address. Nothing is asked.
pub fn is_public(text: &str) -> bool {
    let address = |address: IpAddr| range_of(address) == Range::Public;
    let Ok(url) = Url::parse(text) else { return false };
    url.scheme() == "https"
        && judge_name(&url).is_ok()
        && match url.host() {
            Some(Host::Domain(_)) => true,
            Some(Host::Ipv4(host)) => address(host.into()),
            Some(Host::Ipv6(host)) => address(host.into()),
            None => false,
        }
}

fn judge_name(url: &Url) -> Result<(), Failure> {
    let Some(name) = url.domain() else {
        return Ok(());
    };
    let labels_fit = name.len() <= 253 && name.split('.').all(|label| (1..=63).contains(&label.len()));
    let private = PRIVATE_NAMES.contains(&name) || PRIVATE_SUFFIXES.iter().any(|suffix| name.ends_with(suffix));
    if labels_fit && name.contains('.') && !private { Ok(()) } else { refuse("name") }
}
