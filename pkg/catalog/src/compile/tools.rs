//! Work that the binary does for targets: it reads charts, builds kustomizations with remote content, and runs programs.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};

use chart::ChartFile;
use serde_json::Value;

/// A failed request to the binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolError {
    /// The reason of the failure.
    pub reason: String,
    /// Next steps for the user.
    pub hints: Vec<String>,
}

/// The objects of a kustomization.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KustomizationOutput {
    /// The objects, in order.
    pub objects: Vec<Value>,
    /// The name and the content of one file for each object.
    pub files: Vec<(String, String)>,
    /// The local paths that the build looked up. None if it has remote content.
    pub inputs: Option<Vec<PathBuf>>,
}

/// A program that an input of type `external` runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramCall {
    /// The path of the program in the settings of the input.
    pub program: String,
    /// The words for the shell, which splits and expands them.
    pub command_line: String,
    /// The variables of the input.
    pub variables: Vec<(String, String)>,
}

/// The work that the binary does for targets.
pub trait Tools {
    /// Reads the files of a chart.
    fn read_chart(&self, folder: &Path) -> Result<Vec<ChartFile>, ToolError>;

    /// Builds the kustomization in a folder.
    fn build_kustomization(&self, folder: &Path) -> Result<KustomizationOutput, ToolError>;

    /// Runs a program, if the user allows it.
    fn run_program(&self, call: &ProgramCall) -> Result<(), ToolError>;
}

/// A request of a target.
enum ToolRequest {
    Chart(PathBuf, Sender<Result<Vec<ChartFile>, ToolError>>),
    Kustomization(PathBuf, Sender<Result<KustomizationOutput, ToolError>>),
    Program(ProgramCall, Sender<Result<(), ToolError>>),
}

/// The end of the line at the targets. It can be used by several threads.
#[derive(Clone)]
pub(super) struct ToolClient(Sender<ToolRequest>);

/// The end of the line at the binary.
pub(super) struct ToolServer(Receiver<ToolRequest>);

pub(super) fn line() -> (ToolClient, ToolServer) {
    let (sender, receiver) = mpsc::channel();
    (ToolClient(sender), ToolServer(receiver))
}

impl ToolClient {
    pub(super) fn read_chart(&self, folder: &Path) -> Result<Vec<ChartFile>, ToolError> {
        self.ask(|answer| ToolRequest::Chart(folder.to_owned(), answer))
    }

    pub(super) fn build_kustomization(&self, folder: &Path) -> Result<KustomizationOutput, ToolError> {
        self.ask(|answer| ToolRequest::Kustomization(folder.to_owned(), answer))
    }

    pub(super) fn run_program(&self, call: ProgramCall) -> Result<(), ToolError> {
        self.ask(|answer| ToolRequest::Program(call, answer))
    }

    fn ask<T>(
        &self,
        request: impl FnOnce(Sender<Result<T, ToolError>>) -> ToolRequest,
    ) -> Result<T, ToolError> {
        let gone = || ToolError { reason: "the run has ended".to_owned(), hints: Vec::new() };
        let (sender, receiver) = mpsc::channel();
        self.0.send(request(sender)).map_err(|_| gone())?;
        receiver.recv().map_err(|_| gone())?
    }
}

impl ToolServer {
    /// Answers requests until all targets are complete.
    pub(super) fn serve(self, tools: &dyn Tools) {
        // A target that does not wait for its answer has failed, which it reports itself.
        for request in self.0 {
            let _ = match request {
                ToolRequest::Chart(folder, answer) => answer.send(tools.read_chart(&folder)).is_ok(),
                ToolRequest::Kustomization(folder, answer) => {
                    answer.send(tools.build_kustomization(&folder)).is_ok()
                }
                ToolRequest::Program(call, answer) => answer.send(tools.run_program(&call)).is_ok(),
            };
        }
    }
}
