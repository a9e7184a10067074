//! The objects of Components for a controller.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use apply::{ApiError, Server};
use chart::Capabilities;
use futures::{FutureExt as _, future::BoxFuture};
use manifest::Object;
use tokio::runtime::Handle;

use super::{ComponentRenderer, RenderInputs};
use crate::{
    ClusterLookups, Preparation, PrepareError, ResolvedComponent, TemplateCluster, lookup::capabilities,
};

/// Renders the objects of Components with access to their clusters.
pub struct ClusterRenderer {
    preparation: Preparation,
    hub: Server,
    /// The version of each cluster, by its address. Clusters are upgraded rarely, and the controller starts again then.
    versions: Mutex<BTreeMap<String, String>>,
}

impl ClusterRenderer {
    /// Takes the cluster of the Components.
    pub fn new(preparation: Preparation, hub: Server) -> Self {
        Self { preparation, hub, versions: Mutex::default() }
    }

    async fn capabilities(&self, target: &Server) -> Result<Capabilities, ApiError> {
        let address = target.address().to_owned();
        let known = self.versions.lock().unwrap_or_else(PoisonError::into_inner).get(&address).cloned();
        let version = if let Some(version) = known {
            version
        } else {
            let version = target.version().await?.git_version;
            let mut versions = self.versions.lock().unwrap_or_else(PoisonError::into_inner);
            versions.insert(address, version.clone());
            version
        };
        Ok(capabilities(&version, &*target.kinds().await?))
    }

    async fn objects(&self, inputs: RenderInputs<'_>) -> Result<Vec<Object>, String> {
        let RenderInputs { component, references, source, digest, target } = inputs;
        let capabilities = self.capabilities(target).await.map_err(|error| api::with_causes(&error))?;
        let reader = ClusterLookups::new(target.clone(), self.hub.clone(), Handle::current());
        let resolved = ResolvedComponent {
            component: component.clone(),
            references: references.clone(),
            source: source.clone(),
            digest: digest.to_owned(),
        };
        let cluster = TemplateCluster { capabilities, reader: Some(Arc::new(reader)) };
        match self.preparation.render(resolved, cluster).await {
            Ok(rendered) => Ok(rendered.objects),
            Err(PrepareError::Render { source, .. }) => Err(api::with_causes(&source)),
            Err(PrepareError::Fetch { source, .. }) => Err(api::with_causes(&source)),
            Err(error) => Err(api::with_causes(&error)),
        }
    }
}

impl ComponentRenderer for ClusterRenderer {
    fn render<'a>(&'a self, inputs: RenderInputs<'a>) -> BoxFuture<'a, Result<Vec<Object>, String>> {
        self.objects(inputs).boxed()
    }
}
