//! Plans each object of cert-manager.

use api::{labels::LabelsByOwner, output::CertManagerPlan};
use apply::{Engine, EngineError, PlannedSet, ReadByName};
use inventory::ManagementCluster;
use provider::config::CertManager;

use super::{CertManagerError, CertManagerManifest, cert_manager_manifest, record::marks};
use crate::{Sources, cert_manager::install::installed_set, labels::set_labels, provider_set::options};

/// Plans every object of cert-manager with a server-side dry run. `None` if nothing changes. Writes nothing.
/// # Errors
/// Fails if the release or the server cannot be read, or if the server rejects an object.
pub(crate) async fn plan_cert_manager_objects(
    cluster: &ManagementCluster,
    cert_manager: &CertManagerPlan,
    labels: &LabelsByOwner,
    sources: &Sources<'_>,
) -> Result<Option<PlannedSet>, CertManagerError> {
    if cert_manager.is_empty() {
        return Ok(None);
    }
    let mut manifest = cert_manager_manifest(sources).await?;
    set_labels(&mut manifest.objects, CertManager::LABEL, labels);
    let mut planned = plan_manifest(cluster, &manifest, ReadByName::All).await?;
    let (marks, options) = (marks(), options(&manifest.namespace));
    let engine = Engine { server: &cluster.server, marks: &marks, options: &options };
    let tried = engine.dry_run(&mut planned, |_| true).await;
    tried.map_err(|error| CertManagerError::Apply(Box::new(error)))?;
    Ok(Some(planned))
}

/// Plans every object of a release.
pub(super) async fn plan_manifest(
    cluster: &ManagementCluster,
    manifest: &CertManagerManifest,
    by_name: ReadByName,
) -> Result<PlannedSet, CertManagerError> {
    let set = installed_set(cluster, manifest).await?;
    let (marks, options) = (marks(), options(&manifest.namespace));
    let engine = Engine { server: &cluster.server, marks: &marks, options: &options };
    engine.plan_objects(set, manifest.objects.clone(), by_name).await.map_err(|error| match error {
        EngineError::Api(error) => error.into(),
        error => CertManagerError::Apply(Box::new(error)),
    })
}
