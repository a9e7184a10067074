//! A management cluster: how its providers come, change and go, and what there is of the workload clusters it looks after.
//!
//! ```text
//! Sources (configuration, repositories, variables) ─► resolve ─► RenderedProvider (version, contract, objects)
//!                                                                      │
//! ManagementCluster ─► ProviderInventory ──────────────────────────────┤
//!        │                                                             ▼
//!        │                                     plan_init, plan_upgrade, plan_delete ─► LifecyclePlan
//!        │                                                             │  preflight: every problem before a write
//!        └── apply::Server ◄── carry out: cert-manager, provider by provider, inventory last ◄┘
//!                                     │
//!                                     └─► Journal (upgrade): resume, abort, rollback
//! ```
//!
//! ```text
//! ManagementCluster ─► discover ─► Facts ─► Graph (owners) ─► Selection ─► groups ─► move, with a journal on both sides
//!        │                                    └──────────────────────────────────► drawing
//!        └── describe, rollout, workload kubeconfig: objects of one Cluster, kind by kind
//! ```
//!
//! - The inventory, labels and namespaces are those every tool of Cluster API knows; an [`apply::ApplySet`] per provider
//!   beside it makes pruning and deletion exact. Without one, the labels say what was installed.
//! - Nothing is written before everything was fetched, rendered and checked, for all providers.
//! - What was interrupted is gone on with by the same command.
//!
//! Deliberately absent: HTTP, Kubernetes clients, files, the environment, printing.

mod applied;
mod carry_out;
mod cert_manager;
mod cluster;
mod contract;
mod delete;
mod describe;
mod discover;
mod drawing;
mod error;
mod event;
#[cfg(test)]
mod faults;
mod graph;
mod init;
mod inventory;
mod mover;
mod plan;
mod preflight;
mod provider_questions;
mod provider_set;
mod readiness;
mod render;
#[cfg(test)]
mod requests_tests;
mod rollout;
mod sources;
mod status;
#[cfg(test)]
mod testing;
mod unfinished;
mod upgrade;
mod workload_kubeconfig;

pub use cert_manager::{
    CertManagerError, CertManagerManifest, CertManagerManifestError, CertManagerPlan, cert_manager_manifest,
};
pub use cluster::{ClusterIdentity, ManagementCluster};
pub use contract::{ContractCheck, ContractError};
pub use delete::{DeleteError, DeleteRequest, NotChosen, delete_providers, plan_delete};
pub use describe::{
    BadChoice, Cell, ClusterHealth, ClusterNews, ClusterSummary, ClusterTree, Condition, ConditionSet,
    DescribeError, DescribeRequest, Echo, Fleet, FleetRequest, Grouping, MachineCounts, MachineGroup, Part,
    SeenObject, ShownConditions, Span, Subject, Tone, TreeNode, TreeTable, Unreadable, age, describe_cluster,
    list_clusters, watch_cluster,
};
pub use discover::{DiscoverError, Discovered, Scope};
pub use drawing::{Drawing, Fates, NoSuchCluster, PageOrigin, draw, draw_page, owner_graph};
pub use error::LifecycleError;
pub use event::Event;
pub use graph::{
    Choice, ClusterFacts, ConditionFacts, Content, Excluded, Facts, Fate, Going, Graph, Included,
    KeptBecause, Node, NodeId, OwnerRef, Replicas, Selection, TypeFacts,
};
pub use init::{InitRequest, init, plan_init};
pub use inventory::{InventoryError, ProviderInventory};
pub use mover::{
    Aborted, ArchiveError, ArchiveInput, ArchiveKeys, ArchiveLock, ArchiveOutput, ArchiveWriter, Backup,
    BackupAbout, BackupContents, BackupIndex, BackupManifest, BackupObject, BackupProvider, ClusterChoice,
    Holder, Identity, JournalError, JournalKeeper, JournalStore, KeepSaved, KeyError, KeyFileError, LeftOut,
    MoveError, MoveJournal, MoveOutcome, MovePhase, MovePlan, MoveReport, MoveRequest, MoveSide,
    OnDifference, OnTarget, OpenSave, OpenSaves, Passphrase, PausedObject, Recipient, RestoreOptions,
    Restored, Route, SaveInto, SaveRest, Saved, SavedFile, SavedObject, SavedObjects, Seal, SealedOutput,
    abort_move, abort_without_target, carry_out_move, complete_without_source, move_report, move_state,
    open_saves, plan_move, plan_restore, plan_save, read_archive, restore_objects, resume_saved,
    save_objects, verify_archive,
};
pub use plan::{
    Difference, Diffs, LifecyclePlan, NoRandomBytes, ObjectDifference, PlanOrigin, ProviderPlan, Verb,
    differences, object_name, waiting_for,
};
pub use preflight::{Problem, Problems};
pub use readiness::{NotReady, WaitFor};
pub use render::{RenderError, RenderedPart, render_installation};
pub use rollout::{
    InvalidResource, ResourceRef, RolloutChange, RolloutError, RolloutProgress, RolloutResource,
    RolloutState, change_rollout, rollout_names, rollout_progress, rollout_resources, watch_rollouts,
};
pub use sources::{ProvidersRequest, RenderedProvider, ResolveError, Sources};
pub use status::{ClusterStatus, InstalledHealth, ObjectDrift, ProviderStatus, StatusError, status};
pub use unfinished::{OnUnfinished, Unfinished, UnfinishedRun};
pub use upgrade::{
    InvalidUpgradeItem, JournalState, NextVersion, ResumePlan, RollbackPlan, UpgradeError, UpgradeItem,
    UpgradeOutlook, UpgradeRequest, UpgradeTarget, abort_upgrade, begin_rollback, plan_resume, plan_rollback,
    plan_upgrade, resume_upgrade, rollback_upgrade, upgrade, upgrade_outlook,
};
pub use workload_kubeconfig::{
    KubeconfigOf, KubeconfigRequest, WorkloadKubeconfigError, cluster_names, workload_kubeconfig,
};
