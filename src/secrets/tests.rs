//! What sealing promises, through the public surface.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;

use super::key_ring::CANARY_PLACE;
use super::{Error, KeyRing, Place, key_id_of};
use crate::ids::{Ids, SystemEntropy};

fn ids() -> Ids {
    Ids::new(Arc::new(SystemEntropy))
}

fn key(id: &str, byte: u8) -> String {
    format!("{id}:{}", STANDARD.encode([byte; 32]))
}

fn ring(keys: &[(&str, u8)]) -> KeyRing {
    let text: Vec<String> = keys.iter().map(|(id, byte)| key(id, *byte)).collect();
    KeyRing::parse(&text.join(","), ids()).unwrap()
}

const PLACE: Place<'static> = Place { org: "north", record: "conn_1", version: 1, field: "value" };

fn open(ring: &KeyRing, place: Place<'_>, sealed: &str) -> Result<Vec<u8>, Error> {
    ring.open(place, sealed).map(|opened| opened.to_vec())
}

#[test]
fn what_is_sealed_opens_in_its_place_and_shows_nothing() {
    let ring = ring(&[("a", 1)]);
    let sealed = ring.seal(PLACE, b"hunter2").unwrap();
    assert_eq!(open(&ring, PLACE, &sealed), Ok(b"hunter2".to_vec()));
    assert!(!sealed.contains("hunter2"));
    assert_ne!(sealed, ring.seal(PLACE, b"hunter2").unwrap());
}

/// Security case 13.
#[test]
fn a_value_moved_to_another_row_org_version_or_field_does_not_open() {
    let ring = ring(&[("a", 1)]);
    let sealed = ring.seal(PLACE, b"hunter2").unwrap();
    let moved = [
        Place { org: "south", ..PLACE },
        Place { record: "conn_2", ..PLACE },
        Place { version: 2, ..PLACE },
        Place { field: "other", ..PLACE },
        // The same characters, cut elsewhere: each part is authenticated with its length.
        Place { org: "northconn", record: "_1", ..PLACE },
    ];
    for place in moved {
        assert_eq!(open(&ring, place, &sealed), Err(Error::Unreadable), "{place:?}");
    }
}

#[test]
fn parts_of_two_values_cannot_be_mixed() {
    let ring = ring(&[("a", 1)]);
    let (one, two) = (ring.seal(PLACE, b"one").unwrap(), ring.seal(PLACE, b"two").unwrap());
    let (head, _) = one.rsplit_once('.').unwrap();
    let (_, tail) = two.rsplit_once('.').unwrap();
    assert_eq!(open(&ring, PLACE, &format!("{head}.{tail}")), Err(Error::Unreadable));
}

/// Security case 13.
#[test]
fn a_wrong_key_an_unknown_key_and_a_swapped_id_are_told_apart() {
    let sealed = ring(&[("a", 1)]).seal(PLACE, b"hunter2").unwrap();
    assert_eq!(open(&ring(&[("a", 2)]), PLACE, &sealed), Err(Error::Unreadable));
    assert_eq!(open(&ring(&[("b", 1)]), PLACE, &sealed), Err(Error::NoKey { key_id: "a".into() }));
    let swapped = sealed.replacen("1.a.", "1.b.", 1);
    assert_eq!(open(&ring(&[("a", 1), ("b", 2)]), PLACE, &swapped), Err(Error::Unreadable));
}

/// Security case 14, for one value.
#[test]
fn after_a_rekey_the_old_key_can_be_taken_out() {
    let old = ring(&[("a", 1)]);
    let sealed = old.seal(PLACE, b"hunter2").unwrap();
    let both = ring(&[("b", 2), ("a", 1)]);
    let moved = both.rewrap(PLACE, &sealed).unwrap().unwrap();
    assert_eq!((key_id_of(&sealed), key_id_of(&moved)), (Some("a"), Some("b")));
    assert_eq!(both.rewrap(PLACE, &moved), Ok(None));
    assert_eq!(open(&ring(&[("b", 2)]), PLACE, &moved), Ok(b"hunter2".to_vec()));
    assert_eq!(open(&old, PLACE, &moved), Err(Error::NoKey { key_id: "b".into() }));
    let elsewhere = Place { org: "south", ..PLACE };
    assert_eq!(both.rewrap(elsewhere, &sealed), Err(Error::Unreadable));
}

#[test]
fn the_canary_refuses_a_wrong_key_and_names_ids_alone() {
    let canary = ring(&[("a", 1)]).seal_canary().unwrap();
    assert!(ring(&[("b", 2), ("a", 1)]).check_canary(&canary).is_ok());
    let words = ring(&[("b", 2)]).check_canary(&canary).unwrap_err().to_string();
    assert!(words.contains("the key a") && words.contains("(b)"), "{words}");
    assert!(!words.contains(&STANDARD.encode([2_u8; 32])));
    let both = ring(&[("b", 2), ("a", 1)]);
    let moved = both.rewrap(CANARY_PLACE, &canary).unwrap().unwrap();
    assert!(ring(&[("b", 2)]).check_canary(&moved).is_ok());
}

#[test]
fn keys_that_do_not_read_are_refused_by_position_and_never_shown() {
    let long = key("a", 1);
    let cases = [
        ("", "Key 1"),
        ("secretsecretsecret", "Key 1"),
        ("a b:AAAA", "Key 1"),
        ("a:not base64!", "base64"),
        ("a:AAAA", "32 bytes"),
        (&format!("{long},{long}"), "Key 2"),
        (&format!("{long},"), "Key 2"),
    ];
    for (text, words) in cases {
        let Err(refused) = KeyRing::parse(text, ids()) else {
            panic!("{text} was taken");
        };
        let told = refused.to_string();
        assert!(told.contains(words), "{told}");
        assert!(!told.contains("secretsecret") && !told.contains(&long[2..]), "{told}");
    }
}

#[test]
fn derived_keys_differ_by_label_and_by_key_and_stay_the_same() {
    let ring = ring(&[("b", 2), ("a", 1)]);
    let derived = ring.derive_all("request-state").unwrap();
    assert_eq!(derived.len(), 2);
    assert_ne!(*derived[0], *derived[1]);
    assert_eq!(*derived[0], *ring.derive("request-state").unwrap());
    assert_ne!(*derived[0], *ring.derive("csrf").unwrap());
}

proptest! {
    #[test]
    fn any_value_makes_the_round_trip(
        org in ".{0,20}", record in ".{0,20}", version in any::<i64>(), field in ".{0,20}",
        value in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        let ring = ring(&[("b", 2), ("a", 1)]);
        let place = Place { org: &org, record: &record, version, field: &field };
        let sealed = ring.seal(place, &value).unwrap();
        prop_assert_eq!(open(&ring, place, &sealed), Ok(value));
    }

    #[test]
    fn a_value_cut_or_changed_anywhere_does_not_open(at in any::<prop::sample::Index>(), with in 33_u8..127) {
        let ring = ring(&[("a", 1)]);
        let sealed = ring.seal(PLACE, b"a value of some length").unwrap();
        let at = at.index(sealed.len());
        prop_assert!(ring.open(PLACE, &sealed[..at]).is_err());
        let mut changed = sealed.clone().into_bytes();
        changed[at] = with;
        let changed = String::from_utf8(changed).unwrap();
        prop_assert!(changed == sealed || ring.open(PLACE, &changed).is_err());
    }

    #[test]
    fn no_text_at_all_is_a_panic(text in ".{0,200}") {
        let ring = ring(&[("a", 1)]);
        prop_assert!(ring.open(PLACE, &text).is_err());
        let _ = KeyRing::parse(&text, ids());
    }
}

#[cfg(unix)]
mod key_file {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    use super::super::key_file::open_or_create;
    use super::{PLACE, ids, open};

    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Self {
            let folder = std::env::temp_dir().join(ids().base62("playmaker-key-file-", 12));
            fs::create_dir_all(&folder).unwrap();
            Self(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_first_start_makes_a_private_file_and_the_next_reads_it() {
        let folder = Folder::new();
        let path = folder.0.join("data/secrets.key");
        let sealed = open_or_create(&path, ids()).unwrap().seal(PLACE, b"hunter2").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        let again = open_or_create(&path, ids()).unwrap();
        assert_eq!(open(&again, PLACE, &sealed), Ok(b"hunter2".to_vec()));
    }

    /// Security case 15.
    #[test]
    fn a_file_others_may_read_is_refused_with_what_to_do() {
        let folder = Folder::new();
        let path = folder.0.join("secrets.key");
        open_or_create(&path, ids()).unwrap();
        let contents = fs::read_to_string(&path).unwrap();
        for mode in [0o640, 0o604, 0o660] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let Err(refused) = open_or_create(&path, ids()) else {
                panic!("mode {mode:o} was taken");
            };
            let words = refused.to_string();
            assert!(words.contains("chmod 600"), "{words}");
            assert!(!words.contains(contents.trim()), "{words}");
        }
    }

    #[test]
    fn an_empty_or_broken_file_is_refused_and_left_alone() {
        let folder = Folder::new();
        let path = folder.0.join("secrets.key");
        open_or_create(&path, ids()).unwrap();
        fs::write(&path, "").unwrap();
        assert!(open_or_create(&path, ids()).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "");
    }
}
