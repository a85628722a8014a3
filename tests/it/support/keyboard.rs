//! A page used by the keyboard alone.

use serde_json::json;
use thirtyfour::prelude::*;

use super::browser::Browser;

/// Types at wherever the keyboard is.
pub async fn types(browser: &Browser, keys: impl Into<TypingData>) {
    browser.driver().active_element().await.unwrap().send_keys(keys).await.unwrap();
}

/// Presses Enter there.
pub async fn enters(browser: &Browser) {
    types(browser, Key::Enter + "").await;
}

/// What the keyboard is at, as it is read aloud: its label or its own words.
async fn at(browser: &Browser) -> String {
    let script = "const at = document.activeElement; \
        return (at.labels?.[0]?.textContent || at.textContent || at.name || '').trim();";
    browser.driver().execute(script, Vec::new()).await.unwrap().json().as_str().unwrap_or_default().to_owned()
}

/// Presses the tabulator until the keyboard is at such a field.
pub async fn goes_to_field(browser: &Browser, selector: &str) {
    let is_there = format!("return document.activeElement.matches({})", json!(selector));
    for _ in 0..80 {
        if browser.driver().execute(&is_there, Vec::new()).await.unwrap().json() == true {
            return;
        }
        types(browser, Key::Tab + "").await;
    }
    panic!("{selector} is not reached");
}

/// Goes to a group of choices and on with the arrows to the one of this value.
pub async fn chooses(browser: &Browser, name: &str, value: &str) {
    goes_to_field(browser, &format!("input[name={name}]")).await;
    for _ in 0..10 {
        let at = browser.driver().execute("return document.activeElement.value", Vec::new()).await.unwrap();
        if at.json() == value {
            return types(browser, " ").await;
        }
        types(browser, Key::Down + "").await;
    }
    panic!("{value} is none of the choices of {name}");
}

/// Presses the tabulator until the keyboard is at what is called so, and shows it.
pub async fn goes_to(browser: &Browser, name: &str) {
    let mut met = Vec::new();
    for _ in 0..80 {
        let here = at(browser).await;
        if here.starts_with(name) {
            let seen = "const style = getComputedStyle(document.activeElement); return style.outlineStyle !== 'none'";
            let seen = browser.driver().execute(seen, Vec::new()).await.unwrap().json().clone();
            assert_eq!(seen, json!(true), "the focus is seen at {name}");
            return;
        }
        met.push(here);
        types(browser, Key::Tab + "").await;
    }
    panic!("{name:?} is not reached: {met:?}");
}
