//! All filters of an instance.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::definition::{Filter, FilterFolders, FilterType, python_text};
use super::error::PostprocessError;
use super::output::write_files;
use super::{builtin, program};
use crate::jsonnet::EvaluationControl;
use crate::reclass::{KeyOrder, KeyOrders, Node};

/// An instance whose files are processed.
pub(crate) struct PostprocessRequest<'a> {
    /// The name of the instance.
    pub(crate) instance: &'a str,
    /// The name of its component.
    pub(crate) component: &'a str,
    /// The folder of the component, for the files of filters.
    pub(crate) component_folder: &'a Path,
    /// The rendered target of the instance.
    pub(crate) node: &'a Node,
    /// The orders of the keys of all targets, for notices.
    pub(crate) key_orders: &'a KeyOrders,
    /// The limits of programs.
    pub(crate) control: &'a EvaluationControl,
    /// The folder with `compiled` and `vendor`.
    pub(crate) output: &'a Path,
}

/// Runs the filters of an instance, in order. Invalid and disabled filters are skipped with a notice.
pub(crate) fn postprocess(request: &PostprocessRequest<'_>) -> Result<Vec<String>, PostprocessError> {
    let definitions = request.node.parameters.pointer("/commodore/postprocess/filters");
    let compiled = request.output.join("compiled").join(request.instance);
    let folders = FilterFolders { compiled: &compiled, component: request.component_folder };
    let (mut notices, mut filters) = (Vec::new(), Vec::new());
    for (index, definition) in definitions.and_then(Value::as_array).into_iter().flatten().enumerate() {
        match Filter::read(definition, folders) {
            Ok(filter) => filters.push(filter),
            Err(reason) => {
                let order = request.key_orders.of(request.instance).field("commodore").field("postprocess");
                notices.push(skipped(definition, order.field("filters").item(index), &reason));
            }
        }
    }
    for filter in &filters {
        if !filter.enabled {
            let text = format!(" > Skipping disabled filter {} on path {}", filter.name, shown(filter.path));
            notices.push(text);
            continue;
        }
        let folder = compiled.join(normal(filter.path)?);
        let files = match filter.kind {
            FilterType::Builtin => builtin::helm_namespace(filter, &folder)?,
            FilterType::Jsonnet => program::run(filter, request, &folder)?,
        };
        write_files(&folder, &files, &mut notices)?;
    }
    Ok(notices)
}

fn skipped(definition: &Value, order: &KeyOrder, reason: &str) -> String {
    let name = definition.get("filter").map_or_else(
        || "<unknown>".to_owned(),
        |name| name.as_str().map_or_else(|| python_text(name, &KeyOrder::None), str::to_owned),
    );
    let definition = python_text(definition, order);
    format!(" > Skipping filter '{name}' with invalid definition {definition}: {reason}")
}

/// Removes empty steps and `.` from a path.
fn normal(path: &str) -> Result<PathBuf, PostprocessError> {
    let steps: Vec<_> = path.split('/').filter(|step| !matches!(*step, "" | ".")).collect();
    if path.starts_with('/') || steps.contains(&"..") {
        return Err(PostprocessError::Outside { name: path.to_owned() });
    }
    Ok(steps.iter().collect())
}

/// Returns a path in the form in which the original prints it.
fn shown(path: &str) -> String {
    let steps: Vec<_> = path.split('/').filter(|step| !matches!(*step, "" | ".")).collect();
    if steps.is_empty() { ".".to_owned() } else { steps.join("/") }
}
