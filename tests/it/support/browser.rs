//! A real Chromium, driven through the ChromeDriver that `infra/test` starts.
//!
//! Each [`Browser`] is a fresh profile: ChromeDriver gives every browser an empty folder of its own and removes it.

use std::path::PathBuf;

use serde_json::json;
use thirtyfour::LoggingPrefsLogLevel;
use thirtyfour::prelude::*;

use super::services::{project, setting};

/// The sizes pages are looked at in.
#[derive(Clone, Copy, Debug)]
pub enum Screen {
    /// A telephone held upright, 390 wide.
    Phone,
    /// A laptop, 1280 wide.
    Desktop,
}

/// What the person asked their system for.
#[derive(Clone, Copy, Debug)]
pub enum Scheme {
    /// Dark text on a light ground.
    Light,
    /// Light text on a dark ground.
    Dark,
}

/// One browser with one window.
pub struct Browser {
    driver: WebDriver,
}

impl Browser {
    /// Opens an empty window.
    pub async fn open(screen: Screen, scheme: Scheme) -> Self {
        Self::with(screen, scheme, &[]).await
    }

    /// Opens one that asks everything, loopback too, through a proxy.
    pub async fn behind(screen: Screen, scheme: Scheme, proxy: &str) -> Self {
        let flags = [format!("--proxy-server=http://{proxy}"), "--proxy-bypass-list=<-loopback>".to_owned()];
        Self::with(screen, scheme, &flags).await
    }

    async fn with(screen: Screen, scheme: Scheme, flags: &[String]) -> Self {
        let address =
            setting("PLAYMAKER_TEST_WEBDRIVER").expect("run browser tests as: infra/test cargo nextest run …");
        let mut wanted = DesiredCapabilities::chrome();
        for flag in [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            // A picture shows the page, not how far it could be scrolled.
            "--hide-scrollbars",
            // Containers give shared memory 64 MiB, too little for a large page.
            "--disable-dev-shm-usage",
        ] {
            wanted.add_arg(flag).unwrap();
        }
        for flag in flags {
            wanted.add_arg(flag).unwrap();
        }
        wanted.set_browser_log_level(LoggingPrefsLogLevel::All).unwrap();
        let driver = WebDriver::new(address, wanted).await.expect("ChromeDriver opens a browser");
        let browser = Self { driver };
        browser.resize(screen).await;
        browser.prefer(scheme).await;
        browser
    }

    /// The driver itself, to find and use what is on the page.
    pub fn driver(&self) -> &WebDriver {
        &self.driver
    }

    /// Goes to an address and waits until the page has loaded.
    pub async fn visit(&self, url: &str) {
        self.driver.goto(url).await.unwrap_or_else(|error| panic!("{url} does not load: {error}"));
    }

    /// Gives the page another size.
    pub async fn resize(&self, screen: Screen) {
        let (width, height, mobile) = match screen {
            Screen::Phone => (390, 844, true),
            Screen::Desktop => (1280, 800, false),
        };
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile });
        self.devtools("Emulation.setDeviceMetricsOverride", size).await;
    }

    /// Changes what `prefers-color-scheme` answers.
    pub async fn prefer(&self, scheme: Scheme) {
        let value = match scheme {
            Scheme::Light => "light",
            Scheme::Dark => "dark",
        };
        // Without motion, so that no picture is taken of a colour on its way to another.
        let features = json!({ "features": [
            { "name": "prefers-color-scheme", "value": value },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ] });
        self.devtools("Emulation.setEmulatedMedia", features).await;
    }

    /// Turns scripts off for the pages to come: every flow works without them.
    pub async fn without_script(&self) {
        self.devtools("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await;
    }

    /// Takes a picture of the whole page, below the fold too, as `target/pictures/<name>.png`.
    pub async fn picture(&self, name: &str) -> PathBuf {
        let wanted = json!({ "format": "png", "captureBeyondViewport": true });
        let picture = self.devtools("Page.captureScreenshot", wanted).await;
        let encoded = picture["data"].as_str().expect("a picture comes as base64");
        let bytes = base64::Engine::decode(&base64::prelude::BASE64_STANDARD, encoded).unwrap();
        let file = project("target/pictures").join(format!("{name}.png"));
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, bytes).unwrap();
        file
    }

    /// What the page complained about on the console since the last call: script errors, blocked or missing files.
    pub async fn complaints(&self) -> Vec<String> {
        let entries = self.driver.browser_log().await.unwrap();
        entries.into_iter().filter(|entry| entry.level == "SEVERE").map(|entry| entry.message).collect()
    }

    /// Closes the browser.
    pub async fn close(self) {
        self.driver.clone().quit().await.unwrap();
    }

    async fn devtools(&self, command: &str, parameters: serde_json::Value) -> serde_json::Value {
        let answer = self.driver.cdp().send_raw(command, parameters).await;
        answer.unwrap_or_else(|error| panic!("{command} failed: {error}"))
    }
}

impl Drop for Browser {
    /// A test that ends early leaves its browser to `infra/test`, which ends them all. Closing it here would wait on a
    /// connection that this very thread has to drive.
    fn drop(&mut self) {
        let _ = self.driver.clone().leak();
    }
}

#[tokio::test]
async fn a_page_is_seen_in_each_size_and_scheme() {
    const PAGE: &str = "data:text/html,<!doctype html><meta name=viewport content='width=device-width'><title>seen</title>\
        <body style='height:3000px'><p id=p>before</p><script>document.getElementById('p').textContent='after';missing()</script>";
    let browser = Browser::open(Screen::Phone, Scheme::Dark).await;
    browser.visit(PAGE).await;
    assert_eq!(seen(&browser).await, json!([390, true]));
    assert_eq!(browser.driver().find(By::Id("p")).await.unwrap().text().await.unwrap(), "after");
    assert!(browser.complaints().await.iter().any(|line| line.contains("missing is not defined")));

    browser.resize(Screen::Desktop).await;
    browser.prefer(Scheme::Light).await;
    assert_eq!(seen(&browser).await, json!([1280, false]));
    let picture = std::fs::read(browser.picture("whole-page").await).unwrap();
    // Width and height stand in the header of a PNG.
    assert_eq!(picture[16..20], 1280_u32.to_be_bytes());
    assert!(picture[20..24] > 3000_u32.to_be_bytes()[..], "the picture reaches below the fold");

    browser.without_script().await;
    browser.visit(PAGE).await;
    assert_eq!(browser.driver().find(By::Id("p")).await.unwrap().text().await.unwrap(), "before");
    browser.close().await;
}

async fn seen(browser: &Browser) -> serde_json::Value {
    let script = "return [innerWidth, matchMedia('(prefers-color-scheme: dark)').matches]";
    browser.driver().execute(script, Vec::new()).await.unwrap().json().clone()
}
