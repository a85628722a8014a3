//! The catalogue through its public surface: what comes with the program, what is refused, how addresses are filled.

mod addresses;
mod faults;
mod files;
mod offers;

use serde_json::{Map, Value};

use super::*;

const SHOP: &str = "\
name: shop
title: Shop
description: Orders and stock.
placeholders:
  - { name: shop, title: Shop, description: Name of the shop, in: host_label, pattern: '^[a-z0-9-]{2,63}$', example: blue-door }
  - { name: team, title: Team, description: Its team, in: path, pattern: '^.{1,40}$', default: main }
  - { name: ref, title: Project, description: Its project, in: query, options: [one, two&x=1] }
server: { type: mcp, url: 'https://{shop}.example.com/teams/{team}/mcp?project={ref}' }
ways:
  - { kind: secret, title: Key, name: X-Shop-Key, in: header }
";

fn files(text: &str) -> Vec<File> {
    vec![File { name: "shop.yaml".into(), text: text.into() }]
}

fn catalogue(text: &str) -> Catalogue {
    Catalogue::with(&files(text)).unwrap_or_else(|fault| panic!("{fault}"))
}

fn fault(text: &str) -> String {
    match Catalogue::with(&files(text)) {
        Ok(_) => panic!("taken:\n{text}"),
        Err(fault) => fault.to_string(),
    }
}

fn filled(given: &Value) -> Result<String, Vec<String>> {
    let catalogue = catalogue(SHOP);
    let given: Map<String, Value> = given.as_object().cloned().unwrap_or_default();
    catalogue
        .resolve(catalogue.get("shop").unwrap(), &given)
        .map(|resolved| resolved.url)
        .map_err(|issues| issues.into_iter().map(|issue| issue.pointer).collect())
}
