//! The preparation of Components: what they refer to, their artifact, their objects.
//!
//! ```text
//! Component, hub ─► resolve: Secrets, source, pins, digest ─► render: artifact ─► decrypt ─► templates ─► postBuild
//! ```

mod error;

use std::sync::Arc;

use chart::{Capabilities, MemoryTree};
use jiff::Timestamp;
use manifest::{Map, Object, Value, provenance::Trace};
use repository::RepositoryContext;
use serde_json::json;
use sops::DecryptionKeys;

use crate::{
    ClusterReader, Component, ComponentKey, DecryptError, KustomizeTransformer, ObjectReader, OtherDigests,
    ReferenceError, References, RenderError, RenderRequest, RenderedComponent, SourceState, Substitution,
    Transformer as _, UnpackedArchives, check_pins, component_digest, fetch_artifact, load_references,
    render,
    source::{current_source, find_source},
    source_object,
};

pub use error::PrepareError;

/// The settings for preparing Components.
#[derive(Clone, Default)]
pub struct Preparation {
    /// The access to artifacts.
    pub repositories: RepositoryContext,
    /// The archives that were unpacked last.
    pub archives: UnpackedArchives,
    /// The source that replaces those of Components, with its files.
    pub source: Option<SourceState>,
    /// The values over those of Components.
    pub values: Map<String, Value>,
    /// The mode of rendering.
    pub mode: RenderMode,
}

/// The mode of rendering.
#[derive(Clone, Copy, Debug, Default)]
pub struct RenderMode {
    /// True to render with a fixed time and fixed random values, so that the same files give the same objects.
    pub is_repeatable: bool,
    /// Recording of the provenance of fields.
    pub trace: Trace,
}

/// The cluster that templates see.
#[derive(Clone, Default)]
pub struct TemplateCluster {
    /// The version of Kubernetes and the served APIs.
    pub capabilities: Capabilities,
    /// The answers to lookups. `None` offline, where lookups find nothing.
    pub reader: Option<Arc<dyn ClusterReader>>,
}

/// A Component with everything that it refers to.
#[derive(Clone, Debug)]
pub struct ResolvedComponent {
    /// The Component, with its generation and status.
    pub component: Component,
    /// The contents of the Secrets that the Component refers to.
    pub references: References,
    /// The source as it is now.
    pub source: SourceState,
    /// The digest of the Component and all that it refers to.
    pub digest: String,
}

impl Preparation {
    /// Reads the Secrets and the source of a Component. `hub` is the cluster of the Component, or files.
    /// # Errors
    /// All references that cannot be resolved, or a source that is not the required one. A later run may succeed.
    pub async fn resolve(
        &self,
        component: Component,
        hub: &dyn ObjectReader,
    ) -> Result<ResolvedComponent, PrepareError> {
        let unresolved =
            |problems| PrepareError::References { component: ComponentKey::of(&component), problems };
        let (references, source) =
            (load_references(&component, hub).await, self.read_source(&component, hub).await);
        let (mut references, source) = match (references, source) {
            (Ok(references), Ok(source)) => (references, source),
            (Err(problems), Ok(_)) => return Err(unresolved(problems)),
            (references, Err(problem)) => {
                let mut problems = references.err().unwrap_or_default();
                problems.push(problem);
                return Err(unresolved(problems));
            }
        };
        references.add_values("--values", self.values.clone());
        let digest = component_digest(&component, &references, &source);
        Ok(ResolvedComponent { component, references, source, digest })
    }

    /// Fetches the artifact of a Component, and renders its objects.
    /// # Errors
    /// The artifact cannot be fetched, or a problem of its files.
    pub async fn render(
        &self,
        resolved: ResolvedComponent,
        cluster: TemplateCluster,
    ) -> Result<RenderedComponent, PrepareError> {
        let component = ComponentKey::of(&resolved.component);
        let tree = if let Some(files) = &resolved.source.files {
            files.clone()
        } else {
            let others = OtherDigests::of(&resolved.component.spec.source_ref);
            fetch_artifact(&resolved.source.artifact, others, &self.repositories, &self.archives)
                .await
                .map_err(|source| PrepareError::Fetch { component, source: Box::new(source) })?
        };
        let mode = self.mode;
        if cluster.reader.is_none() {
            return resolved.render(&tree, cluster, mode);
        }
        // Lookups block.
        let work = move || resolved.render(&tree, cluster, mode);
        let rendered = tokio::task::spawn_blocking(work).await;
        rendered.expect("invariant: the task is neither cancelled nor does it panic")
    }

    /// Reads the state of the source, and checks that it is the required one.
    async fn read_source(
        &self,
        component: &Component,
        hub: &dyn ObjectReader,
    ) -> Result<SourceState, ReferenceError> {
        let spec = &component.spec;
        let Some(given) = &self.source else {
            let state = current_source(component, hub, &self.repositories).await?;
            check_pins(component, &state.artifact)?;
            return Ok(state);
        };
        // The files are given, but a known source must be ready and required.
        if let Some(key) = source_object(&spec.source_ref, component.namespace())
            && let Some(known) = find_source(&key, hub).await?
        {
            check_pins(component, &known.artifact)?;
        }
        Ok(given.clone())
    }
}

impl ResolvedComponent {
    /// Renders the objects of the files of the source, and changes them as `spec.postBuild` says.
    fn render(
        self,
        tree: &MemoryTree,
        cluster: TemplateCluster,
        mode: RenderMode,
    ) -> Result<RenderedComponent, PrepareError> {
        let key = || ComponentKey::of(&self.component);
        let keys = DecryptionKeys::from_files(self.references.decryption_keys.iter().flatten())
            .map_err(|source| PrepareError::Keys { component: key(), source: Box::new(source) })?;
        let objects = self
            .objects(tree, cluster, &keys, mode)
            .map_err(|source| PrepareError::Render { component: key(), source: Box::new(source) })?;
        let Self { component, source, digest, .. } = self;
        Ok(RenderedComponent { component, source, digest, objects })
    }

    fn objects(
        &self,
        tree: &MemoryTree,
        cluster: TemplateCluster,
        keys: &DecryptionKeys,
        mode: RenderMode,
    ) -> Result<Vec<Object>, RenderError> {
        let Self { component, references, digest, .. } = self;
        let decrypt = |path: &str, content: &[u8]| -> Result<Option<Vec<u8>>, DecryptError> {
            if !sops::is_encrypted(content) {
                return Ok(None);
            }
            match sops::decrypt(path, content, keys) {
                Ok(plain) => Ok(Some(plain.to_vec())),
                Err(error) => Err(Box::new(error)),
            }
        };
        let mut request =
            RenderRequest::new(tree, component.deployment_name(), component.deployment_namespace());
        request.path = component.spec.path.as_deref().unwrap_or_default();
        request.values = Value::Object(references.values.clone());
        request.component = component.to_json();
        request.digest = digest;
        request.revision = component.status.revision_with(digest);
        request.capabilities = cluster.capabilities;
        request.cluster = cluster.reader;
        if component.spec.decryption.is_some() {
            request.decrypt = Some(&decrypt);
        }
        if mode.is_repeatable {
            request.seed = Some(0);
        } else {
            request.now = Timestamp::now();
        }
        if mode.trace == Trace::On {
            request.trace = Some(&references.value_sources);
        }
        let References { variables, variable_sources: sources, .. } = references;
        let objects = Substitution { variables, sources }.transform(render(&request)?)?;
        match &component.spec.post_build {
            Some(change) if !(change.patches.is_empty() && change.images.is_empty()) => {
                let (patches, images) = (json!(change.patches), json!(change.images));
                KustomizeTransformer { patches, images }.transform(objects)
            }
            _ => Ok(objects),
        }
    }
}

#[cfg(test)]
mod tests;
