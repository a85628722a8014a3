//! Who gets in, from where, with what: the checks every request passes before anything is done (`http-api.md` 1 and 2).

mod bodies;
mod browsers;
mod crowded;
mod framing;
mod limits;
mod open_routes;
mod proxied;
mod resources;
mod ways;

/// Every way to make a server do something, for tests of what comes before it: an operation and an MCP endpoint each.
const DOORS: [(&str, &str); 6] = [
    ("GET", "/v1/orgs/north/playbooks"),
    ("POST", "/v1/orgs/north/playbooks"),
    ("GET", "/v1/guides/terminology"),
    ("POST", "/mcp"),
    ("POST", "/orgs/north/mcp"),
    ("POST", "/orgs/north/playbooks/support/mcp"),
];
