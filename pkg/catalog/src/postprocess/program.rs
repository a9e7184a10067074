//! Filters in Jsonnet.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::definition::Filter;
use super::error::PostprocessError;
use super::run::PostprocessRequest;
use crate::compile::{file_names, node_value, read_text, text_argument};
use crate::jsonnet::{Evaluation, NativeFunction, Natives, evaluate};
use crate::reclass::Node;
use crate::results::Reads;
use crate::yaml::read_documents;

const FUNCTIONS: [NativeFunction; 4] = [
    NativeFunction { name: "commodore_inventory", parameters: &[] },
    NativeFunction { name: "list_dir", parameters: &["dir", "basename"] },
    NativeFunction { name: "yaml_load", parameters: &["file"] },
    NativeFunction { name: "yaml_load_all", parameters: &["file"] },
];

/// Evaluates a filter. Returns the files without extension.
pub(super) fn run(
    filter: &Filter<'_>,
    request: &PostprocessRequest<'_>,
    folder: &Path,
) -> Result<Map<String, Value>, PostprocessError> {
    let mut external_variables = BTreeMap::new();
    for (argument, value) in &filter.arguments {
        let value = value.as_str().ok_or_else(|| PostprocessError::NotText {
            filter: filter.name.to_owned(),
            argument: argument.clone(),
        })?;
        external_variables.insert(argument.clone(), value.to_owned());
    }
    let output = folder.display().to_string();
    let own = [("target", request.component), ("component", request.component), ("output_path", &output)];
    external_variables.extend(own.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let work_dir = request.output;
    let evaluation = Evaluation {
        search_paths: &[work_dir.to_owned(), work_dir.join("vendor")],
        external_variables,
        reads: &Arc::<Reads>::default(),
        natives: &FilterNatives { node: request.node, folder: work_dir },
        control: request.control,
    };
    match evaluate(&request.component_folder.join(filter.name), &evaluation)?.value {
        Value::Object(files) => Ok(files),
        _ => Err(PostprocessError::NotFiles { filter: filter.name.to_owned() }),
    }
}

struct FilterNatives<'a> {
    node: &'a Node,
    /// The folder of relative paths.
    folder: &'a Path,
}

impl Natives for FilterNatives<'_> {
    fn functions(&self) -> &'static [NativeFunction] {
        &FUNCTIONS
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Result<Value, String> {
        let path = || text_argument(name, arguments, 0).map(|path| self.folder.join(path));
        match name {
            "commodore_inventory" => Ok(node_value(self.node)),
            "list_dir" => list(&path()?, arguments.get(1).and_then(Value::as_bool).unwrap_or(true)),
            "yaml_load" => match <[Value; 1]>::try_from(documents(&path()?)?) {
                Ok([document]) => Ok(document),
                Err(documents) if documents.is_empty() => Ok(Value::Null),
                Err(documents) => Err(format!("`{}` has {} documents", path()?.display(), documents.len())),
            },
            "yaml_load_all" => Ok(Value::Array(documents(&path()?)?)),
            other => Err(format!("unknown native function `{other}`")),
        }
    }
}

fn documents(path: &Path) -> Result<Vec<Value>, String> {
    read_documents(&read_text(path)?).map_err(|error| format!("cannot read `{}`: {error}", path.display()))
}

fn list(folder: &Path, only_names: bool) -> Result<Value, String> {
    let names = file_names(folder)?;
    if only_names {
        return Ok(Value::from(names));
    }
    Ok(names.iter().map(|name| folder.join(name).display().to_string()).collect())
}
