//! Tests of whole builds, and helpers that build the kustomization in `/`, in the order of its entries.

mod bad_input;
mod build;
mod corpus;
mod fixtures;
mod properties;
mod provenance;

use manifest::{Object, Value};

use crate::{Build, BuildOptions, BuildOutput, BuildReport, FetchResults, MemoryTree, Reorder, TreePath};

/// Builds files. Returns the objects, or the errors, one per line.
pub(crate) fn build(files: &[(&str, &str)]) -> Result<Vec<Object>, String> {
    build_with(files, BuildOptions { reorder: Reorder::None, ..BuildOptions::default() })
}

/// Builds files with the given options.
pub(crate) fn build_with(files: &[(&str, &str)], options: BuildOptions) -> Result<Vec<Object>, String> {
    match build_in("/", files, options) {
        Ok(output) => Ok(output.objects),
        Err(report) => {
            let lines: Vec<String> = report.errors.iter().map(ToString::to_string).collect();
            Err(lines.join("\n"))
        }
    }
}

/// Builds the kustomization of a folder.
pub(crate) fn build_in(
    folder: &str,
    files: &[(&str, &str)],
    options: BuildOptions,
) -> Result<BuildOutput, BuildReport> {
    let tree: MemoryTree = files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
    Build { tree: &tree, fetch_results: &FetchResults::new(), options }.run(&TreePath::new(folder))
}

/// Builds `/top` in the order of its entries. Returns the objects and the warnings as text.
pub(crate) fn build_top(files: &[(&str, &str)]) -> Result<(String, Vec<String>), String> {
    let options = BuildOptions { reorder: Reorder::None, ..BuildOptions::default() };
    let output = build_in("/top", files, options).map_err(|report| report.to_string())?;
    Ok((output.text(), output.warnings.iter().map(ToString::to_string).collect()))
}

/// Returns the errors of a build that fails.
pub(crate) fn error_text(files: &[(&str, &str)]) -> String {
    build(files).unwrap_err()
}

/// Builds valid files. Returns the last object.
pub(crate) fn built(files: &[(&str, &str)]) -> Value {
    build(files).unwrap().pop().unwrap().into_value()
}
