//! The whole story in a browser: with script and without, by the keyboard, in every state of the page.

use serde_json::json;
use thirtyfour::prelude::*;

use super::Scene;
use crate::support::browser::{Browser, Scheme, Screen};
use crate::support::eventually;
use crate::support::simulator::Fault;

async fn shows(browser: &Browser, state: &str) {
    let selector = format!("main[data-state={state}]");
    let driver = browser.driver();
    eventually(state, async || driver.find(By::Css(selector.as_str())).await.ok()).await;
}

async fn presses(browser: &Browser, words: &str) {
    let button = format!("//button[normalize-space()='{words}']");
    let driver = browser.driver();
    let found = eventually(words, async || driver.find(By::XPath(button.as_str())).await.ok()).await;
    found.click().await.unwrap();
}

async fn reads(browser: &Browser, words: &str) {
    let driver = browser.driver();
    eventually(words, async || {
        let text = driver.find(By::Css("body")).await.ok()?.text().await.ok()?;
        text.contains(words).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_approves_at_the_provider_s_page_and_the_agent_calls() {
    let scene = Scene::local().await;
    let address = format!("{}/connect/{}", scene.server.origin(), scene.link);
    let browser = Browser::open(Screen::Phone, Scheme::Light).await;
    browser.visit(&address).await;
    reads(&browser, "Read notes").await;
    browser.picture("consent-ready-phone-light").await;
    presses(&browser, "Continue to Simulated").await;
    reads(&browser, "Allow Playmaker?").await;
    presses(&browser, "Deny").await;
    shows(&browser, "provider_error").await;
    reads(&browser, "You did not allow it at Simulated").await;
    browser.picture("consent-declined-phone-light").await;

    browser.prefer(Scheme::Dark).await;
    browser.resize(Screen::Desktop).await;
    scene.simulator.set(|quirks| quirks.faults.push_back(Fault::Status(500)));
    presses(&browser, "Try again").await;
    presses(&browser, "Allow").await;
    reads(&browser, "Simulated did not answer").await;
    presses(&browser, "Try again").await;
    reads(&browser, "Allow Playmaker?").await;
    // Meanwhile in another tab: the page tells that the person is away.
    let other = Browser::open(Screen::Desktop, Scheme::Dark).await;
    other.visit(&address).await;
    shows(&other, "started").await;
    other.picture("consent-started-desktop-dark").await;
    presses(&browser, "Allow").await;
    shows(&browser, "connected").await;
    reads(&browser, "is connected as ada@sim.example").await;
    browser.picture("consent-connected-desktop-dark").await;
    shows(&other, "connected").await;
    let at = browser.driver().current_url().await.unwrap().to_string();
    assert_eq!(at, address, "neither code nor state is left in the address");
    // The way back is no entry of the history: nobody goes back to it.
    browser.driver().back().await.unwrap();
    let back = browser.driver().current_url().await.unwrap().to_string();
    assert!(!back.contains("/connect/return"), "{back}");
    other.close().await;
    browser.close().await;

    let agent = scene.server.anyone();
    agent.post("/v1/orgs/local/playbooks", &json!({ "playbook": "support", "name": "Support" })).await.done(201);
    let arguments = json!({ "server": "sim", "tool": "list_notes", "arguments": {} });
    let called = agent.call("/orgs/local/playbooks/support/mcp", "execute", &arguments).await;
    assert!(called.value.to_string().contains("Notes of ada@sim.example"), "{}", called.value);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_script_it_takes_one_press_more() {
    let scene = Scene::local().await;
    let browser = Browser::open(Screen::Phone, Scheme::Light).await;
    browser.without_script().await;
    browser.visit(&format!("{}/connect/{}", scene.server.origin(), scene.link)).await;
    presses(&browser, "Continue to Simulated").await;
    presses(&browser, "Allow").await;
    shows(&browser, "returned").await;
    browser.picture("consent-returned-phone-light").await;
    presses(&browser, "Finish connecting").await;
    shows(&browser, "connected").await;
    browser.close().await;
}

#[tokio::test]
async fn the_page_of_the_way_back_does_nothing_by_itself() {
    let scene = Scene::local().await;
    let trip = scene.leaves().await;
    let path = scene.simulator.allows(&trip.address);
    for _ in 0..3 {
        let page = scene.browser("", &trip.cookie).get(&path).await;
        assert_eq!((page.status, page.header("cache-control")), (200, "no-store"));
        assert_eq!(page.header("referrer-policy"), "no-referrer");
    }
    assert_eq!(scene.browser("", "").get("/connect/return?code=x").await.status, 400);
    assert_eq!(scene.simulator.requests().len(), 0);
    scene.back(&trip, &path).await.done(200);

    let people = Scene::signing_in().await;
    let nobody = people.browser("", "").get("/connect/return?state=x&code=y").await;
    assert_eq!(nobody.status, 401);
    assert!(nobody.text.contains("Sign in"), "{}", nobody.text);
}
