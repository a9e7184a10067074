//! The number of Pods of each ReplicaSet in the next step of a rollout.
//!
//! Source: kube-controller-manager 1.36 `pkg/controller/deployment/rolling.go` and `recreate.go`.

use serde_json::Value;

use super::super::children::number;

/// The rollout parameters of a Deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RolloutLimits {
    /// The desired number of Pods.
    pub(super) desired: i64,
    /// The maximum number of additional Pods during a rollout.
    pub(super) surge: i64,
    /// The maximum number of unavailable Pods during a rollout.
    pub(super) unavailable: i64,
    /// True if old Pods are deleted before new Pods are created.
    pub(super) recreate: bool,
}

/// The numbers of Pods of a ReplicaSet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PodCounts {
    /// The desired number.
    pub(super) desired: i64,
    pub(super) existing: i64,
    /// The number of available Pods, at most the desired number.
    pub(super) available: i64,
}

impl RolloutLimits {
    pub(super) fn of(deployment: &Value) -> Self {
        let spec = &deployment["spec"];
        let wanted = number(&spec["replicas"]);
        if spec["strategy"]["type"] == "Recreate" {
            return Self { desired: wanted, surge: 0, unavailable: 0, recreate: true };
        }
        let rolling = &spec["strategy"]["rollingUpdate"];
        let surge = resolve_count(&rolling["maxSurge"], wanted, 99);
        let unavailable = resolve_count(&rolling["maxUnavailable"], wanted, 0);
        // If both round to zero, the rollout cannot proceed.
        let unavailable = if surge == 0 { unavailable.max(1) } else { unavailable };
        Self { desired: wanted, surge, unavailable: unavailable.min(wanted), recreate: false }
    }
}

/// A number, or a percentage of `whole`, rounded down after `add` hundredths are added.
fn resolve_count(value: &Value, whole: i64, add: i64) -> i64 {
    let percent = value.as_str().and_then(|text| text.strip_suffix('%')?.parse::<i64>().ok());
    percent.map_or_else(|| number(value), |percent| (percent.saturating_mul(whole).saturating_add(add)) / 100)
}

impl PodCounts {
    pub(super) fn of(set: &Value) -> Self {
        let wanted = number(&set["spec"]["replicas"]);
        let available = number(&set["status"]["availableReplicas"]).min(wanted);
        Self { desired: wanted, existing: number(&set["status"]["replicas"]), available }
    }
}

/// Returns the next number of Pods of the new ReplicaSet and of each old ReplicaSet (oldest first). If nothing changes,
/// the rollout is complete or waits for Pods.
pub(super) fn next_replicas(limits: RolloutLimits, new: PodCounts, old: &[PodCounts]) -> (i64, Vec<i64>) {
    let stay = || old.iter().map(|set| set.desired).collect::<Vec<_>>();
    if limits.recreate {
        let is_empty = old.iter().all(|set| set.desired == 0 && set.existing == 0);
        return (if is_empty { limits.desired } else { new.desired }, vec![0; old.len()]);
    }
    let total = new.desired + old.iter().map(|set| set.desired).sum::<i64>();
    let room = (limits.desired + limits.surge - total).max(0);
    let target = limits.desired.min(new.desired.saturating_add(room));
    if target != new.desired {
        return (target, stay());
    }
    let needed = limits.desired - limits.unavailable;
    let mut spare = total - needed - (new.desired - new.available);
    let mut spare_available = new.available + old.iter().map(|set| set.available).sum::<i64>() - needed;
    let mut targets = stay();
    for (target, set) in targets.iter_mut().zip(old) {
        // The deletion of unavailable Pods does not reduce availability.
        let dead = (set.desired - set.available).min(spare).max(0);
        *target -= dead;
        spare -= dead;
    }
    for target in &mut targets {
        let dropped = (*target).min(spare_available).min(spare).max(0);
        *target -= dropped;
        spare -= dropped;
        spare_available -= dropped;
    }
    (target, targets)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn counts(desired: i64, available: i64) -> PodCounts {
        PodCounts { desired, existing: desired, available }
    }

    #[test]
    fn surge_is_rounded_up_and_unavailability_down() {
        for (replicas, surge, unavailable, expected) in [
            (2, json!("25%"), json!("25%"), (1, 0)),
            (10, json!("25%"), json!("25%"), (3, 2)),
            (4, json!(2), json!(1), (2, 1)),
            (3, json!(0), json!("10%"), (0, 1)),
            (0, json!("25%"), json!("25%"), (0, 0)),
        ] {
            let deployment = json!({"spec": {"replicas": replicas, "strategy": {"rollingUpdate":
                {"maxSurge": surge, "maxUnavailable": unavailable}}}});
            let limits = RolloutLimits::of(&deployment);
            assert_eq!((limits.surge, limits.unavailable), expected, "{deployment}");
        }
    }

    #[test]
    fn a_rollout_respects_its_limits_and_ends() {
        let limits = RolloutLimits { desired: 4, surge: 1, unavailable: 1, recreate: false };
        let (mut new, mut old) = (counts(0, 0), vec![counts(1, 0), counts(4, 4)]);
        let mut steps = Vec::new();
        loop {
            let (target, targets) = next_replicas(limits, new, &old);
            let next: Vec<_> = targets.iter().map(|target| counts(*target, *target)).collect();
            let done = (target, next.as_slice()) == (new.desired, old.as_slice());
            (new, old) = (counts(target, target), next);
            if done {
                break;
            }
            let available = new.available + old.iter().map(|set| set.available).sum::<i64>();
            assert!((3..=5).contains(&available), "{new:?} {old:?}");
            steps.push(new.desired);
        }
        assert_eq!((new, old), (counts(4, 4), vec![counts(0, 0); 2]));
        assert!(steps.len() > 2, "{steps:?}");
    }

    #[test]
    fn a_rollout_with_unready_pods_keeps_available_ones() {
        let limits = RolloutLimits { desired: 2, surge: 1, unavailable: 0, recreate: false };
        assert_eq!(next_replicas(limits, counts(0, 0), &[counts(2, 2)]), (1, vec![2]));
        assert_eq!(next_replicas(limits, counts(1, 0), &[counts(2, 2)]), (1, vec![2]));
    }

    #[test]
    fn recreation_waits_for_the_deletion_of_old_pods() {
        let limits = RolloutLimits { desired: 2, surge: 0, unavailable: 0, recreate: true };
        assert_eq!(next_replicas(limits, counts(0, 0), &[counts(2, 2)]), (0, vec![0]));
        let terminating = PodCounts { desired: 0, existing: 1, available: 0 };
        assert_eq!(next_replicas(limits, counts(0, 0), &[terminating]), (0, vec![0]));
        assert_eq!(next_replicas(limits, counts(0, 0), &[counts(0, 0)]), (2, vec![0]));
    }
}
