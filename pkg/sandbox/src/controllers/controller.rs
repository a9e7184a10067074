//! The interface between a controller and its runner.

use std::time::Duration;

use futures::future::BoxFuture;

use crate::{client::Client, meta::ObjectRef, status::Status, store::Change};

/// A controller: selects the objects that a change concerns, and moves one object towards its desired state.
///
/// The runner never calls `reconcile` twice at the same time for one object. The runner repeats a call if the object
/// changed meanwhile, and after an error, with a growing pause. A reconciliation without work must write nothing;
/// otherwise the controllers never settle.
pub(crate) trait Controller: Send + Sync + 'static {
    /// The name for the log and the field manager, such as `garbage-collector`.
    fn name(&self) -> &'static str;

    /// Returns the objects to reconcile after a change. Runs for every change of the store, so it must be fast.
    fn affected_objects(&self, client: &Client, change: &Change) -> Vec<ObjectRef>;

    /// Reconciles one object, which may no longer exist.
    fn reconcile<'a>(&'a self, client: &'a Client, object: &'a ObjectRef) -> Reconciliation<'a>;
}

/// A reconciliation of one object.
pub(crate) type Reconciliation<'a> = BoxFuture<'a, Result<Requeue, Status>>;

/// The time of the next reconciliation without a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Requeue {
    /// Reconcile only after a change.
    AwaitChange,
    /// Reconcile after this time.
    After(Duration),
}
