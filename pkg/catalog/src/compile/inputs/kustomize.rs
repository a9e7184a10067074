//! Kustomizations: each object becomes a file.
//!
//! Source: Kapitan 0.36 inputs/kustomize.py.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::copy::copy_folder;
use crate::compile::context::TargetContext;
use crate::compile::error::InputError;
use crate::compile::output_tree::OutputTree;
use crate::compile::settings::Input;
use crate::compile::tools::{KustomizationOutput, ToolError};
use crate::yaml::{YamlStyle, read_documents, write_document};

/// Builds a copy of a kustomization, with the namespace and the patches of the input.
pub(in crate::compile) fn compile(
    context: &TargetContext<'_>,
    input: &Input,
    path: &Path,
    output: &OutputTree,
) -> Result<(), InputError> {
    let fail = |error: ToolError| InputError::Kustomize {
        path: path.to_owned(),
        reason: error.reason,
        hints: error.hints,
    };
    let parent = context.output.root();
    let temporary = tempfile::Builder::new().prefix(".kustomize-").tempdir_in(parent);
    let temporary = temporary.map_err(InputError::write(parent))?;
    let overlay = OutputTree::new(temporary.path().to_owned());
    let name = path.file_name().map_or_else(|| "base".to_owned(), |name| name.to_string_lossy().into_owned());
    copy_folder(path, &overlay.folder(&name)?)?;
    let kustomization = kustomization(input, path, &name, &overlay)?;
    overlay.write("kustomization.yaml", kustomization.to_string().as_bytes())?;
    let built = context.tools.build_kustomization(temporary.path()).map_err(fail)?;
    note_inputs(context, &built);
    for object in built.objects {
        output.write(&file_name(&object), write_document(&object, YamlStyle::EMBEDDED).as_bytes())?;
    }
    Ok(())
}

/// Records the files of a kustomization. Remote content may change.
pub(super) fn note_inputs(context: &TargetContext<'_>, built: &KustomizationOutput) {
    match &built.inputs {
        Some(paths) => context.reads.note_paths(paths),
        None => context.reads.note_unknown(),
    }
}

fn kustomization(input: &Input, path: &Path, name: &str, overlay: &OutputTree) -> Result<Value, InputError> {
    let original = std::fs::read_to_string(path.join("kustomization.yaml")).unwrap_or_default();
    let original = read_documents(&original).ok().and_then(|documents| documents.into_iter().next());
    let namespace = original.as_ref().and_then(|original| original["namespace"].as_str()).unwrap_or_default();
    let namespace = input.namespace.as_deref().filter(|own| !own.is_empty()).unwrap_or(namespace);
    let mut patches = Vec::new();
    for (patch, settings) in input.patches.as_ref().unwrap_or(&Map::new()) {
        let file = format!("{patch}.yaml");
        overlay.write(&file, settings["patch"].to_string().as_bytes())?;
        patches.push(json!({"path": file, "target": settings["target"]}));
    }
    let mut kustomization = json!({"resources": [name]});
    if !namespace.is_empty() {
        kustomization["namespace"] = Value::from(namespace);
    }
    if !patches.is_empty() {
        kustomization["patches"] = Value::from(patches);
    }
    Ok(kustomization)
}

fn file_name(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_lowercase();
    let (kind, name) = (text(&object["kind"]), text(&object["metadata"]["name"]));
    if kind.is_empty() || name.is_empty() { "output.yaml".to_owned() } else { format!("{name}-{kind}.yaml") }
}
