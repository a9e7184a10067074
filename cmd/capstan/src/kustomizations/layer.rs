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
    disk::{DiskTree, Recorded, Start},
    distinct,
    fetch::{Fetched, Fetcher},
    place::FileNames,
    run::{Building, Place},
    shown_place,
};
use crate::{Failure, session::Session};

/// A kustomization of the user with all its remote resources already fetched.
#[derive(Debug)]
pub(crate) struct KustomizationLayer {
    place: String,
    start: Result<Start, LayerFault>,
    answers: FetchResults,
    hints: Vec<String>,
    reviewed: Option<Reviewed>,
    names: FileNames,
    max_file_bytes: u64,
    is_used: AtomicBool,
}

#[derive(Clone, Debug)]
struct LayerFault {
    problem: String,
    hints: Vec<String>,
}

#[derive(Clone, Debug)]
pub(super) struct Reviewed {
    pub(super) lock: Arc<LockSettings>,
    pub(super) label: String,
}

impl KustomizationLayer {
    /// Reads the kustomization and fetches its remote resources. Errors are reported when the kustomization is
    /// applied.
    async fn prepare(place: &str, reviewed: Option<Reviewed>, fetcher: &Fetcher) -> Self {
        let max_file_bytes = repository::RepositoryContext::default().max_file_bytes();
        let mut fetched = Fetched::default();
        let start = start(place, max_file_bytes, &mut fetched, fetcher).await;
        let (place, names) = (shown_place(place), FileNames::seen_from(fetcher.environment.current_dir()));
        let names = names.with_answers(&fetched.answers);
        let names = match &start {
            Ok(start) => names.with_start(&place, start),
            Err(_) => names,
        };
        Self {
            place,
            start: start.map_err(|failure| LayerFault {
                problem: failure.in_one_line(),
                hints: failure.distinct_hints().map(str::to_owned).collect(),
            }),
            answers: fetched.answers,
            hints: fetched.hints,
            reviewed,
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

    fn unfit(&self, problems: Vec<String>, hints: Vec<String>) -> OverlayError {
        OverlayError::Build { place: self.place.clone(), problems, hints }
    }

    fn text(&self, problem: &BuildProblem) -> String {
        self.names.in_short(problem)
    }

    fn check(&self, errors: &[BuildProblem], warnings: &[BuildProblem]) -> Result<(), OverlayError> {
        let problems = distinct(errors).into_iter();
        let unmatched = distinct(warnings).into_iter().filter(|it| it.is_unmatched_target());
        let problems: Vec<String> = problems.chain(unmatched).map(|it| self.text(it)).collect();
        if problems.is_empty() { Ok(()) } else { Err(self.unfit(problems, self.hints.clone())) }
    }

    /// Returns the files by their path relative to the folder. Remote files have their address and path.
    fn files(&self, start: &Start, read: BTreeMap<TreePath, Arc<[u8]>>) -> BTreeMap<String, Bytes> {
        let copies = FileNames::default().with_answers(&self.answers);
        let name = |file: &TreePath| copies.in_copy(file).unwrap_or_else(|| file.relative_to(&start.folder));
        let fetched = self.answers.iter().filter_map(|(request, answer)| match (request, answer) {
            (FetchRequest::Remote(remote), Ok(FetchedContent::Bytes(bytes))) => {
                Some((remote.redacted(), Arc::clone(bytes)))
            }
            _ => None,
        });
        let read = read.into_iter().map(|(file, bytes)| (name(&file), bytes));
        read.chain(fetched).map(|(name, bytes)| (name, Bytes::copy_from_slice(&bytes))).collect()
    }
}

async fn start(
    place: &str,
    max_file_bytes: u64,
    fetched: &mut Fetched,
    fetcher: &Fetcher,
) -> Result<Start, Failure> {
    let tree = DiskTree::new(max_file_bytes);
    let start = match Place::find(place, &fetcher.environment, &tree)? {
        Place::Here(start) => start,
        Place::Elsewhere(remote) => fetcher.start(&remote).await?,
    };
    let building = Building { tree: &tree, start: &start, options: OPTIONS };
    if let Err(BuildReport { requests: wanted, .. }) = building.pass(&fetched.answers)
        && !wanted.is_empty()
    {
        // The build onto objects reports the errors again.
        let _ = building.fetch(wanted, fetched, fetcher).await?;
    }
    Ok(start)
}

/// A kustomization of the user, unread until its provider is rendered.
pub(super) struct LazyKustomization {
    place: String,
    /// The folder or URL, including credentials.
    written: String,
    reviewed: Option<Reviewed>,
    fetcher: Arc<Fetcher>,
    layer: OnceCell<KustomizationLayer>,
}

impl fmt::Debug for LazyKustomization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LazyKustomization").field(&self.place).finish()
    }
}

impl LazyKustomization {
    /// Takes a folder or URL, and the lock entry to check against, if any.
    pub(super) fn new(written: String, reviewed: Option<Reviewed>, fetcher: Arc<Fetcher>) -> Self {
        let place = shown_place(&written);
        Self { place, written, reviewed, fetcher, layer: OnceCell::new() }
    }

    /// Returns the location for a run in another folder: an absolute path, or a URL without credentials.
    pub(super) fn place_elsewhere(&self) -> String {
        let path = self.fetcher.environment.resolve(&self.written);
        if path.is_dir() { path.display().to_string() } else { self.place.clone() }
    }

    pub(super) fn is_used(&self) -> bool {
        self.layer.get().is_some_and(|layer| layer.is_used.load(Ordering::Relaxed))
    }
}

impl LazyOverlay for LazyKustomization {
    fn location(&self) -> &str {
        &self.place
    }

    fn load(&self) -> LocalBoxFuture<'_, &dyn Overlay> {
        Box::pin(async {
            let prepare = || KustomizationLayer::prepare(&self.written, self.reviewed.clone(), &self.fetcher);
            let layer: &dyn Overlay = self.layer.get_or_init(prepare).await;
            layer
        })
    }
}

/// The build keeps the order, because objects are sorted for installation later.
const OPTIONS: BuildOptions = BuildOptions {
    load_restrictor: kustomize::LoadRestrictor::RootOnly,
    reorder: Reorder::None,
    helm: kustomize::HelmPermission::Off,
    managed_by_label: false,
    conflicts: kustomize::ConflictDetection::Ignored,
    trace: Trace::Off,
};

/// Returns the files of a tree that the kustomization in a folder reads.
pub(crate) fn found_by_layer(tree: MemoryTree, folder: &TreePath) -> BTreeSet<TreePath> {
    let tree = Recorded::new(tree);
    let build = Build { tree: &tree, fetch_results: &FetchResults::new(), options: OPTIONS };
    // Without its base, most of the overlay does not apply, but every file is still read.
    let _ = build.run(folder);
    tree.into_read().into_keys().collect()
}

impl Overlay for KustomizationLayer {
    fn location(&self) -> &str {
        &self.place
    }

    fn apply(&self, objects: Vec<Object>, file: &str) -> Result<OverlayResult, OverlayError> {
        self.is_used.store(true, Ordering::Relaxed);
        let start =
            self.start.as_ref().map_err(|it| self.unfit(vec![it.problem.clone()], it.hints.clone()))?;
        let tree = Recorded::new(DiskTree::new(self.max_file_bytes));
        let options = BuildOptions { trace: Trace::of(&objects), ..OPTIONS };
        let build = Build { tree: &tree, fetch_results: &self.answers, options };
        let base = BaseObjects { objects, name: file.to_owned() };
        let mut output = match build.run_onto(&start.folder, start.top.as_ref(), base) {
            Ok(output) => output,
            Err(report) if !report.requests.is_empty() => {
                let problem = "it changed while it was read".to_owned();
                return Err(self.unfit(vec![problem], Vec::new()));
            }
            Err(report) => {
                self.check(&report.errors, &report.warnings)?;
                return Err(self.unfit(Vec::new(), Vec::new()));
            }
        };
        self.check(&[], &output.warnings)?;
        let files = self.files(start, tree.into_read());
        if let Some(Reviewed { lock, label }) = &self.reviewed {
            lock.verify_kustomization(label, &files).map_err(|source| not_as_locked(&self.place, source))?;
        }
        self.names.name_setters(&mut output.objects);
        let warnings = distinct(&output.warnings).into_iter().map(|it| self.text(it)).collect();
        Ok(OverlayResult { objects: output.objects, warnings, files })
    }
}

fn not_as_locked(place: &str, source: repository::Error) -> OverlayError {
    OverlayError::LockMismatch { place: place.to_owned(), source: Box::new(source) }
}

/// A placeholder for a kustomization that the lock contains and the run lacks.
#[derive(Debug)]
pub(super) struct LostLayer {
    pub(super) reviewed: Reviewed,
}

impl Overlay for LostLayer {
    fn location(&self) -> &str {
        &self.reviewed.lock.location
    }

    fn apply(&self, objects: Vec<Object>, _file: &str) -> Result<OverlayResult, OverlayError> {
        let files = BTreeMap::new();
        let Reviewed { lock, label } = &self.reviewed;
        lock.verify_kustomization(label, &files).map_err(|source| not_as_locked(&lock.location, source))?;
        Ok(OverlayResult { objects, warnings: Vec::new(), files })
    }
}

impl LazyOverlay for LostLayer {
    fn location(&self) -> &str {
        &self.reviewed.lock.location
    }

    fn load(&self) -> LocalBoxFuture<'_, &dyn Overlay> {
        let layer: &dyn Overlay = self;
        Box::pin(ready(layer))
    }
}
