//! What tests share: servers ([`app`]), those who call them ([`people`], [`agent`], [`visitor`]), and the services of others.
pub mod agent;
pub mod app;
pub mod browser;
pub mod database;
pub mod logs;
pub mod peers;
pub mod people;
pub mod post;
pub mod provider;
pub mod services;
pub mod signing_in;
pub mod simulator;
pub mod upstream;
pub mod visitor;

/// Asks again until there is an answer, since a test may not sleep and hope; gives up after ten seconds.
pub async fn eventually<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let asked = async {
        loop {
            if let Some(found) = ask().await {
                return found;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    let limit = std::time::Duration::from_secs(10);
    tokio::time::timeout(limit, asked).await.unwrap_or_else(|_| panic!("{what} did not come about within {limit:?}"))
}
