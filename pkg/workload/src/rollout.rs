//! Rollouts of resources with Machines: restart, pause, resume and progress.
//!
//! ```text
//! `md/a` ─► ResourceRef ─► rollout_resources ─► RolloutResource ─┬─► change_rollout (restart, pause, resume)
//!                                                                └─► rollout_progress, watch_rollouts ─► RolloutStatus
//! ```

mod change;
mod outdated;
mod progress;
mod resource;
mod watch;

use apply::{ApiError, ObjectKey};
use inventory::ContractError;

pub use change::{RolloutChange, change_rollout};
pub use resource::{ResourceRef, ResourceRefError, RolloutResource, rollout_names, rollout_resources};
pub use watch::{rollout_progress, watch_rollouts};

/// An error about a rollout.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum RolloutError {
    /// No resource of this type has rollouts.
    #[error("resource type `{typed}` does not support rollouts")]
    UnknownResource {
        /// The given type.
        typed: String,
        /// The valid types on this server.
        valid: Vec<String>,
    },
    /// Control planes of several groups have this name.
    #[error("resource type `{typed}` is ambiguous: {}", kinds.join(" or "))]
    Ambiguous {
        /// The given type.
        typed: String,
        /// The unambiguous names, such as `foocontrolplane.controlplane.cluster.x-k8s.io`.
        kinds: Vec<String>,
    },
    /// The object does not exist.
    #[error("{object} does not exist")]
    NotFound {
        object: ObjectKey,
        /// Objects of its kind and namespace with similar names.
        suggestions: Vec<String>,
    },
    /// A paused rollout cannot be restarted.
    #[error("cannot restart {object}: it is paused")]
    Paused {
        object: ObjectKey,
        /// True if the object is paused by an annotation, which others than `rollout pause` set too.
        by_annotation: bool,
    },
    /// A rollout is already scheduled for a future time.
    #[error("cannot restart {object}: a rollout is already scheduled for {after}")]
    Scheduled {
        object: ObjectKey,
        /// The scheduled time, unchanged.
        after: String,
    },
    /// The object to pause is already paused.
    #[error("cannot pause {object}: it is already paused")]
    AlreadyPaused { object: ObjectKey },
    /// The object to resume is not paused.
    #[error("cannot resume {object}: it is not paused")]
    NotPaused { object: ObjectKey },
    /// The kind has no field that requests new machines.
    #[error("cannot restart {object}: its definition has no `spec.rollout.after`")]
    RestartUnsupported { object: ObjectKey },
    /// The object was deleted during the wait.
    #[error("{object} was deleted")]
    Deleted { object: ObjectKey },
    /// The cluster runs a Cluster API with the fields at other paths.
    #[error(transparent)]
    Contract(#[from] ContractError),
    /// The failure of the server.
    #[error(transparent)]
    Api(#[from] ApiError),
}

#[cfg(test)]
mod tests;
