use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use proptest::prelude::*;

use super::{LookPlace, PREFIXES, holds_reference, looks_like_credential};

const PLACES: [LookPlace; 5] =
    [LookPlace::Text, LookPlace::HeaderValue, LookPlace::Placeholder, LookPlace::Address, LookPlace::CatalogueAddress];

fn everywhere(text: &str, expected: bool) {
    for place in PLACES {
        assert_eq!(looks_like_credential(text, place), expected, "{text} at {place:?}");
    }
}

/// Sixteen token characters of too little entropy for any other rule.
const AFTER: &str = "aaaabbbbaaaabbbb";

/// Security case 31. One test a prefix, so that a lost one has a name.
macro_rules! prefixes {
    ($($name:ident: $prefix:literal,)*) => {
        $(#[test]
        fn $name() {
            everywhere(&format!("{}{AFTER}", $prefix), true);
            everywhere(&format!("{}{}", $prefix, "aaaa-b"), false);
            let address = format!("https://example.com/?key={}{AFTER}", $prefix);
            assert!(looks_like_credential(&address, LookPlace::Address));
        })*

        #[test]
        fn every_prefix_has_its_test() {
            assert_eq!(PREFIXES.as_slice(), [$($prefix),*]);
        }
    };
}

prefixes! {
    begins_with_ghp: "ghp_",
    begins_with_gho: "gho_",
    begins_with_ghu: "ghu_",
    begins_with_ghs: "ghs_",
    begins_with_ghr: "ghr_",
    begins_with_github_pat: "github_pat_",
    begins_with_glpat_dash: "glpat-",
    begins_with_xoxa_dash: "xoxa-",
    begins_with_xoxb_dash: "xoxb-",
    begins_with_xoxe: "xoxe",
    begins_with_xoxp_dash: "xoxp-",
    begins_with_xoxr_dash: "xoxr-",
    begins_with_xoxs_dash: "xoxs-",
    begins_with_xapp_dash: "xapp-",
    begins_with_sk_dash: "sk-",
    begins_with_sk_live: "sk_live_",
    begins_with_sk_test: "sk_test_",
    begins_with_rk_live: "rk_live_",
    begins_with_rk_test: "rk_test_",
    begins_with_whsec: "whsec_",
    begins_with_ntn: "ntn_",
    begins_with_secret: "secret_",
    begins_with_lin_api: "lin_api_",
    begins_with_lin_oauth: "lin_oauth_",
    begins_with_shpat: "shpat_",
    begins_with_shpca: "shpca_",
    begins_with_shppa: "shppa_",
    begins_with_sg_dot: "SG.",
    begins_with_ya29_dot: "ya29.",
    begins_with_one_slash_slash: "1//",
    begins_with_aiza: "AIza",
    begins_with_akia: "AKIA",
    begins_with_asia: "ASIA",
    begins_with_pat_dash: "pat-",
    begins_with_pmk: "pmk_",
    begins_with_hf: "hf_",
    begins_with_npm: "npm_",
    begins_with_dop_v1: "dop_v1_",
    begins_with_figd: "figd_",
    begins_with_eaa: "EAA",
}

#[test]
fn a_prefix_counts_at_the_beginning_of_a_text_or_of_a_headers_word() {
    let text = format!("the ghp_{AFTER}");
    assert!(!looks_like_credential(&text, LookPlace::Text));
    assert!(looks_like_credential(&text, LookPlace::HeaderValue));
    everywhere(&format!(" ghp_{AFTER}"), true);
    everywhere(&format!("GHP_{AFTER}"), false);
}

#[test]
fn a_json_web_token_counts_anywhere() {
    let part = |text: &str| BASE64_URL_SAFE_NO_PAD.encode(text);
    let token = format!("{}.{}.c2ln", part(r#"{"alg":"none"}"#), part("{}"));
    everywhere(&token, true);
    everywhere(&format!("see {token}, please"), true);
    everywhere(&format!("{}.{}.c2ln", part(r#"{"typ":"JWT"}"#), part("{}")), false);
    everywhere(&format!("{}.{}", part(r#"{"alg":"none"}"#), part("{}")), false);
    everywhere("docs.example.com", false);
}

#[test]
fn a_private_key_counts() {
    for kind in ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY"] {
        everywhere(&format!("-----BEGIN {kind}-----"), true);
    }
    everywhere("-----BEGIN CERTIFICATE-----", false);
}

#[test]
fn a_scheme_with_its_credential_counts() {
    everywhere("Basic YTpiYzpk", true);
    everywhere("Bearer abcdefgh", true);
    everywhere("bearer abcdefgh", true);
    everywhere("Bearer abcdefg", false);
    everywhere("Bearer", false);
    everywhere("Bearers of news", false);
}

#[test]
fn a_user_part_of_an_address_counts() {
    everywhere("https://user:word@example.com/", true);
    everywhere("https://user@example.com", true);
    everywhere("see https://user:word@example.com/ there", true);
    everywhere("https://example.com/@someone", false);
    everywhere("someone@example.com", false);
    assert!(looks_like_credential("https:user:word@example.com", LookPlace::Address));
}

const RANDOM: &str = "q8Zr2LmX0vTbN5yKw7Hd3JcPf6SgA9eU";

#[test]
fn a_random_run_counts_where_it_is_suspicious() {
    assert!(looks_like_credential(RANDOM, LookPlace::HeaderValue));
    assert!(looks_like_credential(RANDOM, LookPlace::Placeholder));
    assert!(!looks_like_credential(RANDOM, LookPlace::Text));
    for (address, person, catalogue) in [
        (format!("https://example.com/a/{RANDOM}/b"), true, false),
        (format!("https://example.com/?key={RANDOM}"), true, true),
        (format!("https://example.com/?{RANDOM}"), true, true),
        (format!("https://example.com/?a=b&key={RANDOM}#c"), true, true),
        (format!("https://example.com/{}", RANDOM.replace('q', "%71")), true, false),
        ("https://example.com/a-long-name-of-a-path-without-digits/mcp".to_owned(), false, false),
        ("https://a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6.example.com/mcp".to_owned(), false, false),
    ] {
        assert_eq!(looks_like_credential(&address, LookPlace::Address), person, "{address}");
        assert_eq!(looks_like_credential(&address, LookPlace::CatalogueAddress), catalogue, "{address}");
    }
}

#[test]
fn what_is_short_even_or_a_uuid_is_no_random_run() {
    for text in [
        &RANDOM[..31],
        "qwertyuiopasdfghjklzxcvbnmqwertyuiop",
        "12345678901234567890123456789012345",
        "a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1",
        "0198c5f2-7b3a-7c41-9d0e-5a6b7c8d9e0f",
        "2025-09-03",
        "application/json, text/event-stream",
    ] {
        assert!(!looks_like_credential(text, LookPlace::HeaderValue), "{text}");
    }
    let hexadecimal = "0198c5f27b3a7c419d0e5a6b7c8d9e0f";
    assert!(looks_like_credential(hexadecimal, LookPlace::HeaderValue));
    assert!(looks_like_credential(&BASE64_STANDARD.encode(RANDOM), LookPlace::Placeholder));
}

#[test]
fn references_are_found() {
    for text in ["${TOKEN}", "Bearer ${CRM_KEY_2}", "https://example.com/${name}/x"] {
        assert!(holds_reference(text), "{text}");
    }
    for text in ["$TOKEN", "{TOKEN}", "${}", "${", "${1A}", "$ {A}", "${A"] {
        assert!(!holds_reference(text), "{text}");
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,80}") {
        for place in PLACES {
            looks_like_credential(&text, place);
        }
        holds_reference(&text);
    }
}
