//! Metrics in the text format of Prometheus.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use apply::Server;
use kube::runtime::reflector::Store;

use crate::watched_component::WatchedComponent;

/// The metrics of a controller.
/// Source: component-operator-runtime (names).
#[derive(Default)]
pub struct Metrics {
    pub(crate) steps: AtomicU64,
    pub(crate) errors: AtomicU64,
    observed: Mutex<Option<ObservedCluster>>,
}

/// The cluster whose figures are computed when they are read.
struct ObservedCluster {
    hub: Server,
    components: Store<WatchedComponent>,
}

impl Metrics {
    /// Sets the cluster of the Components and the known Components.
    pub(crate) fn observe(&self, hub: Server, components: Store<WatchedComponent>) {
        *self.observed() = Some(ObservedCluster { hub, components });
    }

    fn observed(&self) -> MutexGuard<'_, Option<ObservedCluster>> {
        self.observed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns all metrics as text.
    pub fn to_text(&self) -> String {
        let (requests, components) = match &*self.observed() {
            Some(observed) => (observed.hub.requests(), observed.components.state()),
            None => (0, Vec::new()),
        };
        let mut states: BTreeMap<String, usize> = BTreeMap::new();
        for component in components {
            let state = component.state.map_or_else(|| "New".to_owned(), |state| format!("{state:?}"));
            *states.entry(state).or_default() += 1;
        }
        let mut text = String::new();
        let counters = [
            (
                "component_operator_runtime_reconcile_total",
                "Steps of Components.",
                self.steps.load(Ordering::Relaxed),
            ),
            (
                "component_operator_runtime_reconcile_errors_total",
                "Steps that ended with an error.",
                self.errors.load(Ordering::Relaxed),
            ),
            ("rest_client_requests_total", "Requests to the cluster of the Components.", requests),
        ];
        for (name, help, value) in counters {
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} counter\n{name} {value}\n");
        }
        let name = "component_operator_runtime_component_state";
        let _ = write!(text, "# HELP {name} Components in each state.\n# TYPE {name} gauge\n");
        for (state, count) in states {
            let _ = writeln!(text, "{name}{{state=\"{state}\"}} {count}");
        }
        text
    }
}
