//! Events of the controller for its log.

use std::time::Duration;

use component::ComponentKey;
use jiff::SignedDuration;
use serde::{Serialize, Serializer};

/// An event of the controller.
/// In JSON, `msg` names the kind of the event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "msg", rename_all = "lowercase")]
pub enum ControllerEvent {
    /// Another controller works; this one waits for it.
    Waiting {
        /// The other controller.
        holder: String,
    },
    /// The controller watches Components.
    Started,
    /// A step of a Component ended.
    #[serde(rename = "reconciled")]
    Stepped {
        /// The Component.
        #[serde(serialize_with = "as_text")]
        component: ComponentKey,
        /// The state after the step.
        state: String,
        /// The reason for the state in one word.
        reason: String,
        /// The message about the state.
        message: String,
        /// True if the state is Error.
        #[serde(skip)]
        is_error: bool,
        /// The delay until the next step.
        #[serde(serialize_with = "as_duration")]
        next: Duration,
    },
    /// A Component and its objects are gone.
    #[serde(rename = "deleted")]
    Gone {
        /// The Component.
        #[serde(serialize_with = "as_text")]
        component: ComponentKey,
    },
    /// A step failed without a status; it is retried.
    Failed {
        /// The Component.
        #[serde(serialize_with = "as_text")]
        component: ComponentKey,
        /// The error with its causes.
        error: String,
        /// The delay until the next try.
        #[serde(serialize_with = "as_duration")]
        next: Duration,
    },
    /// The events receiver did not accept an event.
    #[serde(rename = "not notified")]
    NotNotified {
        /// The Component.
        #[serde(serialize_with = "as_text")]
        component: ComponentKey,
        /// The problem with its causes.
        #[serde(rename = "error")]
        problem: String,
    },
    /// A Component is ignored, because it cannot be read.
    #[serde(rename = "ignored")]
    Unreadable {
        /// The problem, which names the Component.
        #[serde(rename = "error")]
        problem: String,
    },
    /// The watch of Components was interrupted; it is opened again.
    #[serde(rename = "watch interrupted")]
    WatchInterrupted {
        /// The problem with its causes.
        #[serde(rename = "error")]
        problem: String,
    },
    /// The controller ends its last steps.
    Stopping,
}

impl ControllerEvent {
    /// True if users should look at the event.
    pub fn is_error(&self) -> bool {
        match self {
            Self::Waiting { .. } | Self::Started | Self::Gone { .. } | Self::Stopping => false,
            Self::Stepped { is_error, .. } => *is_error,
            Self::Failed { .. }
            | Self::NotNotified { .. }
            | Self::Unreadable { .. }
            | Self::WatchInterrupted { .. } => true,
        }
    }
}

fn as_text<S: Serializer>(key: &ComponentKey, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(key)
}

fn as_duration<S: Serializer>(delay: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    let delay = SignedDuration::try_from(*delay).unwrap_or(SignedDuration::MAX);
    serializer.collect_str(&format_args!("{delay:#}"))
}
