//! The context of a step: access to its kustomization, file loading and reporting.

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
    /// The merge keys of lists; the first kustomization with `openapi` decides for all.
    pub(crate) schema: Schema,
    /// The files read so far. Their objects are kept from the second read on, for overlays that share a base. Keeping
    /// them after the first read would store every changed object twice.
    pub(crate) read: HashMap<TreePath, Option<Arc<[ReadObject]>>>,
}

/// One kustomization while its steps run.
pub(crate) struct Scope<'s, 'a> {
    pub(crate) session: &'s mut Session<'a>,
    pub(crate) root: &'s Arc<Root>,
    pub(crate) kustomization: &'s Kustomization,
}

/// A step of a build. A step reads its field of the kustomization, changes the objects and reports problems. A step
/// ignores input that it cannot process.
pub(crate) type Step = fn(&mut Scope<'_, '_>, &mut Accumulator);

/// A file or folder of a kustomization that cannot be loaded.
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
    /// Finds and reads the kustomization of a root. Reports its problems.
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
    /// Returns the scope of another kustomization of the same build.
    pub(crate) fn of<'t>(
        &'t mut self,
        root: &'t Arc<Root>,
        kustomization: &'t Kustomization,
    ) -> Scope<'t, 'a> {
        Scope { session: self.session, root, kustomization }
    }

    /// Reports a problem with a field, such as `images[2]`. The build continues to find other problems, and then fails.
    pub(crate) fn problem(&mut self, field: &str, error: impl Into<StepError>) {
        self.problem_at(self.root.place(field), error);
    }

    /// Reports a problem at a place, possibly in another kustomization.
    pub(crate) fn problem_at(&mut self, place: Place, error: impl Into<StepError>) {
        self.session.report.errors.push(Problem { place, error: error.into() });
    }

    /// Reports several problems with a field.
    pub(crate) fn problems<E: Into<StepError>>(&mut self, field: &str, errors: impl IntoIterator<Item = E>) {
        errors.into_iter().for_each(|error| self.problem(field, error));
    }

    /// Returns the value of a result. Reports an error.
    pub(crate) fn ok<T>(&mut self, field: &str, result: Result<T, impl Into<StepError>>) -> Option<T> {
        result.map_err(|error| self.problem(field, error)).ok()
    }

    /// Returns the value of a result. Reports all errors.
    pub(crate) fn all_ok<T, E: Into<StepError>>(
        &mut self,
        field: &str,
        result: Result<T, Vec<E>>,
    ) -> Option<T> {
        result.map_err(|errors| self.problems(field, errors)).ok()
    }

    /// Reports a warning about a field.
    pub(crate) fn warn(&mut self, field: &str, error: impl Into<StepError>) {
        self.warn_at(self.root.place(field), error);
    }

    /// Reports a warning at a place, possibly in another kustomization.
    pub(crate) fn warn_at(&mut self, place: Place, error: impl Into<StepError>) {
        self.session.report.warnings.push(Problem { place, error: error.into() });
    }

    /// True if objects record the provenance of their fields.
    pub(crate) fn is_traced(&self) -> bool {
        self.session.options.trace == Trace::On
    }

    /// If the build is traced, records that `field` made all changes since the last call.
    pub(crate) fn account(&self, field: &str, objects: &mut Accumulator) {
        self.account_from(field, || None, objects);
    }

    /// Like [`Scope::account`], for a field with its values in a separate file.
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

    /// Returns the file that an entry names; a remote file has its address as path. `None` for an empty entry.
    pub(crate) fn named_file(&self, entry: &str) -> Option<TreePath> {
        (!entry.is_empty()).then(|| match Remote::of_file_entry(entry) {
            Some(remote) => TreePath::new(&remote.shown()),
            None => self.root.folder.join(entry),
        })
    }

    /// Requests remote content. `None` if there is no answer yet, or after reporting a failed one.
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

    /// Resolves an entry that is a path. Reports an error of the tree.
    pub(crate) fn resolve(&mut self, field: &str, entry: &str) -> Option<Resolved> {
        let resolved = self.session.tree.resolve(&self.root.folder.join(entry));
        self.ok(field, resolved)
    }

    /// Reports an entry that is neither a path in the tree nor a remote entry.
    pub(crate) fn missing(&mut self, field: &str, entry: &str) {
        let path = self.root.folder.join(entry);
        self.problem(field, LoadProblem::Missing { entry: entry.to_owned(), path });
    }

    /// Loads a file that the kustomization names. Reports a missing file, a folder, and a file out of bounds.
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

    /// Loads a YAML file, like [`Scope::load`].
    pub(crate) fn load_yaml(&mut self, field: &str, entry: &str) -> Option<(TreePath, Value)> {
        self.load_yaml_with(field, entry, yaml::read_value)
    }

    /// Like [`Scope::load_yaml`], with a given YAML reader.
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

    /// Reads the objects of a file, given by its canonical path. A build reads a file at most twice.
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

    /// Parses objects, and replaces lists with their items.
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

    /// Adds objects that were read. Reports conflicts.
    pub(crate) fn add(&mut self, field: &str, objects: &[ReadObject], file: &TreePath, to: &mut Accumulator) {
        let origin = Arc::new(Origin::File(file.clone()));
        for read in objects {
            let added = to.append(Resource::read(read.clone(), Arc::clone(&origin)));
            self.ok(field, added);
        }
    }
}
