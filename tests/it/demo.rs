//! The first quarter of an hour of a newcomer: the demo, from its first line to an order at the parts desk.

use std::process::Stdio;
use std::time::Duration;

use reqwest::{Client, Method, StatusCode, header};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};

/// A demo as a person starts it, with what it printed.
struct Demo {
    process: Child,
    lines: Vec<String>,
    http: Client,
}

impl Demo {
    async fn start() -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_playmaker"))
            .arg("demo")
            .env("PORT", "0")
            // Of another server; the demo must not take it for its own.
            .env("API_KEYS", "[]")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut printed = BufReader::new(process.stdout.as_mut().unwrap()).lines();
        let mut lines = Vec::new();
        while lines.len() < 4 {
            lines.push(printed.next_line().await.unwrap().expect("the demo prints four lines"));
        }
        #[expect(clippy::disallowed_methods, reason = "a caller from outside, not the server's way out")]
        let http = Client::new();
        Self { process, lines, http }
    }

    /// The word of a line that begins with `beginning`.
    fn printed(&self, beginning: &str) -> String {
        let mut words = self.lines.iter().flat_map(|line| line.split_whitespace());
        words.find(|word| word.starts_with(beginning)).expect("it is printed").to_owned()
    }

    fn page(&self) -> String {
        self.printed("http://localhost:")
    }

    async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> (StatusCode, Value) {
        let mut request = self.http.request(method, format!("{}{path}", self.page()));
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = request.send().await.unwrap();
        (answer.status(), answer.json().await.unwrap_or_default())
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        let (status, answer) = self.ask(Method::POST, path, Some(body)).await;
        assert!(status.is_success(), "{path}: {status} {answer}");
        answer
    }

    /// Gives `key` on the page of `link`, as a browser without script does; answers the page that comes then.
    async fn give_key(&self, link: &str, key: &str) -> String {
        let page = self.http.get(link).send().await.unwrap().text().await.unwrap();
        let (_, after) = page.split_once("name=\"csrf\" value=\"").expect("the page asks");
        let (token, _) = after.split_once('"').unwrap();
        let form = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("csrf", token)
            .append_pair("value", key)
            .finish();
        let request = self.http.post(format!("{link}/credential")).header(header::ORIGIN, self.page()).body(form);
        let answer = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded").send().await.unwrap();
        answer.text().await.unwrap()
    }

    /// Stops it, and answers how it ended and what it logged.
    async fn stop(mut self) -> (Option<i32>, String) {
        let id = rustix::process::Pid::from_raw(self.process.id().unwrap().try_into().unwrap()).unwrap();
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        let ended = tokio::time::timeout(Duration::from_secs(10), self.process.wait()).await.unwrap().unwrap();
        let mut log = String::new();
        self.process.stderr.take().unwrap().read_to_string(&mut log).await.unwrap();
        (ended.code(), log)
    }
}

const DESK: &str = "/v1/orgs/local/playbooks/workshop/tool-servers/parts-desk/tools";

#[tokio::test]
async fn a_newcomer_connects_the_parts_desk_and_orders() {
    let demo = Demo::start().await;
    assert!(demo.lines[1].contains(&format!("claude mcp add --transport http playmaker {}/mcp", demo.page())));
    let key = demo.printed("desk_");

    demo.post("/v1/orgs/local/playbooks", json!({ "playbook": "workshop", "name": "Workshop" })).await;
    let (_, found) = demo.ask(Method::GET, "/v1/orgs/local/tool-servers/search?terms=parts", None).await;
    assert_eq!(found["providers"][0]["name"], "parts-desk", "{found}");

    let added = demo.post("/v1/orgs/local/connections", json!({ "provider": "parts-desk" })).await;
    let link = added["connect"]["url"].as_str().unwrap();
    let wanted = json!({ "arguments": { "body": { "number": "HB-040", "quantity": 2 } } });
    let (status, refused) = demo.ask(Method::POST, &format!("{DESK}/order_part/execute"), Some(wanted.clone())).await;
    assert_eq!((status, &refused["because"]), (StatusCode::SERVICE_UNAVAILABLE, &json!("connection_pending")));

    let page = demo.give_key(link, "desk_notTheKeyOfTheDemo").await;
    assert!(page.contains("name=\"csrf\""), "a wrong key is asked for again");
    let page = demo.give_key(link, &key).await;
    assert!(page.contains("Demo workshop") && !page.contains(&key), "{page}");

    let (_, found) =
        demo.ask(Method::GET, "/v1/orgs/local/playbooks/workshop/tool-servers/search?terms=order", None).await;
    assert_eq!(found["servers"][0]["name"], "parts-desk", "{found}");
    let order = demo.post(&format!("{DESK}/order_part/execute"), wanted).await;
    assert_eq!((&order["outcome"], &order["answer"]["total_cents"]), (&json!("result"), &json!(640)), "{order}");
    let orders = demo.post(&format!("{DESK}/list_orders/execute"), json!({})).await;
    assert_eq!(orders["answer"]["orders"][0]["name"], "Brass hinge");
    assert!(!order.to_string().contains(&key));

    let (code, log) = demo.stop().await;
    assert_eq!((code, log.as_str()), (Some(0), ""));
}
