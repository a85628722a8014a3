//! One view of every page, for the tests, and for the eye: `STUDIO_GALLERY` is the folder the ignored test writes them to.

use http_body_util::BodyExt;

use super::approval::{
    Asked, Asking, Away, Connected, Field, LinkView, Returned, Way, Wish, connect, connect_refused, leaving, returned,
};
use super::assets::{ASSETS_PATH, asset, asset_url};
use super::consent::tests::asking as asking_consent;
use super::consent::{Barred, consent, consent_barred};
use super::error_page::error_page;
use super::home::{Access, ConnectionLine, HomeView, home};
use super::response::Response;
use super::text::{Host, HttpsLink, Text};
use crate::error::{Issue, Problem};

/// The page inside an answer.
pub(super) async fn html_of(response: Response) -> String {
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The words of a page as they are read, without tags.
pub(super) fn words_of(html: &str) -> String {
    let body = html.split_once("<body>").map_or(html, |(_, body)| body);
    let text: String = body.split('<').map(|part| part.split_once('>').map_or("", |(_, words)| words)).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn line(name: &str, title: &str, host: &str, status: &str, because: Option<(&str, &str)>) -> ConnectionLine {
    ConnectionLine {
        name: name.into(),
        title: title.into(),
        host: Host::of(host),
        status: status.into(),
        because: because.map(|(word, _)| word.into()),
        detail: because.map(|(_, words)| words.into()),
    }
}

/// The first page in local mode, with connections in every standing.
pub(super) fn home_local() -> HomeView {
    let waits = ("connection_pending", "Waits until a person opens the link your agent was given and approves.");
    let broken = (
        "connection_broken",
        "The key was refused. A person reconnects it in Studio, or remove it with remove_connection and add it again.",
    );
    HomeView {
        address: "http://localhost:5555".into(),
        frame: None,
        makes_org: false,
        access: Access::Local {
            developer: "ada".into(),
            connections: vec![
                line("github", "GitHub", "https://api.github.com", "connected", None),
                line("notion", "Notion", "https://api.notion.com/v1", "pending", Some(waits)),
                line(
                    "stock",
                    "Stock of the north warehouse",
                    "https://stock.example:8443/mcp",
                    "connected",
                    Some(broken),
                ),
            ],
        },
    }
}

/// The first page of a server of keys alone.
pub(super) fn home_keys() -> HomeView {
    HomeView {
        address: "http://playmaker.internal.example:5555".into(),
        access: Access::Keys,
        frame: None,
        makes_org: false,
    }
}

/// A connection that waits to be approved in the way given.
pub(super) fn asking(way: Way) -> Asking {
    Asking {
        link: "link_0123456789abcdefghijABCDEFGHIJ01".into(),
        csrf: "c5rf".into(),
        adder: "ada".into(),
        org: "local".into(),
        connection: Asked {
            name: "notion".into(),
            title: "Notion".into(),
            host: Host::of("https://api.notion.com/v1"),
            playbooks: Vec::new(),
            allowed: None,
        },
        way,
        expires_at_ms: 1_793_462_400_000,
        now_ms: 1_793_462_400_000 - 585_000,
        last_error: None,
    }
}

/// A way with one value.
pub(super) fn one_field() -> Way {
    Way::Secret {
        fields: vec![Field::only("Internal integration secret").hint("Begins with ntn_ or secret_.")],
        help: HttpsLink::new("https://www.notion.so/profile/integrations"),
    }
}

/// A way with two values, of which one is secret.
pub(super) fn two_fields() -> Way {
    let fields = vec![
        Field::one_of("user", "Email address of the account", false).given("ada@example.org"),
        Field::one_of("key", "API token", true),
    ];
    Way::Secret { fields, help: None }
}

/// A sign-in that asks for two things.
pub(super) fn sign_in() -> Way {
    let wish = |words: &str, scope: &str| Wish { words: words.into(), scope: scope.into() };
    Way::SignIn { wishes: vec![wish("Read notes", "notes.read"), wish("Change notes", "notes.write")], help: None }
}

/// A person who left half a minute ago.
fn away() -> Away {
    let asking = asking(sign_in());
    Away { started_at_ms: asking.now_ms - 30_000, asking }
}

fn long_lists() -> Asking {
    let mut ask = asking(Way::Open);
    ask.connection.title = "Stock of the north warehouse".into();
    ask.connection.host = Host::of("https://l\u{E4}ger.example:8443/mcp");
    ask.connection.playbooks = ["restock", "weekly-report"].map(Text::from).to_vec();
    let tools = (1..=24).map(|n| Text::new(format!("list_shelf_{n}"))).collect();
    ask.connection.allowed = Some(tools);
    ask
}

fn failed() -> Asking {
    let mut ask = asking(Way::Open);
    ask.last_error =
        Some("The server at api.notion.com could not be reached. It may be down; try again in a moment.".into());
    ask
}

fn refused_at(ask: &Asking, pointer: &str, words: &str) -> Response {
    connect_refused(ask, &Problem::invalid_all(vec![Issue::new(pointer, words)]))
}

/// Every page by name.
pub(super) fn every_page() -> Vec<(&'static str, Response)> {
    let mut pages = asking_pages();
    pages.extend(ended_pages());
    pages.extend(other_pages());
    pages
}

fn asking_pages() -> Vec<(&'static str, Response)> {
    let ready = |ask| connect(&LinkView::Ready(Box::new(ask)));
    let variable = "NOTION_TOKEN".into();
    let refused = "The server refused this value. Check that it was copied whole and has not been revoked.";
    let unreached = Problem::unavailable("The server could not be reached.");
    vec![
        ("ready-open", ready(asking(Way::Open))),
        ("ready-lists", ready(long_lists())),
        ("ready-reference", ready(asking(Way::Reference { variable }))),
        ("ready-secret", ready(asking(one_field()))),
        ("ready-fields", ready(asking(two_fields()))),
        ("ready-sign-in", ready(asking(sign_in()))),
        ("started", connect(&LinkView::Started(Box::new(away())))),
        ("leaving", leaving("https://api.notion.com/v1/oauth/authorize?client_id=a&state=b")),
        ("returned", returned(&Returned { fields: vec![("state", "\"><b>".into())], csrf: "c5rf".into() })),
        ("refused-field", refused_at(&asking(one_field()), "/value", refused)),
        ("refused-other", connect_refused(&asking(two_fields()), &unreached)),
        ("provider-error", connect(&LinkView::ProviderError(Box::new(failed())))),
    ]
}

fn ended_pages() -> Vec<(&'static str, Response)> {
    let title = || Text::new("Notion");
    let connected = Connected {
        title: title(),
        name: "notion".into(),
        host: Host::of("https://api.notion.com"),
        org: "local".into(),
        account: Some("ada@example.org".into()),
        warning: None,
    };
    let mut warned = connected.clone();
    warned.warning =
        Some("The server let the key in but did not list its tools (403). Some tools may be refused.".into());
    let other = LinkView::OtherPerson { adder: "Ada Lovelace".into(), signed_in_as: "Grace Hopper".into() };
    let not_allowed = LinkView::NotAllowed { link: "link_a".into(), csrf: "c5rf".into(), title: title() };
    vec![
        ("connected", connect(&LinkView::Connected(connected))),
        ("connected-warning", connect(&LinkView::Connected(warned))),
        ("expired", connect(&LinkView::Expired { title: title(), refused: false })),
        ("expired-refused", connect(&LinkView::Expired { title: title(), refused: true })),
        ("cancelled", connect(&LinkView::Cancelled { title: title() })),
        ("removed", connect(&LinkView::Removed { title: title() })),
        ("other-person", connect(&other)),
        ("unknown", connect(&LinkView::Unknown)),
        ("not-allowed", connect(&not_allowed)),
    ]
}

fn other_pages() -> Vec<(&'static str, Response)> {
    let closed =
        HomeView { address: "http://192.0.2.1:5555".into(), access: Access::Closed, frame: None, makes_org: false };
    let missing = Problem::not_found("There is no page /nowhere on this server.");
    let foreign = Problem::forbidden("The request did not come from a page of this server.");
    let internal = Problem::internal("private").incident("01935c2e-8f6a-7b3d-9a40-1c2d3e4f5a6b".into());
    vec![
        ("consent", consent(&asking_consent())),
        ("consent-barred", consent_barred(&asking_consent(), &Barred::NotAMember { org: "acme".into() })),
        ("home-local", home(&home_local())),
        ("home-keys", home(&home_keys())),
        ("home-closed", home(&closed)),
        ("error-404", error_page(&missing)),
        ("error-403", error_page(&foreign)),
        ("error-500", error_page(&internal)),
    ]
}

#[tokio::test]
#[ignore = "writes every page as a file, to be looked at"]
async fn write_every_page() {
    #[expect(clippy::disallowed_methods, reason = "a folder for a person's eyes, no setting of the server")]
    let folder = std::path::PathBuf::from(std::env::var("STUDIO_GALLERY").expect("STUDIO_GALLERY names a folder"));
    std::fs::create_dir_all(folder.join("static")).unwrap();
    for name in ["studio.css", "approval.js", "returned.js", "copy.js", "signin.js", "mark.svg"] {
        let path = asset_url(name).strip_prefix(ASSETS_PATH).unwrap();
        std::fs::write(folder.join("static").join(path), asset(path).unwrap().1).unwrap();
    }
    for (name, response) in every_page() {
        std::fs::write(folder.join(format!("{name}.html")), html_of(response).await).unwrap();
    }
}
