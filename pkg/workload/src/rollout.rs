//! Rollouts of what holds Machines: begun anew, paused, resumed, and how far they are.
//!
//! ```text
//! `md/a` ─► ResourceRef ─► rollout_resources ─► RolloutResource ─┬─► change_rollout (restart, pause, resume)
//!                                                                └─► rollout_progress, watch_rollouts ─► RolloutProgress
//! ```

mod change;
mod outdated;
mod progress;
mod resource;
mod watch;

use apply::{ApiError, ObjectKey};
use inventory::ContractError;

pub use change::{RolloutChange, change_rollout};
pub use progress::{RolloutProgress, RolloutState};
pub use resource::{InvalidResource, ResourceRef, RolloutResource, rollout_names, rollout_resources};
pub use watch::{rollout_progress, watch_rollouts};

/// A rollout that cannot be changed or told.
#[derive(Debug, thiserror::Error)]
pub enum RolloutError {
    /// Nothing of this type is rolled out.
    #[error("there is no resource type `{typed}` with rollouts")]
    Unknown {
        /// What was typed.
        typed: String,
        /// What could be typed on this server.
        valid: Vec<String>,
    },
    /// Control planes of several groups have this name.
    #[error("resource type `{typed}` may be {}", kinds.join(" or "))]
    Ambiguous {
        /// What was typed.
        typed: String,
        /// What can be typed in its place, such as `foocontrolplane.controlplane.cluster.x-k8s.io`.
        kinds: Vec<String>,
    },
    /// There is no such object.
    #[error("there is no {object}")]
    NotFound {
        /// Which one.
        object: ObjectKey,
        /// Objects of its kind and namespace with almost the same name.
        near: Vec<String>,
    },
    /// It cannot begin anew while it is paused.
    #[error("{object} is paused")]
    Paused {
        /// Which one.
        object: ObjectKey,
        /// Whether an annotation says so, which others than `rollout pause` set too.
        by_annotation: bool,
    },
    /// It is to begin anew at a time that has not come.
    #[error("{object} is to begin a rollout at {after} already")]
    Scheduled {
        /// Which one.
        object: ObjectKey,
        /// When, as it is written there.
        after: String,
    },
    /// It was to be paused.
    #[error("{object} is already paused")]
    AlreadyPaused {
        /// Which one.
        object: ObjectKey,
    },
    /// It was to be resumed.
    #[error("{object} is not paused")]
    NotPaused {
        /// Which one.
        object: ObjectKey,
    },
    /// Its kind has no field that asks for new machines.
    #[error("{object} cannot be restarted: its definition has no `spec.rollout.after`")]
    NoRestart {
        /// Which one.
        object: ObjectKey,
    },
    /// It went while it was waited for.
    #[error("{object} was deleted")]
    Deleted {
        /// Which one.
        object: ObjectKey,
    },
    /// The cluster runs a Cluster API that has the fields elsewhere.
    #[error(transparent)]
    Contract(#[from] ContractError),
    /// The server.
    #[error(transparent)]
    Api(#[from] ApiError),
}

#[cfg(test)]
mod tests;
