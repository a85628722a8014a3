//! What the operator does by a command: the first person without a page, stopping an account, a link for a password
//! (`identity.md` 1.2 and 8.4); and the mail that goes out where there is a server for it.

use tokio::process::Command;

use super::tab::{PASSWORD, Tab, after};
use crate::support::app::{FIRST_KEY, TestApp};
use crate::support::eventually;
use crate::support::post::{self, Post};

/// Runs a command on the database of `server`; its words on stdout, or the line that says why not.
pub async fn runs(server: &TestApp, arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_playmaker"));
    command.args(arguments).env_clear().env("DATABASE_URL", server.database().url());
    command.env("SECRETS_KEYS", FIRST_KEY).env("PUBLIC_URL", server.app.public_address());
    let output = command.output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().trim().to_owned();
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}

#[tokio::test]
async fn a_command_makes_the_first_person_and_recovers_a_server_without_owners() {
    let server = TestApp::signing_in().await;
    let ada = ["setup", "--org", "acme", "--email", "ada@acme.test", "--name", "Ada"];
    let link = runs(&server, &ada).await.unwrap();
    let code = link.strip_prefix(&format!("{}/reset#", server.app.public_address())).unwrap();
    assert!(runs(&server, &ada).await.unwrap_err().contains("--recover"));
    assert!(runs(&server, &["setup", "code"]).await.is_err(), "there is somebody");
    assert_eq!(Tab::of(&server).get("/setup").await.status, 404);
    let tab = Tab::of(&server);
    // The link lives by the machine's clock, the server of this test by its own: both have it alive.
    assert_eq!(tab.send("/reset", &[("code", code), ("password", PASSWORD)]).await.status, 200);
    assert_eq!(tab.signs_in("ada@acme.test", PASSWORD).await.status, 303);
    assert_eq!(tab.get("/v1/orgs/acme/playbooks").await.status, 200);
    let grace = ["setup", "--recover", "--org", "acme", "--email", "grace@acme.test", "--name", "Grace"];
    runs(&server, &grace).await.unwrap();
    let listed = runs(&server, &["person", "list"]).await.unwrap();
    assert!(listed.contains("ada@acme.test") && listed.contains("grace@acme.test"), "{listed}");
    runs(&server, &["person", "disable", "--email", "ada@acme.test"]).await.unwrap();
    assert!(runs(&server, &["person", "reset", "--email", "ada@acme.test"]).await.is_err());
    runs(&server, &["person", "enable", "--email", "ada@acme.test"]).await.unwrap();
    assert!(runs(&server, &["person", "reset", "--email", "ada@acme.test"]).await.unwrap().contains("/reset#"));
    assert!(runs(&server, &["person", "reset", "--email", "eve@acme.test"]).await.is_err());
}

#[tokio::test]
async fn mail_brings_the_link_and_the_page_tells_nobody_who_has_an_account() {
    let mut post = Post::open().await;
    let (server, _) = TestApp::set_up_by_ada(&post.settings(&[])).await;
    let tab = Tab::of(&server);
    let nobody = tab.send("/forgot", &[("email", "eve@acme.test")]).await;
    let asked = tab.send("/forgot", &[("email", "ada@acme.test")]).await;
    assert_eq!((asked.status, &asked.text), (200, &nobody.text));
    let mail = post.next().await;
    assert!(mail.contains("To: ada@acme.test") && mail.contains("Subject: Set a new password"), "{mail}");
    let code = post::code(&mail);
    let set = eventually("the link works", async || {
        let answer = tab.send("/reset", &[("code", &code), ("password", "seven herons over the weir")]).await;
        (answer.status == 200).then_some(answer)
    });
    assert_eq!(after(&set.await.text, "href=\"/sign"), "-in");
    for _ in 0..4 {
        assert_eq!(tab.send("/forgot", &[("email", "ada@acme.test")]).await.status, 200);
    }
    assert_eq!(tab.send("/forgot", &[("email", "ada@acme.test")]).await.status, 429, "five an hour");
}
