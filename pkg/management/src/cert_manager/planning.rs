//! The plan of each object of cert-manager, for a reader.

use apply::{ByName, DesiredSet, Engine, EngineError, Live, Plan, desire, plan};

use super::{CertManagerError, CertManagerManifest, CertManagerPlan, cert_manager_manifest, record::marks};
use crate::{ManagementCluster, Sources, provider_set::options};

/// The objects of cert-manager before and after.
#[derive(Clone, Debug)]
pub struct CertManagerObjects {
    /// The objects of the release that comes.
    pub desired: DesiredSet,
    /// The objects that exist.
    pub live: Live,
    /// The objects as the server says they would be.
    pub would_be: Live,
    /// The actions, object by object.
    pub plan: Plan,
}

impl ManagementCluster {
    /// Plans every object of cert-manager and tries it as a dry run; none where nothing changes. Writes nothing.
    /// # Errors
    /// When the release or the server cannot be read, or the server would refuse an object.
    pub(crate) async fn plan_cert_manager_objects(
        &self,
        cert_manager: &CertManagerPlan,
        sources: &Sources<'_>,
    ) -> Result<Option<CertManagerObjects>, CertManagerError> {
        if cert_manager.is_empty() {
            return Ok(None);
        }
        let failed = |error| CertManagerError::Apply(Box::new(error));
        let manifest = cert_manager_manifest(sources).await?;
        let set = self.set_of_cert_manager(&manifest).await?;
        let CertManagerManifest { namespace, objects, .. } = manifest;
        let (marks, options) = (marks(), options(&namespace));
        let kinds = self.server.kinds().await?;
        let desired = desire(objects, &kinds, &marks, &options)
            .map_err(|objects| failed(EngineError::Bad { objects }))?;
        let engine = Engine { server: &self.server, marks: &marks, options: &options };
        let live = engine.observe(&set, &desired, ByName::All).await?;
        let plan = plan(&set, &desired, &live, &marks, &options, jiff::Timestamp::now())
            .map_err(|objects| failed(EngineError::Impossible { objects }))?;
        let would_be = engine.dry_run(&plan, &desired, &live).await.map_err(failed)?;
        Ok(Some(CertManagerObjects { desired, live, would_be, plan }))
    }
}
