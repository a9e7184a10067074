//! All targets of a run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::{fs, io, thread};

use transport::Store;

use super::context::TargetContext;
use super::error::{CompileError, InputError, TargetError};
use super::output_tree::OutputTree;
use super::target;
use super::tools::{ToolClient, Tools, line};
use crate::folder_update::{UnlistedPolicy, WantedFolder};
use crate::jsonnet::EvaluationControl;
use crate::reclass::{KeyOrders, Node};
use crate::references::References;
use crate::results::{CachedTarget, CurrentFacts, NodeDigests, OutputFiles, Reads, ResultCache};

/// The folder of compiled files in an output folder.
const COMPILED: &str = "compiled";
/// The stack of a thread. Values may be nested as deeply as a program allows.
const STACK_BYTES: usize = 64 << 20;

/// Targets to compile.
pub(crate) struct CompileRequest<'a> {
    /// The rendered targets of the inventory.
    pub(crate) nodes: &'a BTreeMap<String, Node>,
    /// The orders of the keys of their parameters, for templates.
    pub(crate) key_orders: &'a KeyOrders,
    /// The names of the targets to compile.
    pub(crate) targets: &'a [String],
    /// The folders of input files and imports, in the order of their priority.
    pub(crate) search_paths: &'a [PathBuf],
    /// The folder that gets `compiled/TARGET`.
    pub(crate) output: &'a Path,
    /// The replacement of references to secrets.
    pub(crate) references: References,
    /// The maximum number of targets that are compiled at once.
    pub(crate) threads: usize,
    /// The work that the binary does for targets.
    pub(crate) tools: &'a dyn Tools,
    /// The limits of programs.
    pub(crate) control: &'a EvaluationControl,
    /// The results of earlier runs. None to compile all targets.
    pub(crate) results: Option<StoredResults<'a>>,
}

/// The results of earlier runs for one cluster.
#[derive(Clone, Copy, Debug)]
pub struct StoredResults<'a> {
    /// The store of the results.
    pub store: &'a Store,
    /// The id of the cluster.
    pub cluster: &'a str,
    /// The build of the program. Another build never uses the results.
    pub program: &'a str,
}

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CompileReport {
    /// The messages of each target: failed inputs without which it is complete, and traces of programs.
    pub(crate) messages: Vec<(String, Vec<String>)>,
    /// The targets that were compiled. All others have the files of an earlier run.
    pub(crate) rendered: Vec<String>,
}

/// Compiles targets. A target whose inputs did not change gets the files of an earlier run.
///
/// # Errors
/// All targets that failed. Then nothing is written.
pub(crate) fn compile(request: &CompileRequest<'_>) -> Result<CompileReport, CompileError> {
    fs::create_dir_all(request.output).map_err(output_error(request.output))?;
    let temporary = tempfile::Builder::new().prefix(".compiling-").tempdir_in(request.output);
    let temporary = temporary.map_err(output_error(request.output))?;
    let cache = request.results.map(|StoredResults { store, cluster, program }| {
        ResultCache::open(store, &format!("{program} {cluster} {}", request.output.display()))
    });
    let work = Work {
        nodes: request.nodes,
        key_orders: request.key_orders,
        search_paths: request.search_paths,
        temporary: temporary.path(),
        references: &request.references,
        control: request.control,
        cache: cache.as_ref().map(|cache| &cache.targets),
        current: CurrentFacts::new(request.nodes, request.key_orders),
        digests: Arc::default(),
    };
    let mut results = compile_all(request, &work);
    let (mut report, mut kept) = (CompileReport::default(), BTreeMap::new());
    let (mut failed, mut skipped) = (Vec::new(), Vec::new());
    for (index, target) in request.targets.iter().enumerate() {
        let Some(result) = results.remove(&index) else {
            skipped.push(target);
            continue;
        };
        match result {
            Ok(compiled) => {
                report.messages.push((target.clone(), compiled.messages));
                report.rendered.extend(compiled.is_rendered.then(|| target.clone()));
                kept.extend(compiled.result.map(|result| (target.clone(), result)));
            }
            Err(error) => failed.push(TargetError { target: target.clone(), error }),
        }
    }
    if failed.is_empty()
        && let Some(target) = skipped.first()
    {
        let error = io::Error::other("the thread of the target ended early");
        let error = InputError::write(work.temporary)(error);
        failed.push(TargetError { target: (*target).clone(), error });
    }
    let written = if failed.is_empty() {
        write_all(request, temporary.path(), &report.rendered, &kept)
    } else {
        Ok(())
    };
    if let Some(cache) = &cache
        && !report.rendered.is_empty()
    {
        // Without results, the next run compiles all targets.
        let _ = cache.save(kept);
    }
    if !failed.is_empty() {
        return Err(CompileError::Targets(failed));
    }
    written.map(|()| report)
}

/// A compiled target.
struct CompiledTarget {
    messages: Vec<String>,
    /// False if the files are those of an earlier run.
    is_rendered: bool,
    /// The result for later runs, if it can be kept.
    result: Option<CachedTarget>,
}

type TargetResult = Result<CompiledTarget, InputError>;

/// Writes the files of all targets: those of compiled targets, and the results of earlier runs for all others.
fn write_all(
    request: &CompileRequest<'_>,
    temporary: &Path,
    rendered: &[String],
    results: &BTreeMap<String, CachedTarget>,
) -> Result<(), CompileError> {
    let compiled = request.output.join(COMPILED);
    for target in request.targets {
        let to = compiled.join(target);
        match results.get(target).filter(|_| !rendered.contains(target)) {
            Some(earlier) => {
                clear_place(&to)?;
                earlier.files.wanted().update(&to, temporary, UnlistedPolicy::Delete)?;
            }
            None => move_folder(&temporary.join(COMPILED).join(target), &to, temporary)?,
        }
    }
    Ok(())
}

/// Compiles targets on several threads, while this thread works for them. Returns the results by the numbers of the
/// targets. If a program did not end, or after an interruption, no further target is started.
fn compile_all(request: &CompileRequest<'_>, work: &Work<'_>) -> BTreeMap<usize, TargetResult> {
    let targets = request.targets;
    let next = AtomicUsize::new(0);
    let results: Mutex<BTreeMap<usize, TargetResult>> = Mutex::default();
    let (client, server) = line();
    thread::scope(|scope| {
        for _ in 0..request.threads.clamp(1, targets.len().max(1)) {
            let client = client.clone();
            let (next, results) = (&next, &results);
            let run = move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(target) = targets.get(index).filter(|_| !work.control.is_stopped()) else {
                        return;
                    };
                    let result = work.compile(target, client.clone());
                    if let Ok(mut results) = results.lock() {
                        results.insert(index, result);
                    }
                }
            };
            let thread = thread::Builder::new().name("catalog".to_owned()).stack_size(STACK_BYTES);
            // Without a thread, its targets have no result, which is reported.
            let _ = thread.spawn_scoped(scope, run);
        }
        drop(client);
        server.serve(request.tools);
    });
    results.into_inner().unwrap_or_default()
}

/// Moves a compiled folder to its place. Files that did not change stay as they are.
fn move_folder(from: &Path, to: &Path, temporary: &Path) -> Result<(), CompileError> {
    if !clear_place(to)? {
        return fs::rename(from, to).map_err(output_error(to));
    }
    let mut wanted = WantedFolder::default();
    wanted.add_moved(from)?;
    Ok(wanted.update(to, temporary, UnlistedPolicy::Delete)?)
}

/// Creates the folders around the place of a folder, and deletes a file or link there. Returns true if there is a folder.
fn clear_place(place: &Path) -> Result<bool, CompileError> {
    if let Some(parent) = place.parent() {
        fs::create_dir_all(parent).map_err(output_error(parent))?;
    }
    match fs::symlink_metadata(place) {
        Ok(found) if found.is_dir() => Ok(true),
        Ok(_) => fs::remove_file(place).map(|()| false).map_err(output_error(place)),
        Err(_) => Ok(false),
    }
}

/// The part of a run that its threads share.
struct Work<'a> {
    nodes: &'a BTreeMap<String, Node>,
    key_orders: &'a KeyOrders,
    search_paths: &'a [PathBuf],
    temporary: &'a Path,
    references: &'a References,
    control: &'a EvaluationControl,
    cache: Option<&'a BTreeMap<String, CachedTarget>>,
    current: CurrentFacts<'a>,
    digests: Arc<NodeDigests>,
}

impl Work<'_> {
    fn compile(&self, target: &str, tools: ToolClient) -> TargetResult {
        let folder = self.temporary.join(COMPILED).join(target);
        if let Some(earlier) = self.cache.and_then(|cache| cache.get(target))
            && earlier.facts.iter().all(|(fact, digest)| self.current.holds(fact, digest))
        {
            let messages = earlier.messages.clone();
            return Ok(CompiledTarget { messages, is_rendered: false, result: Some(earlier.clone()) });
        }
        let reads = match self.cache {
            Some(_) => Reads::outside(self.temporary.to_owned(), &self.digests),
            None => Reads::default(),
        };
        let (messages, reads) = self.render(target, tools, reads)?;
        let result = reads.take_facts().and_then(|facts| {
            let files = OutputFiles::read(&folder).ok()?;
            Some(CachedTarget { facts, messages: messages.clone(), files })
        });
        Ok(CompiledTarget { messages, is_rendered: true, result })
    }

    fn render(
        &self,
        target: &str,
        tools: ToolClient,
        reads: Reads,
    ) -> Result<(Vec<String>, Arc<Reads>), InputError> {
        let output = OutputTree::new(self.temporary.join(COMPILED)).folder(target)?;
        let own = [self.temporary.to_owned()];
        let context = TargetContext {
            name: target,
            nodes: self.nodes,
            key_orders: self.key_orders,
            search_paths: self.search_paths.iter().cloned().chain(own).collect(),
            references: self.references,
            control: self.control,
            tools,
            reads: Arc::new(reads),
            output,
        };
        let messages = target::compile(&context)?;
        Ok((messages, context.reads))
    }
}

fn output_error(path: &Path) -> impl FnOnce(io::Error) -> CompileError {
    let path = path.to_owned();
    move |source| CompileError::Output { path, source }
}
