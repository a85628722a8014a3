//! One server from its settings to its stop: bind, build the [`App`], serve, drain, close.
//!
//! Commands start here ([`Server::start`], then [`Server::run`]); tests that need the whole program do the same with
//! settings of their own.

mod account;
mod report;

use std::net::SocketAddr;
use std::sync::Arc;

use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, setrlimit, umask};
use tokio::net::TcpListener;

use crate::app::{App, StartError, Surroundings};
use crate::clock::SystemClock;
use crate::config::{Environment, Settings};
use crate::egress::SystemResolver;
use crate::http;
use crate::ids::{Ids, SystemEntropy};
use crate::lifecycle::Lifecycle;
use crate::telemetry::{self, SecretRegistry};

pub use account::account;

/// A server that is built and bound, and serves once it runs.
pub struct Server {
    app: Arc<App>,
    listener: TcpListener,
}

impl Server {
    /// Binds, opens the database and the secrets store, and builds everything; contacts no other server.
    ///
    /// # Errors
    /// The one line that says why it cannot start.
    pub async fn start(
        settings: Settings,
        environment: &Environment,
        log_secrets: Arc<SecretRegistry>,
    ) -> Result<Self, StartError> {
        let (host, port) = (settings.listener.host.as_str(), settings.listener.port);
        let bound = TcpListener::bind((host, port)).await;
        let listener =
            bound.map_err(|error| StartError(format!("HOST {host}, PORT {port}: cannot listen there: {error}")))?;
        Self::start_on(listener, settings, environment, log_secrets).await
    }

    /// The same on a listener that is bound already.
    ///
    /// # Errors
    /// The one line that says why it cannot start.
    pub async fn start_on(
        listener: TcpListener,
        settings: Settings,
        environment: &Environment,
        log_secrets: Arc<SecretRegistry>,
    ) -> Result<Self, StartError> {
        let address = listener.local_addr().map_err(|error| StartError(error.to_string()))?;
        let surroundings = Surroundings {
            clock: Arc::new(SystemClock),
            ids: Ids::new(Arc::new(SystemEntropy)),
            account: account(environment),
            address,
            shared_clock: None,
            resolver: Arc::new(SystemResolver),
            log_secrets,
        };
        let app = App::start(settings, surroundings).await?;
        report::started(&app);
        Ok(Self { app, listener })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.app.address
    }

    /// The program behind it.
    pub fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// Serves until `lifecycle` stops, then lets the work in hand end and closes the database.
    pub async fn run(self, lifecycle: &Lifecycle) {
        let Self { app, listener } = self;
        let serving = tokio::spawn(http::serve(app.clone(), listener));
        lifecycle.token().cancelled().await;
        app.close().await;
        // It ended with the stop; what is left to see is whether it panicked, which the runtime has logged.
        let _ = serving.await;
        tracing::info!("stopped");
    }
}

/// Starts the log of this process, with every secret of the settings taken out of it.
///
/// # Errors
/// When a log was started before.
pub fn start_log(
    settings: &Settings,
    environment: &Environment,
) -> Result<Arc<SecretRegistry>, Box<dyn std::error::Error + Send + Sync>> {
    let secrets = SecretRegistry::new();
    report::secrets(settings, environment, &secrets);
    telemetry::start(settings.log_format, &settings.log_filter, secrets.clone())?;
    Ok(secrets)
}

/// What the process makes is for its own user alone, and its memory, which holds credentials, is never written to a core
/// dump. A system that refuses the second is no reason not to start.
pub fn protect_process() {
    umask(Mode::RWXG | Mode::RWXO);
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
}
