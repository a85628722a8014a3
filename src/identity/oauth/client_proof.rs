//! How a client proves itself at the token and revocation endpoints: exactly the way it registered (RFC 6749 section
//! 2.3.1, RFC 7523; security case 49).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use super::AuthorizationServer;
use super::assertion;
use super::client::{Client, Method};
use super::parameters::Parameters;
use super::refusal::{Code, Refusal, Result};
use crate::digest::sha256_hex;

/// What a request offers as proof.
enum Proof {
    Nothing,
    Secret(Zeroizing<String>),
    Assertion(Zeroizing<String>),
}

/// Who a request says it is, and how it would prove that.
struct Offered {
    id: String,
    method: Method,
    proof: Proof,
}

/// The id of the client a request says it is of, proven or not: for whoever counts requests.
pub fn client_named(authorization: Option<&str>, parameters: &Parameters) -> Option<String> {
    let basic = authorization.and_then(basic).map(|(id, _)| id);
    basic.or_else(|| parameters.only("client_id").map(str::to_owned))
}

impl AuthorizationServer {
    /// The client of a request with this `Authorization` header and these parameters.
    ///
    /// # Errors
    ///
    /// `invalid_client` in the same words for an unknown client and a bad proof; `invalid_request` for two proofs at once.
    pub async fn proven_client(&self, authorization: Option<&str>, parameters: &Parameters) -> Result<Client> {
        let proven = match offered(authorization, parameters) {
            Ok(offered) => self.prove(offered).await,
            Err(refusal) => Err(refusal),
        };
        proven.map_err(|mut refusal| {
            refusal.basic = authorization.is_some() && refusal.code == Code::InvalidClient;
            refusal
        })
    }

    async fn prove(&self, offered: Offered) -> Result<Client> {
        let client = self.client(&offered.id).await?.filter(|client| client.method == offered.method);
        let client = client.ok_or_else(Refusal::client)?;
        let good = match &offered.proof {
            Proof::Nothing => true,
            Proof::Secret(secret) => client.secret_sha256.as_deref().is_some_and(|kept| {
                let given = sha256_hex(secret.as_str());
                aws_lc_rs::constant_time::verify_slices_are_equal(kept.as_bytes(), given.as_bytes()).is_ok()
            }),
            Proof::Assertion(assertion) => self.asserts(&client, assertion).await?,
        };
        if good { Ok(client) } else { Err(Refusal::client()) }
    }
}

fn offered(authorization: Option<&str>, parameters: &Parameters) -> Result<Offered> {
    let named = parameters.only("client_id");
    let secret = parameters.only("client_secret");
    let asserted = parameters.only("client_assertion");
    let ways = [authorization.is_some(), secret.is_some(), asserted.is_some()].into_iter().filter(|way| *way).count();
    if ways > 1 {
        return Err(Refusal::request("The client must prove itself in one way, not in several"));
    }
    if let Some(header) = authorization {
        let (id, secret) = basic(header).ok_or_else(Refusal::client)?;
        if named.is_some_and(|named| named != id) {
            return Err(Refusal::request("client_id is not the one of the Authorization header"));
        }
        return Ok(Offered { id, method: Method::ClientSecretBasic, proof: Proof::Secret(secret) });
    }
    if let Some(asserted) = asserted {
        if parameters.only("client_assertion_type") != Some(assertion::TYPE) {
            return Err(Refusal::request("client_assertion_type is not that of a JWT"));
        }
        let id =
            named.map(str::to_owned).or_else(|| assertion::claimed_client(asserted)).ok_or_else(Refusal::client)?;
        let proof = Proof::Assertion(Zeroizing::new(asserted.to_owned()));
        return Ok(Offered { id, method: Method::PrivateKeyJwt, proof });
    }
    let id = named.ok_or_else(|| Refusal::request("client_id is missing"))?.to_owned();
    Ok(match secret {
        Some(secret) => {
            let proof = Proof::Secret(Zeroizing::new(secret.to_owned()));
            Offered { id, method: Method::ClientSecretPost, proof }
        }
        None => Offered { id, method: Method::None, proof: Proof::Nothing },
    })
}

/// The id and the secret of a Basic header, each form-encoded inside (RFC 6749, section 2.3.1).
fn basic(header: &str) -> Option<(String, Zeroizing<String>)> {
    let (scheme, encoded) = header.split_once(' ')?;
    let decoded = Zeroizing::new(STANDARD.decode(encoded.trim()).ok()?);
    let (id, secret) = std::str::from_utf8(&decoded).ok()?.split_once(':')?;
    scheme.eq_ignore_ascii_case("basic").then_some(())?;
    Some((form_decoded(id)?, Zeroizing::new(form_decoded(secret)?)))
}

fn form_decoded(text: &str) -> Option<String> {
    let spaced = text.replace('+', " ");
    percent_encoding::percent_decode_str(&spaced).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(header: &str) -> Option<(String, String)> {
        basic(header).map(|(id, secret)| (id, secret.to_string()))
    }

    /// Security case 49.
    #[test]
    fn a_basic_header_is_form_encoded_inside() {
        let header = |text: &str| format!("Basic {}", STANDARD.encode(text));
        assert_eq!(read(&header("client_1:pms_a")), Some(("client_1".into(), "pms_a".into())));
        assert_eq!(
            read(&header("https%3A%2F%2Fa.example%2Fc:s%3Acr+t%C3%A9")),
            Some(("https://a.example/c".into(), "s:cr té".into()))
        );
        assert_eq!(read(&header("client_1:a:b")), Some(("client_1".into(), "a:b".into())));
        for bad in ["Basic", "Basic !", "Bearer YTpi", &header("no-colon"), &header("%ff:%ff")] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
