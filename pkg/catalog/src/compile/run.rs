//! All targets of a run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, io, thread};

use serde_json::{Value, json};

use super::context::TargetContext;
use super::error::{CompileError, InputError, TargetError};
use super::output_tree::OutputTree;
use super::target;
use super::tools::{ToolClient, Tools, line};
use crate::reclass::Node;
use crate::references::References;

/// The folder of compiled files in an output folder.
const COMPILED: &str = "compiled";
/// The stack of a thread. Values may be nested as deeply as a program allows.
const STACK_BYTES: usize = 64 << 20;

/// Targets to compile.
pub struct CompileRequest<'a> {
    /// The rendered targets of the inventory.
    pub nodes: &'a BTreeMap<String, Node>,
    /// The names of the targets to compile.
    pub targets: &'a [String],
    /// The folders of input files and imports, in the order of their priority.
    pub search_paths: &'a [PathBuf],
    /// The folder that gets `compiled/TARGET`.
    pub output: &'a Path,
    /// The replacement of references to secrets.
    pub references: References,
    /// The maximum number of targets that are compiled at once.
    pub threads: usize,
    /// The work that the binary does for targets.
    pub tools: &'a dyn Tools,
}

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompileReport {
    /// The messages of each target: failed inputs without which it is complete, and traces of programs.
    pub messages: Vec<(String, Vec<String>)>,
}

/// Compiles targets.
///
/// # Errors
/// All targets that failed. Then nothing is written.
pub fn compile(request: &CompileRequest<'_>) -> Result<CompileReport, CompileError> {
    let inventory: BTreeMap<String, Value> =
        request.nodes.iter().map(|(name, node)| (name.clone(), node_value(node))).collect();
    fs::create_dir_all(request.output).map_err(output_error(request.output))?;
    let temporary = tempfile::Builder::new().prefix(".compiling-").tempdir_in(request.output);
    let temporary = temporary.map_err(output_error(request.output))?;
    let results = compile_all(request, &inventory, temporary.path());
    let (mut report, mut failed) = (CompileReport::default(), Vec::new());
    for (target, result) in request.targets.iter().zip(results) {
        match result {
            Ok(messages) => report.messages.push((target.clone(), messages)),
            Err(error) => failed.push(TargetError { target: target.clone(), error }),
        }
    }
    if !failed.is_empty() {
        return Err(CompileError::Targets(failed));
    }
    for target in request.targets {
        replace(&temporary.path().join(COMPILED).join(target), &request.output.join(COMPILED).join(target))?;
    }
    Ok(report)
}

type TargetResult = Result<Vec<String>, InputError>;

/// Compiles targets on several threads, while this thread works for them. Returns the results in their order.
fn compile_all(
    request: &CompileRequest<'_>,
    inventory: &BTreeMap<String, Value>,
    temporary: &Path,
) -> Vec<TargetResult> {
    let next = AtomicUsize::new(0);
    let results: Mutex<BTreeMap<usize, TargetResult>> = Mutex::default();
    let (client, server) = line();
    thread::scope(|scope| {
        for _ in 0..request.threads.clamp(1, request.targets.len().max(1)) {
            let client = client.clone();
            let (next, results) = (&next, &results);
            let references = &request.references;
            let (targets, search_paths) = (request.targets, request.search_paths);
            let work = move || {
                while let Some(target) = targets.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let surroundings = (references, client.clone());
                    let result = compile_one(target, inventory, search_paths, temporary, surroundings);
                    let index = targets.iter().position(|known| known == target).unwrap_or_default();
                    if let Ok(mut results) = results.lock() {
                        results.insert(index, result);
                    }
                }
            };
            let thread = thread::Builder::new().name("catalog".to_owned()).stack_size(STACK_BYTES);
            // Without a thread, its targets have no result, which is reported below.
            let _ = thread.spawn_scoped(scope, work);
        }
        drop(client);
        server.serve(request.tools);
    });
    let mut results = results.into_inner().unwrap_or_default();
    let unfinished = || {
        let error = io::Error::other("the thread of the target ended early");
        Err(InputError::Io { verb: "write", path: temporary.to_owned(), error })
    };
    (0..request.targets.len()).map(|index| results.remove(&index).unwrap_or_else(unfinished)).collect()
}

fn compile_one(
    target: &str,
    inventory: &BTreeMap<String, Value>,
    search_paths: &[PathBuf],
    temporary: &Path,
    (references, tools): (&References, ToolClient),
) -> TargetResult {
    let output = OutputTree::new(temporary.join(COMPILED)).folder(target)?;
    let search_paths = search_paths.iter().cloned().chain([temporary.to_owned()]).collect();
    let context = TargetContext { name: target, inventory, search_paths, references, tools, output };
    target::compile(&context)
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

fn output_error(path: &Path) -> impl FnOnce(io::Error) -> CompileError {
    let path = path.to_owned();
    move |source| CompileError::Output { path, source }
}

/// Moves a compiled folder to its place.
fn replace(from: &Path, to: &Path) -> Result<(), CompileError> {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(output_error(parent))?;
    }
    match fs::remove_dir_all(to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(output_error(to)(error)),
        _ => {}
    }
    fs::rename(from, to).map_err(output_error(to))
}
