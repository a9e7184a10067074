//! Templates: each file becomes a file of the same name.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::copy::copy_mode;
use crate::compile::context::TargetContext;
use crate::compile::error::InputError;
use crate::compile::output_tree::OutputTree;
use crate::compile::settings::Input;
use crate::jinja;
use crate::reclass::{KeyOrder, Ordered};

/// The deepest nesting of template folders.
const MAX_DEPTH: usize = 64;

/// Renders a file, or all files in a folder except hidden ones.
pub(in crate::compile) fn compile(
    context: &TargetContext<'_>,
    input: &Input,
    path: &Path,
    output: &OutputTree,
) -> Result<(), InputError> {
    let mut templates = Vec::new();
    if path.is_dir() {
        collect(path, "", MAX_DEPTH, &mut templates)?;
    } else {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        templates.push((name, path.to_owned()));
    }
    let (variables, order) = variables(context, input, output);
    let variables = Ordered { value: &variables, order: &order };
    for (name, file) in templates {
        let text = jinja::render(&file, &context.search_paths, &variables, &context.reads)
            .map_err(|error| InputError::Jinja2 { path: file.clone(), reason: error.to_string() })?;
        let text = context.references.replace(text, &context.reads)?;
        let name = input.removed_suffix().and_then(|suffix| name.strip_suffix(suffix)).unwrap_or(&name);
        let written = output.write(name, text.as_bytes())?;
        copy_mode(&file, &written)?;
    }
    Ok(())
}

fn collect(
    folder: &Path,
    prefix: &str,
    depth: usize,
    templates: &mut Vec<(String, PathBuf)>,
) -> Result<(), InputError> {
    let failed = || InputError::read(folder);
    for entry in fs::read_dir(folder).map_err(failed())? {
        let entry = entry.map_err(failed())?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() && depth > 0 {
            collect(&entry.path(), &format!("{prefix}{name}/"), depth - 1, templates)?;
        } else if !name.starts_with('.') {
            templates.push((format!("{prefix}{name}"), entry.path()));
        }
    }
    templates.sort();
    Ok(())
}

/// The variables of a template: the inventory, the parameters of the input, and those of `kapitan.vars`.
fn variables(context: &TargetContext<'_>, input: &Input, output: &OutputTree) -> (Value, KeyOrder) {
    context.reads.note_nodes(context.inventory);
    context.reads.note_key_orders(context.orders);
    let order_of = |name: &str| {
        let parameters = context.orders.get(name).map(|order| (**order).clone()).unwrap_or_default();
        KeyOrder::Map(vec![("parameters".into(), parameters)])
    };
    let orders = context.orders.keys().map(|name| (name.as_str().into(), order_of(name))).collect();
    let order = KeyOrder::Map(vec![
        ("inventory".into(), order_of(context.name)),
        ("inventory_global".into(), KeyOrder::Map(orders)),
    ]);
    let mut parameters = input.input_params.clone();
    parameters.entry("compile_path").or_insert_with(|| Value::from(output.root().display().to_string()));
    let all: Map<_, _> = context.inventory.iter().map(|(name, node)| (name.clone(), node.clone())).collect();
    let mut variables = Map::from_iter([
        ("inventory".to_owned(), context.inventory.get(context.name).cloned().unwrap_or_default()),
        ("inventory_global".to_owned(), Value::Object(all)),
        ("input_params".to_owned(), Value::Object(parameters)),
        ("topics".to_owned(), json!({})),
    ]);
    if let Some(Value::Object(own)) = context.field("/kapitan/vars") {
        variables.extend(own.clone());
    }
    (Value::Object(variables), order)
}
