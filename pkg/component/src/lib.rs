//! Components: sets of objects that are rendered from a source and kept on a cluster.
//!
//! ```text
//! file ─► check (schema of the CustomResourceDefinition) ─► Component
//! Component ─► resolve: references (Secrets), source (Flux, URL, Blueprint), digest
//!           ─► render: artifact, a file tree in memory ─► templates, values ─► transformers ─► objects
//! objects ─► plan ─► apply, or delete
//! ```
//!
//! ```
//! use component::{Component, check_component};
//! use manifest::{YamlLimits, read_stream};
//!
//! let text = "
//! apiVersion: core.cs.sap.com/v1alpha1
//! kind: Component
//! metadata: {name: web, namespace: shop}
//! spec: {sourceRef: {fluxGitRepository: {name: manifests}}, adoptionPolicy: sometimes}
//! ";
//! let object = read_stream(text.as_bytes(), &YamlLimits::default())?.objects.remove(0);
//! let problem = &check_component(&object).unwrap_err()[0];
//! assert_eq!(problem.field, "spec.adoptionPolicy");
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! Deliberately absent: files, the environment, printing.

mod batch;
mod check;
mod definition;
mod dependencies;
mod hints;
mod lookup;
mod ownership;
mod prepare;
mod reconcile;
mod references;
mod render;
mod run;
mod source;
mod spec;
mod status;
mod store;
mod targets;
#[cfg(test)]
mod testing;
mod transition;

pub use batch::{
    BatchError, BatchPlan, ComponentBatch, ComponentInput, ComponentProblem, PlanPurpose, UnstoredObject,
};
pub use check::{CheckedComponent, FieldProblem, check_component, check_metadata};
pub use definition::{API_VERSION, BLUEPRINT_KIND, GROUP, KIND, definition, definitions};
pub use dependencies::{ComponentKey, DependencyCycle, check_dependency, deletion_blocker, dependency_order};
pub use lookup::{ClusterLookups, ServerLookup, server_capabilities};
pub use ownership::{RECONCILER, component_digest, marks, options};
pub use prepare::{Preparation, PrepareError, RenderMode, ResolvedComponent, TemplateCluster};
pub use reconcile::{
    ClusterRenderer, ComponentEvent, ComponentRenderer, ComponentStep, DependentsReader, Reconciler,
    RenderInputs,
};
pub use references::{
    LocalObjects, ObjectReader, ReferenceError, References, ValueSource, load_kubeconfig, load_references,
    merge,
};
pub use render::{
    ChartGenerator, ClusterReader, DecryptError, Generator, KustomizationGenerator, KustomizeTransformer,
    LookupCluster, RenderError, RenderProblem, RenderRequest, Substitution, Transformer, generator_of,
    render, render_template,
};
pub use run::{ComponentPlan, ComponentRuns, RenderedComponent, RunError};
pub use source::{
    ArchiveError, FetchError, OtherDigests, SourceState, UnpackedArchives, check_pins, fetch_artifact,
    http_state, read_source, source_object, unpack,
};
pub use spec::{
    AdoptionPolicy, BlueprintSpec, Component, ComponentReference, ComponentSpec, Decryption, DeletePolicy,
    HttpRepository, ImageReplacement, KubeConfig, ManagedTypeReference, MissingNamespacesPolicy,
    NamespacedReference, Patch, PatchTarget, PostBuild, SecretKeyReference, SecretReference, SourceReference,
    UpdatePolicy,
};
pub use status::{ArtifactReference, ComponentStatus, Condition, InventoryItem, SourceStatus, State};
pub use store::{
    ComponentStore, InventoryError, InventoryStore, StoreError, StoredComponents, UnreadableComponent,
};
pub use targets::{TargetError, Targets};
pub use transition::{AT_ONCE, Circumstances, Intervals, Outcome, REFERENCE_RETRY, record_outcome};
