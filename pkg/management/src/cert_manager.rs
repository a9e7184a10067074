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
use apply::{ApiError, Blocker, EngineError, PlannedSet};
use provider::config::{CertManagerMode, ConfigError};
use serde::Serialize;

use self::decide::{Found, for_init, for_upgrade};
use crate::{Event, ManagementCluster, Sources};

pub use self::manifest::{CertManagerManifest, CertManagerManifestError, cert_manager_manifest};

/// Label of what belongs to cert-manager as clusterctl and capstan install it.
const CORE_LABEL: &str = "clusterctl.cluster.x-k8s.io/core";
const CORE_VALUE: &str = "cert-manager";
/// Selects them.
const SELECTOR: &str = "clusterctl.cluster.x-k8s.io/core=cert-manager";
/// Annotation of the same objects: the version they are of.
const VERSION_ANNOTATION: &str = "cert-manager.clusterctl.cluster.x-k8s.io/version";

/// What becomes of cert-manager.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "action", rename_all = "kebab-case")]
pub enum CertManagerPlan {
    /// It is not looked at: nothing needs it, or it is switched off.
    None,
    /// Somebody else takes care of it, and it answers or is waited for.
    External,
    /// It is there as it is to be.
    Keep {
        /// Its version; empty when somebody else's does not say.
        version: String,
    },
    /// It is not there, or does not answer.
    Install {
        /// The version that comes.
        version: String,
        /// Why, when it is there in part.
        #[serde(skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// It is replaced.
    Upgrade {
        /// What is there.
        from: String,
        /// What comes.
        to: String,
    },
}

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

impl CertManagerPlan {
    /// Reads the objects it writes; none where it writes nothing.
    /// # Errors
    /// When the release of cert-manager cannot be read.
    pub(crate) async fn objects(&self, sources: &Sources<'_>) -> Result<Vec<Object>, CertManagerError> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        Ok(cert_manager_manifest(sources).await?.objects)
    }

    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        !matches!(self, Self::Install { .. } | Self::Upgrade { .. })
    }
}

impl ManagementCluster {
    /// Finds out what `init` does about cert-manager. Writes nothing. Its manifest is read only where what is missing
    /// cannot be told without it.
    /// # Errors
    /// When the server or a version cannot be read.
    pub async fn plan_cert_manager_for_init(
        &self,
        sources: &Sources<'_>,
    ) -> Result<CertManagerPlan, CertManagerError> {
        let config = sources.config.cert_manager()?;
        match config.mode {
            CertManagerMode::None => return Ok(CertManagerPlan::None),
            CertManagerMode::External => return Ok(CertManagerPlan::External),
            CertManagerMode::Managed => {}
        }
        let found = self.find_cert_manager().await?;
        let is_to_be_compared = found.is_served && !found.live.is_empty() && found.set.is_none();
        // A release that cannot be read is no reason to stop where cert-manager is there.
        let manifest = if is_to_be_compared { cert_manager_manifest(sources).await.ok() } else { None };
        let plan = for_init(&found, &config.version, manifest.as_ref())?;
        if matches!(plan, CertManagerPlan::Keep { .. }) {
            self.events.send(&Event::CertManagerFound);
            self.warn_of_remains(&found).await?;
        }
        Ok(plan)
    }

    /// Finds out what an upgrade does about cert-manager. Writes nothing.
    /// # Errors
    /// When the manifest, the server or a version cannot be read.
    /// Source: clusterctl v1.14 client/cluster/cert_manager.go (shouldUpgrade).
    pub async fn plan_cert_manager_for_upgrade(
        &self,
        sources: &Sources<'_>,
    ) -> Result<CertManagerPlan, CertManagerError> {
        match sources.config.cert_manager()?.mode {
            CertManagerMode::None => return Ok(CertManagerPlan::None),
            CertManagerMode::External => return Ok(CertManagerPlan::External),
            CertManagerMode::Managed => {}
        }
        if !self.has_own_cert_manager().await? {
            return Ok(CertManagerPlan::External);
        }
        self.events.send(&Event::CheckingCertManager);
        let manifest = cert_manager_manifest(sources).await?;
        let set = self.cert_manager_set().await?;
        let live = self.labelled_cert_manager(Some(&manifest), set.as_ref()).await?;
        for_upgrade(&Found { live, set, ..Found::default() }, &manifest)
    }

    /// Carries it out and waits until cert-manager answers, or external cert-manager does.
    /// # Errors
    /// `Silent` when it does not answer in time. What is not ready although it answers is a warning: whoever needs it
    /// is waited for later.
    pub(crate) async fn carry_out_cert_manager(
        &self,
        plan: &CertManagerPlan,
        objects: &mut Option<PlannedSet>,
        sources: &Sources<'_>,
        until: Instant,
    ) -> Result<(), CertManagerError> {
        match plan {
            CertManagerPlan::None | CertManagerPlan::Keep { .. } => Ok(()),
            CertManagerPlan::External => self.wait_for_foreign_cert_manager(until).await,
            CertManagerPlan::Install { version, .. } => {
                let manifest = cert_manager_manifest(sources).await?;
                self.events.send(&Event::InstallingCertManager { version: version.clone() });
                self.apply_cert_manager(&manifest, objects, until).await
            }
            CertManagerPlan::Upgrade { from, to } => {
                let manifest = cert_manager_manifest(sources).await?;
                self.events.send(&Event::UpgradingCertManager { from: from.clone(), to: to.clone() });
                self.migrate_cert_manager(&manifest).await?;
                self.apply_cert_manager(&manifest, objects, until).await
            }
        }
    }
}

#[cfg(test)]
mod tests;
