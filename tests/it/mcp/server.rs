//! A server in local mode, and a slow service beside it whose answers the test gives.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use playmaker::app::{App, Surroundings};
use playmaker::clock::SystemClock;
use playmaker::config::{self, Environment};
use playmaker::egress::SystemResolver;
use playmaker::http;
use playmaker::ids::{Ids, SystemEntropy};
use playmaker::mcp::HEARTBEAT;
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};

/// A running server.
pub struct Server {
    /// The program behind it.
    pub app: Arc<App>,
    folder: Arc<TempDir>,
}

impl Server {
    /// What a developer starts.
    pub async fn start() -> Self {
        Self::on(Arc::new(tempfile::tempdir().unwrap()), None, HEARTBEAT, &[]).await
    }

    /// One that may call `slow`, with so much time between heartbeats.
    pub async fn beside(slow: &Slow, heartbeat: Duration) -> Self {
        Self::with(slow, heartbeat, &[]).await
    }

    /// The same with further settings.
    pub async fn with(slow: &Slow, heartbeat: Duration, settings: &[(&str, &str)]) -> Self {
        Self::on(Arc::new(tempfile::tempdir().unwrap()), Some(slow), heartbeat, settings).await
    }

    /// What somebody starts after this one, over the same data.
    pub async fn again(&self) -> Self {
        Self::on(self.folder.clone(), None, HEARTBEAT, &[]).await
    }

    async fn on(folder: Arc<TempDir>, slow: Option<&Slow>, heartbeat: Duration, settings: &[(&str, &str)]) -> Self {
        let database = format!("sqlite:{}", folder.path().join("playmaker.db").display());
        let mut environment = Environment::from([("DATABASE_URL".to_owned(), database)]);
        if let Some(slow) = slow {
            environment.insert("TOOL_SERVERS".to_owned(), slow.entry());
        }
        environment.extend(settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let settings = config::load(&environment, |path| std::fs::read_to_string(path))
            .unwrap_or_else(|refusal| panic!("{refusal}"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let surroundings = Surroundings {
            clock: Arc::new(SystemClock),
            ids: Ids::new(Arc::new(SystemEntropy)),
            account: "ada".to_owned(),
            address: listener.local_addr().unwrap(),
            shared_clock: None,
            resolver: Arc::new(SystemResolver),
            log_secrets: playmaker::telemetry::SecretRegistry::new(),
        };
        let mut app = App::start(settings, surroundings).await.unwrap();
        Arc::get_mut(&mut app).expect("nobody else holds it yet").heartbeat = heartbeat;
        tokio::spawn(http::serve(app.clone(), listener));
        Self { app, folder }
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.app.address)
    }
}

/// A service with one operation, which answers when the test lets it.
pub struct Slow {
    origin: String,
    arrived: mpsc::UnboundedReceiver<()>,
    left: mpsc::UnboundedReceiver<()>,
    release: Arc<Notify>,
}

/// Tells that a request is over, answered or not.
struct Over(mpsc::UnboundedSender<()>);

impl Drop for Over {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

impl Slow {
    /// Starts it.
    pub async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let (arrive, arrived) = mpsc::unbounded_channel();
        let (leave, left) = mpsc::unbounded_channel();
        let release = Arc::new(Notify::new());
        let wait = release.clone();
        let report = move || {
            let (arrive, leave, wait) = (arrive.clone(), leave.clone(), wait.clone());
            async move {
                let _over = Over(leave);
                let _ = arrive.send(());
                wait.notified().await;
                axum::Json(json!({ "total": 42 }))
            }
        };
        let router = Router::new().route("/report", get(report));
        tokio::spawn(axum::serve(listener, router).into_future());
        Self { origin, arrived, left, release }
    }

    /// Ready once a request has come.
    pub async fn arrived(&mut self) {
        self.arrived.recv().await.unwrap();
    }

    /// Ready once a request is over.
    pub async fn left(&mut self) {
        self.left.recv().await.unwrap();
    }

    /// Answers the request that waits.
    pub fn answer(&self) {
        self.release.notify_one();
    }

    fn entry(&self) -> String {
        let document = json!({
            "openapi": "3.1.0",
            "info": { "title": "Slow reports", "version": "1" },
            "paths": { "/report": { "get": {
                "operationId": "report",
                "summary": "Writes a report, slowly.",
                "responses": { "200": { "description": "The report." } },
            } } },
        });
        json!({ "reports": {
            "org": "local",
            "type": "openapi",
            "url": self.origin,
            "document_source": document.to_string(),
        } })
        .to_string()
    }
}
