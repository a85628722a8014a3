//! What the page behind an approval link shows, state by state (connections.md 9.4).

use jiff::Timestamp;

use crate::studio::text::{Host, HttpsLink, Text};

/// What a link's page shows: one variant for each state of connections.md 9.4. Not `Debug`, since a link is never logged.
#[derive(Clone)]
pub enum LinkView {
    /// `ready`: waits for the person.
    Ready(Box<Asking>),
    /// `provider_error`: tried, and did not work; the link goes on. `last_error` says why.
    ProviderError(Box<Asking>),
    /// `started`: the person went to the provider's page, in this tab or another.
    Started(Box<Away>),
    /// `connected`.
    Connected(Connected),
    /// `expired`, shown to the adder alone.
    Expired {
        /// Title of what was to be connected.
        title: Text,
        /// Whether refused credentials ended it before its time.
        refused: bool,
    },
    /// `cancelled`: refused on this page.
    Cancelled {
        /// Title of what was to be connected.
        title: Text,
    },
    /// `removed`: taken away elsewhere.
    Removed {
        /// Title of what was to be connected.
        title: Text,
    },
    /// `other_person`: the link is for somebody else.
    OtherPerson {
        /// Name of the person it is for.
        adder: Text,
        /// Name of the person who opened it.
        signed_in_as: Text,
    },
    /// `unknown`: no such link, or none that this person may know of.
    Unknown,
    /// `not_allowed`: a rule of whoever runs the server refuses it by now.
    NotAllowed {
        /// The link, as in its address.
        link: String,
        /// The value of the hidden field `csrf`.
        csrf: String,
        /// Title of what was to be connected.
        title: Text,
    },
}

/// A connection that waits for its approval. Not `Debug`, since a link is never logged.
#[derive(Clone)]
pub struct Asking {
    /// The link, as in its address: `link_` and 32 letters and digits.
    pub link: String,
    /// The value of the hidden field `csrf`, and of the header `x-playmaker-csrf`.
    pub csrf: String,
    /// Name of the person whose agent added the connection.
    pub adder: Text,
    /// The org it is for.
    pub org: Text,
    /// What is to be connected.
    pub connection: Asked,
    /// What the person does.
    pub way: Way,
    /// When the link ends, in milliseconds since 1970.
    pub expires_at_ms: i64,
    /// The present, in milliseconds since 1970.
    pub now_ms: i64,
    /// What went wrong last, in our words.
    pub last_error: Option<Text>,
}

/// What is asked to be connected, and how far it will reach.
#[derive(Debug, Clone)]
pub struct Asked {
    /// What functions write before the slash.
    pub name: Text,
    /// Its title.
    pub title: Text,
    /// Where it really goes.
    pub host: Host,
    /// Names of the playbooks that may use it; empty for every playbook of the org.
    pub playbooks: Vec<Text>,
    /// Names of the tools that may be used; `None` for all it offers.
    pub allowed: Option<Vec<Text>>,
}

/// How the person approves, by the kind of credential.
#[derive(Debug, Clone)]
pub enum Way {
    /// No credential at all.
    Open,
    /// A variable that whoever runs the server has set.
    Reference {
        /// Name of the variable, never its value.
        variable: Text,
    },
    /// A sign-in at the provider's own page.
    SignIn {
        /// What it asks for.
        wishes: Vec<Wish>,
        /// Where more is told of it.
        help: Option<HttpsLink>,
    },
    /// A value, or several, given on this page.
    Secret {
        /// What to give, in order.
        fields: Vec<Field>,
        /// Where to get it.
        help: Option<HttpsLink>,
    },
}

/// A person who is at the provider's page.
#[derive(Clone)]
pub struct Away {
    /// What they left.
    pub asking: Asking,
    /// When they left, in milliseconds since 1970.
    pub started_at_ms: i64,
}

/// Something a sign-in asks for.
#[derive(Debug, Clone)]
pub struct Wish {
    /// What it lets the connection do.
    pub words: Text,
    /// How the provider names it.
    pub scope: Text,
}

/// One value to be given.
#[derive(Debug, Clone)]
pub struct Field {
    pub(super) name: String,
    pub(super) title: Text,
    pub(super) secret: bool,
    pub(super) hint: Option<Text>,
    pub(super) given: Text,
    pub(super) error: Option<Text>,
}

impl Field {
    /// The only value of a way: posted as `value`, as in `{ "value": … }`.
    pub fn only(title: impl Into<Text>) -> Self {
        Self::posted_as("value".to_owned(), title.into(), true)
    }

    /// One value of several: posted as `values.<name>`, as in `{ "values": { <name>: … } }`.
    pub fn one_of(name: &str, title: impl Into<Text>, secret: bool) -> Self {
        Self::posted_as(format!("values.{name}"), title.into(), secret)
    }

    fn posted_as(name: String, title: Text, secret: bool) -> Self {
        Self { name, title, secret, hint: None, given: Text::default(), error: None }
    }

    /// The same field with words on what is expected.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Text>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same field holding what was given before; a secret one never shows it.
    #[must_use]
    pub fn given(mut self, given: impl Into<Text>) -> Self {
        if !self.secret {
            self.given = given.into();
        }
        self
    }

    /// The pointer (RFC 6901) of the field in the body of `give_credential`.
    pub fn pointer(&self) -> String {
        match self.name.strip_prefix("values.") {
            Some(name) => format!("/values/{}", name.replace('~', "~0").replace('/', "~1")),
            None => format!("/{}", self.name),
        }
    }
}

/// A connection that works.
#[derive(Debug, Clone)]
pub struct Connected {
    /// Its title.
    pub title: Text,
    /// What functions write before the slash.
    pub name: Text,
    /// Where it goes.
    pub host: Host,
    /// The org it is for.
    pub org: Text,
    /// Label of the account at the provider, where it is known.
    pub account: Option<Text>,
    /// Something to know, such as that the server let the credential in but refused to list its tools.
    pub warning: Option<Text>,
}

impl LinkView {
    /// The word of the state.
    pub fn state(&self) -> &'static str {
        match self {
            Self::Ready(_) => "ready",
            Self::ProviderError(_) => "provider_error",
            Self::Started(_) => "started",
            Self::Connected(_) => "connected",
            Self::Expired { .. } => "expired",
            Self::Cancelled { .. } => "cancelled",
            Self::Removed { .. } => "removed",
            Self::OtherPerson { .. } => "other_person",
            Self::Unknown => "unknown",
            Self::NotAllowed { .. } => "not_allowed",
        }
    }
}

impl Asking {
    /// Time left, in words that hold while nothing counts down.
    pub(super) fn left(&self) -> String {
        match self.left_ms() / 60_000 {
            0 => "less than a minute left".to_owned(),
            1 => "1 minute left".to_owned(),
            minutes => format!("{minutes} minutes left"),
        }
    }

    pub(super) fn left_ms(&self) -> i64 {
        self.expires_at_ms.saturating_sub(self.now_ms).max(0)
    }

    /// When the link ends, as `14:32 UTC`.
    pub(super) fn until(&self) -> String {
        moment(self.expires_at_ms)
    }
}

impl Away {
    /// When they left, as `14:32 UTC`.
    pub(super) fn since(&self) -> String {
        moment(self.started_at_ms)
    }
}

fn moment(at_ms: i64) -> String {
    let instant = Timestamp::from_millisecond(at_ms);
    instant.map(|instant| instant.strftime("%H:%M UTC").to_string()).unwrap_or_default()
}
