//! The name of the account the server runs as: whom the local developer is called after.

use crate::config::Environment;

/// The name that `/etc/passwd` gives this process's user; where it knows none (a directory service, a container with a
/// bare number), what the environment says, and at last the number.
///
/// A crate for it would bring its C bindings for these few lines.
pub fn account(environment: &Environment) -> String {
    let user = rustix::process::getuid().as_raw();
    let known = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    name_in(&known, user)
        .or_else(|| ["USER", "LOGNAME"].iter().find_map(|name| environment.get(*name)).cloned())
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| format!("user {user}"))
}

/// The name of `user` among the lines `name:password:number:…`.
fn name_in(passwd: &str, user: u32) -> Option<String> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, _, number) = (fields.next()?, fields.next()?, fields.next()?);
        (number.parse() == Ok(user)).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_account_is_found_by_its_number() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nbroken\nmira:x:1000:1000:Mira:/home/mira:/bin/sh\n";
        assert_eq!(name_in(passwd, 1000).as_deref(), Some("mira"));
        assert_eq!(name_in(passwd, 0).as_deref(), Some("root"));
        assert_eq!(name_in(passwd, 10), None);
    }

    #[test]
    fn there_is_always_a_name() {
        assert!(!account(&Environment::new()).is_empty());
    }
}
