//! Signing in at a provider of identities, or at the issuer outside (`identity.md` 8.5; OpenID Connect Core, section 3.1).
//!
//! A browser leaves with [`Identity::depart`] and comes back to [`Identity::arrive`], which reads who signed in there
//! ([`exchange`]) and finds or makes their account here ([`people`]). Who has an account by that email already shows once
//! that it is theirs ([`linking`]). Nothing a provider issues is kept: its tokens are dropped once the ID token is read.
//!
//! [`Identity::depart`]: crate::identity::Identity::depart
//! [`Identity::arrive`]: crate::identity::Identity::arrive

mod arriving;
mod attempts;
mod departing;
mod exchange;
mod linking;
mod newcomers;
mod people;
mod trouble;

use std::sync::Arc;

use url::Url;

pub use arriving::{Arrival, Returned};
pub use departing::{AWAY_MS, Departure};
pub use linking::{Pending, WAITS_MS};
pub use trouble::Trouble;

use newcomers::Door;

use crate::clock::SharedClock;
use crate::config::{self, IssuerClient, Settings, SignInProvider, SignUp};
use crate::egress;
use crate::identity::tokens::{IdTokens, Published};

/// What the issuer outside is asked for.
const SCOPES: [&str; 3] = ["openid", "email", "profile"];

/// Everywhere people sign in besides this server's own pages, in the order it is offered.
#[derive(Default)]
pub struct Upstreams(Vec<Arc<Upstream>>);

/// One place where people sign in.
pub struct Upstream {
    /// What it is called in addresses.
    pub name: String,
    /// What people call it.
    pub title: String,
    issuer: String,
    client: IssuerClient,
    scopes: Vec<String>,
    whose: Whose,
    tokens: IdTokens,
    egress: egress::Client,
}

/// What its word counts for here.
enum Whose {
    /// It tells who somebody is; this server knows what they may do.
    Provider(Door),
    /// It tells who somebody is and, where the operator says so, where they belong.
    Issuer(Box<config::Issuer>),
}

impl Upstreams {
    /// Those of the settings; `published` are the keys of the issuer outside, where there is one.
    pub fn of(
        settings: &Settings,
        published: Option<Arc<Published>>,
        egress: &egress::Client,
        clock: &SharedClock,
    ) -> Self {
        if let (Some(external), Some(published)) = (&settings.identity, published) {
            let client = external.client.clone();
            let issuer = client.map(|client| Upstream::issuer(external, client, published, egress, clock));
            return Self(issuer.map(Arc::new).into_iter().collect());
        }
        if settings.public_url.is_none() || !settings.sign_in.methods.upstream {
            return Self::default();
        }
        let open = settings.sign_in.sign_up == SignUp::Open;
        let providers = settings.sign_in.providers.iter();
        Self(providers.map(|provider| Arc::new(Upstream::provider(provider, open, egress, clock))).collect())
    }

    /// The one of a name.
    pub fn get(&self, name: &str) -> Option<&Arc<Upstream>> {
        self.0.iter().find(|upstream| upstream.name == name)
    }

    /// Each of them.
    pub fn each(&self) -> impl Iterator<Item = &Arc<Upstream>> {
        self.0.iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Upstream {
    fn provider(provider: &SignInProvider, open: bool, egress: &egress::Client, clock: &SharedClock) -> Self {
        let keys = Published::of(&provider.issuer, None, egress.clone(), clock.clone());
        Self {
            name: provider.name.clone(),
            title: provider.title.clone(),
            issuer: provider.issuer.clone(),
            client: provider.client.clone(),
            scopes: provider.scopes.clone(),
            whose: Whose::Provider(Door { newcomers: provider.newcomers.clone(), open }),
            tokens: IdTokens::of_provider(&provider.issuer, &provider.client.id, keys, clock.clone()),
            egress: egress.clone(),
        }
    }

    fn issuer(
        external: &config::Issuer,
        client: IssuerClient,
        keys: Arc<Published>,
        egress: &egress::Client,
        clock: &SharedClock,
    ) -> Self {
        let host = Url::parse(&external.issuer).ok().and_then(|url| url.host_str().map(str::to_owned));
        Self {
            name: config::ISSUER.to_owned(),
            title: host.unwrap_or_else(|| external.issuer.clone()),
            issuer: external.issuer.clone(),
            scopes: SCOPES.map(str::to_owned).to_vec(),
            whose: Whose::Issuer(Box::new(external.clone())),
            tokens: IdTokens::of_issuer(external, &client.id, keys, clock.clone()),
            client,
            egress: egress.clone(),
        }
    }

    /// Where a person signs out there (OpenID Connect RP-Initiated Logout), where it has such a page. Its token is not kept,
    /// so it asks the person whether they want to.
    pub async fn sign_out_address(&self) -> Option<Url> {
        let metadata = self.tokens.published().discovery().metadata().await?;
        let mut address = metadata.end_session_endpoint.clone()?;
        address.query_pairs_mut().append_pair("client_id", &self.client.id);
        Some(address)
    }
}
