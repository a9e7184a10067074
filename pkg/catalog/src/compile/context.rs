//! The surroundings of the inputs of one target.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::documents::FileFormat;
use super::error::InputError;
use super::output_tree::OutputTree;
use super::settings::{Input, OutputType};
use super::tools::ToolClient;
use super::writable::writable;
use crate::jsonnet::EvaluationControl;
use crate::reclass::{KeyOrders, Node};
use crate::references::References;
use crate::results::Reads;

/// The surroundings of the inputs of one target.
pub(super) struct TargetContext<'a> {
    pub(super) name: &'a str,
    /// All rendered targets.
    pub(super) nodes: &'a BTreeMap<String, Node>,
    /// The orders of the keys of their parameters.
    pub(super) key_orders: &'a KeyOrders,
    /// The folders of input files and imports. The last one has the compiled files.
    pub(super) search_paths: Vec<PathBuf>,
    pub(super) references: &'a References,
    pub(super) tools: ToolClient,
    /// The record of read files and parameters.
    pub(super) reads: Arc<Reads>,
    /// The limits of programs.
    pub(super) control: &'a EvaluationControl,
    /// The output folder of the target.
    pub(super) output: OutputTree,
}

impl TargetContext<'_> {
    /// Returns a field in the parameters of the target, by its JSON pointer.
    pub(super) fn field(&self, pointer: &str) -> Option<&Value> {
        let value = self.parameters().pointer(pointer);
        self.reads.note_field(self.name, pointer, value);
        value
    }

    /// The parameters of the target. Their reads are not recorded.
    fn parameters(&self) -> &Value {
        self.nodes.get(self.name).map_or(&Value::Null, |node| &node.parameters)
    }

    /// The folder of the component.
    pub(super) fn base_folder(&self) -> Option<&str> {
        self.field("/_base_directory").and_then(Value::as_str).filter(|folder| !folder.is_empty())
    }

    /// Returns the output folder of an input. It may also be in the folder of the component, for files that later
    /// inputs read.
    pub(super) fn output_of(&self, input: &Input) -> Result<OutputTree, InputError> {
        if Path::new(input.output_path()).is_absolute() {
            // A later run must write these files again.
            self.reads.note_unknown();
        }
        let (tree, path) = writable(input.output_path(), self.output.root(), self.base_folder())
            .map_err(|path| InputError::Outside { path })?;
        tree.folder(&path)
    }

    /// Returns the format of the files of an input.
    pub(super) fn format(&self, input: &Input) -> FileFormat<'_> {
        FileFormat {
            output_type: input.output_type(),
            default_type: OutputType::Yaml,
            prune: input.prune(),
            references: self.references,
            reads: &self.reads,
        }
    }
}

/// The form of a node in programs and templates.
pub(crate) fn node_value(node: &Node) -> Value {
    json!({
        "applications": node.applications,
        "classes": node.classes,
        "exports": {},
        "parameters": node.parameters,
    })
}
