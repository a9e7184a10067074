//! The context of a step: it reads its kustomization, loads files, and reports.

mod objects;
mod root;

use std::collections::HashMap;
use std::sync::Arc;

use manifest::provenance::{Setter, Trace};
use manifest::yaml::{self, YamlError};
use manifest::{Limits, Value};

pub(crate) use root::Root;

use crate::accumulator::Accumulator;
use crate::kustomization::Kustomization;
use crate::problems::{Place, Problem, Report, StepError};
use crate::request::{Answer, Answers, Remote, Request};
use crate::resource::{BuildMetadata, Origin, ReadObject, Resource};
use crate::schema::Schema;
use crate::{LoadRestrictor, Options, Resolved, Tree, TreeError, TreePath};

/// The state that all targets of one build share.
pub(crate) struct Session<'a> {
    pub(crate) tree: &'a dyn Tree,
    pub(crate) answers: &'a Answers,
    pub(crate) options: Options,
    pub(crate) report: Report,
    pub(crate) metadata: BuildMetadata,
    /// Merge keys of lists; the first kustomization with `openapi` decides for all.
    pub(crate) schema: Schema,
    /// Files whose objects were read. A file that was read again, since overlays share bases, has its objects here: an
    /// object that is written to would be held twice.
    pub(crate) read: HashMap<TreePath, Option<Arc<[ReadObject]>>>,
}

/// One kustomization while its steps run.
pub(crate) struct Scope<'s, 'a> {
    pub(crate) session: &'s mut Session<'a>,
    pub(crate) root: &'s Arc<Root>,
    pub(crate) kustomization: &'s Kustomization,
}

/// A step of a build. It reads its field in the kustomization of the scope, changes the objects, reports what is wrong, and
/// leaves alone what it cannot do.
pub(crate) type Step = fn(&mut Scope<'_, '_>, &mut Accumulator);

/// A file or folder that a kustomization names and that cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadProblem {
    #[error("`{entry}` is not there: neither a file nor a folder at `{path}`")]
    Missing { entry: String, path: TreePath },
    #[error("`{0}` is a folder, a file is needed")]
    NotAFile(String),
    #[error("`{file}` lies outside `{root}`")]
    Outside { file: TreePath, root: TreePath },
    /// `done` is `fetched` or `rendered`.
    #[error("`{entry}` cannot be {done}: {reason}")]
    Unanswered { entry: String, done: &'static str, reason: String },
}

impl Session<'_> {
    /// Finds and reads the kustomization of a root; problems with it are reported.
    pub(crate) fn open(&mut self, mut root: Root) -> Option<(Arc<Root>, Kustomization)> {
        let read = root.find_file(self.tree).and_then(|file| {
            root.file = file;
            let bytes = self.tree.read(&root.file).map_err(|error| vec![error.into()])?;
            Kustomization::read(&root.file, &bytes)
        });
        let located = |error| Problem { place: root.place(""), error };
        match read {
            Ok((kustomization, warnings)) => {
                self.report.warnings.extend(warnings.into_iter().map(located));
                root.namespace.clone_from(&kustomization.namespace);
                Some((Arc::new(root), kustomization))
            }
            Err(errors) => {
                self.report.errors.extend(errors.into_iter().map(located));
                None
            }
        }
    }
}

impl<'a> Scope<'_, 'a> {
    /// The scope of another kustomization of the same build.
    pub(crate) fn of<'t>(
        &'t mut self,
        root: &'t Arc<Root>,
        kustomization: &'t Kustomization,
    ) -> Scope<'t, 'a> {
        Scope { session: self.session, root, kustomization }
    }

    /// Reports a problem with a field, such as `images[2]`; the build will fail, and goes on to find others.
    pub(crate) fn problem(&mut self, field: &str, error: impl Into<StepError>) {
        self.problem_at(self.root.place(field), error);
    }

    /// Reports a problem at a place, which may be in another kustomization.
    pub(crate) fn problem_at(&mut self, place: Place, error: impl Into<StepError>) {
        self.session.report.errors.push(Problem { place, error: error.into() });
    }

    /// Reports several problems with a field.
    pub(crate) fn problems<E: Into<StepError>>(&mut self, field: &str, errors: impl IntoIterator<Item = E>) {
        errors.into_iter().for_each(|error| self.problem(field, error));
    }

    /// Takes the value of a result; an error is reported.
    pub(crate) fn ok<T>(&mut self, field: &str, result: Result<T, impl Into<StepError>>) -> Option<T> {
        result.map_err(|error| self.problem(field, error)).ok()
    }

    /// Takes the value of a result; all errors are reported.
    pub(crate) fn all_ok<T, E: Into<StepError>>(
        &mut self,
        field: &str,
        result: Result<T, Vec<E>>,
    ) -> Option<T> {
        result.map_err(|errors| self.problems(field, errors)).ok()
    }

    /// Reports what its author should know although it can be built.
    pub(crate) fn warn(&mut self, field: &str, error: impl Into<StepError>) {
        self.warn_at(self.root.place(field), error);
    }

    /// Reports a warning at a place, which may be in another kustomization.
    pub(crate) fn warn_at(&mut self, place: Place, error: impl Into<StepError>) {
        self.session.report.warnings.push(Problem { place, error: error.into() });
    }

    /// True if objects record which field set which of their fields.
    pub(crate) fn is_traced(&self) -> bool {
        self.session.options.trace == Trace::On
    }

    /// If the build is traced, records that a field set all that changed since the last time.
    pub(crate) fn account(&self, field: &str, objects: &mut Accumulator) {
        self.account_from(field, || None, objects);
    }

    /// [`Scope::account`] of a field whose values stand in a file of their own.
    pub(crate) fn account_from(
        &self,
        field: &str,
        content: impl FnOnce() -> Option<TreePath>,
        objects: &mut Accumulator,
    ) {
        if self.is_traced() {
            let file = self.root.file.to_string();
            let content = content().as_ref().map(TreePath::to_string).unwrap_or_default();
            objects.account(&Arc::new(Setter { file, field: field.to_owned(), content }));
        }
    }

    /// The file an entry names, under its address where it is elsewhere; nothing for an empty entry.
    pub(crate) fn named_file(&self, entry: &str) -> Option<TreePath> {
        (!entry.is_empty()).then(|| match Remote::of_file_entry(entry) {
            Some(remote) => TreePath::new(&remote.shown()),
            None => self.root.folder.join(entry),
        })
    }

    /// Requests something from elsewhere; `None` while there is no answer, and for a failure, which is reported.
    pub(crate) fn ask(&mut self, field: &str, entry: &str, request: Request) -> Option<Answer> {
        match self.session.answers.get(&request) {
            Some(Err(reason)) => {
                let (entry, reason) = (entry.to_owned(), reason.clone());
                let done = match request {
                    Request::ChartTemplate(_) => "rendered",
                    Request::Remote(_) | Request::ChartPull(_) => "fetched",
                };
                self.problem(field, LoadProblem::Unanswered { entry, done, reason });
                None
            }
            Some(Ok(answer)) => Some(answer.clone()),
            None => {
                self.session.report.wanted.insert(request);
                None
            }
        }
    }

    /// Resolves an entry that is a path; an error of the tree is reported.
    pub(crate) fn resolve(&mut self, field: &str, entry: &str) -> Option<Resolved> {
        let resolved = self.session.tree.resolve(&self.root.folder.join(entry));
        self.ok(field, resolved)
    }

    /// Reports an entry that is neither here nor elsewhere.
    pub(crate) fn missing(&mut self, field: &str, entry: &str) {
        let path = self.root.folder.join(entry);
        self.problem(field, LoadProblem::Missing { entry: entry.to_owned(), path });
    }

    /// Loads a file the kustomization names; a file that is missing, no file, or out of bounds is reported.
    pub(crate) fn load(&mut self, field: &str, entry: &str) -> Option<(TreePath, Arc<[u8]>)> {
        match self.resolve(field, entry)? {
            Resolved::File(file) => {
                let bytes = self.read(field, &file)?;
                Some((file, bytes))
            }
            Resolved::Folder(_) => {
                self.problem(field, LoadProblem::NotAFile(entry.to_owned()));
                None
            }
            Resolved::Missing => {
                let Some(remote) = Remote::of_file_entry(entry) else {
                    self.missing(field, entry);
                    return None;
                };
                let shown = remote.shown();
                match self.ask(field, &shown, Request::Remote(remote))? {
                    Answer::Bytes(bytes) => Some((TreePath::new(&shown), bytes)),
                    Answer::Folder { .. } => {
                        self.problem(field, LoadProblem::NotAFile(shown));
                        None
                    }
                }
            }
        }
    }

    /// Loads a file of YAML, as [`Scope::load`] does.
    pub(crate) fn load_yaml(&mut self, field: &str, entry: &str) -> Option<(TreePath, Value)> {
        self.load_yaml_with(field, entry, yaml::read_value)
    }

    /// [`Scope::load_yaml`] with a given reader.
    pub(crate) fn load_yaml_with(
        &mut self,
        field: &str,
        entry: &str,
        read: fn(&str, &Limits) -> Result<Value, YamlError>,
    ) -> Option<(TreePath, Value)> {
        let (file, bytes) = self.load(field, entry)?;
        let text = str::from_utf8(&bytes).map_err(|error| error.to_string());
        let value = text.and_then(|text| read(text, &Limits::default()).map_err(|error| error.to_string()));
        let value = self.ok(field, value.map_err(|reason| TreeError { path: file.clone(), reason }))?;
        Some((file, value))
    }

    fn read(&mut self, field: &str, file: &TreePath) -> Option<Arc<[u8]>> {
        self.check_bounds(field, file)?;
        let bytes = self.session.tree.read(file);
        self.ok(field, bytes)
    }

    fn check_bounds(&mut self, field: &str, file: &TreePath) -> Option<()> {
        let is_free = self.session.options.load_restrictor == LoadRestrictor::None && !self.root.is_copy();
        if is_free || file.is_in(&self.root.folder) {
            return Some(());
        }
        let (file, root) = (file.clone(), self.root.folder.clone());
        self.problem(field, LoadProblem::Outside { file, root });
        None
    }

    /// Reads the objects of a file, given by its canonical path; a file is read at most twice in a build.
    pub(crate) fn read_objects(&mut self, field: &str, file: &TreePath) -> Option<Arc<[ReadObject]>> {
        self.check_bounds(field, file)?;
        let known = self.session.read.get(file);
        if let Some(Some(objects)) = known {
            return Some(Arc::clone(objects));
        }
        let is_shared = known.is_some();
        let bytes = self.read(field, file)?;
        let objects: Arc<[ReadObject]> = self.parse_objects(field, file, &bytes)?.into();
        self.session.read.insert(file.clone(), is_shared.then(|| Arc::clone(&objects)));
        Some(objects)
    }

    /// Parses objects; lists of objects come out as what they hold.
    pub(crate) fn parse_objects(
        &mut self,
        field: &str,
        file: &TreePath,
        bytes: &[u8],
    ) -> Option<Vec<ReadObject>> {
        let objects = self.all_ok(field, objects::parse(file, bytes))?;
        for ReadObject { object, .. } in &objects {
            self.session.schema.note_object(object);
        }
        Some(objects)
    }

    /// Adds objects that were read; those that clash are reported.
    pub(crate) fn add(&mut self, field: &str, objects: &[ReadObject], file: &TreePath, to: &mut Accumulator) {
        let origin = Arc::new(Origin::File(file.clone()));
        for read in objects {
            let added = to.append(Resource::read(read.clone(), Arc::clone(&origin)));
            self.ok(field, added);
        }
    }
}
