//! What a key is counted by: calls within a period of the UTC calendar (`meta-tools.md` 9).
//!
//! A row keeps the count and the beginning of the period it is of. A period that began since is an empty one, so nothing
//! has to reset counts.

use jiff::tz::TimeZone;

use super::DAY_MS;
use crate::config::UsagePeriod;
use crate::error::Result;
use crate::on_connection;
use crate::store::Connection;

/// One more call of a key with a limit, unless it is used up. A server whose clock is behind counts in the period that
/// another one began.
const RESERVE: &str = "UPDATE api_keys SET \
     usage_count = CASE WHEN usage_from >= CASE usage_period WHEN 'day' THEN $3 WHEN 'month' THEN $4 ELSE 0 END \
         THEN usage_count + 1 ELSE 1 END, \
     usage_from = CASE WHEN usage_from >= CASE usage_period WHEN 'day' THEN $3 WHEN 'month' THEN $4 ELSE 0 END \
         THEN usage_from ELSE CASE usage_period WHEN 'day' THEN $3 WHEN 'month' THEN $4 ELSE 0 END END \
     WHERE org = $1 AND id = $2 AND usage_limit IS NOT NULL AND revoked_at IS NULL AND (usage_count < usage_limit OR usage_from < \
         CASE usage_period WHEN 'day' THEN $3 WHEN 'month' THEN $4 ELSE 0 END) \
     RETURNING usage_from";
const GIVE_BACK: &str = "UPDATE api_keys SET usage_count = usage_count - 1 \
     WHERE org = $1 AND id = $2 AND usage_from = $3 AND usage_count > 0";

/// When the period that `now_ms` is in began, in milliseconds since the epoch.
pub fn period_from(period: UsagePeriod, now_ms: i64) -> i64 {
    match period {
        UsagePeriod::Day => now_ms - now_ms.rem_euclid(DAY_MS),
        UsagePeriod::Month => month(now_ms, 0).unwrap_or_default(),
        UsagePeriod::Total => 0,
    }
}

/// When it ends and the count begins anew; never for the whole life of a key.
pub fn resets_at(period: UsagePeriod, now_ms: i64) -> Option<i64> {
    match period {
        UsagePeriod::Day => Some(period_from(period, now_ms) + DAY_MS),
        UsagePeriod::Month => month(now_ms, 1),
        UsagePeriod::Total => None,
    }
}

/// The beginning of the month of `now_ms`, or of one `later`.
fn month(now_ms: i64, later: i32) -> Option<i64> {
    let date = TimeZone::UTC.to_datetime(jiff::Timestamp::from_millisecond(now_ms).ok()?).date();
    let first = date.first_of_month().checked_add(jiff::Span::new().months(later)).ok()?;
    Some(TimeZone::UTC.to_timestamp(first.at(0, 0, 0, 0)).ok()?.as_millisecond())
}

/// Takes one call of a key's allowance, inside a commit: N allowed is N, however many ask on however many servers. Gives
/// the beginning of the period it was taken from; `None` when the allowance is used up, or the key has no limit.
pub async fn reserve(connection: &mut Connection, org: &str, id: &str, now_ms: i64) -> Result<Option<i64>> {
    let taken: Option<(i64,)> = on_connection!(connection, c => sqlx::query_as(RESERVE)
        .bind(org)
        .bind(id)
        .bind(period_from(UsagePeriod::Day, now_ms))
        .bind(period_from(UsagePeriod::Month, now_ms))
        .fetch_optional(c)
        .await)?;
    Ok(taken.map(|(from,)| from))
}

/// Gives back a call that was reserved and not made, inside a commit, unless its period is over.
pub async fn give_back(connection: &mut Connection, org: &str, id: &str, from_ms: i64) -> Result<()> {
    on_connection!(connection, c => sqlx::query(GIVE_BACK)
        .bind(org)
        .bind(id)
        .bind(from_ms)
        .execute(c)
        .await
        .map(|_| ()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::clock::{iso, parse_iso};

    #[test]
    fn periods_are_those_of_the_calendar_in_utc() {
        let now = parse_iso("2026-12-31T23:59:59.999Z").unwrap();
        let told = |at: Option<i64>| at.map(iso);
        assert_eq!(iso(period_from(UsagePeriod::Day, now)), "2026-12-31T00:00:00.000Z");
        assert_eq!(iso(period_from(UsagePeriod::Month, now)), "2026-12-01T00:00:00.000Z");
        assert_eq!(period_from(UsagePeriod::Total, now), 0);
        assert_eq!(told(resets_at(UsagePeriod::Day, now)).unwrap(), "2027-01-01T00:00:00.000Z");
        assert_eq!(told(resets_at(UsagePeriod::Month, now)).unwrap(), "2027-01-01T00:00:00.000Z");
        assert_eq!(resets_at(UsagePeriod::Total, now), None);
        let leap = parse_iso("2028-02-29T12:00:00Z").unwrap();
        assert_eq!(told(resets_at(UsagePeriod::Month, leap)).unwrap(), "2028-03-01T00:00:00.000Z");
    }

    proptest! {
        #[test]
        fn every_instant_is_in_its_period(now in 0_i64..4_102_444_800_000, month in any::<bool>()) {
            let period = if month { UsagePeriod::Month } else { UsagePeriod::Day };
            let (from, end) = (period_from(period, now), resets_at(period, now).unwrap());
            prop_assert!(from <= now && now < end);
            prop_assert_eq!(period_from(period, end - 1), from);
            prop_assert_eq!(period_from(period, end), end);
        }
    }
}
