//! Each line that stops the start, whole: where, which key, what was expected, and never the value.

mod api_keys;
mod apis;
mod credentials;
mod files;
mod rules;
mod tool_servers;
mod variables;

use super::refusal;

/// A bad file, and what follows its name in the line it is refused with.
type Row = (&'static str, &'static str);

fn refused(rows: &[Row]) {
    for (file, line) in rows {
        let told = refusal(&[("KEY", "value-of-a-key")], Some(file));
        assert_eq!(told, format!("playmaker.yaml, {line}"), "{file}");
    }
}
