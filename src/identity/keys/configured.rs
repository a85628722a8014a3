//! The keys of the configuration: fixed at the start, never changed by anybody but the operator.

use std::collections::HashMap;
use std::sync::Arc;

use aws_lc_rs::constant_time::verify_slices_are_equal;

use crate::config::ApiKey;
use crate::identity::{Caller, Permissions, Who};

/// Bytes of a digest that a key is filed under; the whole is then compared in constant time.
const FILED: usize = 8;

/// All of them.
pub struct Configured {
    keys: Vec<ApiKey>,
    by_digest: HashMap<[u8; FILED], Vec<Known>>,
}

struct Known {
    digest: [u8; 32],
    caller: Arc<Caller>,
    expires_at_ms: Option<i64>,
}

impl Configured {
    /// Checked entries.
    pub fn of(keys: &[ApiKey]) -> Self {
        let mut by_digest: HashMap<_, Vec<Known>> = HashMap::new();
        for key in keys {
            let caller = Arc::new(Caller {
                org: key.org.clone(),
                who: Who::Key { id: key.id.clone(), name: key.id.clone(), person: None },
                permissions: Permissions::of(&key.permissions),
                playbooks: key.playbooks.clone(),
                origin: None,
            });
            let known = Known { digest: key.sha256, caller, expires_at_ms: key.expires_at_ms };
            by_digest.entry(filed(&key.sha256)).or_default().push(known);
        }
        let mut keys = keys.to_vec();
        keys.sort_by(|one, other| (&one.org, &one.id).cmp(&(&other.org, &other.id)));
        Self { keys, by_digest }
    }

    /// The caller of a text's digest, unless its key has ended. What an attacker can time is the digest of a guess, which tells nothing of a key.
    pub fn look_up(&self, digest: &[u8; 32], now_ms: i64) -> Option<Arc<Caller>> {
        let filed = self.by_digest.get(&filed(digest));
        let known = filed.into_iter().flatten().find(|known| verify_slices_are_equal(&known.digest, digest).is_ok())?;
        let ended = known.expires_at_ms.is_some_and(|end| now_ms >= end);
        (!ended).then(|| known.caller.clone())
    }

    /// Those of an org, by id.
    pub fn of_org(&self, org: &str) -> impl Iterator<Item = &ApiKey> {
        self.keys.iter().filter(move |key| key.org == org)
    }

    /// One of an org.
    pub fn one(&self, org: &str, id: &str) -> Option<&ApiKey> {
        self.of_org(org).find(|key| key.id == id)
    }

    /// Every one.
    pub fn all(&self) -> &[ApiKey] {
        &self.keys
    }
}

fn filed(digest: &[u8; 32]) -> [u8; FILED] {
    let mut filed = [0; FILED];
    filed.copy_from_slice(&digest[..FILED]);
    filed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Permission, Playbooks};
    use crate::digest::sha256;

    fn entry(id: &str, sha256: [u8; 32]) -> ApiKey {
        ApiKey {
            id: id.into(),
            org: "north".into(),
            permissions: vec![Permission::OrgRead],
            playbooks: Playbooks::All,
            sha256,
            expires_at_ms: Some(2_000),
            usage_limit: None,
        }
    }

    #[test]
    fn a_key_is_found_by_its_digest_until_it_ends() {
        let digest = sha256("a-key-of-our-own-form!");
        let mut alike = digest;
        alike[31] ^= 1;
        let keys = Configured::of(&[entry("ci", digest), entry("twin", alike)]);
        let found = |digest, now| keys.look_up(digest, now).map(|caller| caller.id().to_owned());
        assert_eq!([found(&digest, 1_999), found(&alike, 0)], [Some("ci".into()), Some("twin".into())]);
        assert_eq!([found(&digest, 2_000), found(&sha256("another"), 0)], [None, None]);
    }
}
