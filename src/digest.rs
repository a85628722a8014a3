//! SHA-256 (FIPS 180-4) and its written form, for whatever is kept, compared or shown by its digest.

use aws_lc_rs::digest::{SHA256, digest};

/// The digest of `bytes`.
pub fn sha256(bytes: impl AsRef<[u8]>) -> [u8; 32] {
    let mut out = [0; 32];
    out.copy_from_slice(digest(&SHA256, bytes.as_ref()).as_ref());
    out
}

/// The digest of `bytes` as 64 lower-case hexadecimal digits.
pub fn sha256_hex(bytes: impl AsRef<[u8]>) -> String {
    hex(sha256(bytes))
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::sha256_hex;

    #[test]
    fn a_digest_is_written_as_64_lower_case_digits() {
        let of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256_hex("abc"), of_abc);
    }
}
