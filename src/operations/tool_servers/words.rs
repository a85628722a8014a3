//! The words of these operations' summaries (`mcp.md` 12.2).

use super::shown::Output;
use crate::operations::words::{count, cut, joined, joined_most, quoted, value};
use crate::tool_servers::execute::{Answer, Outcome};

/// How many names a summary tells.
const NAMES: usize = 5;

/// The first sentence of a text, at most 300 characters.
pub(super) fn first_sentence(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let end = line.match_indices(['.', '!', '?']).map(|(at, _)| at + 1).find(|end| line[*end..].starts_with(' '));
    cut(&line[..end.unwrap_or(line.len())], 300)
}

/// How a call went.
pub(super) fn executed(answer: &Answer) -> String {
    let tool = format!("The tool {} of {}", quoted(&answer.tool), quoted(&answer.server));
    let told = match answer.outcome {
        Outcome::Result => {
            let short = answer.answer.as_ref().and_then(value).or_else(|| {
                let is_short = answer.answer.is_none() && answer.text.chars().count() <= 300;
                is_short.then(|| quoted(&answer.text))
            });
            match short {
                Some(short) => format!("{tool} was called. Its answer: {short}{}", stop(&short)),
                None => format!("{tool} was called. Its result is long; the structured content holds it."),
            }
        }
        Outcome::ToolError => format!("{tool} was called and answered with an error: {}.", quoted(&answer.text)),
        Outcome::ServerFailure => {
            format!("{tool} was called and gave no answer: {}. The call may have had its effect.", quoted(&answer.text))
        }
        Outcome::TimedOut => format!("{tool} was called and did not answer in time. The call may have had its effect."),
    };
    let recorded = if answer.replayed {
        "It was not called again: this is the answer of before."
    } else {
        "The call is in the history."
    };
    format!("{told} {recorded}")
}

fn stop(text: &str) -> &'static str {
    if text.trim_end_matches(['”', ')']).ends_with(['.', '!', '?', '…']) { "" } else { "." }
}

/// What a search found.
pub(super) fn searched(output: &Output) -> String {
    let mut sentences = Vec::new();
    match output.total {
        0 if output.any_server => {
            sentences.push("No tool matches.".to_owned());
            let alike = output.did_you_mean.iter().flatten();
            let names: Vec<String> = alike.map(|name| quoted(name.rsplit('/').next().unwrap_or(name))).collect();
            if !names.is_empty() {
                sentences.push(format!("The nearest by spelling: {}.", joined(&names)));
            }
        }
        0 => {}
        total => {
            let verb = if total == 1 { "matches" } else { "match" };
            sentences.push(format!("{} on {} {verb}.", count(total, "tool"), count(output.servers_matching, "server")));
        }
    }
    let unavailable = output.servers.iter().filter_map(|server| Some((server, server.unavailable.as_deref()?)));
    for (server, words) in unavailable.take(NAMES) {
        sentences.push(format!(
            "The server {} cannot be used now: {}{}",
            quoted(&server.name),
            cut(words, 300),
            stop(words)
        ));
    }
    let titles: Vec<String> = output.providers.iter().flatten().map(|provider| quoted(&provider.title)).collect();
    if !titles.is_empty() {
        sentences.push(format!("A person can connect {}.", joined_most(&titles, NAMES)));
    }
    if !output.any_server {
        sentences.push(nothing_serves(output, !titles.is_empty()));
    }
    if output.has_more {
        sentences.push("More follow on the next page.".to_owned());
    }
    sentences.join(" ")
}

fn nothing_serves(output: &Output, lists_provider: bool) -> String {
    let mut words = "No tool server is here yet; whoever runs the server sets one up".to_owned();
    if output.people_may_add {
        words.push_str(if lists_provider {
            ", a person adds one, or a person connects a provider listed"
        } else {
            ", or a person adds one"
        });
    }
    words.push('.');
    words
}
