//! Templates: each file becomes a file of the same name.

use std::collections::BTreeMap;
use std::path::Path;

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::{Map, Value};

use super::copy::copy_mode;
use crate::compile::context::TargetContext;
use crate::compile::error::InputError;
use crate::compile::output_tree::OutputTree;
use crate::compile::settings::Input;
use crate::file_reading::{FolderWalk, LinkPolicy};
use crate::jinja;
use crate::reclass::{KeyOrder, Node, Ordered};

/// Renders a file, or all files in a folder except hidden ones.
pub(in crate::compile) fn compile(
    context: &TargetContext<'_>,
    input: &Input,
    path: &Path,
    output: &OutputTree,
) -> Result<(), InputError> {
    let mut templates = Vec::new();
    if path.is_dir() {
        for entry in FolderWalk::new(path, LinkPolicy::Follow, &|_| true)? {
            let entry = entry?;
            let is_hidden =
                entry.path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            if !entry.is_folder && !is_hidden {
                templates.push((entry.name(), entry.path));
            }
        }
        templates.sort();
    } else {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        templates.push((name, path.to_owned()));
    }
    let variables = Variables::of(context, input, output);
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

/// The variables of a template: the inventory, the parameters of the input, and those of `kapitan.vars`.
struct Variables<'a> {
    nodes: BTreeMap<&'a str, OrderedNode<'a>>,
    /// The target.
    name: &'a str,
    parameters: Value,
    own: Option<&'a Value>,
    /// The order of the keys of the target.
    order: &'a KeyOrder,
    input_order: &'a KeyOrder,
}

impl<'a> Variables<'a> {
    fn of(context: &'a TargetContext<'_>, input: &Input, output: &OutputTree) -> Self {
        context.reads.note_nodes(context.nodes);
        context.reads.note_key_orders(context.key_orders);
        let node = |(name, node): (&'a String, &'a Node)| {
            (name.as_str(), OrderedNode { node, order: context.key_orders.of(name) })
        };
        let mut parameters = input.input_params.clone();
        parameters.entry("compile_path").or_insert_with(|| Value::from(output.root().display().to_string()));
        let order = context.key_orders.of(context.name).field("kapitan");
        Self {
            nodes: context.nodes.iter().map(node).collect(),
            name: context.name,
            parameters: Value::Object(parameters),
            own: context.field("/kapitan/vars"),
            order,
            input_order: order.field("compile").item(input.index).field("input_params"),
        }
    }
}

impl Serialize for Variables<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let own = self.own.and_then(Value::as_object).into_iter().flatten();
        let is_own = |name: &str| self.own.is_some_and(|own| own.get(name).is_some());
        let mut map = serializer.serialize_map(None)?;
        if !is_own("inventory") {
            map.serialize_entry("inventory", &self.nodes.get(self.name))?;
        }
        if !is_own("inventory_global") {
            map.serialize_entry("inventory_global", &self.nodes)?;
        }
        if !is_own("input_params") {
            let parameters = Ordered { value: &self.parameters, order: self.input_order };
            map.serialize_entry("input_params", &parameters)?;
        }
        if !is_own("topics") {
            map.serialize_entry("topics", &Map::new())?;
        }
        for (name, value) in own {
            map.serialize_entry(name, &Ordered { value, order: self.order.field("vars").field(name) })?;
        }
        map.end()
    }
}

/// A node with the order of its keys.
struct OrderedNode<'a> {
    node: &'a Node,
    order: &'a KeyOrder,
}

impl Serialize for OrderedNode<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("parameters", &Ordered { value: &self.node.parameters, order: self.order })?;
        map.serialize_entry("applications", &self.node.applications)?;
        map.serialize_entry("classes", &self.node.classes)?;
        map.serialize_entry("exports", &Map::new())?;
        map.end()
    }
}
