//! Where the server listens and who may call: host, port, API keys, browser origins, and the mode they make.

/// Hosts that only this machine can reach.
pub const LOOPBACK_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The interface and port of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listener {
    /// The interface, a name or an address; `127.0.0.1` by default.
    pub host: String,
    /// The port; 5555 by default, 0 for any free one.
    pub port: u16,
    /// Further browser origins, besides the server's own.
    pub allowed_origins: Vec<String>,
}

impl Listener {
    /// Whether only this machine can reach the server.
    pub fn is_loopback(&self) -> bool {
        LOOPBACK_HOSTS.contains(&self.host.as_str())
    }
}

/// Who may call (`configuration.md` 4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Only this machine reaches the server: every request is the local developer's.
    Local,
    /// A person who signed in, in an org of theirs; a key too, where there are keys.
    SignIn,
    /// A key, in its org.
    Keys,
    /// Nobody: reachable from outside, and nothing says who may call.
    Closed,
}
