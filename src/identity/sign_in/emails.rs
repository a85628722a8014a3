//! Another email of a person, or the proof of the one they have: a code that the address itself receives, good for a day
//! (`identity.md` 8.4).

use serde_json::json;

use super::codes::{self, Kind};
use super::throttle::{MAIL_ACCOUNT, MAIL_ADDRESS, Subject};
use super::{SERVER, actor};
use crate::error::{Problem, Result};
use crate::identity::invitations::masked;
use crate::identity::{Changed, Identity, Person, people};
use crate::ledger::{self, Event};
use crate::on_connection;

const TAKE: &str = "UPDATE people SET email = $2, email_verified_at = $3 WHERE id = $1 AND status = 'active'";

/// A confirmed email: the person as they were and as they are.
pub struct Confirmed {
    /// Before.
    pub before: Person,
    /// Now.
    pub after: Person,
}

impl Identity {
    /// A code that confirms `email` as the person's; none where it is somebody else's, which the page does not tell.
    ///
    /// # Errors
    /// 429 when too many were asked for.
    pub async fn ask_for_email(&self, person: &Person, email: &str, address: &str) -> Result<Option<String>> {
        self.count_in(vec![
            (Subject::of("mail-address", address), MAIL_ADDRESS),
            (Subject::of("mail-person", &person.id), MAIL_ACCOUNT),
            (Subject::of("mail", email), MAIL_ACCOUNT),
        ])
        .await?;
        if self.person_of_email(email).await?.is_some_and(|found| found.id != person.id) {
            return Ok(None);
        }
        self.email_code(person, email).await.map(Some)
    }

    /// The code alone, for whoever knows that the address is the person's; the last one counts.
    pub async fn email_code(&self, person: &Person, email: &str) -> Result<String> {
        let (code, now) = (codes::for_link(&self.ids), self.clock.now_ms());
        let (kept, id, email) = (code.clone(), person.id.clone(), email.to_owned());
        let work: crate::store::Work<()> = Box::new(move |connection| {
            Box::pin(async move { codes::issue(connection, Kind::Email, &kept, Some(&id), Some(&email), now).await })
        });
        self.ledger.store().housekeeping(SERVER, "a code is told once it was used", work).await?;
        Ok(code)
    }

    /// Takes the email of a code, which is spent. A link that was sent to the address before sets no password any more.
    ///
    /// # Errors
    /// 404 when the code no longer counts, or the address became somebody else's.
    pub async fn confirm_email(&self, code: &str) -> Result<Confirmed> {
        let (code, now) = (code.to_owned(), self.clock.now_ms());
        let gone = || Problem::not_found("This link no longer works. Ask for a new one.");
        let work: ledger::Work<Confirmed> = Box::new(move |connection| {
            Box::pin(async move {
                let asked = codes::find(connection, Kind::Email, &code, now).await?;
                let (id, email) = asked.and_then(|asked| asked.person.zip(asked.email)).ok_or_else(gone)?;
                let before = people::one(connection, &id).await?.filter(Person::is_active).ok_or_else(gone)?;
                if people::of_email(connection, &email).await?.is_some_and(|found| found.id != id) {
                    return Err(gone());
                }
                codes::spend(connection, Kind::Email, &code, now).await?;
                codes::void(connection, Kind::Reset, Some(&id)).await?;
                on_connection!(connection, c => sqlx::query(TAKE)
                    .bind(&id).bind(&email).bind(now).execute(c).await.map(|_| ()))?;
                // The whole address goes when the account does; a row of the audit stays.
                let facts = json!({ "before": before.email.as_deref().map(masked), "after": masked(&email) });
                let kind = if before.email.as_deref() == Some(&email) { "email_verified" } else { "email_changed" };
                let event = Event::audit(format!("people/{id}"), kind, actor(&before), facts);
                let after = Person { email: Some(email), email_verified_at_ms: Some(now), ..before.clone() };
                Ok(ledger::Changed::by(Confirmed { before, after }, event))
            })
        });
        let confirmed = self.ledger.commit(SERVER, work).await?;
        self.forget(Changed::Person(&confirmed.after.id));
        Ok(confirmed)
    }
}
