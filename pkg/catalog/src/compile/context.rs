//! The surroundings of the inputs of one target.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use super::documents::FileFormat;
use super::error::InputError;
use super::output_tree::OutputTree;
use super::settings::{Input, OutputType};
use super::tools::ToolClient;
use super::writable::writable;
use crate::references::References;

/// The surroundings of the inputs of one target.
pub(super) struct TargetContext<'a> {
    pub(super) name: &'a str,
    /// The nodes of all targets.
    pub(super) inventory: &'a BTreeMap<String, Value>,
    /// The folders of input files and imports. The last one has the compiled files.
    pub(super) search_paths: Vec<PathBuf>,
    pub(super) references: &'a References,
    pub(super) tools: ToolClient,
    /// The output folder of the target.
    pub(super) output: OutputTree,
}

impl TargetContext<'_> {
    /// The parameters of the target.
    pub(super) fn parameters(&self) -> &Value {
        self.inventory.get(self.name).map_or(&Value::Null, |node| &node["parameters"])
    }

    /// Returns the output folder of an input. It may also be in the folder of the component, for files that later
    /// inputs read.
    pub(super) fn output_of(&self, input: &Input) -> Result<OutputTree, InputError> {
        let (tree, path) = writable(input.output_path(), self.output.root(), self.parameters())
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
        }
    }
}
