//! A server that refuses the tokens of its connection is asked once more with new ones (`connections.md` 10.2).

use std::sync::Arc;

use super::ToolServers;
use super::check::Found;
use super::live::Live;
use super::registry::Server;
use super::upstream::{Because, Trouble};

impl ToolServers {
    /// After `trouble`: the server opened with tokens newer than those `live` has, where it refused these and there are
    /// others; with the server as it stands now.
    pub(super) async fn renewed(&self, server: &Server, live: &Live, trouble: &Trouble) -> Option<(Server, Arc<Live>)> {
        let record = server.connection.as_ref().filter(|_| trouble.because == Because::KeyRefused)?;
        let (record, placed) = self.needs.connections.after_refusal(&record.org, &record.id, live.version).await?;
        let server = Server::of_connection(record, &self.needs.settings);
        let live = self.live(&server, Some(placed)).await.ok()?;
        Some((server, live))
    }

    /// The same for a tool that was found; a 401 means that the call was not taken, so it may be sent again.
    pub(super) async fn found_again(&self, found: &Found, trouble: &Trouble) -> Option<Found> {
        let (server, live) = self.renewed(&found.server, &found.live, trouble).await?;
        Some(Found { server, tool: found.tool.clone(), live })
    }

    /// Counts where the server refuses new tokens too.
    pub(super) async fn after_new_tokens<T>(&self, server: &Server, answer: Result<T, Trouble>) -> Result<T, Trouble> {
        if let (Err(trouble), Some(record)) = (&answer, &server.connection)
            && trouble.because == Because::KeyRefused
        {
            self.needs.connections.refused_again(&record.org, &record.id).await;
        }
        answer
    }
}
