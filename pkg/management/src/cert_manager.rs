//! cert-manager: found by what the API serves and a probe that leaves nothing behind; installed, upgraded, left alone.
//!
//! ```text
//! served? ─► probe ─► labelled objects, record ─► decide ─► CertManagerPlan ─► apply, wait, probe
//! ```
//!
//! Whose it is, our label on its definitions says. What somebody else installed is waited for and never written to.

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
use apply::{ApiError, Blocker, EngineError, PlannedSet};
use inventory::ManagementCluster;
use provider::config::{CertManagerMode, ConfigError};

use self::decide::{Found, for_init, for_upgrade};
use crate::{
    Sources,
    cert_manager::{
        find::{find_cert_manager, has_own_cert_manager, labelled_cert_manager, warn_of_remains},
        install::{apply_cert_manager, migrate_cert_manager, wait_for_foreign_cert_manager},
        record::cert_manager_set,
    },
};

pub use self::manifest::{CertManagerManifest, CertManagerManifestError, cert_manager_manifest};
pub(crate) use self::planning::plan_cert_manager_objects;

/// cert-manager that cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum CertManagerError {
    /// The configuration of it.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Its manifest cannot be read.
    #[error("cannot read the manifest of cert-manager")]
    Manifest(#[source] Box<CertManagerManifestError>),
    /// Its objects cannot be applied.
    #[error("cannot install cert-manager")]
    Apply(#[source] Box<EngineError>),
    /// Its stored objects cannot be migrated.
    #[error("cannot upgrade cert-manager")]
    Migrate(#[source] Box<apply::MigrationError>),
    /// It does not answer in time.
    #[error("cert-manager does not answer: {last}")]
    Silent {
        /// What the last probe said.
        last: String,
        /// What is not ready of it.
        blockers: Vec<Blocker>,
    },
    /// The version on the cluster cannot be compared.
    #[error("cert-manager object {object} has version `{version}`, which is none")]
    Version {
        /// Which object.
        object: String,
        /// What it says.
        version: String,
    },
    /// The version in the configuration cannot be compared.
    #[error("cert-manager is to have version `{version}`, which is none")]
    WantedVersion {
        /// What the configuration says.
        version: String,
    },
    /// The server.
    #[error("cannot find out about cert-manager")]
    Api(#[from] ApiError),
}

impl From<CertManagerManifestError> for CertManagerError {
    fn from(error: CertManagerManifestError) -> Self {
        Self::Manifest(Box::new(error))
    }
}

/// Reads the objects that a plan writes; none where it writes nothing.
/// # Errors
/// When the release of cert-manager cannot be read.
pub(crate) async fn written_objects(
    plan: &CertManagerPlan,
    sources: &Sources<'_>,
) -> Result<Vec<Object>, CertManagerError> {
    if plan.is_empty() {
        return Ok(Vec::new());
    }
    Ok(cert_manager_manifest(sources).await?.objects)
}

/// Finds out what `init` does about cert-manager. Writes nothing. Its manifest is read only where what is missing
/// cannot be told without it.
/// # Errors
/// When the server or a version cannot be read.
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
    let found = find_cert_manager(cluster).await?;
    let is_to_be_compared = found.is_served && !found.live.is_empty() && found.set.is_none();
    // A release that cannot be read is no reason to stop where cert-manager is there.
    let manifest = if is_to_be_compared { cert_manager_manifest(sources).await.ok() } else { None };
    let plan = for_init(&found, &config.version, manifest.as_ref())?;
    if plan.action == CertManagerAction::Keep {
        cluster.step(ProgressStep::CertManagerFound);
        warn_of_remains(cluster, &found).await?;
    }
    Ok(plan)
}

/// Finds out what an upgrade does about cert-manager. Writes nothing.
/// # Errors
/// When the manifest, the server or a version cannot be read.
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
    if !has_own_cert_manager(cluster).await? {
        return Ok(CertManagerPlan::external());
    }
    cluster.step(ProgressStep::CheckingCertManager);
    let manifest = cert_manager_manifest(sources).await?;
    let set = cert_manager_set(cluster).await?;
    let live = labelled_cert_manager(cluster, Some(&manifest), set.as_ref()).await?;
    for_upgrade(&Found { live, set, ..Found::default() }, &manifest)
}

/// Carries it out and waits until cert-manager answers, or external cert-manager does.
/// # Errors
/// `Silent` when it does not answer in time. What is not ready although it answers is a warning: whoever needs it
/// is waited for later.
pub(crate) async fn carry_out_cert_manager(
    cluster: &ManagementCluster,
    plan: &CertManagerPlan,
    objects: &mut Option<PlannedSet>,
    sources: &Sources<'_>,
    until: Instant,
) -> Result<(), CertManagerError> {
    match plan.action {
        CertManagerAction::None | CertManagerAction::Keep => return Ok(()),
        CertManagerAction::External => return wait_for_foreign_cert_manager(cluster, until).await,
        CertManagerAction::Install | CertManagerAction::Upgrade => {}
    }
    let manifest = cert_manager_manifest(sources).await?;
    let to = plan.to.as_deref().unwrap_or_default();
    if plan.action == CertManagerAction::Upgrade {
        let step = ProgressStep::UpgradingCertManager;
        cluster.events.send(&ProgressEvent::cert_manager(step, plan.from.clone(), to));
        migrate_cert_manager(cluster, &manifest).await?;
    } else {
        let step = ProgressStep::InstallingCertManager;
        cluster.events.send(&ProgressEvent::cert_manager(step, None, to));
    }
    apply_cert_manager(cluster, &manifest, objects, until).await
}

#[cfg(test)]
mod tests;
