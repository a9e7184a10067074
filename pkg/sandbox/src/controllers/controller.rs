//! The interface of a controller to its runner.

use std::time::Duration;

use futures::future::BoxFuture;

use crate::{client::Client, object_ref::ObjectRef, status::Status, store::Change};

/// One controller: it says what a change concerns, and brings one object nearer to what it should be.
///
/// The runner calls `reconcile` for one object at a time, again after an error (with a growing pause), and again when
/// the object changed meanwhile. A reconcile that finds nothing to do writes nothing: otherwise nothing ever settles.
pub(crate) trait Controller: Send + Sync + 'static {
    /// For the log, the switch and as field manager, such as `garbage-collector`.
    fn name(&self) -> &'static str;

    /// Which objects to look at after this change. Called for every change of the store, so it must be quick.
    fn concerned(&self, client: &Client, change: &Change) -> Vec<ObjectRef>;

    /// Looks at one object, which may be gone.
    fn reconcile<'a>(&'a self, client: &'a Client, object: &'a ObjectRef) -> Look<'a>;
}

/// A look at one object.
pub(crate) type Look<'a> = BoxFuture<'a, Result<Next, Status>>;

/// When to look again without a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Not before something changes.
    Wait,
    /// After this time.
    After(Duration),
}
