//! A person at the approval page: they read it, type, press a button, and see what comes of it.

use thirtyfour::prelude::*;

use crate::support::browser::{Browser, Scheme, Screen};
use crate::support::eventually;

/// A person with the page of a link before them.
pub struct Person {
    browser: Browser,
}

impl Person {
    /// Follows a link at a desk, by day.
    pub async fn follows(link: &str) -> Self {
        Self::with(Screen::Desktop, Scheme::Light, link).await
    }

    /// Follows a link with this screen.
    pub async fn with(screen: Screen, scheme: Scheme, link: &str) -> Self {
        let browser = Browser::open(screen, scheme).await;
        browser.visit(link).await;
        Self { browser }
    }

    /// Follows a link with a browser that runs no scripts.
    pub async fn without_script(link: &str) -> Self {
        let browser = Browser::open(Screen::Desktop, Scheme::Light).await;
        browser.without_script().await;
        browser.visit(link).await;
        Self { browser }
    }

    /// The browser itself.
    pub fn browser(&self) -> &Browser {
        &self.browser
    }

    /// The heading, as it is read.
    pub async fn heading(&self) -> String {
        self.text("h1").await.unwrap_or_default()
    }

    /// Everything on the page, as it is read.
    pub async fn page(&self) -> String {
        self.text("main").await.unwrap_or_default()
    }

    /// The text of the first such thing on the page.
    pub async fn text(&self, selector: &str) -> Option<String> {
        // The page may be replaced between finding and reading.
        self.browser.driver().find(By::Css(selector)).await.ok()?.text().await.ok()
    }

    /// Types a key and sends it.
    pub async fn gives(&self, key: &str) {
        let field = self.browser.driver().find(By::Css("input[type=password]")).await.expect("a field for the key");
        field.send_keys(key).await.unwrap();
        self.presses("button.primary").await;
    }

    /// Presses a button.
    pub async fn presses(&self, selector: &str) {
        self.browser.driver().find(By::Css(selector)).await.expect("a button").click().await.unwrap();
    }

    /// Reads what is wrong, beside the field, once it is there.
    pub async fn reads_fault(&self) -> String {
        eventually("a fault beside the field", async || self.text(".fault").await.filter(|text| !text.is_empty())).await
    }

    /// Waits until the page is in this state.
    pub async fn sees(&self, state: &str) {
        let selector = format!("main[data-state={state}]");
        eventually(state, async || self.browser.driver().find(By::Css(selector.as_str())).await.ok()).await;
    }

    /// Visits again until the page is in that state.
    pub async fn comes_back_until(&self, address: &str, state: &str) {
        let selector = format!("main[data-state={state}]");
        eventually(state, async || {
            self.browser.visit(address).await;
            self.browser.driver().find(By::Css(selector.as_str())).await.ok()
        })
        .await;
    }

    /// Closes the browser; nothing was wrong on the page but refusals, which a browser reports too.
    pub async fn leaves(self) {
        let complaints = self.browser.complaints().await;
        let others: Vec<_> = complaints.iter().filter(|line| !line.contains("status of 422")).collect();
        assert!(others.is_empty(), "{others:?}");
        self.browser.close().await;
    }
}
