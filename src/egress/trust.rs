//! Which certificates are trusted, and what an error of the HTTP library means.

use std::error::Error;
use std::io;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls_platform_verifier::Verifier;

use super::{BuildError, Failure};

/// The TLS settings of every client: the certificates of the system and those of `extra_pem`.
pub(super) fn settings(extra_pem: Option<&[u8]>) -> Result<ClientConfig, BuildError> {
    let extra = CertificateDer::pem_slice_iter(extra_pem.unwrap_or_default())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|_| BuildError("The file of extra certificates is not PEM.".to_owned()))?;
    if extra_pem.is_some() && extra.is_empty() {
        return Err(BuildError("The file of extra certificates holds none.".to_owned()));
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let told = |error: rustls::Error| BuildError(format!("The trusted certificates cannot be used: {error}"));
    let verifier = Verifier::new_with_extra_roots(extra, Arc::clone(&provider)).map_err(told)?;
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(told)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// What went wrong, told by the innermost error that is known.
pub(super) fn failure_of(error: &reqwest::Error) -> Failure {
    let mut tls = false;
    let mut current: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(inner) = current {
        if let Some(failure) = inner.downcast_ref::<Failure>() {
            return *failure;
        }
        if inner.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse_too_large) {
            return Failure::TooLarge;
        }
        tls |= inner.is::<rustls::Error>();
        // An I/O error hides what it wraps from `source`.
        let wrapped = inner.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        current = match wrapped {
            Some(wrapped) => Some(wrapped),
            None => inner.source(),
        };
    }
    match (error.is_connect(), tls) {
        (true, true) => Failure::Tls,
        (true, false) => Failure::Connect,
        (false, _) if error.is_timeout() => Failure::TimedOut,
        (false, _) => Failure::Broken,
    }
}
