//! Events of the controller for its log.

use std::time::Duration;

use component::ComponentKey;

/// An event of the controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControllerEvent {
    /// The controller watches Components.
    Started,
    /// A step of a Component ended.
    Stepped {
        /// The Component.
        component: ComponentKey,
        /// The state after the step.
        state: String,
        /// The reason for the state in one word.
        reason: String,
        /// The message about the state.
        message: String,
        /// True if the state is Error.
        is_error: bool,
        /// The delay until the next step.
        next: Duration,
    },
    /// A Component and its objects are gone.
    Gone {
        /// The Component.
        component: ComponentKey,
    },
    /// A step failed without a status; it is retried.
    Failed {
        /// The Component.
        component: ComponentKey,
        /// The error with its causes.
        error: String,
        /// The delay until the next try.
        next: Duration,
    },
    /// A Component is ignored, because it cannot be read.
    Unreadable {
        /// The problem, which names the Component.
        problem: String,
    },
    /// The controller ends its last steps.
    Stopping,
}
