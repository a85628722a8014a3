//! How much anybody may ask (`identity.md` 12): `RATE_*`, `STREAMS_CALLER`, and the proxies whose word on addresses counts.

use std::fmt;
use std::net::IpAddr;

use ipnet::IpNet;

use super::Environment;
use super::refusal::{Origin, Refusal};

/// The largest number any of these settings takes.
const MOST: u32 = 1_000_000;

/// A token bucket: so many at once, and so many more each second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// How many a second, in the long run.
    pub per_second: u32,
    /// How many at once.
    pub burst: u32,
}

impl fmt::Display for Rate {
    /// As it is written in a variable.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.per_second, self.burst)
    }
}

/// How much anybody may ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestLimits {
    /// Requests of a caller to `/v1` and MCP.
    pub caller: Rate,
    /// Requests of an address without a good credential.
    pub anonymous: Rate,
    /// Live calls of tools by a caller.
    pub execute: Rate,
    /// Open MCP streams of a caller.
    pub streams: u32,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpNet>,
}

pub(super) fn read(environment: &Environment) -> Result<RequestLimits, Refusal> {
    Ok(RequestLimits {
        caller: rate(environment, "RATE_CALLER", Rate { per_second: 50, burst: 200 })?,
        anonymous: rate(environment, "RATE_ANONYMOUS", Rate { per_second: 5, burst: 60 })?,
        execute: rate(environment, "RATE_EXECUTE", Rate { per_second: 10, burst: 40 })?,
        streams: match environment.get("STREAMS_CALLER") {
            None => 64,
            Some(text) => {
                number(text).ok_or_else(|| Refusal::variable("STREAMS_CALLER", "a whole number from 1 to 1000000"))?
            }
        },
        trusted_proxies: trusted_proxies(environment)?,
    })
}

fn rate(environment: &Environment, name: &str, default: Rate) -> Result<Rate, Refusal> {
    let Some(text) = environment.get(name) else { return Ok(default) };
    let rate = text
        .split_once('/')
        .and_then(|(per_second, burst)| Some(Rate { per_second: number(per_second)?, burst: number(burst)? }));
    rate.ok_or_else(|| {
        Refusal::variable(name, "how many a second and how many at once, such as 50/200, each from 1 to 1000000")
    })
}

fn number(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| digits && (1..=MOST).contains(number))
}

fn trusted_proxies(environment: &Environment) -> Result<Vec<IpNet>, Refusal> {
    let text = environment.get("TRUSTED_PROXIES").map(String::as_str).unwrap_or_default();
    let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
    let parsed = items.enumerate().map(|(index, item)| {
        let net = item.parse::<IpNet>().ok().or_else(|| item.parse::<IpAddr>().ok().map(IpNet::from));
        net.ok_or_else(|| {
            let origin = Origin::Variable("TRUSTED_PROXIES".to_owned());
            let expected = "an address such as 10.0.0.7, or a range such as 10.0.0.0/8";
            Refusal::new(origin, Default::default(), vec![index.to_string()], expected)
        })
    });
    parsed.collect()
}
