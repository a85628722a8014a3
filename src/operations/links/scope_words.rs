//! Scopes in plain words. Providers name theirs as they like, so the words are made of what the name tells; the name itself
//! is shown beside them.

/// What each of these words, at the end of a scope's name, lets somebody do with the rest.
const VERBS: [(&str, &str); 14] = [
    ("readonly", "Read"),
    ("read_only", "Read"),
    ("read", "Read"),
    ("readwrite", "Read and change"),
    ("write", "Change"),
    ("modify", "Read and change"),
    ("edit", "Change"),
    ("send", "Send"),
    ("create", "Make"),
    ("delete", "Delete"),
    ("admin", "Manage"),
    ("manage", "Manage"),
    ("full", "Do everything with"),
    ("all", "Do everything with"),
];

/// A scope in words for the person who allows it.
pub(super) fn words(scope: &str) -> String {
    match scope {
        "openid" => return "Know that it is you who signed in".into(),
        "email" => return "See your email address".into(),
        "profile" => return "See your name and picture".into(),
        "offline_access" => return "Stay connected while you are away".into(),
        _ => {}
    }
    let name = scope.trim_end_matches('/').rsplit('/').next().unwrap_or(scope).to_lowercase();
    let parts: Vec<&str> = name.split([':', '.', '-']).filter(|part| !part.is_empty()).collect();
    let verb = |part: &&str| VERBS.iter().find(|(word, _)| word == part).map(|(_, verb)| *verb);
    let plain = |parts: &[&str]| parts.join(" ").replace('_', " ");
    match parts.as_slice() {
        [first, rest @ ..] if !rest.is_empty() && verb(first).is_some() => {
            format!("{} {}", verb(first).unwrap_or_default(), plain(rest))
        }
        [rest @ .., last] if !rest.is_empty() && verb(last).is_some() => {
            format!("{} {}", verb(last).unwrap_or_default(), plain(rest))
        }
        all => format!("Use {}", plain(all)),
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn a_scope_s_name_becomes_words() {
        for (scope, expected) in [
            ("openid", "Know that it is you who signed in"),
            ("offline_access", "Stay connected while you are away"),
            ("notes.read", "Read notes"),
            ("read:org", "Read org"),
            ("https://www.googleapis.com/auth/gmail.modify", "Read and change gmail"),
            ("https://www.googleapis.com/auth/drive.readonly", "Read drive"),
            ("channels:history", "Use channels history"),
            ("crm.objects.contacts.write", "Change crm objects contacts"),
            ("repo", "Use repo"),
            ("read", "Use read"),
            ("", "Use "),
        ] {
            assert_eq!(words(scope), expected, "{scope}");
        }
    }
}
