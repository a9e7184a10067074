use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;
use futures::future::{LocalBoxFuture, ready};
use kustomize::{
    BaseObjects, Build, BuildOptions, BuildProblem, BuildReport, FetchRequest, FetchResults, FetchedContent,
    MemoryTree, Reorder, TreePath,
};
use manifest::{Object, provenance::Trace};
use provider::{LazyOverlay, Overlay, OverlayError, OverlayResult};
use repository::LockSettings;
use tokio::sync::OnceCell;

use super::{
    build::{KustomizationBuilder, KustomizationSource},
    disk::{BuildRoot, DiskTree, RecordingTree},
    distinct_problems,
    fetch::{FetchedResources, Fetcher},
    file_names::FileNames,
    shown_location,
};
use crate::{Failure, session::Session};

/// A kustomization of the user with all its remote resources already fetched.
#[derive(Debug)]
pub(crate) struct KustomizationOverlay {
    location: String,
    root: Result<BuildRoot, BuildRootError>,
    fetch_results: FetchResults,
    hints: Vec<String>,
    lock_check: Option<LockCheck>,
    names: FileNames,
    max_file_bytes: u64,
    is_used: AtomicBool,
}

#[derive(Clone, Debug)]
struct BuildRootError {
    problem: String,
    hints: Vec<String>,
}

#[derive(Clone, Debug)]
pub(super) struct LockCheck {
    pub(super) lock: Arc<LockSettings>,
    pub(super) label: String,
}

impl KustomizationOverlay {
    /// Reads the kustomization and fetches its remote resources. Errors are reported when the kustomization is
    /// applied.
    async fn prepare(place: &str, reviewed: Option<LockCheck>, fetcher: &Fetcher) -> Self {
        let max_file_bytes = repository::RepositoryContext::default().max_file_bytes();
        let mut fetched = FetchedResources::default();
        let start = prepare_root(place, max_file_bytes, &mut fetched, fetcher).await;
        let (place, names) =
            (shown_location(place), FileNames::relative_to(fetcher.environment.current_dir()));
        let names = names.with_fetched(&fetched.results);
        let names = match &start {
            Ok(start) => names.with_root(&place, start),
            Err(_) => names,
        };
        Self {
            location: place,
            root: start.map_err(|failure| BuildRootError {
                problem: failure.one_line(),
                hints: failure.distinct_hints().map(str::to_owned).collect(),
            }),
            fetch_results: fetched.results,
            hints: fetched.hints,
            lock_check: reviewed,
            names,
            max_file_bytes,
            is_used: AtomicBool::new(false),
        }
    }

    /// Returns the kustomization of a cluster template. Neither local templates nor their kustomizations are in a
    /// lock.
    pub(crate) fn of_template(place: &str, session: &Session) -> Result<Self, Failure> {
        let fetcher = Fetcher::new(session.repositories()?, session);
        session.block_on(async { Ok::<_, Failure>(Self::prepare(place, None, &fetcher).await) })
    }

    fn build_error(&self, problems: Vec<String>, hints: Vec<String>) -> OverlayError {
        OverlayError::Build { place: self.location.clone(), problems, hints }
    }

    fn problem_text(&self, problem: &BuildProblem) -> String {
        self.names.problem_text(problem)
    }

    fn check_problems(&self, errors: &[BuildProblem], warnings: &[BuildProblem]) -> Result<(), OverlayError> {
        let problems = distinct_problems(errors).into_iter();
        let unmatched = distinct_problems(warnings).into_iter().filter(|it| it.is_unmatched_target());
        let hints = self.hints.iter().cloned().chain(errors.iter().flat_map(BuildProblem::hints)).collect();
        let problems: Vec<String> = problems.chain(unmatched).map(|it| self.problem_text(it)).collect();
        if problems.is_empty() { Ok(()) } else { Err(self.build_error(problems, hints)) }
    }

    /// Returns the files by their path relative to the folder. Remote files have their address and path.
    fn files(&self, start: &BuildRoot, read: BTreeMap<TreePath, Arc<[u8]>>) -> BTreeMap<String, Bytes> {
        let copies = FileNames::default().with_fetched(&self.fetch_results);
        let name =
            |file: &TreePath| copies.name_in_copy(file).unwrap_or_else(|| file.relative_to(&start.folder));
        let fetched = self.fetch_results.iter().filter_map(|(request, answer)| match (request, answer) {
            (FetchRequest::Remote(remote), Ok(FetchedContent::Bytes(bytes))) => {
                Some((remote.redacted(), Arc::clone(bytes)))
            }
            (FetchRequest::Chart(chart), Ok(FetchedContent::Bytes(bytes))) => {
                Some((chart.to_string(), Arc::clone(bytes)))
            }
            _ => None,
        });
        let read = read.into_iter().map(|(file, bytes)| (name(&file), bytes));
        read.chain(fetched).map(|(name, bytes)| (name, Bytes::copy_from_slice(&bytes))).collect()
    }
}

async fn prepare_root(
    place: &str,
    max_file_bytes: u64,
    fetched: &mut FetchedResources,
    fetcher: &Fetcher,
) -> Result<BuildRoot, Failure> {
    let tree = DiskTree::new(max_file_bytes);
    let start = match KustomizationSource::find(place, &fetcher.environment, &tree)? {
        KustomizationSource::Local(start) => start,
        KustomizationSource::Remote(remote) => fetcher.fetch_root(&remote).await?,
    };
    let building = KustomizationBuilder { tree: &tree, root: &start, options: options() };
    if let Err(BuildReport { requests: wanted, .. }) = building.build_once(&fetched.results)
        && !wanted.is_empty()
    {
        // The build onto objects reports the errors again.
        let _ = building.fetch_and_build(wanted, fetched, fetcher).await?;
    }
    Ok(start)
}

/// A kustomization of the user, unread until its provider is rendered.
pub(super) struct LazyKustomization {
    location: String,
    /// The folder or URL, including credentials.
    source: String,
    lock_check: Option<LockCheck>,
    fetcher: Arc<Fetcher>,
    overlay: OnceCell<KustomizationOverlay>,
}

impl fmt::Debug for LazyKustomization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LazyKustomization").field(&self.location).finish()
    }
}

impl LazyKustomization {
    /// Takes a folder or URL, and the lock entry to check against, if any.
    pub(super) fn new(written: String, reviewed: Option<LockCheck>, fetcher: Arc<Fetcher>) -> Self {
        let place = shown_location(&written);
        Self { location: place, source: written, lock_check: reviewed, fetcher, overlay: OnceCell::new() }
    }

    /// Returns the location for a run in another folder: an absolute path, or a URL without credentials.
    pub(super) fn portable_location(&self) -> String {
        let path = self.fetcher.environment.resolve(&self.source);
        if path.is_dir() { path.display().to_string() } else { self.location.clone() }
    }

    pub(super) fn is_used(&self) -> bool {
        self.overlay.get().is_some_and(|layer| layer.is_used.load(Ordering::Relaxed))
    }
}

impl LazyOverlay for LazyKustomization {
    fn location(&self) -> &str {
        &self.location
    }

    fn load(&self) -> LocalBoxFuture<'_, &dyn Overlay> {
        Box::pin(async {
            let prepare =
                || KustomizationOverlay::prepare(&self.source, self.lock_check.clone(), &self.fetcher);
            let layer: &dyn Overlay = self.overlay.get_or_init(prepare).await;
            layer
        })
    }
}

/// Keeps the order of the build, because objects are sorted for installation later. Charts see the start of 1970 as the
/// current time, so that a build is repeatable.
fn options() -> BuildOptions {
    BuildOptions { reorder: Reorder::None, ..BuildOptions::default() }
}

/// Returns the files of a tree that the kustomization in a folder reads.
pub(crate) fn files_read_by_overlay(tree: MemoryTree, folder: &TreePath) -> BTreeSet<TreePath> {
    let tree = RecordingTree::new(tree);
    let build = Build { tree: &tree, fetch_results: &FetchResults::new(), options: options() };
    // Without its base, most of the overlay does not apply, but every file is still read.
    let _ = build.run(folder);
    tree.into_read_files().into_keys().collect()
}

impl Overlay for KustomizationOverlay {
    fn location(&self) -> &str {
        &self.location
    }

    fn apply(&self, objects: Vec<Object>, file: &str) -> Result<OverlayResult, OverlayError> {
        self.is_used.store(true, Ordering::Relaxed);
        let start =
            self.root.as_ref().map_err(|it| self.build_error(vec![it.problem.clone()], it.hints.clone()))?;
        let tree = RecordingTree::new(DiskTree::new(self.max_file_bytes));
        let options = BuildOptions { trace: Trace::of(&objects), ..options() };
        let build = Build { tree: &tree, fetch_results: &self.fetch_results, options };
        let base = BaseObjects { objects, name: file.to_owned() };
        let mut output = match build.run_onto(&start.folder, start.copy_root.as_ref(), base) {
            Ok(output) => output,
            Err(report) if !report.requests.is_empty() => {
                let problem = "the file changed while capstan read it".to_owned();
                return Err(self.build_error(vec![problem], Vec::new()));
            }
            Err(report) => {
                self.check_problems(&report.errors, &report.warnings)?;
                return Err(self.build_error(Vec::new(), Vec::new()));
            }
        };
        self.check_problems(&[], &output.warnings)?;
        let files = self.files(start, tree.into_read_files());
        if let Some(LockCheck { lock, label }) = &self.lock_check {
            lock.verify_kustomization(label, &files)
                .map_err(|source| lock_mismatch(&self.location, source))?;
        }
        self.names.rename_origins(&mut output.objects);
        let warnings =
            distinct_problems(&output.warnings).into_iter().map(|it| self.problem_text(it)).collect();
        Ok(OverlayResult { objects: output.objects, warnings, files })
    }
}

fn lock_mismatch(place: &str, source: repository::Error) -> OverlayError {
    OverlayError::LockMismatch { place: place.to_owned(), source: Box::new(source) }
}

/// A placeholder for a kustomization that the lock contains and the run lacks.
#[derive(Debug)]
pub(super) struct MissingOverlay {
    pub(super) lock_check: LockCheck,
}

impl Overlay for MissingOverlay {
    fn location(&self) -> &str {
        &self.lock_check.lock.location
    }

    fn apply(&self, objects: Vec<Object>, _file: &str) -> Result<OverlayResult, OverlayError> {
        let files = BTreeMap::new();
        let LockCheck { lock, label } = &self.lock_check;
        lock.verify_kustomization(label, &files).map_err(|source| lock_mismatch(&lock.location, source))?;
        Ok(OverlayResult { objects, warnings: Vec::new(), files })
    }
}

impl LazyOverlay for MissingOverlay {
    fn location(&self) -> &str {
        &self.lock_check.lock.location
    }

    fn load(&self) -> LocalBoxFuture<'_, &dyn Overlay> {
        let layer: &dyn Overlay = self;
        Box::pin(ready(layer))
    }
}
