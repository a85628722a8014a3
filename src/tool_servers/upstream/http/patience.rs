//! Sends a request again where how it failed speaks for that (`tool-servers.md` 2.4).

use http::StatusCode;

use super::Shared;
use super::post::{Outgoing, Posted};
use super::session::Agreed;
use crate::tool_servers::patience::{Repeat, Tries, retry_after};
use crate::tool_servers::upstream::ask::Progress;
use crate::tool_servers::upstream::trouble::{Because, Trouble};

impl Shared {
    /// Sends a request until it is answered, or until nothing speaks for sending it again.
    pub(super) async fn exchange(
        &self,
        outgoing: &Outgoing,
        agreed: Option<&Agreed>,
        repeat: Repeat,
        progress: Option<(&Progress, u64)>,
    ) -> Result<Posted, Trouble> {
        let mut tries = Tries::default();
        loop {
            if let Some((progress, id)) = progress {
                progress.sending(id);
            }
            let posted = match self.post(outgoing, agreed).await {
                Ok(posted) => posted,
                Err(failure) => {
                    if let Some((progress, _)) = progress.filter(|_| failure.before_sending()) {
                        progress.not_sent();
                    }
                    if tries.after(failure, repeat) {
                        continue;
                    }
                    return Err(failure.into());
                }
            };
            let wait = match posted.status {
                StatusCode::UNAUTHORIZED => {
                    // Refused before it was looked at: the call certainly had no effect.
                    if let Some((progress, _)) = progress {
                        progress.not_sent();
                    }
                    let refused = Trouble::new(Because::KeyRefused, "The server refuses the credential.");
                    return Err(refused.of_status(posted.status));
                }
                StatusCode::TOO_MANY_REQUESTS => {
                    let asked = retry_after(&*self.surroundings.clock, &posted.headers);
                    let Some(wait) = tries.after_limit(asked) else {
                        let because = Because::RateLimited { retry_after: asked };
                        let limited = Trouble::new(because, "The server asks to be called less often.");
                        return Err(limited.of_status(posted.status).after_sending());
                    };
                    wait
                }
                StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT => {
                    match tries.after_gateway(retry_after(&*self.surroundings.clock, &posted.headers), repeat) {
                        Some(wait) => wait,
                        None => return Ok(posted),
                    }
                }
                _ => return Ok(posted),
            };
            (self.surroundings.sleep)(wait).await;
        }
    }
}
