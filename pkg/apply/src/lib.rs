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
//! ```
//! use apply::{ConnectionOptions, GroupKind, ListQuery, Server, ServerOptions};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let sandbox = support::fixture::Fixture::start().await;
//! let connection = ConnectionOptions::of_client(sandbox.client(), "example/1.0");
//! let server = Server::connect(connection, ServerOptions::default()).await?;
//! let kind = server.kind(&GroupKind::new("", "Namespace")).await?;
//! let namespaces = server.list(&kind, &ListQuery::default()).await?;
//! assert!(namespaces.iter().any(|namespace| namespace.name() == "kube-system"));
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```
//!
//! - `desired`, `plan`, `status`, `diff`, `take_over_fields` and `order` are pure: objects in, decisions out.
//! - All communication goes through [`Server`]: one client, one discovery, bounded parallelism, one kind of retries.
//! - An [`ApplySet`] is recorded before the first object is written and after the last. An interrupted run can
//!   therefore be completed, pruned and deleted exactly.
//! - Temporary failures are retried until the deadline and reported; all other failures are immediate.
//!
//! Deliberately absent: Cluster API, files, the environment, printing.

mod access;
mod apply_set;
mod connect;
mod desired;
mod diff;
mod engine;
mod error;
mod event;
mod field_ownership;
mod hints;
mod in_use;
mod key;
mod kinds;
pub mod lease;
mod live;
mod marks;
mod migrate;
mod order;
mod plan;
mod policy;
mod readiness;
mod recorded_set;
mod retry;
mod server;
mod shared_namespaces;
mod status;
mod take_over;
#[cfg(test)]
mod testing;
mod wait;

pub use api::{
    GroupKind, ObjectKey,
    output::{StepAction, Written},
};

pub use access::{AccessReview, DeniedPermission, Permission};
pub use apply_set::{ApplySet, ApplySetItem, ApplySetStore, ItemPhase, ManagedType};
pub use connect::{
    ConnectError, ConnectionOptions, Credentials, INVALID_TOKEN, Impersonation, InlineKubeconfigError,
};
pub use desired::{DesiredObject, DesiredSet, InvalidObject, build_desired_set};
pub use diff::{
    DiffSummary, ListComparison, ObjectDifference, ObjectPair, compare_objects, diff, diff_texts, masked,
    summarise,
};
pub use engine::{
    Engine, EngineError, EngineOutcome, InUseCheck, ObservationTarget, PruneTiming, ReadByName, ReadDetail,
    RunOptions, SaveAt, WriteError,
};
pub use error::{ApiError, NetworkError, StatusCause};
pub use event::{Event, EventSink, RequestEffect};
pub use field_ownership::FieldSet;
pub use in_use::DefinitionInUse;
pub use key::key_of;
pub use kinds::{ApiKind, ServedKinds, defined_kinds};
pub use lease::{
    ClockReading, HeldLeasePolicy, Lease, LeaseEnd, LeaseError, LeaseHolder, LeaseName, LeaseRequest,
    LeaseState, end_expired_lease, lease_state,
};
pub use live::{LiveObjects, Observation};
pub use marks::OwnershipMarks;
pub use migrate::{MigrationError, StorageMigration};
pub use order::delete_priority;
pub use plan::{ApplyPlan, PlanError, PlanStage, PlanStep, PlannedSet, plan, plan_delete};
pub use policy::{
    AdoptionPolicy, ApplyOptions, DeletePolicy, MissingNamespacePolicy, ObjectPolicies, Policies,
    ReconcilePolicy, UpdatePolicy,
};
pub use readiness::{check_webhooks, wait_for_webhooks};
pub use recorded_set::{RecordedSet, RecordedSetError, SetObjects, SetRecordSummary};
pub use server::{
    ApplyPrecondition, ApplyRequest, DeletionOutcome, ListQuery, ObjectPage, ObjectPages, ObjectRevision,
    PatchTarget, Server, ServerOptions, ServerVersion, WatchEvent, WriteMode,
};
pub use status::{Blocker, Health, Status, StatusHints, status_of, waiting_for};
pub use take_over::{FormerTool, take_over_fields};
pub use wait::WaitRequest;
