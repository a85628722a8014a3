//! Tool servers: MCP servers and HTTP APIs whose tools a playbook may call.

pub mod openapi;
pub mod scrub;
pub mod upstream;

use crate::app::App;
use crate::connections::{Placed, Record};
use crate::error::Problem;

/// TEMP
pub struct Probed {
    pub account: Option<String>,
}
pub enum Probe {
    Refused,
    Unreachable(String),
    NotAllowed,
}
pub async fn probe(_app: &App, _record: &Record, _placed: Option<&Placed>) -> Result<Probed, Probe> {
    Ok(Probed { account: None })
}
pub async fn fetch_document(_app: &App, _url: &str) -> Result<String, Problem> {
    Err(Problem::internal("later"))
}
pub fn check_document(_text: &str, _base: Option<&str>, _document: Option<&str>) -> Result<Option<String>, String> {
    Ok(None)
}
