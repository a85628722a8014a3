//! `playmaker client create|list|delete`: the clients of the built-in authorization server that the operator makes.

use clap::{Args, Subcommand};
use serde_json::json;

use playmaker::clock;
use playmaker::identity::oauth::AuthorizationServer;
use playmaker::identity::oauth::client::Origin;
use playmaker::identity::oauth::registration::Registration;

use super::identity::{on_server, operator};
use super::{Outcome, note, one_line, say};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Makes a client: prints its id and, this once, its secret.
    Create(Create),
    /// Lists the clients that were made here and those that registered themselves.
    List,
    /// Deletes a client and revokes everything people allowed it.
    Delete {
        /// Its id, such as client_….
        id: String,
    },
}

#[derive(Args)]
pub(super) struct Create {
    /// What people are shown.
    #[arg(long)]
    name: String,
    /// Where it may return to; several times for several addresses.
    #[arg(long = "redirect-uri", required = true)]
    redirect_uris: Vec<String>,
    /// How it proves itself: none, client_secret_basic or client_secret_post.
    #[arg(long, default_value = "none")]
    method: String,
}

/// Runs a command about clients.
pub(super) fn run(command: Command) -> Outcome {
    on_server(async move |server| match command {
        Command::Create(asked) => create(&server, &asked).await,
        Command::List => list(&server).await,
        Command::Delete { id } => match server.delete_client(&id, operator()).await.map_err(one_line)? {
            true => Ok(()),
            false => Err("there is no such client; those of the settings go with the settings".into()),
        },
    })
}

async fn create(server: &AuthorizationServer, asked: &Create) -> Outcome {
    let body = json!({
        "client_name": asked.name,
        "redirect_uris": asked.redirect_uris,
        "token_endpoint_auth_method": asked.method,
        "grant_types": ["authorization_code", "refresh_token"],
    });
    let registration = Registration::read(body.to_string().as_bytes()).map_err(|refusal| refusal.words.to_owned())?;
    let made = server.make_client(&registration, Origin::Operator, operator()).await;
    let made = made.map_err(|refusal| refusal.words.to_owned())?;
    note("The client's id, and below it the secret where it has one, shown this once.");
    say(&made.client.id)?;
    made.secret.map_or(Ok(()), |secret| say(secret.expose()))
}

async fn list(server: &AuthorizationServer) -> Outcome {
    for listed in server.clients().await.map_err(one_line)? {
        let client = &listed.client;
        let by = if client.origin == Origin::Operator { "operator" } else { "itself" };
        let used = listed.last_used_at.map_or_else(|| "never".to_owned(), clock::iso);
        let made = clock::iso(listed.created_at);
        say(&format!("{}  {}  by {by}  made {made}  used {used}  {}", client.id, client.method.word(), client.name))?;
    }
    Ok(())
}
