//! The context of a step: access to its kustomization, file loading and reporting.

mod objects;
mod root;

use std::collections::HashMap;
use std::sync::Arc;

use manifest::provenance::{FieldOrigin, Trace};
use manifest::yaml::{self, YamlError};
use manifest::{Value, YamlLimits};

pub(crate) use root::Root;

use crate::accumulator::Accumulator;
use crate::kustomization::Kustomization;
use crate::report::{BuildLocation, BuildProblem, BuildReport, StepError};
use crate::request::{FetchRequest, FetchResults, FetchedContent, RemoteEntry};
use crate::resource::{BuildMetadata, ObjectOrigin, ParsedObject, Resource};
use crate::schema::Schema;
use crate::{BuildOptions, LoadRestrictor, ResolvedPath, Tree, TreeError, TreePath};

/// The state that all targets of one build share.
pub(crate) struct BuildState<'a> {
    pub(crate) tree: &'a dyn Tree,
    pub(crate) fetch_results: &'a FetchResults,
    pub(crate) options: BuildOptions,
    pub(crate) report: BuildReport,
    pub(crate) metadata: BuildMetadata,
    /// The merge keys of lists; the first kustomization with `openapi` decides for all.
    pub(crate) schema: Schema,
    /// The files read so far. Their objects are kept from the second read on, for overlays that share a base. Keeping
    /// them after the first read would store every changed object twice.
    pub(crate) files: HashMap<TreePath, Option<Arc<[ParsedObject]>>>,
}

/// One kustomization while its steps run.
pub(crate) struct Scope<'s, 'a> {
    pub(crate) session: &'s mut BuildState<'a>,
    pub(crate) root: &'s Arc<Root>,
    pub(crate) kustomization: &'s Kustomization,
}

/// A step of a build. A step reads its field of the kustomization, changes the objects and reports problems. A step
/// ignores input that it cannot process.
pub(crate) type Step = fn(&mut Scope<'_, '_>, &mut Accumulator);

/// A file or folder of a kustomization that cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    #[error("cannot find `{entry}`: no file or folder at `{path}`")]
    Missing { entry: String, path: TreePath },
    #[error("`{0}` must be a file, not a folder")]
    NotAFile(String),
    #[error("`{file}` is outside `{root}`")]
    Outside { file: TreePath, root: TreePath },
    #[error("cannot fetch `{entry}`: {reason}")]
    FetchFailed { entry: String, reason: String },
}

impl BuildState<'_> {
    /// Finds and reads the kustomization of a root. Reports its problems.
    pub(crate) fn open(&mut self, mut root: Root) -> Option<(Arc<Root>, Kustomization)> {
        let read = root.find_file(self.tree).and_then(|file| {
            root.file = file;
            let bytes = self.tree.read(&root.file).map_err(|error| vec![error.into()])?;
            Kustomization::read(&root.file, &bytes)
        });
        let located = |error| BuildProblem { location: root.location(""), error };
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
    pub(crate) fn report(&mut self, field: &str, error: impl Into<StepError>) {
        self.report_at(self.root.location(field), error);
    }

    /// Reports a problem at a place, possibly in another kustomization.
    pub(crate) fn report_at(&mut self, place: BuildLocation, error: impl Into<StepError>) {
        self.session.report.errors.push(BuildProblem { location: place, error: error.into() });
    }

    /// Reports several problems with a field.
    pub(crate) fn report_all<E: Into<StepError>>(
        &mut self,
        field: &str,
        errors: impl IntoIterator<Item = E>,
    ) {
        errors.into_iter().for_each(|error| self.report(field, error));
    }

    /// Returns the value of a result. Reports an error.
    pub(crate) fn ok<T>(&mut self, field: &str, result: Result<T, impl Into<StepError>>) -> Option<T> {
        result.map_err(|error| self.report(field, error)).ok()
    }

    /// Returns the value of a result. Reports all errors.
    pub(crate) fn all_ok<T, E: Into<StepError>>(
        &mut self,
        field: &str,
        result: Result<T, Vec<E>>,
    ) -> Option<T> {
        result.map_err(|errors| self.report_all(field, errors)).ok()
    }

    /// Reports a warning about a field.
    pub(crate) fn warn(&mut self, field: &str, error: impl Into<StepError>) {
        self.warn_at(self.root.location(field), error);
    }

    /// Reports a warning at a place, possibly in another kustomization.
    pub(crate) fn warn_at(&mut self, place: BuildLocation, error: impl Into<StepError>) {
        self.session.report.warnings.push(BuildProblem { location: place, error: error.into() });
    }

    /// True if objects record the provenance of their fields.
    pub(crate) fn is_traced(&self) -> bool {
        self.session.options.trace == Trace::On
    }

    /// If the build is traced, records that `field` made all changes since the last call.
    pub(crate) fn record_provenance(&self, field: &str, objects: &mut Accumulator) {
        self.record_provenance_from(field, || None, objects);
    }

    /// Like [`Scope::record_provenance`], for a field with its values in a separate file.
    pub(crate) fn record_provenance_from(
        &self,
        field: &str,
        content: impl FnOnce() -> Option<TreePath>,
        objects: &mut Accumulator,
    ) {
        if self.is_traced() {
            let file = self.root.file.to_string();
            let content = content().as_ref().map(TreePath::to_string).unwrap_or_default();
            objects.record_provenance(&Arc::new(FieldOrigin { file, field: field.to_owned(), content }));
        }
    }

    /// Returns the file that an entry names; a remote file has its address as path. `None` for an empty entry.
    pub(crate) fn named_file(&self, entry: &str) -> Option<TreePath> {
        (!entry.is_empty()).then(|| match RemoteEntry::of_file_entry(entry) {
            Some(remote) => TreePath::new(&remote.redacted()),
            None => self.root.folder.join(entry),
        })
    }

    /// Requests remote content. `None` if there is no answer yet, or after reporting a failed one.
    pub(crate) fn fetch(
        &mut self,
        field: &str,
        entry: &str,
        request: FetchRequest,
    ) -> Option<FetchedContent> {
        match self.session.fetch_results.get(&request) {
            Some(Err(reason)) => {
                let (entry, reason) = (entry.to_owned(), reason.clone());
                self.report(field, LoadError::FetchFailed { entry, reason });
                None
            }
            Some(Ok(answer)) => Some(answer.clone()),
            None => {
                self.session.report.requests.insert(request);
                None
            }
        }
    }

    /// Resolves an entry that is a path. Reports an error of the tree.
    pub(crate) fn resolve(&mut self, field: &str, entry: &str) -> Option<ResolvedPath> {
        let resolved = self.session.tree.resolve(&self.root.folder.join(entry));
        self.ok(field, resolved)
    }

    /// Reports an entry that is neither a path in the tree nor a remote entry.
    pub(crate) fn report_missing(&mut self, field: &str, entry: &str) {
        let path = self.root.folder.join(entry);
        self.report(field, LoadError::Missing { entry: entry.to_owned(), path });
    }

    /// Loads a file that the kustomization names. Reports a missing file, a folder, and a file out of bounds.
    pub(crate) fn load(&mut self, field: &str, entry: &str) -> Option<(TreePath, Arc<[u8]>)> {
        match self.resolve(field, entry)? {
            ResolvedPath::File(file) => {
                let bytes = self.read(field, &file)?;
                Some((file, bytes))
            }
            ResolvedPath::Folder(_) => {
                self.report(field, LoadError::NotAFile(entry.to_owned()));
                None
            }
            ResolvedPath::Missing => {
                let Some(remote) = RemoteEntry::of_file_entry(entry) else {
                    self.report_missing(field, entry);
                    return None;
                };
                let shown = remote.redacted();
                match self.fetch(field, &shown, FetchRequest::Remote(remote))? {
                    FetchedContent::Bytes(bytes) => Some((TreePath::new(&shown), bytes)),
                    FetchedContent::Folder { .. } => {
                        self.report(field, LoadError::NotAFile(shown));
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
        read: fn(&str, &YamlLimits) -> Result<Value, YamlError>,
    ) -> Option<(TreePath, Value)> {
        let (file, bytes) = self.load(field, entry)?;
        let text = str::from_utf8(&bytes).map_err(|error| error.to_string());
        let value =
            text.and_then(|text| read(text, &YamlLimits::default()).map_err(|error| error.to_string()));
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
        self.report(field, LoadError::Outside { file, root });
        None
    }

    /// Reads the objects of a file, given by its canonical path. A build reads a file at most twice.
    pub(crate) fn read_objects(&mut self, field: &str, file: &TreePath) -> Option<Arc<[ParsedObject]>> {
        self.check_bounds(field, file)?;
        let known = self.session.files.get(file);
        if let Some(Some(objects)) = known {
            return Some(Arc::clone(objects));
        }
        let is_shared = known.is_some();
        let bytes = self.read(field, file)?;
        let objects: Arc<[ParsedObject]> = self.parse_objects(field, file, &bytes)?.into();
        self.session.files.insert(file.clone(), is_shared.then(|| Arc::clone(&objects)));
        Some(objects)
    }

    /// Parses objects, and replaces lists with their items.
    pub(crate) fn parse_objects(
        &mut self,
        field: &str,
        file: &TreePath,
        bytes: &[u8],
    ) -> Option<Vec<ParsedObject>> {
        let mut objects = self.all_ok(field, objects::parse(file, bytes))?;
        if self.is_traced() {
            let mut traced: Vec<_> = objects.iter_mut().map(|parsed| &mut parsed.object).collect();
            self.session.tree.start_provenance(file, &mut traced);
        }
        for ParsedObject { object, .. } in &objects {
            self.session.schema.record_object(object);
        }
        Some(objects)
    }

    /// Adds objects that were read. Reports conflicts.
    pub(crate) fn add(
        &mut self,
        field: &str,
        objects: &[ParsedObject],
        file: &TreePath,
        to: &mut Accumulator,
    ) {
        let origin = Arc::new(ObjectOrigin::File(file.clone()));
        for read in objects {
            let added = to.append(Resource::read(read.clone(), Arc::clone(&origin)));
            self.ok(field, added);
        }
    }
}
