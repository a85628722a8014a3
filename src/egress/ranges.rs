//! Which addresses a name may resolve to: the table of `connections.md` 16.2.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use ipnet::{Ipv4Net, Ipv6Net};

/// What an address is, once unwrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Range {
    /// On the public internet.
    Public,
    /// In a private network: never for an address of a person, unless its origin is listed.
    Private,
    /// This machine.
    Loopback,
    /// Nothing a request has any business with.
    Reserved,
}

const fn v4(a: u8, b: u8, c: u8, d: u8, length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)
}

const fn v6(first: u16, second: u16, third: u16, length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(first, second, third, 0, 0, 0, 0, 0), length)
}

const PRIVATE_V4: [Ipv4Net; 4] =
    [v4(10, 0, 0, 0, 8), v4(100, 64, 0, 0, 10), v4(172, 16, 0, 0, 12), v4(192, 168, 0, 0, 16)];

const RESERVED_V4: [Ipv4Net; 11] = [
    v4(0, 0, 0, 0, 8),
    v4(169, 254, 0, 0, 16),
    v4(192, 0, 0, 0, 24),
    v4(192, 0, 2, 0, 24),
    v4(192, 88, 99, 0, 24),
    v4(198, 18, 0, 0, 15),
    v4(198, 51, 100, 0, 24),
    v4(203, 0, 113, 0, 24),
    v4(224, 0, 0, 0, 4),
    v4(240, 0, 0, 0, 4),
    v4(168, 63, 129, 16, 32),
];

const GLOBAL_V6: Ipv6Net = v6(0x2000, 0, 0, 3);
const PRIVATE_V6: Ipv6Net = v6(0xfc00, 0, 0, 7);

/// What is refused inside of [`GLOBAL_V6`]: Teredo and the other protocols of the first block, documentation, 6to4.
const RESERVED_V6: [Ipv6Net; 4] =
    [v6(0x2001, 0, 0, 23), v6(0x2001, 0xdb8, 0, 32), v6(0x2002, 0, 0, 16), v6(0x3fff, 0, 0, 20)];

/// IPv6 addresses that stand for the IPv4 address in their last 32 bits: mapped ones, and NAT64 (RFC 6052).
const WRAPPED: [Ipv6Net; 2] =
    [Ipv6Net::new_assert(Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96), v6(0x64, 0xff9b, 0, 96)];

/// The IPv4 address inside a mapped or NAT64 one, or the address itself.
pub(super) fn unwrapped(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(inner) if WRAPPED.iter().any(|net| net.contains(&inner)) => {
            let [.., a, b, c, d] = inner.octets();
            IpAddr::V4(Ipv4Addr::new(a, b, c, d))
        }
        other => other,
    }
}

/// What `address` is.
pub(super) fn range_of(address: IpAddr) -> Range {
    match unwrapped(address) {
        IpAddr::V4(address) => range_of_v4(address),
        IpAddr::V6(address) => range_of_v6(address),
    }
}

fn range_of_v4(address: Ipv4Addr) -> Range {
    if address.is_loopback() {
        Range::Loopback
    } else if PRIVATE_V4.iter().any(|net| net.contains(&address)) {
        Range::Private
    } else if RESERVED_V4.iter().any(|net| net.contains(&address)) {
        Range::Reserved
    } else {
        Range::Public
    }
}

fn range_of_v6(address: Ipv6Addr) -> Range {
    let segments = address.segments();
    // ISATAP (RFC 5214, section 6.1) carries an IPv4 address in its interface identifier.
    let isatap = matches!(segments[4], 0 | 0x200) && segments[5] == 0x5efe;
    if address.is_loopback() {
        Range::Loopback
    } else if isatap || RESERVED_V6.iter().any(|net| net.contains(&address)) {
        Range::Reserved
    } else if GLOBAL_V6.contains(&address) {
        Range::Public
    } else if PRIVATE_V6.contains(&address) {
        Range::Private
    } else {
        Range::Reserved
    }
}

/// Whether a socket to `address` and `port` would end at one of the server's `own` listeners.
pub(super) fn is_own(own: &[SocketAddr], address: IpAddr, port: u16) -> bool {
    let address = unwrapped(address);
    own.iter().filter(|own| own.port() == port).any(|own| {
        let own = unwrapped(own.ip());
        // The unspecified address is dialled as loopback, and listened on as every address of the machine.
        own == address || address.is_unspecified() || (own.is_unspecified() && is_of_this_machine(address))
    })
}

/// Only addresses of this machine can be bound; nothing is sent by that.
fn is_of_this_machine(address: IpAddr) -> bool {
    address.is_loopback() || UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{Range, is_own, range_of};

    fn all(range: Range, addresses: &[&str]) {
        for text in addresses {
            assert_eq!(range_of(text.parse().unwrap()), range, "{text}");
        }
    }

    #[test]
    fn public_addresses() {
        all(
            Range::Public,
            &[
                "1.1.1.1",
                "8.8.8.8",
                "9.255.255.255",
                "11.0.0.0",
                "100.63.255.255",
                "100.128.0.0",
                "126.255.255.255",
                "128.0.0.0",
                "169.253.255.255",
                "169.255.0.0",
                "172.15.255.255",
                "172.32.0.0",
                "192.0.1.0",
                "192.167.255.255",
                "192.169.0.0",
                "198.17.255.255",
                "198.20.0.0",
                "223.255.255.255",
                "168.63.129.15",
                "168.63.129.17",
                "2606:4700:4700::1111",
                "2a00:1450:4001::1",
                "2001:200::1",
                "::ffff:8.8.8.8",
                "64:ff9b::8.8.8.8",
            ],
        );
    }

    #[test]
    fn private_addresses() {
        all(
            Range::Private,
            &[
                "10.0.0.0",
                "10.255.255.255",
                "100.64.0.0",
                "100.127.255.255",
                "172.16.0.0",
                "172.31.255.255",
                "192.168.0.1",
                "fc00::1",
                "fdff::1",
                "::ffff:10.0.0.1",
                "64:ff9b::192.168.0.1",
            ],
        );
    }

    #[test]
    fn loopback_addresses() {
        all(Range::Loopback, &["127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1", "64:ff9b::127.0.0.1"]);
    }

    #[test]
    fn reserved_addresses() {
        all(
            Range::Reserved,
            &[
                "0.0.0.0",
                "0.255.255.255",
                "169.254.169.254",
                "169.254.170.2",
                "192.0.0.1",
                "192.0.2.1",
                "192.88.99.1",
                "198.18.0.0",
                "198.19.255.255",
                "198.51.100.1",
                "203.0.113.1",
                "224.0.0.1",
                "239.255.255.255",
                "240.0.0.1",
                "255.255.255.255",
                "168.63.129.16",
                "::",
                "::2",
                "::8.8.8.8",
                "64:ff9b:1::1",
                "100::1",
                "1fff::1",
                "4000::1",
                "fe80::1",
                "fec0::1",
                "ff02::1",
                "2001::1",
                "2001:1ff::1",
                "2001:db8::1",
                "2002:0a00:0001::1",
                "2002:0808:0808::1",
                "3fff::1",
                "3fff:fff::1",
                "5f00::1",
                "2606:4700::5efe:10.0.0.1",
                "2606:4700::200:5efe:8.8.8.8",
                "::ffff:169.254.169.254",
                "64:ff9b::169.254.169.254",
            ],
        );
    }

    #[test]
    fn an_unspecified_listener_owns_every_address_of_the_machine() {
        let own = ["0.0.0.0:8080".parse().unwrap()];
        assert!(is_own(&own, "127.0.0.1".parse().unwrap(), 8080));
        assert!(is_own(&own, "0.0.0.0".parse().unwrap(), 8080));
        assert!(is_own(&own, "::ffff:127.0.0.1".parse().unwrap(), 8080));
        assert!(!is_own(&own, "127.0.0.1".parse().unwrap(), 8081));
        assert!(!is_own(&own, "8.8.8.8".parse().unwrap(), 8080));
    }

    #[test]
    fn another_listener_owns_its_address_alone() {
        let own = ["127.0.0.1:8080".parse().unwrap()];
        assert!(is_own(&own, "127.0.0.1".parse().unwrap(), 8080));
        assert!(!is_own(&own, "127.0.0.2".parse().unwrap(), 8080));
    }
}
