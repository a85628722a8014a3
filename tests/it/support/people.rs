//! Those who call over HTTP, and what they are answered.

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, RequestBuilder};
use serde_json::Value;

/// A caller of one server: with a key, or as the server takes whoever has none.
#[derive(Clone)]
pub struct Caller {
    http: reqwest::Client,
    base: String,
    headers: HeaderMap,
}

/// What a server answered.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub text: String,
}

impl Caller {
    /// Calls the server at `base`.
    pub fn new(base: String, key: Option<&str>) -> Self {
        #[expect(clippy::disallowed_methods, reason = "a test's own requests, not the program's")]
        let builder = reqwest::Client::builder();
        let http = builder.no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let caller = Self { http, base, headers: HeaderMap::new() };
        match key {
            Some(key) => caller.with("authorization", &format!("Bearer {key}")),
            None => caller,
        }
    }

    /// The same caller, sending one more header.
    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.append(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        self
    }

    /// A request to be finished by the test.
    pub fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        self.http.request(method, format!("{}{path}", self.base)).headers(self.headers.clone())
    }

    /// GET.
    pub async fn get(&self, path: &str) -> Answer {
        Answer::of(self.request("GET", path)).await
    }

    /// POST with a JSON body.
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, body.to_string()).await
    }

    /// PUT with a JSON body.
    pub async fn put(&self, path: &str, body: &Value) -> Answer {
        self.send("PUT", path, body.to_string()).await
    }

    /// DELETE.
    pub async fn delete(&self, path: &str) -> Answer {
        Answer::of(self.request("DELETE", path)).await
    }

    /// Any method with any text that is said to be JSON.
    pub async fn send(&self, method: &str, path: &str, body: impl Into<reqwest::Body>) -> Answer {
        Answer::of(self.request(method, path).header("content-type", "application/json").body(body)).await
    }
}

impl Answer {
    /// Sends a request and reads its answer whole.
    pub async fn of(request: RequestBuilder) -> Self {
        let response = request.send().await.expect("the server answers");
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Self { status, headers, text: response.text().await.expect("the answer arrives whole") }
    }

    /// A header, empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// The body of a success of this status.
    pub fn done(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        assert_eq!(self.header("content-type"), "application/json");
        assert_eq!(self.header("cache-control"), "no-store");
        self.always();
        self.json()
    }

    /// The problem document of a refusal.
    pub fn refused(&self, status: u16, reason: &str) -> Value {
        let problem = self.json();
        assert_eq!((self.status, problem["reason"].as_str()), (status, Some(reason)), "{}", self.text);
        assert_eq!(self.header("content-type"), "application/problem+json");
        assert_eq!(self.header("cache-control"), "no-store");
        assert_eq!(problem["status"], status);
        assert_eq!(problem["type"], format!("urn:playmaker:problem:{reason}"));
        for member in ["title", "detail"] {
            assert!(problem[member].as_str().is_some_and(|text| !text.is_empty()), "{member}: {problem}");
        }
        assert_eq!(problem.get("errors").is_some(), reason == "invalid_input", "{problem}");
        assert_eq!(problem.get("instance").is_some(), reason == "internal", "{problem}");
        self.always();
        problem
    }

    /// The pointers of a refused input, in order.
    pub fn invalid_at(&self) -> Vec<String> {
        pointers(&self.refused(422, "invalid_input"))
    }

    fn always(&self) {
        assert!(uuid::Uuid::parse_str(self.header("x-request-id")).is_ok(), "x-request-id: {:?}", self.headers);
        assert_eq!(self.header("x-content-type-options"), "nosniff");
        assert_eq!(self.header("referrer-policy"), "no-referrer");
    }
}

/// The pointers of a problem document.
pub fn pointers(problem: &Value) -> Vec<String> {
    let errors = problem["errors"].as_array().unwrap_or_else(|| panic!("{problem}"));
    errors.iter().map(|issue| issue["pointer"].as_str().unwrap().to_owned()).collect()
}
