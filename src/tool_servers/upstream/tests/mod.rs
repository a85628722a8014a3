//! Upstreams against servers that behave in every way they do.

mod http;
mod legacy;
mod peer;
mod process;
mod stand_in;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::Notify;

use super::{CallContext, ListedTool, Scrub, Surroundings};
use crate::clock::ManualClock;

/// Leaves every text as it is.
pub(super) fn unscrubbed() -> Scrub {
    Arc::new(str::to_owned)
}

/// Surroundings in which waits are over at once, and the clock moved on by what was waited.
fn hurried() -> (Surroundings, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::at(1_790_847_000_000));
    let moved = clock.clone();
    let surroundings = Surroundings {
        clock: clock.clone(),
        sleep: Arc::new(move |time: Duration| {
            let moved = moved.clone();
            Box::pin(async move {
                moved.advance_ms(i64::try_from(time.as_millis()).unwrap());
                tokio::task::yield_now().await;
            })
        }),
        scrub: Arc::new(|text| text.replace("hunter22", "[secret]")),
    };
    (surroundings, clock)
}

/// Surroundings in which a wait is over when the test says so.
fn woken() -> (Surroundings, Arc<ManualClock>, Arc<Notify>) {
    let (clock, wake) = (Arc::new(ManualClock::at(0)), Arc::new(Notify::new()));
    let bell = wake.clone();
    let surroundings = Surroundings {
        clock: clock.clone(),
        sleep: Arc::new(move |_| {
            let bell = bell.clone();
            Box::pin(async move { bell.notified().await })
        }),
        scrub: unscrubbed(),
    };
    (surroundings, clock, wake)
}

/// Surroundings in which no wait is ever over.
fn patient() -> Surroundings {
    Surroundings {
        clock: Arc::new(ManualClock::at(0)),
        sleep: Arc::new(|_| Box::pin(std::future::pending())),
        scrub: unscrubbed(),
    }
}

fn tool(name: &str, annotations: Value) -> ListedTool {
    let scrub = unscrubbed();
    let mut pages = super::listing::Pages::new(true, 0, &scrub);
    let schema =
        json!({ "type": "object", "properties": { "region": { "type": "string", "x-mcp-header": "Region" } } });
    let listed = json!({ "name": name, "inputSchema": schema, "annotations": annotations });
    pages.take(json!({ "tools": [listed] })).unwrap();
    pages.finish().tools.remove(0)
}

fn arguments(arguments: Value) -> Map<String, Value> {
    arguments.as_object().cloned().unwrap()
}

fn context() -> CallContext {
    CallContext { call_id: "call-1".into(), run_id: Some("run-1".into()), traceparent: None }
}
