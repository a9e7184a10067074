//! Rollouts that replace Machines without a change of their specification.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::{contract::Contract, object::text};

/// The rollout time: Machines that are older must be replaced.
fn rollout_time(holder: &Value) -> Option<Timestamp> {
    let pointer = match Contract::of(holder) {
        Contract::V1Beta1 => "/spec/rolloutAfter",
        Contract::V1Beta2 => "/spec/rollout/after",
    };
    text(holder, pointer).parse().ok()
}

/// True if the rollout time of `holder` has passed and the object is older than the rollout time.
pub(super) fn is_due(holder: &Value, object: &Value, now: &str) -> bool {
    let (Some(after), Ok(now)) = (rollout_time(holder), now.parse::<Timestamp>()) else { return false };
    let created = text(object, "/metadata/creationTimestamp").parse::<Timestamp>();
    after <= now && created.is_ok_and(|created| created < after)
}

/// The time until the rollout: `None` if the rollout time has passed or is absent.
pub(super) fn time_until_rollout(holder: &Value, now: &str) -> Option<Duration> {
    let now = now.parse::<Timestamp>().ok()?;
    let left = rollout_time(holder)?.duration_since(now);
    Duration::try_from(left).ok().filter(|left| !left.is_zero())
}

/// A number of Machines, given as a number or as a percentage of `all`, such as `25%`.
pub(super) fn resolve_count(value: Option<&Value>, default: usize, all: usize, round_up: bool) -> usize {
    let percent = |text: &str| text.strip_suffix('%')?.parse::<usize>().ok();
    match value {
        Some(Value::Number(number)) => {
            number.as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(default)
        }
        Some(Value::String(text)) => percent(text).map_or(default, |percent| {
            let hundredths = percent.saturating_mul(all);
            if round_up { hundredths.div_ceil(100) } else { hundredths / 100 }
        }),
        _ => default,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn percentages_are_rounded_and_invalid_ones_default() {
        for (value, round_up, expected) in [
            (json!(3), true, 3),
            (json!("25%"), true, 2),
            (json!("25%"), false, 1),
            (json!("0%"), true, 0),
            (json!("many"), true, 7),
            (json!(-1), true, 7),
            (json!("99999999999999999999%"), false, 7),
        ] {
            assert_eq!(resolve_count(Some(&value), 7, 6, round_up), expected, "{value}");
        }
    }

    #[test]
    fn only_objects_older_than_a_past_time_are_due() {
        let holder =
            json!({"apiVersion": "x/v1beta2", "spec": {"rollout": {"after": "2026-01-01T00:00:30Z"}}});
        let made = |at: &str| json!({"metadata": {"creationTimestamp": at}});
        for (created, now, expected) in [
            ("2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z", true),
            ("2026-01-01T00:00:00Z", "2026-01-01T00:00:10Z", false),
            ("2026-01-01T00:00:40Z", "2026-01-01T00:01:00Z", false),
        ] {
            assert_eq!(is_due(&holder, &made(created), now), expected, "{created} {now}");
        }
        assert_eq!(time_until_rollout(&holder, "2026-01-01T00:00:10Z"), Some(Duration::from_secs(20)));
        assert_eq!(time_until_rollout(&holder, "2026-01-01T00:00:40Z"), None);
    }
}
