//! Whose request it is, by address: the peer's, or the one a trusted proxy names.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use http::{HeaderMap, HeaderName};
use ipnet::IpNet;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The address a request comes from: the peer's, or the last of `X-Forwarded-For` that is no trusted proxy when the peer
/// is one. What stands before that one anybody may have written.
pub(super) fn client(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |address: IpAddr| trusted.iter().any(|net| net.contains(&address));
    if !is_trusted(peer) {
        return peer;
    }
    let lines = headers.get_all(X_FORWARDED_FOR).iter().rev();
    let named = lines.flat_map(|line| line.to_str().unwrap_or_default().rsplit(',').map(str::trim));
    for name in named {
        match parse(name) {
            Some(address) if is_trusted(address) => {}
            Some(address) => return address,
            // Nothing beyond what is no address can be believed.
            None => break,
        }
    }
    peer
}

/// An address, some proxies with a port.
fn parse(name: &str) -> Option<IpAddr> {
    let bare = || name.strip_prefix('[')?.strip_suffix(']')?.parse().ok().map(IpAddr::V6);
    let address = name.parse().ok().or_else(|| name.parse::<SocketAddr>().ok().map(|socket| socket.ip()));
    address.or_else(bare).map(|address: IpAddr| address.to_canonical())
}

/// What counts as one address: an IPv6 customer has a /64, and any address in it for the asking.
pub(super) fn counted(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
    }
}
