//! `buildMetadata`: labels and annotations that describe the build.
//!
//! Source: kustomize v5.8.1 api/krusty (Run), api/resource (Origin), as observed.

use std::sync::Arc;

use manifest::{Object, Value, yaml};

use crate::TreePath;
use crate::accumulator::Accumulator;
use crate::helm;
use crate::resource::{BuildMetadata, ObjectOrigin, Plugin, Resource, Transformation};
use crate::scope::Scope;

const ORIGIN: &str = "config.kubernetes.io/origin";
const TRANSFORMATIONS: &str = "alpha.config.kubernetes.io/transformations";
const MANAGED_BY: &str = "app.kubernetes.io/managed-by";

/// The kustomize version whose output the build matches; kept, as selectors may use the label.
const MANAGER: &str = "kustomize-v5.8.1";

/// Annotations that programs pass to each other during a build. Other annotations of the same domain stay.
const INTERNAL_ANNOTATIONS: [&str; 19] = [
    "config.kubernetes.io/index",
    "config.kubernetes.io/path",
    "config.k8s.io/id",
    "internal.config.kubernetes.io/previousKinds",
    "internal.config.kubernetes.io/previousNames",
    "internal.config.kubernetes.io/previousNamespaces",
    "internal.config.kubernetes.io/prefixes",
    "internal.config.kubernetes.io/suffixes",
    "internal.config.kubernetes.io/allowNameChange",
    "internal.config.kubernetes.io/allowKindChange",
    "internal.config.kubernetes.io/refBy",
    "internal.config.kubernetes.io/generatorBehavior",
    "internal.config.kubernetes.io/needsHashSuffix",
    "internal.config.kubernetes.io/path",
    "internal.config.kubernetes.io/index",
    "internal.config.kubernetes.io/seqindent",
    "internal.config.kubernetes.io/id",
    "internal.config.kubernetes.io/annotations-migration-resource-id",
    helm::HELM_GENERATED,
];

const OPTIONS: [&str; 3] = ["managedByLabel", "originAnnotations", "transformerAnnotations"];

/// A warning about an unknown option.
#[derive(Debug, thiserror::Error)]
#[error("unknown option `{0}`: use any of {list}", list = OPTIONS.join(", "))]
struct UnknownOption(String);

/// Reads the options of the top kustomization. Warns about unknown options.
pub(crate) fn read_options(scope: &mut Scope<'_, '_>) -> BuildMetadata {
    let managed_by = scope.session.options.managed_by_label;
    let mut wanted = BuildMetadata { managed_by, ..BuildMetadata::default() };
    for (index, option) in scope.kustomization.build_metadata.iter().enumerate() {
        match option.as_str() {
            "managedByLabel" => wanted.managed_by = true,
            "originAnnotations" => wanted.origins = true,
            "transformerAnnotations" => wanted.transformations = true,
            other => scope.warn(&format!("buildMetadata[{index}]"), UnknownOption(other.to_owned())),
        }
    }
    wanted
}

/// Records a transformation on all objects, if the build asks for `transformerAnnotations`.
pub(crate) fn record_transformation(
    scope: &Scope<'_, '_>,
    file: &TreePath,
    by: &Plugin,
    objects: &mut Accumulator,
) {
    if scope.session.metadata.transformations {
        let transformation = Arc::new(Transformation { file: file.clone(), plugin: by.clone() });
        objects.edit_all(|resource| resource.transformations.push(Arc::clone(&transformation)));
    }
}

/// Adds the requested labels and annotations, and removes the annotations of the build itself.
pub(crate) fn run(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let wanted = scope.session.metadata;
    let top = &scope.root.folder;
    objects.edit_all(|resource| {
        clean(&mut resource.object);
        if wanted.origins {
            let text = origin_text(&resource.origin, top);
            resource.object.set_annotation(ORIGIN, &text);
        }
        if wanted.transformations && !resource.transformations.is_empty() {
            let text = transformations_text(resource, top);
            resource.object.set_annotation(TRANSFORMATIONS, &text);
        }
        if wanted.managed_by {
            resource.object.set_label(MANAGED_BY, MANAGER);
        }
    });
}

fn clean(object: &mut Object) {
    let is_dropped =
        |key: &str| [ORIGIN, TRANSFORMATIONS].contains(&key) || INTERNAL_ANNOTATIONS.contains(&key);
    if !object.annotations().any(|(key, _)| is_dropped(key)) {
        return;
    }
    let Some(metadata) = object.get_mut(&["metadata"]).and_then(Value::as_object_mut) else { return };
    let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) else { return };
    annotations.retain(|key, _| !is_dropped(key));
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
}

/// Writes YAML in the order of kustomize.
fn origin_text(origin: &ObjectOrigin, top: &TreePath) -> String {
    match origin {
        ObjectOrigin::Base(name) => line("path", name),
        ObjectOrigin::File(file) => line("path", &file.relative_to(top)),
        ObjectOrigin::Field { file, plugin: by, .. } => plugin_text(file, by, top, ""),
    }
}

fn transformations_text(resource: &Resource, top: &TreePath) -> String {
    let item = |transformation: &Arc<Transformation>| {
        let Transformation { file, plugin: by } = &**transformation;
        let text = plugin_text(file, by, top, "  ");
        // The dash replaces the indent of the first line of an item.
        format!("- {}", &text[2..])
    };
    resource.transformations.iter().map(item).collect()
}

fn plugin_text(file: &TreePath, by: &Plugin, top: &TreePath, indent: &str) -> String {
    let fields =
        [("apiVersion", "builtin"), ("kind", &by.kind), ("name", &by.name), ("namespace", &by.namespace)];
    let written = fields.into_iter().filter(|(_, value)| !value.is_empty());
    let by: Vec<String> = written.map(|(name, value)| format!("{indent}  {}", line(name, value))).collect();
    let file = line("configuredIn", &file.relative_to(top));
    format!("{indent}{file}{indent}configuredBy:\n{}", by.concat())
}

fn line(name: &str, value: &str) -> String {
    format!("{name}: {}\n", yaml::write(&value.into()).trim_end())
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;
    use crate::{Build, BuildOptions, FetchResults, MemoryTree, Reorder};

    fn build(files: &[(&str, &str)]) -> (String, Vec<String>) {
        let tree: MemoryTree = files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
        let options = BuildOptions { reorder: Reorder::None, ..BuildOptions::default() };
        let build = Build { tree: &tree, fetch_results: &FetchResults::new(), options };
        let output = build.run(&TreePath::new("/top")).unwrap();
        (output.text(), output.warnings.iter().map(ToString::to_string).collect())
    }

    const OBJECT: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations:\n    \
                          internal.config.kubernetes.io/refBy: a\n    config.kubernetes.io/origin: old\n    \
                          config.kubernetes.io/path: a\n";

    #[test]
    fn build_annotations_follow_the_top_kustomization() {
        let (text, warnings) = build(&[
            (
                "/top/kustomization.yaml",
                "buildMetadata: [managedByLabel, originAnnotations, transformerAnnotations, other]\nresources: [../base]\n\
                 generatorOptions: {disableNameSuffixHash: true}\nconfigMapGenerator: [{name: b}]\nnameSuffix: -x\n",
            ),
            ("/base/kustomization.yaml", "buildMetadata: [none]\nresources: [a.yaml]\nnamePrefix: p-\n"),
            ("/base/a.yaml", OBJECT),
        ]);
        let by = |indent: &str, file: &str, kind: &str| {
            format!(
                "configuredIn: {file}\n    {indent}  configuredBy:\n    {indent}    apiVersion: builtin\n    {indent}    \
                 kind: {kind}\n"
            )
        };
        let suffix = by("  ", "kustomization.yaml", "SuffixTransformer");
        let prefix = by("  ", "../base/kustomization.yaml", "PrefixTransformer");
        let labels = "  labels:\n    app.kubernetes.io/managed-by: kustomize-v5.8.1\n";
        let head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  annotations:\n    \
                    alpha.config.kubernetes.io/transformations: |\n";
        let expected = format!(
            "{head}      - {prefix}      - {suffix}    config.kubernetes.io/origin: |\n      path: ../base/a.yaml\n{labels}  \
             name: p-a-x\n---\n{head}      - {suffix}    config.kubernetes.io/origin: |\n      {}{labels}  name: b-x\n",
            by("", "kustomization.yaml", "ConfigMapGenerator")
        );
        assert_eq!(text, expected);
        assert_data_eq!(
            warnings.join("\n"),
            str![
                "/top/kustomization.yaml: buildMetadata[3]: unknown option `other`: use any of managedByLabel, originAnnotations, transformerAnnotations"
            ]
        );
    }

    // Row: D-249
    #[test]
    fn build_annotations_survive_a_patch_of_all_annotations() {
        let patches = [
            "- {op: replace, path: /metadata/annotations, value: {x: y}}",
            "- {op: remove, path: /metadata/annotations}",
            "- {op: copy, from: /metadata/annotations, path: /data}",
            "{kind: x, metadata: {name: x, annotations: {$patch: delete}}}",
        ];
        for patch in patches {
            let top = format!(
                "buildMetadata: [originAnnotations, transformerAnnotations]\nresources: [../base]\npatches: [{{target: {{name: \
                 a}}, patch: '{patch}'}}]\n"
            );
            let (text, _) = build(&[
                ("/top/kustomization.yaml", &top),
                ("/base/kustomization.yaml", "resources: [a.yaml]\nnamePrefix: p-\n"),
                (
                    "/base/a.yaml",
                    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {a: b}}\n",
                ),
            ]);
            assert!(
                text.contains("config.kubernetes.io/origin: |\n      path: ../base/a.yaml\n"),
                "{patch}\n{text}"
            );
            let kinds: Vec<_> = text.lines().filter_map(|line| line.trim().strip_prefix("kind: ")).collect();
            assert_eq!(kinds, ["ConfigMap", "PrefixTransformer", "PatchTransformer"], "{patch}\n{text}");
            assert!(!text.contains("internal."), "{patch}\n{text}");
        }
    }

    #[test]
    fn internal_annotations_are_removed_by_default() {
        let (text, _) = build(&[("/top/kustomization.yaml", "resources: [a.yaml]"), ("/top/a.yaml", OBJECT)]);
        assert_eq!(text, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n");
    }
}
