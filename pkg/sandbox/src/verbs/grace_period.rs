//! Grace periods of pods.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::meta;

/// The effect of a deletion on the grace period of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GracePeriodChange {
    /// The pod ends now.
    None,
    /// A grace period of this many seconds starts now.
    Start(i64),
    /// The pod is already being deleted; the deletion shortens its grace period.
    Shorten {
        /// The total grace period, in seconds.
        seconds: i64,
        /// The end of the grace period.
        end: Timestamp,
    },
    /// The pod is already being deleted; its grace period stays unchanged.
    Unchanged,
}

impl GracePeriodChange {
    pub(crate) fn seconds(self) -> i64 {
        match self {
            Self::None | Self::Unchanged => 0,
            Self::Start(seconds) | Self::Shorten { seconds, .. } => seconds,
        }
    }
}

/// Returns the effect of a deletion on a pod; `asked` is the requested grace period, in seconds.
/// Source: apiserver 1.36 `BeforeDelete`, kubernetes 1.36 `podStrategy.CheckGracefulDelete`.
pub(crate) fn grace_period_change(pod: &Value, requested: Option<i64>, now: Timestamp) -> GracePeriodChange {
    let at_least_one = |seconds: i64| if seconds < 0 { 1 } else { seconds };
    if !meta::is_deleting(pod) {
        let runs = !pod["spec"]["nodeName"].as_str().unwrap_or_default().is_empty()
            && !matches!(pod["status"]["phase"].as_str(), Some("Failed" | "Succeeded"));
        let own = pod["spec"]["terminationGracePeriodSeconds"].as_i64().unwrap_or_default();
        return GracePeriodChange::Start(if runs { at_least_one(requested.unwrap_or(own)) } else { 0 });
    }
    let given = meta::field(pod, "deletionGracePeriodSeconds").and_then(Value::as_i64).unwrap_or_default();
    let told_to_end = meta::text(pod, "deletionTimestamp").parse::<Timestamp>();
    match (requested.map(at_least_one), told_to_end) {
        _ if given == 0 => GracePeriodChange::None,
        (Some(requested), Ok(end)) if requested < given => {
            let end = end.saturating_sub(SignedDuration::from_secs(given - requested)).unwrap_or(now);
            let seconds = if end < now && requested != 0 { 1 } else { requested };
            GracePeriodChange::Shorten { seconds, end: end.max(now) }
        }
        _ => GracePeriodChange::Unchanged,
    }
}
