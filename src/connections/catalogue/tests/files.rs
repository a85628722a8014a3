//! The files that come with the program and the operator's.

use serde_json::{Map, Value, json};

use super::super::*;
use super::{SHOP, catalogue, fault, files};

#[test]
fn every_file_that_comes_with_the_program_is_listed_and_loads() {
    let catalogue = Catalogue::built_in().unwrap_or_else(|fault| panic!("{fault}"));
    let folder = |name: &str| -> Vec<String> {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/connections").join(name);
        let mut names: Vec<String> = std::fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter_map(|name| name.strip_suffix(".yaml").map(str::to_owned))
            .collect();
        names.sort();
        names
    };
    let named = |names: &mut dyn Iterator<Item = &String>| -> Vec<String> {
        names.map(|name| name.trim_end_matches(".yaml").to_owned()).collect()
    };
    assert_eq!(named(&mut catalogue.providers.keys()), folder("providers"));
    assert_eq!(named(&mut catalogue.toolkits.keys()), folder("toolkits"));
    assert_eq!(named(&mut catalogue.documents.keys()), folder("documents"));
}

#[test]
fn every_provider_resolves_with_its_examples_and_takes_a_secret_where_it_has_one() {
    let catalogue = Catalogue::built_in().unwrap();
    let rules = Rules { kinds: vec![Kind::Secret], providers: Shown::parse("*"), variables: false, returns: true };
    for provider in catalogue.all() {
        let examples: Map<String, Value> = provider
            .placeholders
            .iter()
            .filter_map(|placeholder| Some((placeholder.name.clone(), json!(placeholder.example.clone()?))))
            .collect();
        let resolved = catalogue.resolve(provider, &examples).unwrap();
        assert_eq!(resolved.source.is_some(), resolved.r#type == Type::Openapi, "{}", provider.name);
        // An MCP server proves a credential by its tools; an HTTP API needs a request of its own for that.
        assert!(provider.verify.is_some() || resolved.r#type == Type::Mcp, "{}", provider.name);
        if provider.way(Kind::Secret).is_some() {
            let way = provider.preferred_way(&|_| false, &rules).unwrap();
            assert_eq!(way.kind, Kind::Secret, "{}", provider.name);
            assert!(way.put().is_some(), "{}: a value goes under one name", provider.name);
        }
    }
}

#[test]
fn the_toolkits_name_their_tools_and_the_place_of_each_argument() {
    for (toolkit, text) in embedded::TOOLKITS {
        let document: Value = serde_saphyr::from_str(text).unwrap();
        let tools = document["tools"].as_array().unwrap();
        let mut names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        for tool in tools {
            let (name, path) = (tool["name"].as_str().unwrap(), tool["path"].as_str().unwrap());
            assert!(name.starts_with(&format!("{}_", toolkit.replace('-', "_"))) && name.len() <= 64);
            assert!(tool["description"].as_str().unwrap().chars().count() <= 200, "{name}");
            let mut in_path = 0;
            for (argument, schema) in tool["arguments"].as_object().into_iter().flatten() {
                let place = schema["place"].as_str().unwrap();
                assert!(["path", "query", "header", "body"].contains(&place), "{name} {argument}");
                assert!(schema["description"].as_str().unwrap().chars().count() <= 200);
                assert_eq!(place == "path", path.contains(&format!("{{{argument}}}")), "{name} {argument}");
                in_path += usize::from(place == "path");
            }
            assert_eq!(path.matches('{').count(), in_path, "{name}");
        }
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}

#[test]
fn featured_providers_come_first_and_the_others_by_title() {
    let catalogue = catalogue(&SHOP.replace("title: Shop\ndesc", "title: Aardvark\ndesc"));
    let all = catalogue.all();
    let names: Vec<&str> = all.iter().map(|found| found.name.as_str()).collect();
    let featured = ["github", "notion", "gmail", "linear", "google-sheets", "googlecalendar"];
    assert_eq!(names[..6], featured);
    assert_eq!(names.iter().position(|name| *name == "shop"), Some(6), "Aardvark is the first of the others");
    let titles: Vec<String> = all[6..].iter().map(|found| found.title.to_lowercase()).collect();
    assert!(titles.is_sorted(), "{titles:?}");
    assert!(catalogue.get("Notion").is_none());
}

#[test]
fn providers_are_found_by_words_and_by_their_beginnings() {
    let catalogue = Catalogue::built_in().unwrap();
    let found = |terms: &str| -> Vec<String> { catalogue.find(terms).iter().map(|found| found.name.clone()).collect() };
    assert_eq!(found("Notion")[0], "notion");
    assert!(found("cale").contains(&"calendly".to_owned()) && found("cale").contains(&"googlecalendar".to_owned()));
    assert_eq!(found("a knowledge base, please")[0], "notion");
    assert_eq!(found("model")[0], "huggingface");
    assert_eq!(found("zzz"), Vec::<String>::new());
    assert_eq!(found("").len(), catalogue.all().len());
}

/// Security case 62.
#[test]
fn a_built_in_name_is_taken_only_with_replaces() {
    let mine = SHOP.replace("name: shop\n", "name: notion\n");
    let file = |text: &str| vec![File { name: "notion.yaml".into(), text: text.into() }];
    let told = Catalogue::with(&file(&mine)).unwrap_err().to_string();
    assert!(told.starts_with("notion.yaml:1:7: a built-in provider has this name"), "{told}");
    let replacing = mine.replace("title: Shop\n", "title: Ours\nreplaces: true\n");
    let catalogue = Catalogue::with(&file(&replacing)).unwrap();
    assert_eq!(catalogue.get("notion").unwrap().title, "Ours");
    let mut twice = file(&replacing);
    twice.extend(file(&replacing));
    assert!(Catalogue::with(&twice).unwrap_err().detail.contains("twice"));
}

/// Whether the address may be called is the egress rules' matter; for people's eyes https alone is taken.
#[test]
fn an_operators_server_may_be_plain_http_but_nothing_people_open() {
    let plain = SHOP.replace("https://{shop}.example.com", "http://{shop}.internal:8080");
    assert_eq!(catalogue(&plain).get("shop").unwrap().host(), "{shop}.internal:8080");
    let help = SHOP.replace("title: Key,", "title: Key, help: 'http://a.b',");
    assert!(fault(&help).contains("expected an https address"));
}

#[test]
fn an_operators_document_lies_beside_its_provider() {
    let api = SHOP.replace("type: mcp,", "type: openapi, document: { file: shop.json },");
    assert!(fault(&api).contains("there is no document shop.json"));
    let mut both = files(&api);
    both.push(File { name: "shop.json".into(), text: "{}".into() });
    let catalogue = Catalogue::with(&both).unwrap();
    let given = json!({ "shop": "blue", "ref": "one" });
    let resolved = catalogue.resolve(catalogue.get("shop").unwrap(), given.as_object().unwrap()).unwrap();
    assert!(matches!(resolved.source, Some(Source::Document { text }) if &*text == "{}"));
}

#[cfg(unix)]
#[test]
fn the_operators_folder_is_read_without_links() {
    let name = crate::ids::Ids::new(Arc::new(crate::ids::SystemEntropy)).base62("playmaker-providers-", 12);
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(folder.join("icons.yaml")).unwrap();
    std::fs::write(folder.join("shop.yaml"), SHOP).unwrap();
    std::fs::write(folder.join("README.md"), "not a provider").unwrap();
    let read = read_folder(&folder).unwrap();
    assert_eq!(read.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(), ["shop.yaml"]);
    assert!(Catalogue::with(&read).unwrap().get("shop").is_some());
    std::os::unix::fs::symlink("/etc/hostname", folder.join("link.yaml")).unwrap();
    let told = read_folder(&folder).unwrap_err();
    assert!(told.file == "link.yaml" && told.detail.contains("is a link"));
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(read_folder(&folder).is_err());
}
