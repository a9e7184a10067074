//! Metrics in the text format of Prometheus.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use apply::Server;
use kube::runtime::reflector::Store;

use crate::{Shard, lock::lock, queue_depth::QueueDepth, watched_component::WatchedComponent};

/// The upper limits of the buckets of durations, in seconds.
const BUCKETS: [f64; 13] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0];

/// The metrics of a controller.
/// Source: component-operator-runtime, controller-runtime and client-go (names).
#[derive(Default)]
pub struct Metrics {
    pub(crate) steps: AtomicU64,
    pub(crate) errors: AtomicU64,
    pub(crate) queue: QueueDepth,
    durations: Mutex<Durations>,
    observed: Mutex<Option<ObservedCluster>>,
}

/// The cluster whose figures are computed when they are read.
struct ObservedCluster {
    hub: Server,
    components: Store<WatchedComponent>,
    shard: Shard,
}

/// A histogram of durations.
#[derive(Default)]
struct Durations {
    /// The durations up to each limit that are above the limit before.
    counts: [u64; BUCKETS.len()],
    count: u64,
    sum: Duration,
}

impl Metrics {
    /// Sets the cluster of the Components and the known Components.
    pub(crate) fn observe(&self, hub: Server, components: Store<WatchedComponent>, shard: Shard) {
        *lock(&self.observed) = Some(ObservedCluster { hub, components, shard });
    }

    /// Records the duration of the steps of a Component until it has to wait.
    pub(crate) fn record_duration(&self, duration: Duration) {
        let mut durations = lock(&self.durations);
        if let Some(at) = BUCKETS.iter().position(|limit| duration.as_secs_f64() <= *limit) {
            durations.counts[at] += 1;
        }
        durations.count += 1;
        durations.sum += duration;
    }

    /// Returns all metrics as text.
    pub fn to_text(&self) -> String {
        let (requests, states) = match &*lock(&self.observed) {
            Some(observed) => (observed.hub.requests(), observed.states()),
            None => (0, BTreeMap::new()),
        };
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut text = String::new();
        let singles = [
            (
                "component_operator_runtime_reconcile_total",
                "counter",
                "Steps of Components.",
                load(&self.steps),
            ),
            (
                "component_operator_runtime_reconcile_errors_total",
                "counter",
                "Steps that ended with an error.",
                load(&self.errors),
            ),
            ("rest_client_requests_total", "counter", "Requests to the cluster of the Components.", requests),
            (
                "workqueue_depth",
                "gauge",
                "Components whose step is due and has not begun.",
                u64::try_from(self.queue.depth()).unwrap_or(u64::MAX),
            ),
        ];
        for (name, kind, help, value) in singles {
            head(&mut text, name, kind, help);
            let _ = writeln!(text, "{name} {value}");
        }
        let name = "component_operator_runtime_component_state";
        head(&mut text, name, "gauge", "Components of this controller in each state.");
        for (state, count) in states {
            let _ = writeln!(text, "{name}{{state=\"{state}\"}} {count}");
        }
        lock(&self.durations).write(&mut text);
        text
    }
}

impl ObservedCluster {
    /// Returns the number of Components in each state.
    fn states(&self) -> BTreeMap<String, usize> {
        let mut states = BTreeMap::new();
        for component in self.components.state() {
            if self.shard.contains(&component.key()) {
                let state = component.state.map_or_else(|| "New".to_owned(), |state| format!("{state:?}"));
                *states.entry(state).or_default() += 1;
            }
        }
        states
    }
}

impl Durations {
    fn write(&self, text: &mut String) {
        let name = "controller_runtime_reconcile_time_seconds";
        head(text, name, "histogram", "Durations of the steps of a Component until it has to wait.");
        let mut total = 0;
        for (limit, count) in BUCKETS.iter().zip(self.counts) {
            total += count;
            let _ = writeln!(text, "{name}_bucket{{le=\"{limit}\"}} {total}");
        }
        let (count, sum) = (self.count, self.sum.as_secs_f64());
        let _ =
            writeln!(text, "{name}_bucket{{le=\"+Inf\"}} {count}\n{name}_sum {sum}\n{name}_count {count}");
    }
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;

    #[test]
    fn metrics_are_in_the_text_format_of_prometheus() {
        let metrics = Metrics::default();
        metrics.steps.store(3, Ordering::Relaxed);
        for millis in [4, 300, 90_000] {
            metrics.record_duration(Duration::from_millis(millis));
        }
        assert_data_eq!(
            metrics.to_text(),
            str![[r##"
# HELP component_operator_runtime_reconcile_total Steps of Components.
# TYPE component_operator_runtime_reconcile_total counter
component_operator_runtime_reconcile_total 3
# HELP component_operator_runtime_reconcile_errors_total Steps that ended with an error.
# TYPE component_operator_runtime_reconcile_errors_total counter
component_operator_runtime_reconcile_errors_total 0
# HELP rest_client_requests_total Requests to the cluster of the Components.
# TYPE rest_client_requests_total counter
rest_client_requests_total 0
# HELP workqueue_depth Components whose step is due and has not begun.
# TYPE workqueue_depth gauge
workqueue_depth 0
# HELP component_operator_runtime_component_state Components of this controller in each state.
# TYPE component_operator_runtime_component_state gauge
# HELP controller_runtime_reconcile_time_seconds Durations of the steps of a Component until it has to wait.
# TYPE controller_runtime_reconcile_time_seconds histogram
controller_runtime_reconcile_time_seconds_bucket{le="0.005"} 1
controller_runtime_reconcile_time_seconds_bucket{le="0.01"} 1
controller_runtime_reconcile_time_seconds_bucket{le="0.025"} 1
controller_runtime_reconcile_time_seconds_bucket{le="0.05"} 1
controller_runtime_reconcile_time_seconds_bucket{le="0.1"} 1
controller_runtime_reconcile_time_seconds_bucket{le="0.25"} 1
controller_runtime_reconcile_time_seconds_bucket{le="0.5"} 2
controller_runtime_reconcile_time_seconds_bucket{le="1"} 2
controller_runtime_reconcile_time_seconds_bucket{le="2.5"} 2
controller_runtime_reconcile_time_seconds_bucket{le="5"} 2
controller_runtime_reconcile_time_seconds_bucket{le="10"} 2
controller_runtime_reconcile_time_seconds_bucket{le="30"} 2
controller_runtime_reconcile_time_seconds_bucket{le="60"} 2
controller_runtime_reconcile_time_seconds_bucket{le="+Inf"} 3
controller_runtime_reconcile_time_seconds_sum 90.304
controller_runtime_reconcile_time_seconds_count 3

"##]]
        );
    }
}
