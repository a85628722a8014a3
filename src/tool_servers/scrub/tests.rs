use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE, BASE64_URL_SAFE_NO_PAD};
use proptest::prelude::*;
use serde_json::json;

use super::Scrubber;

const ODD: &str = "p/ä\"ss w?rd+>~%";

fn scrubber() -> Scrubber {
    Scrubber::new(["canary-0001", ODD, "short", "90210555123", "12345678901234567890123"])
}

#[test]
fn a_secret_is_replaced_wherever_it_stands() {
    let scrubber = scrubber();
    assert_eq!(scrubber.text("key=canary-0001, again canary-0001."), "key=[secret], again [secret].");
    assert_eq!(scrubber.text("nothing here"), "nothing here");
    assert_eq!(scrubber.text(""), "");
}

#[test]
fn a_short_secret_is_left() {
    assert_eq!(scrubber().text("a short text"), "a short text");
    assert_eq!(Scrubber::new(["äöüäöü7"]).text("äöüäöü7"), "äöüäöü7");
    assert_eq!(Scrubber::new(["äöüäöü78"]).text("äöüäöü78"), "[secret]");
}

#[test]
fn every_form_is_replaced_whole() {
    let scrubber = scrubber();
    for form in [
        BASE64_STANDARD.encode(ODD),
        BASE64_STANDARD_NO_PAD.encode(ODD),
        BASE64_URL_SAFE.encode(ODD),
        BASE64_URL_SAFE_NO_PAD.encode(ODD),
        "p%2F%C3%A4%22ss%20w%3Frd%2B%3E~%25".to_owned(),
        "p%2f%c3%a4%22ss%20w%3frd%2b%3e~%25".to_owned(),
        "p%2F%C3%A4%22ss%20w%3Frd%2B%3E%7E%25".to_owned(),
        "p%2F%C3%A4%22ss+w%3Frd%2B%3E%7E%25".to_owned(),
        r#"p/ä\"ss w?rd+>~%"#.to_owned(),
        r#"p\/ä\"ss w?rd+>~%"#.to_owned(),
        r#"p/\u00e4\"ss w?rd+>~%"#.to_owned(),
        r#"p\/\u00E4\"ss w?rd+>~%"#.to_owned(),
    ] {
        assert_eq!(scrubber.text(&format!("<{form}>")), "<[secret]>", "{form}");
    }
}

#[test]
fn a_secret_that_begins_and_ends_with_quotes_is_found_escaped() {
    let scrubber = Scrubber::new([r#""quoted""#]);
    assert_eq!(scrubber.text(r#"{"a":"\"quoted\""}"#), r#"{"a":"[secret]"}"#);
}

#[test]
fn a_secret_in_the_middle_of_encoded_text_goes_too() {
    for user in ["", "a", "ab", "abc"] {
        let encoded = BASE64_STANDARD.encode(format!("{user}:canary-0001"));
        let clean = scrubber().text(&encoded);
        assert!(clean.contains("[secret]"), "{encoded} became {clean}");
    }
}

#[test]
fn bytes_that_are_no_text_are_found_encoded() {
    let secret: &[u8] = b"\xff\xfe\x00\x01binary!";
    let scrubber = Scrubber::new([secret]);
    assert_eq!(scrubber.text(&BASE64_STANDARD.encode(secret)), "[secret]");
}

#[test]
fn overlapping_secrets_leave_no_rest() {
    let scrubber = Scrubber::new(["abcdefgh", "efghijkl", "abcdefghij"]);
    assert_eq!(scrubber.text("-abcdefghijkl-"), "-[secret]-");
    assert_eq!(scrubber.text("abcdefghabcdefgh"), "[secret][secret]");
}

#[test]
fn keys_texts_and_numbers_are_cleaned() {
    let mut value = json!({
        "canary-0001": { "deep": ["x canary-0001", 1, true, null] },
        "id": 90_210_555_123_i64,
        "negative": -90_210_555_123_i64,
        "parts": 902.105_551_23,
        "long": 1.234_567_890_123_456_8e22,
        "other": 90_210,
    });
    scrubber().value(&mut value);
    assert_eq!(
        value,
        json!({
            "[secret]": { "deep": ["x [secret]", 1, true, null] },
            "id": "[secret]",
            "negative": "[secret]",
            "parts": "[secret]",
            "long": "[secret]",
            "other": 90_210,
        })
    );
}

#[test]
fn keys_that_become_the_same_keep_their_members() {
    let mut value = json!({ "canary-0001": 1, "90210555123": 2, "[secret]": 3 });
    scrubber().value(&mut value);
    let members = value.as_object().unwrap();
    assert_eq!(members.len(), 3);
    assert!(members.keys().all(|key| key.starts_with("[secret]")));
}

#[test]
fn a_secret_is_found_in_arguments() {
    let scrubber = scrubber();
    for value in [
        json!("canary-0001"),
        json!({ "a": [{ "b": "x canary-0001" }] }),
        json!({ "canary-0001": 1 }),
        json!([90_210_555_123_i64]),
    ] {
        assert!(scrubber.finds(&value), "{value}");
    }
    for value in [json!("canary"), json!({ "a": [1, null, true] }), json!(90_210)] {
        assert!(!scrubber.finds(&value), "{value}");
    }
}

#[test]
fn without_secrets_nothing_changes() {
    let scrubber = Scrubber::new::<&str>([]);
    assert_eq!(scrubber.text("canary-0001"), "canary-0001");
    assert!(!scrubber.finds(&json!("canary-0001")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_secret_survives(secret in "\\PC{8,20}", before in "\\PC{0,9}", after in "\\PC{0,9}") {
        prop_assume!(!"[secret]".contains(&secret));
        let scrubber = Scrubber::new([&secret]);
        for text in [
            format!("{before}{secret}{after}"),
            json!({ "a": format!("{before}{secret}{after}") }).to_string(),
        ] {
            let clean = scrubber.text(&text);
            prop_assert!(clean.contains("[secret]") && !clean.contains(&secret), "{}", clean);
        }
        let arguments = json!({ secret: 1 });
        prop_assert!(scrubber.finds(&arguments));
    }
}
