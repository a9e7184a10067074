//! Events of steps for users.

use std::collections::BTreeMap;

use crate::{Component, State};

/// An event of a Component: the state after a step, with the revision and the digest of the step.
/// Source: component-operator-runtime (annotations of events).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentEvent {
    /// True if the state is Error.
    pub is_warning: bool,
    /// The reason of the condition Ready.
    pub reason: String,
    /// The message of the condition Ready.
    pub message: String,
    /// The annotations of the event.
    pub annotations: BTreeMap<&'static str, String>,
}

impl ComponentEvent {
    /// Returns the event for the status of a Component.
    pub fn of(component: &Component) -> Self {
        let status = &component.status;
        let ready = status.ready().cloned().unwrap_or_default();
        let annotations = [
            ("core.cs.sap.com/revision", &status.last_attempted_revision),
            ("core.cs.sap.com/token", &status.processing_digest),
        ];
        let annotations = annotations.into_iter().filter(|(_, value)| !value.is_empty());
        Self {
            is_warning: status.state == Some(State::Error),
            reason: ready.reason,
            message: ready.message,
            annotations: annotations.map(|(key, value)| (key, value.clone())).collect(),
        }
    }
}
