//! Metrics in the text format of Prometheus.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// The metrics of a controller.
/// Source: component-operator-runtime (names).
#[derive(Debug, Default)]
pub struct Metrics {
    pub(crate) steps: AtomicU64,
    pub(crate) errors: AtomicU64,
    pub(crate) requests: AtomicU64,
    states: Mutex<BTreeMap<String, usize>>,
}

impl Metrics {
    pub(crate) fn set_states(&self, states: BTreeMap<String, usize>) {
        *self.states.lock().unwrap_or_else(PoisonError::into_inner) = states;
    }

    /// Returns all metrics as text.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let counters = [
            ("component_operator_runtime_reconcile_total", "Steps of Components.", &self.steps),
            (
                "component_operator_runtime_reconcile_errors_total",
                "Steps that ended with an error.",
                &self.errors,
            ),
            ("rest_client_requests_total", "Requests to the cluster of the Components.", &self.requests),
        ];
        for (name, help, value) in counters {
            let value = value.load(Ordering::Relaxed);
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} counter\n{name} {value}\n");
        }
        let name = "component_operator_runtime_component_state";
        let _ = write!(text, "# HELP {name} Components in each state.\n# TYPE {name} gauge\n");
        for (state, count) in &*self.states.lock().unwrap_or_else(PoisonError::into_inner) {
            let state = if state.is_empty() { "New" } else { state };
            let _ = writeln!(text, "{name}{{state=\"{state}\"}} {count}");
        }
        text
    }
}
