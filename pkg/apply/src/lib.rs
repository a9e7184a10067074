//! A Kubernetes API server: observed objects, desired objects, and the changes from one to the other.
//!
//! ```text
//! Kubeconfig ─► Connection ─► Server ─► Kinds (discovery)
//!                               │
//! objects ─► desire ─► Desired ─┤
//! ApplySet (recorded) ──────────┼─► observe ─► Live ─► plan ─► Plan (waves of steps) ─► table, diff, JSON
//!                               │                        │
//!                               └────────────────────────┴─► Engine::apply / delete ─► ApplySet, events
//!                                                                   │
//!                                                                   └─► wait: watched statuses, one deadline
//! ```
//!
//! - `desire`, `plan`, `status`, `diff`, `take_over` and `order` are pure: objects in, decisions out.
//! - All communication goes through [`Server`]: one client, one discovery, bounded parallelism, one kind of retries.
//! - An [`ApplySet`] is recorded before the first object is written and after the last. An interrupted run can
//!   therefore be completed, pruned and deleted exactly.
//! - Temporary failures are retried until the deadline and reported; all other failures are immediate.
//!
//! Deliberately absent: Cluster API, files, the environment, printing.

mod access;
mod apply_set;
mod connect;
mod desire;
mod diff;
mod engine;
mod error;
mod event;
#[cfg(test)]
mod fixtures;
mod guard;
mod hints;
mod key;
mod kinds;
#[cfg(test)]
mod lab;
pub mod lease;
mod live;
mod marks;
mod migrate;
mod order;
mod owned;
mod plan;
mod policy;
mod readiness;
mod retry;
mod server;
mod status;
mod take_over;
#[cfg(test)]
mod testing;
mod wait;

pub use api::output::{StepAction, Written};

pub use access::{Access, Denied, Permission};
pub use apply_set::{ApplySet, Item, ManagedType, Phase, Record};
pub use connect::{ConnectError, Connection, Credentials, Impersonation};
pub use desire::{BadObject, Desired, DesiredSet, desire};
pub use diff::{Change, Summary, diff, summarise};
pub use engine::{
    ByName, Detail, Engine, EngineError, Guard, Outcome, Prune, RecordAt, Run, Sought, WriteError,
};
pub use error::{ApiError, Cause, NoAnswer};
pub use event::{Effect, Event, EventSink};
pub use guard::InUse;
pub use key::{GroupKind, ObjectKey, object_name};
pub use kinds::{ApiKind, Kinds, defined_kinds};
pub use lease::{Lease, LeaseError, LeaseHolder, LeaseName, LeaseRequest, LeaseState, WhenHeld, lease_state};
pub use live::{Live, Observation};
pub use marks::Marks;
pub use migrate::{Migrated, MigrationError};
pub use order::delete_priority;
pub use owned::{FieldChange, FieldDrift, FieldSet, FieldSetter, field_drift, owned_fields};
pub use plan::{Impossible, Plan, PlannedSet, Stage, Step, plan, plan_delete};
pub use policy::{
    AdoptionPolicy, DeletePolicy, MissingNamespaces, ObjectPolicies, Options, Policies, ReconcilePolicy,
    UpdatePolicy,
};
pub use readiness::{wait_for_webhooks, webhooks_answer};
pub use server::{
    Apply, Deletion, List, Onto, Page, Pages, PatchOf, Revision, Server, ServerSettings, ServerVersion,
    WatchEvent, WriteMode,
};
pub use status::{Blocker, Health, Hints, Status, status_of, waiting_for};
pub use take_over::take_over;
pub use wait::Waiting;
