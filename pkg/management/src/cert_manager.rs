//! Detects cert-manager by the served kinds and a probe that persists nothing, then installs, upgrades or keeps it.
//!
//! ```text
//! served? ─► probe ─► labelled objects, record ─► decide ─► CertManagerPlan ─► apply, wait, probe
//! ```
//!
//! A label on the definitions marks the cert-manager that clusterctl or capstan installed. capstan waits for
//! an external cert-manager and never writes to it.

mod decide;
mod find;
mod install;
mod manifest;
mod planning;
mod probe;
mod record;
mod version;

use std::time::Instant;

use ::manifest::Object;
use api::output::{CertManagerAction, CertManagerPlan, ProgressEvent, ProgressStep};
use apply::{ApiError, Blocker, EngineError};
use inventory::ManagementCluster;
use provider::config::{CertManagerMode, ConfigError};

use self::{
    decide::{CertManagerState, decide_for_init, decide_for_upgrade},
    manifest::planned_manifest,
};
use crate::{
    LifecyclePlan, Sources,
    cert_manager::{
        find::{has_managed_cert_manager, labelled_objects, read_cert_manager_state, warn_leftovers},
        install::{apply_cert_manager, migrate_cert_manager, wait_for_external_cert_manager},
        record::recorded_cert_manager_set,
    },
};

pub use self::manifest::{CertManagerManifest, CertManagerManifestError, cert_manager_manifest};
pub(crate) use self::{planning::plan_cert_manager_objects, probe::probe_permission};

/// An error while detecting, installing or upgrading cert-manager.
#[allow(missing_docs)]
#[derive(Debug, thiserror::Error)]
pub enum CertManagerError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("cannot read the cert-manager manifest")]
    Manifest(#[source] Box<CertManagerManifestError>),
    #[error("cannot install cert-manager")]
    Apply(#[source] Box<EngineError>),
    #[error("cannot upgrade cert-manager")]
    Migrate(#[source] Box<apply::MigrationError>),
    /// The webhook of cert-manager does not answer in time.
    #[error("cert-manager is not responding: {last}")]
    NotAnswering { last: String, blockers: Vec<Blocker> },
    #[error("cannot read the cert-manager version: {object} has invalid version `{version}`")]
    InvalidVersion { object: String, version: String },
    #[error("cannot install cert-manager: invalid version `{version}`")]
    InvalidWantedVersion { version: String },
    #[error("cannot detect cert-manager")]
    Api(#[from] ApiError),
}

impl From<CertManagerManifestError> for CertManagerError {
    fn from(error: CertManagerManifestError) -> Self {
        Self::Manifest(Box::new(error))
    }
}

/// Reads the objects that a plan writes. Empty if the plan writes nothing.
/// # Errors
/// Fails if the release of cert-manager cannot be read.
pub(crate) async fn written_objects(
    plan: &CertManagerPlan,
    sources: &Sources<'_>,
) -> Result<Vec<Object>, CertManagerError> {
    if plan.is_empty() {
        return Ok(Vec::new());
    }
    Ok(cert_manager_manifest(sources).await?.objects)
}

/// Plans cert-manager for `init`. Writes nothing.
/// Reads the manifest only if missing objects cannot be determined without it.
/// # Errors
/// Fails if the server or a version cannot be read.
pub(crate) async fn plan_cert_manager_for_init(
    cluster: &ManagementCluster,
    sources: &Sources<'_>,
) -> Result<CertManagerPlan, CertManagerError> {
    let config = sources.config.cert_manager()?;
    match config.mode {
        CertManagerMode::None => return Ok(CertManagerPlan::default()),
        CertManagerMode::External => return Ok(CertManagerPlan::external()),
        CertManagerMode::Managed => {}
    }
    let state = read_cert_manager_state(cluster).await?;
    let needs_manifest = state.is_served && !state.live.is_empty() && state.set.is_none();
    // An unreadable release does not stop the plan if cert-manager is already installed.
    let manifest = if needs_manifest { cert_manager_manifest(sources).await.ok() } else { None };
    let plan = decide_for_init(&state, &config.version, manifest.as_ref())?;
    if plan.action == CertManagerAction::Keep {
        cluster.send_step(ProgressStep::CertManagerFound);
        warn_leftovers(cluster, &state).await?;
    }
    Ok(plan)
}

/// Plans cert-manager for an upgrade. Writes nothing.
/// # Errors
/// Fails if the manifest, the server or a version cannot be read.
/// Source: clusterctl v1.14 client/cluster/cert_manager.go (shouldUpgrade).
pub(crate) async fn plan_cert_manager_for_upgrade(
    cluster: &ManagementCluster,
    sources: &Sources<'_>,
) -> Result<CertManagerPlan, CertManagerError> {
    match sources.config.cert_manager()?.mode {
        CertManagerMode::None => return Ok(CertManagerPlan::default()),
        CertManagerMode::External => return Ok(CertManagerPlan::external()),
        CertManagerMode::Managed => {}
    }
    if !has_managed_cert_manager(cluster).await? {
        return Ok(CertManagerPlan::external());
    }
    cluster.send_step(ProgressStep::CheckingCertManager);
    let manifest = cert_manager_manifest(sources).await?;
    let set = recorded_cert_manager_set(cluster).await?;
    let live = labelled_objects(cluster, Some(&manifest), set.as_ref()).await?;
    decide_for_upgrade(&CertManagerState { live, set, ..CertManagerState::default() }, &manifest)
}

/// Executes the plan of cert-manager and waits until cert-manager answers, external or not.
/// # Errors
/// `NotAnswering` if cert-manager does not answer in time. Objects that are not ready although cert-manager answers
/// are only a warning. Later waits cover the providers that need them.
pub(crate) async fn execute_cert_manager(
    cluster: &ManagementCluster,
    plan: &mut LifecyclePlan,
    sources: &Sources<'_>,
    deadline: Instant,
) -> Result<(), CertManagerError> {
    match plan.cert_manager.action {
        CertManagerAction::None | CertManagerAction::Keep => return Ok(()),
        CertManagerAction::External => return wait_for_external_cert_manager(cluster, deadline).await,
        CertManagerAction::Install | CertManagerAction::Upgrade => {}
    }
    let manifest = planned_manifest(sources, plan).await?;
    let CertManagerPlan { action, from, to, .. } = &plan.cert_manager;
    let to = to.as_deref().unwrap_or_default();
    if *action == CertManagerAction::Upgrade {
        let step = ProgressStep::UpgradingCertManager;
        cluster.events.send(&ProgressEvent::cert_manager(step, from.clone(), to));
        migrate_cert_manager(cluster, &manifest).await?;
    } else {
        let step = ProgressStep::InstallingCertManager;
        cluster.events.send(&ProgressEvent::cert_manager(step, None, to));
    }
    apply_cert_manager(cluster, &manifest, &mut plan.cert_manager_objects, deadline).await
}

#[cfg(test)]
mod tests;
