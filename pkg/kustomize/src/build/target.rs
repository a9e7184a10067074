//! The order of the steps of a build: one step per field of a kustomization.
//!
//! Source: kustomize v5.8.1 api/internal/target (AccumulateTarget, configureBuiltinTransformers), as observed: the
//! order of the fields in the file has no effect.

use std::sync::Arc;

use manifest::Object;

use crate::accumulator::Accumulator;
use crate::fields::configurations;
use crate::kustomization::Kustomization;
use crate::output::metadata;
use crate::resource::{ObjectOrigin, Plugin, Resource};
use crate::schema::openapi;
use crate::scope::{BuildState, Root, Scope, Step};
use crate::transform::{images, labels, name, namespace, replacements, replicas};
use crate::{BaseObjects, ResolvedPath, TreePath};
use crate::{generators, hash, helm, order, output, patches, plugins, references, vars};

use super::entries;

/// A step, its field and its role.
struct Stage {
    field: &'static str,
    step: Step,
    role: Role,
}

enum Role {
    Plain,
    /// A failure means a missing object for the following steps.
    Generator,
    /// The name in `transformerAnnotations`, and the number of runs.
    Transformer(&'static str, RunCount),
}

type RunCount = fn(&Kustomization) -> usize;

const fn plain(field: &'static str, step: Step) -> Stage {
    Stage { field, step, role: Role::Plain }
}

const fn generator(field: &'static str, step: Step) -> Stage {
    Stage { field, step, role: Role::Generator }
}

const fn transformer(field: &'static str, step: Step, kind: &'static str, times: RunCount) -> Stage {
    Stage { field, step, role: Role::Transformer(kind, times) }
}

/// The steps of every kustomization and component, applied to the objects gathered so far.
const STEPS: [Stage; 24] = [
    plain("openapi", openapi::run),
    plain("resources", entries::run_resources),
    plain("configurations", configurations::run),
    plain("crds", configurations::run_crds),
    generator("configMapGenerator", generators::run_config_maps),
    generator("secretGenerator", generators::run_secrets),
    generator("helmCharts", helm::run),
    generator("generators", plugins::run_generators),
    plain("components", entries::run_components),
    transformer(
        "patchesStrategicMerge",
        patches::run_strategic_merge,
        "PatchStrategicMergeTransformer",
        |k| usize::from(!k.patches_strategic_merge.is_empty()),
    ),
    transformer("patches", patches::run, "PatchTransformer", |k| k.patches.len()),
    transformer("namespace", namespace::run, "NamespaceTransformer", |k| {
        usize::from(!k.namespace.is_empty())
    }),
    transformer("namePrefix", name::run_prefix, "PrefixTransformer", |k| {
        usize::from(!k.name_prefix.is_empty())
    }),
    transformer("nameSuffix", name::run_suffix, "SuffixTransformer", |k| {
        usize::from(!k.name_suffix.is_empty())
    }),
    transformer("labels", labels::run, "LabelTransformer", |k| k.labels.len()),
    // kustomize runs one of these if there is any label.
    transformer("commonLabels", labels::run_common, "LabelTransformer", |k| {
        usize::from(!k.labels.is_empty() || !k.common_labels.is_empty())
    }),
    transformer("commonAnnotations", labels::run_annotations, "AnnotationsTransformer", |k| {
        usize::from(!k.common_annotations.is_empty())
    }),
    transformer("patchesJson6902", patches::run_json6902, "PatchJson6902Transformer", |k| {
        k.patches_json6902.len()
    }),
    transformer("replicas", replicas::run, "ReplicaCountTransformer", |k| k.replicas.len()),
    transformer("images", images::run, "ImageTagTransformer", |k| k.images.len()),
    transformer("replacements", replacements::run, "ReplacementTransformer", |k| {
        usize::from(!k.replacements.is_empty())
    }),
    plain("transformers", plugins::run_transformers),
    plain("validators", plugins::run_validators),
    plain("vars", vars::collect),
];

/// The steps that run once, on the objects of the top kustomization.
const FINAL_STEPS: [Step; 7] = [
    hash::run,
    references::run,
    vars::run,
    output::drop_local_config,
    output::normalize_annotations,
    order::run,
    metadata::run,
];

pub(super) fn build_top(
    session: &mut BuildState<'_>,
    folder: &TreePath,
    top: Option<&TreePath>,
    base: BaseObjects,
) -> Vec<Object> {
    let folder = match session.tree.resolve(folder) {
        Ok(ResolvedPath::Folder(folder)) => folder,
        // The search for a kustomization in this folder reports the error.
        _ => folder.clone(),
    };
    let Some((root, kustomization)) = session.open(Root::first(folder, top.cloned())) else {
        return Vec::new();
    };
    let mut scope = Scope { session, root: &root, kustomization: &kustomization };
    scope.session.metadata = metadata::read_options(&mut scope);
    let mut objects = Accumulator::default();
    let origin = Arc::new(ObjectOrigin::Base(base.name));
    for object in base.objects {
        let added = objects.append(Resource::new(object, Arc::clone(&origin)));
        scope.ok("", added);
    }
    build(&mut scope, &mut objects);
    for step in FINAL_STEPS {
        step(&mut scope, &mut objects);
    }
    // The other steps of `FINAL_STEPS` record their provenance themselves.
    scope.record_provenance("buildMetadata", &mut objects);
    objects.into_resources().into_iter().map(|Resource { object, .. }| object).collect()
}

/// Builds one kustomization. A component starts from the objects of its parent; any other kustomization starts from
/// none.
pub(crate) fn build(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    for Stage { field, step, role } in STEPS {
        let reported = scope.session.report.errors.len();
        step(scope, objects);
        scope.record_provenance(field, objects);
        match role {
            Role::Plain => {}
            Role::Generator => objects.is_partial |= scope.session.report.errors.len() > reported,
            Role::Transformer(kind, times) => {
                for _ in 0..times(scope.kustomization) {
                    metadata::record_transformation(
                        scope,
                        &scope.root.file,
                        &Plugin::of_field(kind),
                        objects,
                    );
                }
            }
        }
    }
}
