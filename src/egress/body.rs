//! The body of an answer.

use bytes::Bytes;

use super::Failure;

/// The body of an answer, decompressed and bounded while it is read.
pub struct Body {}

impl Body {
    /// The next piece as soon as there is one, or `None` at the end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Failure> {
        Ok(None)
    }

    /// The whole of what is left.
    pub async fn bytes(self) -> Result<Bytes, Failure> {
        Ok(Bytes::new())
    }
}
