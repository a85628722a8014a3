//! Servers that are processes.

use std::collections::BTreeMap;

use serde_json::json;

use super::{arguments, context, patient, tool, woken};
use crate::tool_servers::upstream::{Because, ProcessEntry, Surroundings, Upstream};

/// Reads one request a line, puts its id into `$id`, and acts by its method. Our messages name the id first.
const LOOP: &str = r#"
    say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
    text() { say '"result":{"content":[{"type":"text","text":"'"$1"'"}]}'; }
    while IFS= read -r line; do
        id=${line#*\"id\":}; id=${id%%,*}
        case $line in
"#;

const MODERN: &str = r#"*server/discover*) say '"result":{"supportedVersions":["2026-07-28"]}' ;;"#;

const LEGACY: &str = r#"
    *server/discover*) say '"error":{"code":-32601,"message":"what?"}' ;;
    *'"initialize"'*) say '"result":{"protocolVersion":"2024-11-05"}' ;;
"#;

fn process(cases: &[&str], surroundings: Surroundings) -> Upstream {
    let script = format!("{LOOP}{}\nesac; done", cases.concat());
    let entry = ProcessEntry {
        command: "/bin/sh".into(),
        args: vec!["-c".into(), script],
        env: BTreeMap::from([("KEY".into(), "hunter22".into())]),
        request_id: None,
    };
    Upstream::process(entry, surroundings)
}

async fn call(upstream: &Upstream) -> Result<String, crate::tool_servers::upstream::Trouble> {
    let called = upstream.call(&tool("find", json!({})), &arguments(json!({})), &context()).await?;
    Ok(called.text)
}

#[tokio::test]
async fn a_process_has_its_own_environment_and_an_empty_folder() {
    let look = r#"*tools/call*) text "$KEY:$HOME:$(ls | /usr/bin/wc -l | tr -d ' '):$PWD" ;;"#;
    let upstream = process(&[MODERN, look], patient());
    let text = call(&upstream).await.unwrap();
    let parts: Vec<&str> = text.split(':').collect();
    assert_eq!(parts[..3], ["hunter22", "", "0"], "{text}");
    assert_ne!(parts[3], std::env::current_dir().unwrap().to_str().unwrap());
    upstream.close().await;
    assert!(!std::path::Path::new(parts[3]).exists(), "the folder goes with the process");
}

#[tokio::test]
async fn many_calls_at_once_are_told_apart() {
    // Answers two calls only when both are there, the second first.
    let pair = r#"*tools/call*)
        if [ -z "$first" ]; then first=$id; else second=$id; text "$second"; id=$first; text "$first"; fi ;;"#;
    let upstream = process(&[LEGACY, pair], patient());
    let tool = tool("find", json!({}));
    let (none, context) = (arguments(json!({})), context());
    let (one, two) = tokio::join!(upstream.call(&tool, &none, &context), upstream.call(&tool, &none, &context));
    for called in [one.unwrap(), two.unwrap()] {
        assert_eq!(called.text, called.jsonrpc_id.unwrap().to_string());
    }
}

#[tokio::test]
async fn noise_is_skipped_and_changes_of_the_list_are_counted() {
    let noisy = r#"*tools/call*)
        echo 'starting up...'; echo 'to the log' >&2
        echo '{"jsonrpc":"2.0","id":999,"result":{}}'
        echo '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
        text done ;;"#;
    let upstream = process(&[MODERN, noisy], patient());
    assert_eq!(call(&upstream).await.unwrap(), "done");
    assert_eq!(upstream.list_changes(), 1);
}

#[tokio::test]
async fn what_a_process_asks_is_refused() {
    let asks = r#"*tools/call*) held=$id; id='"theirs"'; say '"method":"roots/list"' ;;
        *-32601*) id=$held; text refused ;;"#;
    let upstream = process(&[MODERN, asks], patient());
    assert_eq!(call(&upstream).await.unwrap(), "refused");
}

#[tokio::test]
async fn a_process_that_ends_is_started_again_but_its_call_is_not_repeated() {
    let ends = r#"*tools/call*) exit 3 ;; *tools/list*) say '"result":{"tools":[]}' ;;"#;
    let upstream = process(&[LEGACY, ends], patient());
    let trouble = call(&upstream).await.unwrap_err();
    assert_eq!((trouble.because, trouble.sent), (Because::Unreachable, true));
    assert!(upstream.list().await.is_ok());
}

#[tokio::test]
async fn a_process_that_ends_at_a_message_it_does_not_know_is_initialized_at_once() {
    let strict = r#"*server/discover*) exit 1 ;;
        *'"initialize"'*) say '"result":{"protocolVersion":"2025-03-26"}' ;;
        *tools/call*) text fine ;;"#;
    assert_eq!(call(&process(&[strict], patient())).await.unwrap(), "fine");
}

#[tokio::test]
async fn a_process_that_keeps_ending_is_left_alone() {
    let (surroundings, clock, _) = woken();
    let upstream = process(&["*) exit 1 ;;"], surroundings);
    for _ in 0..2 {
        assert_eq!(call(&upstream).await.unwrap_err().because, Because::Unreachable);
    }
    let started = upstream.list_changes();
    let trouble = call(&upstream).await.unwrap_err();
    assert!(trouble.detail.contains("left alone"), "{trouble}");
    assert_eq!(upstream.list_changes(), started);
    clock.advance_ms(30_000);
    assert!(call(&upstream).await.is_err());
    assert_eq!(upstream.list_changes(), started + 1, "started once more");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_unreachable() {
    let entry =
        ProcessEntry { command: "/nowhere/at/all".into(), args: Vec::new(), env: BTreeMap::new(), request_id: None };
    let trouble = Upstream::process(entry, patient()).list().await.unwrap_err();
    assert_eq!((trouble.because, trouble.sent), (Because::Unreachable, false));
}

#[tokio::test]
async fn a_line_over_its_bound_ends_the_process() {
    let long = r#"*tools/call*) /usr/bin/head -c 5000000 /dev/zero | /usr/bin/tr '\0' x; echo ;;"#;
    let upstream = process(&[MODERN, long], patient());
    assert_eq!(call(&upstream).await.unwrap_err().because, Because::Unreachable);
}

#[tokio::test]
async fn dropping_a_call_tells_the_process() {
    let waits = r#"*notifications/cancelled*) gone=yes ;;
        *'"slow"'*) echo '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}' ;;
        *tools/call*) text "$gone" ;;"#;
    let upstream = process(&[MODERN, waits], patient());
    let slow = tool("slow", json!({}));
    let (none, context) = (arguments(json!({})), context());
    let mut dropped = Box::pin(upstream.call(&slow, &none, &context));
    while upstream.list_changes() == 0 {
        tokio::select! {
            _ = &mut dropped => panic!("the slow tool never answers"),
            () = tokio::task::yield_now() => {}
        }
    }
    drop(dropped);
    assert_eq!(call(&upstream).await.unwrap(), "yes");
}

#[tokio::test]
async fn a_process_nobody_uses_is_ended() {
    let tells = r#"*tools/call*) text "$$" ;;"#;
    let (surroundings, clock, wake) = woken();
    let upstream = process(&[LEGACY, tells], surroundings);
    let first = call(&upstream).await.unwrap();
    clock.advance_ms(10 * 60 * 1000);
    wake.notify_one();
    while upstream.list_changes() == 0 {
        tokio::task::yield_now().await;
    }
    assert_ne!(call(&upstream).await.unwrap(), first, "another process answers");
}

#[tokio::test]
async fn whatever_a_process_started_ends_with_it() {
    let starts = r#"*tools/call*) /bin/sleep 600 & text "$!" ;;"#;
    let upstream = process(&[MODERN, starts], patient());
    let child: i32 = call(&upstream).await.unwrap().parse().unwrap();
    upstream.close().await;
    let child = rustix::process::Pid::from_raw(child).unwrap();
    // Killed before the close was over; a child whose parent is gone may still wait to be collected.
    let file = format!("/proc/{}/stat", child.as_raw_nonzero());
    while std::fs::read_to_string(&file).is_ok_and(|state| !state.contains(") Z ")) {
        tokio::task::yield_now().await;
    }
}
