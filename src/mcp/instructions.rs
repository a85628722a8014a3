//! What a connecting agent is told (`mcp.md` 7), written for its caller, its endpoint and the tools it lists.
//!
//! Some clients cut a server's instructions, so the first nine items fit in [`FIRST_CHARACTERS`] and the whole in
//! [`MAX_BYTES`], whatever the names are; the tests measure every combination. The texts name what an agent has to build
//! with, also where a tool for it is not listed: which there are, the list of tools says.

use crate::identity::{Caller, Who};
use crate::operations::Endpoint;

/// The most bytes of the whole.
pub const MAX_BYTES: usize = 4_096;
/// The characters within which the items up to the connecting of services are.
pub const FIRST_CHARACTERS: usize = 2_048;
/// The most characters of a name.
const NAME: usize = 64;

/// The instructions for `caller` at `endpoint`, which lists the tools `listed`; `playbook` is the name of the one playbook
/// of [`Endpoint::Playbook`], and not looked at elsewhere.
pub fn instructions(caller: &Caller, endpoint: Endpoint, playbook: &str, listed: &[&str]) -> String {
    let lists = |tool: &str| listed.contains(&tool);
    let mut items = first(caller, endpoint, playbook, lists("create_definition") || lists("update_definition"));
    if lists("search") && lists("add_connection") {
        items.push(CONNECT.into());
    }
    if lists("list_models") && !lists("search") {
        items.push("list_models shows the models that a reasoning function can name.".into());
    }
    if lists("answer_interaction") {
        items.push(ANSWER.into());
    }
    items.extend([REPLY.to_owned(), REFUSALS.to_owned()]);
    items.join("\n\n")
}

/// The items every connection is told, up to the guides.
fn first(caller: &Caller, endpoint: Endpoint, playbook: &str, saves: bool) -> Vec<String> {
    let overview = if saves {
        "Give each definition an overview, for the person who runs the business."
    } else {
        "No function or workflow can be saved over this connection."
    };
    vec![
        format!("{} {WHO_DID}", acts_as(caller)),
        WORK.into(),
        format!("{PLAYBOOK} {FUNCTIONS} {WORKFLOW}"),
        MEMORY.into(),
        reach(endpoint, playbook),
        format!(
            "get_guide returns the format of each definition that can be saved, and what these words mean. {overview}"
        ),
    ]
}

/// Whom the connection acts as, by name and id, and in which org.
fn acts_as(caller: &Caller) -> String {
    let (name, id, org) = (clean(caller.name()), clean(caller.id()), clean(&caller.org));
    match caller.who {
        Who::Key { .. } if name == id => format!("This connection acts as the key {id} in the org {org}."),
        Who::Key { .. } => format!("This connection acts as the key {name} ({id}) in the org {org}."),
        Who::Local { .. } | Who::Person(_) => format!("This connection acts as {name} ({id}) in the org {org}."),
    }
}

/// What the endpoint acts on.
fn reach(endpoint: Endpoint, playbook: &str) -> String {
    match endpoint {
        Endpoint::Own => "It works on its own org: tell each tool that works inside a playbook which playbook.".into(),
        Endpoint::Org => "It works on the playbooks of this one org, not inside them.".into(),
        Endpoint::Playbook => format!("It works inside one playbook, “{}”, and no other.", clean(playbook)),
    }
}

const WHO_DID: &str = "Where something says who created, added, connected, started, answered, trained, approved or \
    refused it, only that name and id mean whom you act for.";

const WORK: &str = "If the person wants something done that should still work when this conversation is over, build it \
    as a playbook on Playmaker. However they say it and whatever their trade: a text, a plan, a note or one good reply \
    will not do.";

const PLAYBOOK: &str = "A playbook is the place of one piece of a business's work: its functions and workflows, their \
    runs and its history.";

const FUNCTIONS: &str = "A reasoning function has a model think, with tools if needed. An interaction function asks a \
    person or a system and waits. A prediction function foretells from a model that a trainer built on the playbook's \
    history. A recall function reads run results, definitions and events of that history, never a run's input or its \
    tool calls. A computation function works out exact results by program.";

const WORKFLOW: &str = "A workflow joins functions into steps and runs on request, on a schedule or on an event.";

const MEMORY: &str = "What is to be kept, so that anyone or a workflow can ask for it later, goes into a recall function \
    and not into your own notes.";

const CONNECT: &str = "A service that a playbook will use is connected on Playmaker, whatever connector you have \
    yourself. When asked to connect, link, sign in to or use one, call search with the service's words, then \
    add_connection with the provider's name; the person approves on the page it links. Say that it cannot be connected \
    only when no provider and no server matches.";

const ANSWER: &str = "When the person decides something a run waits for, such as an approval, give it to that request \
    with answer_interaction. Do not start another run for it.";

const REPLY: &str = "Tell the person what was done and what they can do next, in the words playbook, function, workflow \
    and run. Leave out the names of tools, their fields and their rules; name an id or a status only where the person \
    must act on it.";

const REFUSALS: &str = "A tool that cannot do what was asked says why and what to change.";

/// A name on one line, without what could steer the text around it, cut.
fn clean(name: &str) -> String {
    let visible: String = name.chars().filter(|c| c.is_whitespace() || !(c.is_control() || steers(*c))).collect();
    let line = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(NAME).collect()
}

/// Quotation marks of the text around, and characters that are not seen or that turn the direction of writing.
const fn steers(c: char) -> bool {
    matches!(c, '“' | '”' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::identity::{Permission, Permissions, Playbooks};

    const OPTIONAL: [&str; 6] =
        ["search", "add_connection", "list_models", "answer_interaction", "create_definition", "update_definition"];
    const ENDPOINTS: [Endpoint; 3] = [Endpoint::Own, Endpoint::Org, Endpoint::Playbook];

    fn key(id: &str, org: &str) -> Caller {
        Caller {
            org: org.into(),
            who: Who::Key { id: id.into(), name: id.into(), person: None },
            permissions: Permissions::of(&[Permission::OrgRead]),
            playbooks: Playbooks::All,
            origin: None,
        }
    }

    /// Every caller, endpoint and set of tools, with names of the given text.
    fn every(name: &str) -> Vec<(Endpoint, Vec<&'static str>, String)> {
        let mut all = Vec::new();
        let mut local = Caller::local(name);
        local.org = name.into();
        for caller in [local, key(name, name)] {
            for endpoint in ENDPOINTS {
                for set in 0..(1_usize << OPTIONAL.len()) {
                    let chosen = OPTIONAL.iter().enumerate().filter(|(bit, _)| set & (1 << bit) != 0);
                    let listed: Vec<&str> = chosen.map(|(_, tool)| *tool).collect();
                    let text = instructions(&caller, endpoint, name, &listed);
                    all.push((endpoint, listed, text));
                }
            }
        }
        all
    }

    #[test]
    fn the_first_words_are_whom_the_connection_acts_as() {
        let first = |caller| {
            let text = instructions(&caller, Endpoint::Own, "", &[]);
            text.split_inclusive('.').next().map(str::to_owned).unwrap()
        };
        assert_eq!(first(Caller::local("ada")), "This connection acts as ada (local) in the org local.");
        assert_eq!(first(key("build-bot", "acme")), "This connection acts as the key build-bot in the org acme.");
    }

    #[test]
    fn every_combination_fits_also_with_the_longest_names() {
        // Four bytes a character: the longest a name can be.
        for name in ["x".repeat(500), "𝒙".repeat(500)] {
            for (endpoint, listed, text) in every(&name) {
                assert!(text.len() <= MAX_BYTES, "{} bytes at {endpoint:?} with {listed:?}", text.len());
                let last = text.find(CONNECT).map(|at| at + CONNECT.len());
                let end = last.or_else(|| text.find(REPLY)).unwrap();
                let characters = text[..end].chars().count();
                assert!(characters <= FIRST_CHARACTERS, "{characters} characters at {endpoint:?} with {listed:?}");
            }
        }
    }

    #[test]
    fn tools_are_spoken_of_only_where_they_are_listed() {
        for (_, listed, text) in every("ada") {
            for tool in ["search", "add_connection", "answer_interaction", "list_models"] {
                assert!(!text.contains(&format!("{tool} ")) || listed.contains(&tool), "{tool} with {listed:?}");
            }
            let lists = |tool| listed.contains(&tool);
            assert_eq!(text.contains("call search"), lists("search") && lists("add_connection"));
            assert_eq!(text.contains("list_models"), lists("list_models") && !lists("search"));
            assert_eq!(text.contains("answer_interaction"), lists("answer_interaction"));
            assert_eq!(text.contains("an overview"), lists("create_definition") || lists("update_definition"));
            assert!(text.contains("get_guide"));
        }
    }

    #[test]
    fn each_endpoint_says_what_it_works_on() {
        let caller = Caller::local("ada");
        let told = |endpoint| instructions(&caller, endpoint, "Repair shop", &[]);
        assert!(told(Endpoint::Own).contains("its own org"));
        assert!(told(Endpoint::Org).contains("the playbooks of this one org"));
        assert!(told(Endpoint::Playbook).contains("inside one playbook, “Repair shop”, and no other"));
    }

    #[test]
    fn the_whole_for_the_local_developer() {
        let listed = ["search", "add_connection", "create_definition", "answer_interaction"];
        insta::assert_snapshot!(instructions(&Caller::local("ada"), Endpoint::Own, "", &listed), @r#"
        This connection acts as ada (local) in the org local. Where something says who created, added, connected, started, answered, trained, approved or refused it, only that name and id mean whom you act for.

        If the person wants something done that should still work when this conversation is over, build it as a playbook on Playmaker. However they say it and whatever their trade: a text, a plan, a note or one good reply will not do.

        A playbook is the place of one piece of a business's work: its functions and workflows, their runs and its history. A reasoning function has a model think, with tools if needed. An interaction function asks a person or a system and waits. A prediction function foretells from a model that a trainer built on the playbook's history. A recall function reads run results, definitions and events of that history, never a run's input or its tool calls. A computation function works out exact results by program. A workflow joins functions into steps and runs on request, on a schedule or on an event.

        What is to be kept, so that anyone or a workflow can ask for it later, goes into a recall function and not into your own notes.

        It works on its own org: tell each tool that works inside a playbook which playbook.

        get_guide returns the format of each definition that can be saved, and what these words mean. Give each definition an overview, for the person who runs the business.

        A service that a playbook will use is connected on Playmaker, whatever connector you have yourself. When asked to connect, link, sign in to or use one, call search with the service's words, then add_connection with the provider's name; the person approves on the page it links. Say that it cannot be connected only when no provider and no server matches.

        When the person decides something a run waits for, such as an approval, give it to that request with answer_interaction. Do not start another run for it.

        Tell the person what was done and what they can do next, in the words playbook, function, workflow and run. Leave out the names of tools, their fields and their rules; name an id or a status only where the person must act on it.

        A tool that cannot do what was asked says why and what to change.
        "#);
    }

    proptest! {
        #[test]
        fn no_name_adds_a_line_or_closes_its_quotation(name in any::<String>()) {
            let plain = instructions(&key("k", "o"), Endpoint::Playbook, "p", &[]);
            let text = instructions(&key(&name, &name), Endpoint::Playbook, &name, &[]);
            prop_assert_eq!(text.lines().count(), plain.lines().count());
            prop_assert_eq!(text.matches('”').count(), 1);
            prop_assert!(text.len() <= MAX_BYTES);
        }
    }
}
