//! How a request came: kept with each row of the audit it made, and with nothing else (`identity.md` 10).

use std::net::IpAddr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most characters kept of a client's own name for itself.
const USER_AGENT: usize = 200;

/// The way somebody acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// A page of Studio.
    Studio,
    /// A route of `/v1`.
    Http,
    /// An MCP endpoint.
    Mcp,
    /// `/tools/mcp`.
    ToolsMcp,
    /// An endpoint of the authorization server.
    Oauth,
    /// A command of the operator.
    Command,
    /// The server itself.
    Server,
}

/// Where an act came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The way.
    pub via: Via,
    /// The client a token was issued to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// The request's id, as its answer and the log have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// An IPv4 address whole, of an IPv6 one its network of 64 bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// What the client calls itself, at most 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
}

impl Origin {
    /// A request that came this way.
    pub fn of_request(via: Via, request_id: &str, address: Option<IpAddr>, user_agent: Option<&str>) -> Self {
        let clean = |text: &str| {
            text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(USER_AGENT).collect::<String>()
        };
        Self {
            via,
            client_id: None,
            request_id: Some(request_id.to_owned()).filter(|id| !id.is_empty()),
            address: address.map(network),
            user_agent: user_agent.map(clean).filter(|text| !text.is_empty()),
        }
    }

    /// Nobody's request: a command, or the server itself.
    pub const fn of(via: Via) -> Self {
        Self { via, client_id: None, request_id: None, address: None, user_agent: None }
    }
}

tokio::task_local! {
    /// The request in hand, where there is one.
    static IN_HAND: Option<Arc<Origin>>;
}

/// Does `work` for a request: whoever acts in it and tells no origin of their own acts through that request, so that no act
/// of a page is told as one of the server's.
pub async fn for_request<T>(origin: Arc<Origin>, work: impl Future<Output = T>) -> T {
    within(Some(origin), work).await
}

/// Does `work` for the request in hand when [`in_hand`] was asked, on whatever task it is done.
pub(super) async fn within<T>(origin: Option<Arc<Origin>>, work: impl Future<Output = T>) -> T {
    IN_HAND.scope(origin, work).await
}

/// The request in hand.
pub(super) fn in_hand() -> Option<Arc<Origin>> {
    IN_HAND.try_with(Clone::clone).ok().flatten()
}

/// What is kept of an address: of IPv6 no more than the network a household has.
fn network(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{}/64", std::net::Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_address_the_network_is_kept_and_of_a_name_200_characters() {
        let address = |text: &str| {
            let origin = Origin::of_request(Via::Http, "r", Some(text.parse().unwrap()), None);
            origin.address.unwrap()
        };
        assert_eq!(address("203.0.113.7"), "203.0.113.7");
        assert_eq!(address("::ffff:203.0.113.7"), "203.0.113.7");
        assert_eq!(address("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
        let told = Origin::of_request(Via::Mcp, "", None, Some(&format!("a\n{}", "x".repeat(300))));
        assert_eq!(told.user_agent.as_deref().map(|text| text.chars().count()), Some(200));
        assert_eq!((told.request_id, told.user_agent.unwrap().starts_with("a x")), (None, true));
    }
}
