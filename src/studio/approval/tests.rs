//! The approval page as a person meets it, in each state of connections.md 9.4.

use http::StatusCode;

use super::*;
use crate::error::{Issue, Reason};
use crate::studio::gallery::{asking, every_page, html_of, one_field, sign_in, two_fields, words_of};
use crate::studio::text::Host;

async fn ready(ask: Asking) -> String {
    html_of(connect(&LinkView::Ready(Box::new(ask)))).await
}

#[tokio::test]
async fn who_asks_what_how_far_what_to_do_and_how_to_refuse_stand_in_this_order() {
    let mut ask = asking(one_field());
    ask.connection.allowed = Some(vec!["search".into(), "read_page".into()]);
    let html = ready(ask).await;
    let mut rest = html.as_str();
    for next in [
        "ada asked an agent to connect",
        "api.notion.com",
        "Account",
        "read_page",
        "Every playbook of the org",
        "Internal integration secret",
        "Save and connect",
        "Cancel, and nothing is connected",
    ] {
        let at = rest.find(next).unwrap_or_else(|| panic!("{next} is missing or out of order in {html}"));
        rest = &rest[at..];
    }
}

#[tokio::test]
async fn without_script_each_step_is_a_form_to_the_page_s_own_address() {
    let link = asking(Way::Open).link;
    for (way, step) in [(Way::Open, "approve"), (one_field(), "credential")] {
        let html = ready(asking(way)).await;
        for step in [step, "cancel"] {
            assert!(html.contains(&format!("method=\"post\" action=\"/connect/{link}/{step}\"")), "{step}");
        }
        assert_eq!(html.matches("<input type=\"hidden\" name=\"csrf\" value=\"c5rf\">").count(), 2);
        assert_eq!(html.matches("class=\"primary\"").count(), 1);
    }
}

#[tokio::test]
async fn a_sign_in_says_what_it_asks_for_and_leads_to_the_service() {
    let html = ready(asking(sign_in())).await;
    let words = words_of(&html);
    assert!(words.contains("It asks you to allow Read notes notes.read Change notes notes.write"), "{words}");
    assert!(words.contains("Continue to Notion"), "{words}");
    assert!(html.contains("/start\" data-step=\"start\"") && !html.contains("type=\"password\""));
}

#[tokio::test]
async fn a_form_is_sent_with_its_origin() {
    // Under no-referrer a browser sends a form with `Origin: null`, which the server refuses.
    assert!(ready(asking(Way::Open)).await.contains("<meta name=\"referrer\" content=\"same-origin\">"));
}

#[tokio::test]
async fn a_reference_names_its_variable_and_asks_for_nothing() {
    let variable = "NOTION_TOKEN".into();
    let html = ready(asking(Way::Reference { variable })).await;
    assert!(html.contains("<code>NOTION_TOKEN</code>"));
    assert!(html.contains(">Approve</button>") && !html.contains("type=\"password\""));
}

#[tokio::test]
async fn a_secret_field_is_not_remembered_and_never_filled() {
    let Way::Secret { fields, .. } = two_fields() else { panic!("two fields are a secret") };
    let fields = fields.into_iter().map(|field| field.given("hunter2")).collect();
    let html = ready(asking(Way::Secret { fields, help: None })).await;
    assert!(html.contains("name=\"values.user\" type=\"text\" value=\"hunter2\""), "{html}");
    assert!(html.contains("name=\"values.key\" type=\"password\" value=\"\""));
    assert_eq!(html.matches("autocomplete=\"off\"").count(), 3);
}

#[tokio::test]
async fn a_refused_value_is_told_beside_its_field() {
    let issues = vec![Issue::new("/values/key", "must not hold a line break")];
    let response = connect_refused(&asking(two_fields()), &Problem::invalid_all(issues));
    assert_eq!(response.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let html = html_of(response).await;
    assert!(html.contains("id=\"values.key-error\" role=\"alert\">must not hold a line break</p>"), "{html}");
    assert_eq!(html.matches("aria-invalid").count(), 1);
    assert!(html.contains("<title>Not connected yet: Connect Notion"));
}

#[tokio::test]
async fn any_other_refusal_is_told_above_the_form_and_the_link_goes_on() {
    let response = connect_refused(&asking(one_field()), &Problem::unavailable("The server did not answer in time."));
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(response.headers()["retry-after"], "5");
    let html = html_of(response).await;
    assert!(html.contains("<p>The server did not answer in time.</p>") && html.contains("Save and connect"), "{html}");
    let too_long = Problem::new(Reason::ContentTooLarge, "The value is too long.");
    assert_eq!(connect_refused(&asking(one_field()), &too_long).status(), StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn an_attempt_that_failed_says_why_and_can_be_tried_again() {
    let mut ask = asking(Way::Open);
    ask.last_error = Some("The server could not be reached.".into());
    let html = html_of(connect(&LinkView::ProviderError(Box::new(ask)))).await;
    assert!(html.contains("The server could not be reached.") && html.contains(">Try again</button>"), "{html}");
}

#[tokio::test]
async fn each_end_says_what_became_of_it() {
    for (name, status, words) in [
        ("connected", 200, "Notion is connected as ada@example.org Go back to your agent"),
        ("expired", 200, "ask your agent to remove the Notion connection and add it again"),
        ("cancelled", 200, "Cancelled: nothing is connected"),
        ("removed", 200, "Removed: nothing is connected"),
        ("other-person", 403, "This link is for Ada Lovelace You are signed in as Grace Hopper"),
        ("unknown", 404, "This link no longer works Ask your agent for a new one."),
        ("not-allowed", 200, "Whoever runs this server no longer allows this connection"),
    ] {
        let (_, response) = every_page().into_iter().find(|(page, _)| *page == name).unwrap();
        assert_eq!(response.status(), status, "{name}");
        let html = html_of(response).await;
        assert!(words_of(&html).contains(words), "{name}: {}", words_of(&html));
        assert_eq!(html.contains("<form"), name == "not-allowed", "{name}");
    }
}

#[tokio::test]
async fn a_stranger_learns_nothing_of_the_connection() {
    for (name, response) in every_page() {
        if name == "unknown" || name == "other-person" {
            let html = html_of(response).await;
            assert!(!html.contains("Notion") && !html.contains("link_"), "{name}");
        }
    }
}

#[tokio::test]
async fn script_in_any_foreign_word_is_text() {
    let canary = "<script>alert(1)</script><b onclick='x'>\"";
    let mut ask = asking(Way::Secret {
        fields: vec![Field::only(canary).hint(canary), Field::one_of("a", canary, false).given(canary)],
        help: HttpsLink::new("https://docs.example/\"><script>alert(1)</script>"),
    });
    ask.adder = canary.into();
    ask.org = canary.into();
    ask.last_error = Some(canary.into());
    ask.connection.title = canary.into();
    ask.connection.host = Host::of(canary);
    ask.connection.playbooks = vec![canary.into(); 9];
    ask.connection.allowed = Some(vec![canary.into(); 9]);
    let html = ready(ask).await;
    assert!(!html.contains("<script>") && !html.contains("<b ") && !html.contains("&quot;><"), "{html}");
    assert!(html.contains("&#60;script&#62;"));
}

#[tokio::test]
async fn turned_and_hidden_characters_are_shown_as_a_mark() {
    let mut ask = asking(Way::Open);
    ask.connection.title = "Not\u{202E}noi\u{200B}".into();
    let html = ready(ask).await;
    assert!(html.contains("Not�noi�") && !html.contains('\u{202E}'));
}

#[tokio::test]
async fn a_long_list_is_folded_and_nothing_of_it_is_lost() {
    let mut ask = asking(Way::Open);
    ask.connection.allowed = Some((1..=256).map(|n| Text::new(format!("tool_{n}"))).collect());
    let html = ready(ask).await;
    assert!(html.contains("<summary>and 250 more</summary>"));
    assert_eq!(html.matches("<li>").count(), 256);
}

#[tokio::test]
async fn time_left_is_told_with_and_without_script() {
    let html = ready(asking(Way::Open)).await;
    assert!(html.contains("data-left-ms=\"585000\"") && html.contains("9 minutes left"), "{html}");
    assert!(html.contains("until 16:00 UTC"));
    let mut over = asking(Way::Open);
    over.now_ms = over.expires_at_ms + 5;
    assert!(ready(over).await.contains("less than a minute left"));
}

#[tokio::test]
async fn no_page_holds_script_style_or_address_of_another_place() {
    for (name, response) in every_page() {
        let html = html_of(response).await;
        for part in html.split("<script").skip(1) {
            assert!(part.starts_with(" type=\"module\" src=\"/static/"), "{name}");
        }
        for banned in ["<style", " style=", " onclick", " onload", "javascript:", "src=\"http", "@"] {
            let html = html.replace("ada@example.org", "");
            assert!(!html.contains(banned), "{name} holds {banned}");
        }
    }
}

#[tokio::test]
async fn every_page_has_one_heading_first_a_landmark_and_a_label_for_each_field() {
    for (name, response) in every_page() {
        let html = html_of(response).await;
        for once in ["<h1", "<main", "<title>", "<html lang=\"en\">"] {
            assert_eq!(html.matches(once).count(), 1, "{name}: {once}");
        }
        assert!(html.find("<h1") < html.find("<h2").or(Some(usize::MAX)), "{name}");
        assert_eq!(html.matches("<label for=").count(), html.matches("data-pointer=").count(), "{name}");
        let ids: Vec<&str> = html.split(" id=\"").skip(1).filter_map(|part| part.split('"').next()).collect();
        for id in &ids {
            assert_eq!(ids.iter().filter(|other| *other == id).count(), 1, "{name}: {id} twice");
        }
    }
}
