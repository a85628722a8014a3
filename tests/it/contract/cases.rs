//! Each security case of tokens, keys, links, pages and sign-in has a test that names its number, or a line in
//! `docs/security.md`.

use std::collections::BTreeSet;
use std::path::Path;

use regex::Regex;

use crate::support::services::project;

/// The cases of those sections of the acceptance sheet.
const CASES: std::ops::RangeInclusive<u32> = 1..=49;

/// Every file of Rust under a folder, as text.
fn sources(folder: &Path, all: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push(std::fs::read_to_string(path).unwrap());
        }
    }
}

/// The numbers of `3, 4 and 7` or `2 to 4`.
fn numbers(words: &str) -> Vec<u32> {
    let number = |text: &str| text.trim().parse::<u32>().ok();
    match words.split_once(" to ") {
        Some((from, to)) => match (number(from), number(to)) {
            (Some(from), Some(to)) => (from..=to).collect(),
            _ => Vec::new(),
        },
        None => words.replace(" and ", ",").split(',').filter_map(number).collect(),
    }
}

#[test]
fn each_case_has_a_test_or_a_reason() {
    let mut all = Vec::new();
    for folder in ["src", "tests"] {
        sources(&project(folder), &mut all);
    }
    let named = Regex::new(r"//[/!].*[Ss]ecurity cases? ([0-9]+(?:(?:, | and | to )[0-9]+)*)").unwrap();
    let tested: BTreeSet<u32> =
        all.iter().flat_map(|text| named.captures_iter(text)).flat_map(|found| numbers(&found[1])).collect();
    let told = std::fs::read_to_string(project("docs/security.md")).unwrap();
    let line = Regex::new(r"(?m)^\| ([0-9]+(?:(?:, | and | to )[0-9]+)*)").unwrap();
    let told: BTreeSet<u32> = told
        .lines()
        .flat_map(|text| line.captures(text))
        .flat_map(|found| {
            // `32, 33, 45 to 48` is a list whose last item is a range.
            found[1].split(", ").flat_map(numbers).collect::<Vec<_>>()
        })
        .collect();
    let missing: Vec<u32> = CASES.filter(|case| !tested.contains(case) && !told.contains(case)).collect();
    assert!(missing.is_empty(), "{missing:?} have neither a test nor a line");
    let both: Vec<&u32> = tested.intersection(&told).filter(|case| CASES.contains(case)).collect();
    assert!(both.is_empty(), "{both:?} have a test and a reason why they have none");
}
