//! The plan of each object of cert-manager.

use apply::{ByName, Engine, EngineError, PlannedSet, desire};

use super::{CertManagerError, CertManagerManifest, CertManagerPlan, cert_manager_manifest, record::marks};
use crate::{ManagementCluster, Sources, provider_set::options};

impl ManagementCluster {
    /// Plans every object of cert-manager and tries it as a dry run; none where nothing changes. Writes nothing.
    /// # Errors
    /// When the release or the server cannot be read, or the server would refuse an object.
    pub(crate) async fn plan_cert_manager_objects(
        &self,
        cert_manager: &CertManagerPlan,
        sources: &Sources<'_>,
    ) -> Result<Option<PlannedSet>, CertManagerError> {
        if cert_manager.is_empty() {
            return Ok(None);
        }
        let manifest = cert_manager_manifest(sources).await?;
        let mut planned = self.plan_manifest_of_cert_manager(&manifest, ByName::All).await?;
        let (marks, options) = (marks(), options(&manifest.namespace));
        let engine = Engine { server: &self.server, marks: &marks, options: &options };
        let tried = engine.dry_run(&mut planned, |_| true).await;
        tried.map_err(|error| CertManagerError::Apply(Box::new(error)))?;
        Ok(Some(planned))
    }

    /// Plans every object of a release.
    pub(super) async fn plan_manifest_of_cert_manager(
        &self,
        manifest: &CertManagerManifest,
        by_name: ByName,
    ) -> Result<PlannedSet, CertManagerError> {
        let failed = |error| CertManagerError::Apply(Box::new(error));
        let set = self.set_of_cert_manager(manifest).await?;
        let (marks, options) = (marks(), options(&manifest.namespace));
        let kinds = self.server.kinds().await?;
        let desired = desire(manifest.objects.clone(), &kinds, &marks, &options)
            .map_err(|objects| failed(EngineError::Bad { objects }))?;
        let engine = Engine { server: &self.server, marks: &marks, options: &options };
        let live = engine.observe(&set, &desired, by_name).await?;
        let planned = engine.plan(set, desired, live);
        planned.map_err(|objects| failed(EngineError::Impossible { objects }))
    }
}
