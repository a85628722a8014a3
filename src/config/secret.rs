//! A text nobody may print: no `Debug`, no `Display`, no serialisation, wiped when dropped.

use zeroize::Zeroizing;

/// A secret text. Whoever needs it calls [`Secret::expose`], so that a search finds every place that reads one.
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes `text` into care.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// The text itself, for the one who sends or opens it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// A key of 256 bits nobody may print, wiped when dropped.
#[derive(Clone)]
pub struct SecretKey(Zeroizing<[u8; 32]>);

impl SecretKey {
    /// Takes `bytes` into care.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The bytes themselves, for the cipher.
    pub fn expose(&self) -> &[u8; 32] {
        &self.0
    }
}
