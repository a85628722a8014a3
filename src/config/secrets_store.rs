//! Where credentials are kept and under which keys (`SECRETS_*`).

use super::secret::SecretKey;

/// A key-encryption key of the local store.
#[derive(Clone)]
pub struct EncryptionKey {
    /// Its id, kept beside each record it wraps.
    pub id: String,
    /// The key.
    pub key: SecretKey,
}

/// The secrets store. `aws` is not in this build yet, so this is the local one.
#[derive(Clone)]
pub struct SecretsStore {
    /// The keys of `SECRETS_KEYS`: the first writes, all read. Empty: the key file is used.
    pub keys: Vec<EncryptionKey>,
    /// What names in an outside store begin with.
    pub prefix: String,
}
