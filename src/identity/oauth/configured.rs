//! The clients of the settings, as clients of the authorization server.

use super::client::{Client, Keys, Method, Origin};
use super::redirect_uri;
use crate::config::{ClientMethod, OauthClient};

/// The clients of checked settings.
///
/// # Errors
///
/// The line that stops the start, where an address is none a client may return to.
pub fn clients(written: &[OauthClient]) -> Result<Vec<Client>, String> {
    written.iter().map(client).collect()
}

fn client(written: &OauthClient) -> Result<Client, String> {
    if let Some(at) = written.redirect_uris.iter().position(|address| redirect_uri::kind(address).is_none()) {
        return Err(format!(
            "oauth_clients, {}, redirect_uris, {at}: expected https, http on 127.0.0.1, [::1] or localhost, or a \
             private-use scheme with a dot; without fragment, user and wildcard",
            written.id
        ));
    }
    Ok(Client {
        id: written.id.clone(),
        name: written.name.clone(),
        origin: Origin::Operator,
        redirect_uris: written.redirect_uris.clone(),
        method: match written.method {
            ClientMethod::None => Method::None,
            ClientMethod::ClientSecretBasic => Method::ClientSecretBasic,
            ClientMethod::ClientSecretPost => Method::ClientSecretPost,
        },
        secret_sha256: written.secret_sha256.clone(),
        keys: Keys::None,
        refreshes: true,
    })
}
