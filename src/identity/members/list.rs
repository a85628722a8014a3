//! The members of an org, for those who manage it.

use std::collections::HashMap;

use super::{Membership, Stored};
use crate::error::Result;
use crate::identity::{Identity, Role};
use crate::on_pool;

/// A member as they are listed.
#[derive(Debug, Clone)]
pub struct Listed {
    /// The membership.
    pub membership: Membership,
    /// The person's name.
    pub name: String,
    /// Their email, where they have one.
    pub email: Option<String>,
    /// How they can sign in: `password`, `passkey`, `upstream`.
    pub auth_methods: Vec<&'static str>,
}

/// Which members a page keeps.
#[derive(Debug, Clone, Default)]
pub struct MemberFilter {
    /// Of this role.
    pub role: Option<Role>,
    /// With this in their name or email, whatever the case. SQLite folds the case of ASCII alone.
    pub text: Option<String>,
    /// This person.
    pub person: Option<String>,
}

#[derive(sqlx::FromRow)]
struct Row {
    #[sqlx(flatten)]
    stored: Stored,
    name: String,
    email: Option<String>,
}

const PAGE: &str = "SELECT m.org, m.person, m.role, m.playbooks, m.created_at, m.created_by, m.last_seen_at, p.name, p.email \
     FROM memberships m JOIN people p ON p.id = m.person WHERE m.org = $1 \
     AND (CAST($2 AS TEXT) IS NULL OR m.role = $2) \
     AND (CAST($3 AS TEXT) IS NULL OR LOWER(p.name) LIKE $3 ESCAPE '!' OR p.email LIKE $3 ESCAPE '!') \
     AND (CAST($4 AS TEXT) IS NULL OR m.person = $4) \
     AND (m.created_at, m.person) > ($5, $6) ORDER BY m.created_at, m.person LIMIT $7";
/// Who of the org, between two ids, has a row of a table.
macro_rules! who_has {
    ($table:literal) => {
        concat!(
            "SELECT DISTINCT m.person FROM memberships m JOIN ",
            $table,
            " h ON h.person = m.person WHERE m.org = $1 AND m.person >= $2 AND m.person <= $3"
        )
    };
}
/// The ways to sign in, each with those who have it.
const METHODS: [(&str, &str); 3] =
    [("password", who_has!("passwords")), ("passkey", who_has!("passkeys")), ("upstream", who_has!("identities"))];

/// A text as a pattern that is found anywhere.
fn anywhere(text: &str) -> String {
    let mut pattern = String::from("%");
    for c in text.to_lowercase().chars() {
        if matches!(c, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(c);
    }
    pattern + "%"
}

impl Identity {
    /// At most `limit` members of an org after `last` (since when, and the person), the first to join first.
    pub async fn members(
        &self,
        org: &str,
        filter: &MemberFilter,
        last: Option<(i64, String)>,
        limit: i64,
    ) -> Result<Vec<Listed>> {
        let (after, person) = last.unwrap_or((i64::MIN, String::new()));
        let rows: Vec<Row> = on_pool!(self.ledger.store(), pool => sqlx::query_as(PAGE)
            .bind(org)
            .bind(filter.role.map(Role::word))
            .bind(filter.text.as_deref().map(anywhere))
            .bind(&filter.person)
            .bind(after)
            .bind(&person)
            .bind(limit)
            .fetch_all(pool)
            .await)?;
        let people: Vec<&str> = rows.iter().map(|row| row.stored.person.as_str()).collect();
        let methods = self.methods(org, &people).await?;
        rows.into_iter()
            .map(|row| {
                let auth_methods = methods.get(&row.stored.person).cloned().unwrap_or_default();
                Ok(Listed { membership: row.stored.try_into()?, name: row.name, email: row.email, auth_methods })
            })
            .collect()
    }

    /// How each of some members of an org can sign in.
    async fn methods(&self, org: &str, people: &[&str]) -> Result<HashMap<String, Vec<&'static str>>> {
        let mut methods: HashMap<String, Vec<&'static str>> = HashMap::new();
        let (Some(first), Some(last)) = (people.iter().min(), people.iter().max()) else { return Ok(methods) };
        for (method, sql) in METHODS {
            let have: Vec<(String,)> = on_pool!(self.ledger.store(), pool => sqlx::query_as(sql)
                .bind(org).bind(*first).bind(*last).fetch_all(pool).await)?;
            for (person,) in have {
                methods.entry(person).or_default().push(method);
            }
        }
        Ok(methods)
    }
}

#[cfg(test)]
mod tests {
    use super::anywhere;

    #[test]
    fn what_is_looked_for_is_no_pattern() {
        assert_eq!(anywhere("A_b%!"), "%a!_b!%!!%");
    }
}
