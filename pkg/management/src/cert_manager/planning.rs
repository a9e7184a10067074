//! Plans each object of cert-manager.

use apply::{Engine, EngineError, PlannedSet, ReadByName};
use inventory::ManagementCluster;

use super::{CertManagerError, CertManagerManifest, manifest::planned_manifest, record::marks};
use crate::{LifecyclePlan, Sources, cert_manager::install::installed_set, provider_set::options};

/// Adds the objects of cert-manager to a plan that changes cert-manager, after a server-side dry run. Writes nothing.
/// # Errors
/// Fails if the release or the server cannot be read, or if the server rejects an object.
pub(crate) async fn plan_cert_manager_objects(
    cluster: &ManagementCluster,
    plan: &mut LifecyclePlan,
    sources: &Sources<'_>,
) -> Result<(), CertManagerError> {
    if plan.cert_manager.is_empty() {
        return Ok(());
    }
    let manifest = planned_manifest(sources, plan).await?;
    let mut planned = plan_manifest(cluster, &manifest, ReadByName::All).await?;
    let (marks, options) = (marks(), options(&manifest.namespace));
    let engine = Engine { server: &cluster.server, marks: &marks, options: &options };
    let tried = engine.dry_run(&mut planned, |_| true).await;
    tried.map_err(|error| CertManagerError::Apply(Box::new(error)))?;
    plan.cert_manager_objects = Some(planned);
    Ok(())
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
