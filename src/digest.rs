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

/// The digest of 64 lower-case hexadecimal digits; `None` for anything else.
pub fn from_hex(text: &str) -> Option<[u8; 32]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let digits: Option<Vec<u8>> = text.bytes().map(digit).collect();
    let bytes: Vec<u8> = digits?.chunks(2).map(|pair| pair.iter().fold(0, |all, half| all << 4 | half)).collect();
    (text.len() == 64).then(|| bytes.try_into().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::{from_hex, sha256, sha256_hex};

    #[test]
    fn a_written_digest_is_read_back_and_nothing_else_is_one() {
        assert_eq!(from_hex(&sha256_hex("abc")), Some(sha256("abc")));
        for bad in ["", "ba78", &sha256_hex("abc").to_uppercase(), &"g".repeat(64), &"0".repeat(65)] {
            assert_eq!(from_hex(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_digest_is_written_as_64_lower_case_digits() {
        let of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256_hex("abc"), of_abc);
    }
}
