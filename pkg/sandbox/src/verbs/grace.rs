//! The time a pod is given to end.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::meta;

/// How long a pod that is deleted still runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grace {
    /// No longer.
    None,
    /// So many seconds from now on.
    Begins(i64),
    /// It was told before, and now it is told to hurry.
    Shorter {
        /// How long it was given in all.
        seconds: i64,
        /// When that is over.
        end: Timestamp,
    },
    /// It was told before, and has no less time now.
    UnderWay,
}

impl Grace {
    pub(crate) fn seconds(self) -> i64 {
        match self {
            Self::None | Self::UnderWay => 0,
            Self::Begins(seconds) | Self::Shorter { seconds, .. } => seconds,
        }
    }
}

/// What a deletion means for a pod; `asked` is what the deletion says, in seconds.
/// Source: apiserver 1.36 `BeforeDelete`, kubernetes 1.36 `podStrategy.CheckGracefulDelete`.
pub(crate) fn grace(pod: &Value, asked: Option<i64>, now: Timestamp) -> Grace {
    let at_least_one = |seconds: i64| if seconds < 0 { 1 } else { seconds };
    if !meta::is_deleting(pod) {
        let runs = !pod["spec"]["nodeName"].as_str().unwrap_or_default().is_empty()
            && !matches!(pod["status"]["phase"].as_str(), Some("Failed" | "Succeeded"));
        let own = pod["spec"]["terminationGracePeriodSeconds"].as_i64().unwrap_or_default();
        return Grace::Begins(if runs { at_least_one(asked.unwrap_or(own)) } else { 0 });
    }
    let given = meta::field(pod, "deletionGracePeriodSeconds").and_then(Value::as_i64).unwrap_or_default();
    let told_to_end = meta::text(pod, "deletionTimestamp").parse::<Timestamp>();
    match (asked.map(at_least_one), told_to_end) {
        _ if given == 0 => Grace::None,
        (Some(asked), Ok(end)) if asked < given => {
            let end = end.saturating_sub(SignedDuration::from_secs(given - asked)).unwrap_or(now);
            let seconds = if end < now && asked != 0 { 1 } else { asked };
            Grace::Shorter { seconds, end: end.max(now) }
        }
        _ => Grace::UnderWay,
    }
}
