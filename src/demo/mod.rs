//! `playmaker demo`: a server in local mode with a folder of its own, and beside it a small service to connect.
//!
//! Nothing leaves the machine and nothing is kept: the folder goes when the demo ends. The service, a [parts desk](desk),
//! is reached as any other service is: through a provider file, an approval in the browser and the guarded way out.

mod desk;
mod provider;

use std::net::Ipv4Addr;
use std::sync::Arc;

use tempfile::TempDir;
use tokio::net::TcpListener;

use crate::app::StartError;
use crate::config::{self, DEFAULT_PORT, Environment};
use crate::ids::{Ids, SystemEntropy};
use crate::lifecycle::Lifecycle;
use crate::server::{self, Server};

/// How many ports after the usual one are tried when it is taken.
const PORTS_TRIED: u16 = 20;

/// A demo that is ready: its server, its service and what they keep.
pub struct Demo {
    server: Server,
    desk: TcpListener,
    key: String,
    /// Kept so that it lives as long as the demo, and goes with it.
    folder: TempDir,
}

impl Demo {
    /// Prepares the folder, the service and the server. Of `environment` only `PORT`, `RUST_LOG` and the account's name
    /// count, so that settings meant for another server change nothing here.
    ///
    /// # Errors
    /// The one line that says why it cannot start.
    pub async fn start(environment: &Environment) -> Result<Self, StartError> {
        let folder = tempfile::Builder::new().prefix("playmaker-demo.").tempdir().map_err(failed)?;
        let desk = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(failed)?;
        let origin = format!("http://{}", desk.local_addr().map_err(failed)?);
        let providers = folder.path().join("providers");
        provider::write(&providers, &origin).map_err(failed)?;
        let listener = listen(environment.get("PORT")).await?;

        let mut own = Environment::from([
            ("DATABASE_URL".to_owned(), format!("sqlite:{}", folder.path().join("playmaker.db").display())),
            ("CONNECTIONS_PROVIDERS_DIR".to_owned(), providers.display().to_string()),
            ("CONNECTIONS_PRIVATE_HOSTS".to_owned(), origin),
            ("LOG_FORMAT".to_owned(), "pretty".to_owned()),
            ("RUST_LOG".to_owned(), "error".to_owned()),
        ]);
        for name in ["RUST_LOG", "USER", "LOGNAME"] {
            if let Some(value) = environment.get(name) {
                own.insert(name.to_owned(), value.clone());
            }
        }
        let settings = config::load(&own, |path| std::fs::read_to_string(path)).map_err(failed)?;
        let secrets = server::start_log(&settings, &own).map_err(failed)?;
        let key = Ids::new(Arc::new(SystemEntropy)).base62("desk_", 24);
        secrets.register(&key);
        let server = Server::start_on(listener, settings, &own, secrets).await?;
        Ok(Self { server, desk, key, folder })
    }

    /// What to do with it: four lines for whoever started it.
    pub fn directions(&self) -> [String; 4] {
        let port = self.server.address().port();
        [
            format!("1. Open     http://localhost:{port}"),
            format!("2. Run      claude mcp add --transport http playmaker http://localhost:{port}/mcp"),
            "3. Ask      Connect the parts desk on Playmaker and order two brass hinges.".to_owned(),
            format!("4. Approve  the page your agent links to, with this key of the parts desk: {}", self.key),
        ]
    }

    /// Serves until `lifecycle` stops.
    pub async fn run(self, lifecycle: &Lifecycle) {
        let Self { server, desk, key, folder } = self;
        tokio::join!(server.run(lifecycle), desk::serve(desk, key, lifecycle.token().clone()));
        if let Err(error) = folder.close() {
            tracing::warn!(%error, "the folder of the demo could not be removed");
        }
    }
}

/// The port that was asked for, or the usual one, or the next that is free.
async fn listen(asked: Option<&String>) -> Result<TcpListener, StartError> {
    if let Some(text) = asked {
        let port =
            text.parse().map_err(|_| StartError("variable PORT: expected a whole number from 0 to 65535".into()))?;
        let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
        return bound.map_err(|error| StartError(format!("PORT {port}: cannot listen there: {error}")));
    }
    for port in DEFAULT_PORT..=DEFAULT_PORT + PORTS_TRIED {
        if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
            return Ok(listener);
        }
    }
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(failed)
}

fn failed(cause: impl std::fmt::Display) -> StartError {
    StartError(cause.to_string())
}
