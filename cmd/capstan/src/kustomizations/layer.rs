use std::{
    cell::RefCell,
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;
use kustomize::{
    Answer, Answers, Beneath, Build, BuildErrors, Options, Outcome, PatchProblem, Problem, ProblemKind,
    Reorder, Request, Resolved, Tree, TreeError, TreePath,
};
use manifest::Object;
use provider::{Layer, LayerError, Layered};
use repository::LockSettings;

use super::{
    disk::DiskTree,
    distinct,
    fetch::Fetched,
    in_short,
    run::{self, Start},
};
use crate::{Failure, failure::Kind, session::Session};

/// A kustomization of the user, with all it names elsewhere fetched already.
#[derive(Debug)]
pub(crate) struct KustomizationLayer {
    place: String,
    start: Result<Start, LayerFault>,
    answers: Answers,
    /// What to do about that which could not be fetched.
    hints: Vec<String>,
    reviewed: Option<Reviewed>,
    current: PathBuf,
    max_file_bytes: u64,
    is_used: AtomicBool,
}

/// Why there is nothing to build.
#[derive(Clone, Debug)]
struct LayerFault {
    problem: String,
    hints: Vec<String>,
}

/// What a layer must be.
#[derive(Debug)]
pub(super) struct Reviewed {
    pub(super) lock: Arc<LockSettings>,
    pub(super) label: String,
}

impl KustomizationLayer {
    /// Looks for the kustomization and fetches what it names elsewhere. What is wrong with it is told when it is applied:
    /// it may be for a provider that this run is not about.
    /// # Errors
    /// When the configuration cannot be read; `interrupted`.
    pub(super) fn prepare(
        place: &str,
        reviewed: Option<Reviewed>,
        session: &Session,
    ) -> Result<Self, Failure> {
        let max_file_bytes = repository::Context::default().max_file_bytes();
        let tree = DiskTree::new(max_file_bytes);
        let start = match run::start(place, &tree, session) {
            Err(failure) if failure.kind() == Kind::Interrupted => return Err(failure),
            start => start.map_err(|failure| LayerFault {
                problem: failure.in_one_line(),
                hints: failure.distinct_hints().map(str::to_owned).collect(),
            }),
        };
        let mut fetched = Fetched::default();
        if let Ok(start) = &start {
            let wanted = |answers: &Answers| {
                let build = Build { tree: &tree, answers, options: OPTIONS };
                match build.run_within(&start.folder, start.top.as_ref()) {
                    Ok(Outcome::Wants(wanted)) => Some(wanted),
                    _ => None,
                }
            };
            while let Some(wanted) = wanted(&fetched.answers) {
                fetched.add(wanted, None, session)?;
            }
        }
        Ok(Self {
            place: repository::shown_text(place),
            start,
            answers: fetched.answers,
            hints: fetched.hints,
            reviewed,
            current: session.environment().current_dir().to_owned(),
            max_file_bytes,
            is_used: AtomicBool::new(false),
        })
    }

    /// One for a cluster template. Templates of one's own are in no lock, and neither is this.
    /// # Errors
    /// When the configuration cannot be read; `interrupted`.
    pub(crate) fn of_template(place: &str, session: &Session) -> Result<Self, Failure> {
        Self::prepare(place, None, session)
    }

    /// Whether it was applied to anything.
    pub(crate) fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Relaxed)
    }

    fn unfit(&self, problems: Vec<String>, hints: Vec<String>) -> LayerError {
        LayerError::Build { place: self.place.clone(), problems, hints }
    }

    fn text(&self, problem: &Problem) -> String {
        in_short(problem, &self.current)
    }

    fn check(&self, errors: &[Problem], warnings: &[Problem]) -> Result<(), LayerError> {
        let problems = distinct(errors).into_iter();
        let unmatched = distinct(warnings).into_iter().filter(|it| is_unmatched(it));
        let problems: Vec<String> = problems.chain(unmatched).map(|it| self.text(it)).collect();
        if problems.is_empty() { Ok(()) } else { Err(self.unfit(problems, self.hints.clone())) }
    }

    /// The files by their path as seen from its folder; those from elsewhere by address and path.
    fn files(&self, start: &Start, read: BTreeMap<TreePath, Arc<[u8]>>) -> BTreeMap<String, Bytes> {
        let copies: Vec<(String, &TreePath)> = self
            .answers
            .iter()
            .filter_map(|(request, answer)| match (request, answer) {
                (Request::Remote(remote), Ok(Answer::Folder { top, .. })) => Some((remote.shown(), top)),
                _ => None,
            })
            .collect();
        let name = |file: &TreePath| match copies.iter().find(|(_, top)| file.is_in(top)) {
            Some((shown, top)) => format!("{shown}: {}", file.relative_to(top)),
            None => file.relative_to(&start.folder),
        };
        let fetched = self.answers.iter().filter_map(|(request, answer)| match (request, answer) {
            (Request::Remote(remote), Ok(Answer::Bytes(bytes))) => Some((remote.shown(), Arc::clone(bytes))),
            _ => None,
        });
        let read = read.into_iter().map(|(file, bytes)| (name(&file), bytes));
        read.chain(fetched).map(|(name, bytes)| (name, Bytes::copy_from_slice(&bytes))).collect()
    }
}

/// Objects are put into the order of installation later.
const OPTIONS: Options = Options {
    load_restrictor: kustomize::LoadRestrictor::RootOnly,
    reorder: Reorder::None,
    helm: kustomize::Helm::Off,
    managed_by_label: false,
    conflicts: kustomize::Conflicts::Ignored,
};

impl Layer for KustomizationLayer {
    fn place(&self) -> &str {
        &self.place
    }

    fn apply(&self, objects: Vec<Object>, file: &str) -> Result<Layered, LayerError> {
        self.is_used.store(true, Ordering::Relaxed);
        let start =
            self.start.as_ref().map_err(|it| self.unfit(vec![it.problem.clone()], it.hints.clone()))?;
        let tree = Recorded { disk: DiskTree::new(self.max_file_bytes), read: RefCell::default() };
        let build = Build { tree: &tree, answers: &self.answers, options: OPTIONS };
        let beneath = Beneath { objects, name: file.to_owned() };
        let output = match build.run_onto(&start.folder, start.top.as_ref(), beneath) {
            Ok(Outcome::Built(output)) => output,
            Ok(Outcome::Wants(_)) => {
                let problem = "it changed while it was read".to_owned();
                return Err(self.unfit(vec![problem], Vec::new()));
            }
            Err(BuildErrors { problems, warnings }) => {
                self.check(&problems, &warnings)?;
                return Err(self.unfit(Vec::new(), Vec::new()));
            }
        };
        self.check(&[], &output.warnings)?;
        let files = self.files(start, tree.read.into_inner());
        if let Some(Reviewed { lock, label }) = &self.reviewed {
            lock.verify_kustomization(label, &files).map_err(|source| not_as_locked(&self.place, source))?;
        }
        let warnings = distinct(&output.warnings).into_iter().map(|it| self.text(it)).collect();
        Ok(Layered { objects: output.objects, warnings, files })
    }
}

fn not_as_locked(place: &str, source: repository::Error) -> LayerError {
    LayerError::NotAsLocked { place: place.to_owned(), source: Box::new(source) }
}

fn is_unmatched(problem: &Problem) -> bool {
    matches!(problem.kind, ProblemKind::Patch(PatchProblem::Unmatched))
}

/// The disk, with a memory of what was read of it.
struct Recorded {
    disk: DiskTree,
    read: RefCell<BTreeMap<TreePath, Arc<[u8]>>>,
}

impl Tree for Recorded {
    fn resolve(&self, path: &TreePath) -> Result<Resolved, TreeError> {
        self.disk.resolve(path)
    }

    fn read(&self, path: &TreePath) -> Result<Arc<[u8]>, TreeError> {
        let bytes = self.disk.read(path)?;
        self.read.borrow_mut().insert(path.clone(), Arc::clone(&bytes));
        Ok(bytes)
    }
}

/// Stands where the lock has a kustomization and the run has none.
#[derive(Debug)]
pub(super) struct LostLayer {
    pub(super) reviewed: Reviewed,
}

impl Layer for LostLayer {
    fn place(&self) -> &str {
        &self.reviewed.lock.place
    }

    fn apply(&self, objects: Vec<Object>, _file: &str) -> Result<Layered, LayerError> {
        let files = BTreeMap::new();
        let Reviewed { lock, label } = &self.reviewed;
        lock.verify_kustomization(label, &files).map_err(|source| not_as_locked(&lock.place, source))?;
        Ok(Layered { objects, warnings: Vec::new(), files })
    }
}
