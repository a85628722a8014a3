use super::refusal;

/// Every bad file with the whole line it is refused with.
fn files(rows: &[(&str, &str)]) {
    for (file, line) in rows {
        assert_eq!(&refusal(&[("KEY", "value-of-a-key")], Some(file)), &format!("playmaker.yaml{line}"), "{file}");
    }
}

/// Every bad variable with the whole line it is refused with.
fn variables(rows: &[(&str, &str, &str)]) {
    for (name, value, line) in rows {
        assert_eq!(&refusal(&[(name, value)], None), &format!("variable {name}{line}"), "{name}={value}");
    }
}

#[test]
fn a_file_that_is_not_a_file_of_settings() {
    files(&[
        ("tool_servers: [", ", line 1, column 16: expected well-formed YAML, one document"),
        ("- 1", ", line 1, column 1: expected a map of settings"),
        ("api_keys: []\napi_keys: []", ", line 2, column 1: expected each key once"),
        ("a: 1", "X"),
        (
            "api_keys: []\ndatabase_url: postgres://u:pw@h/d",
            ", line 2, column 1, key database_url: expected no such key: it holds a password, so set the variable \
             DATABASE_URL",
        ),
        (
            "port: 5555",
            ", line 1, column 1, key port: expected no such key: the file holds lists and maps, so set the variable \
             PORT",
        ),
    ]);
    assert_eq!(
        refusal(&[("CONFIG_FILE", "nowhere.yaml")], None),
        "variable CONFIG_FILE: expected the path of a readable file"
    );
}
