//! What a step may do: read its kustomization, load files, report.

use std::sync::Arc;

use manifest::provenance::{Setter, Trace};

use crate::accumulator::Accumulator;
use crate::kustomization::Kustomization;
use crate::problems::{Problem, ProblemKind};
use crate::request::{Answer, Remote, Request};
use crate::resource::{Origin, Resource};
use crate::{Resolved, TreePath};

use super::load::{self, Read};
use super::root::Root;
use super::{LoadRestrictor, Session};

/// One kustomization while its steps run.
pub(crate) struct Scope<'s, 'a> {
    pub(crate) session: &'s mut Session<'a>,
    pub(crate) root: &'s Arc<Root>,
    pub(crate) kustomization: &'s Kustomization,
}

/// A step of a build. It reads its field in the kustomization of the scope, changes the objects, reports what is wrong, and
/// leaves alone what it cannot do.
pub(crate) type Step = fn(&mut Scope<'_, '_>, &mut Accumulator);

impl<'a> Scope<'_, 'a> {
    /// The scope of another kustomization of the same build.
    pub(super) fn of<'t>(
        &'t mut self,
        root: &'t Arc<Root>,
        kustomization: &'t Kustomization,
    ) -> Scope<'t, 'a> {
        Scope { session: self.session, root, kustomization }
    }

    /// Reports a problem with a field, such as `images[2]`; the build will fail, and goes on to find others.
    pub(crate) fn problem(&mut self, field: &str, kind: impl Into<ProblemKind>) {
        let place = self.root.place(field);
        self.session.problems.errors.push(Problem { place, kind: kind.into() });
    }

    /// Reports what its author should know although it can be built.
    pub(crate) fn warn(&mut self, field: &str, kind: impl Into<ProblemKind>) {
        let place = self.root.place(field);
        self.session.problems.warnings.push(Problem { place, kind: kind.into() });
    }

    /// Whether it is kept what sets which field.
    pub(crate) fn is_traced(&self) -> bool {
        self.session.options.trace == Trace::On
    }

    /// Where it is kept: all that changed since the last time was set by a field.
    pub(crate) fn account(&self, field: &str, objects: &mut Accumulator) {
        self.account_from(field, || None, objects);
    }

    /// [`Scope::account`] of a field whose values stand in a file of their own, which is asked for where it is told.
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

    /// Reports a problem with what was gathered. That an object is not there is told where all of them could be loaded.
    pub(crate) fn problem_among(&mut self, objects: &Accumulator, field: &str, kind: impl Into<ProblemKind>) {
        let kind = kind.into();
        if !(objects.is_partial && kind.misses_an_object()) {
            self.problem(field, kind);
        }
    }

    /// Asks for something from elsewhere; `None` where it has to be waited for, or came to nothing, which is reported.
    pub(crate) fn ask(&mut self, field: &str, entry: &str, request: Request) -> Option<Answer> {
        match self.session.answers.get(&request) {
            Some(Err(reason)) => {
                let (entry, reason) = (entry.to_owned(), reason.clone());
                let done = match request {
                    Request::ChartTemplate(_) => "rendered",
                    Request::Remote(_) | Request::ChartPull(_) => "fetched",
                };
                self.problem(field, ProblemKind::Unanswered { entry, done, reason });
                None
            }
            Some(Ok(answer)) => Some(answer.clone()),
            None => {
                self.session.problems.wanted.insert(request);
                None
            }
        }
    }

    /// Tells what an entry that is a path leads to; a fault of the tree is reported.
    pub(crate) fn resolve(&mut self, field: &str, entry: &str) -> Option<Resolved> {
        match self.session.tree.resolve(&self.root.folder.join(entry)) {
            Ok(resolved) => Some(resolved),
            Err(error) => {
                self.problem(field, error);
                None
            }
        }
    }

    /// Loads a file the kustomization names; a file that is missing, no file, or out of bounds is reported.
    pub(crate) fn load(&mut self, field: &str, entry: &str) -> Option<(TreePath, Arc<[u8]>)> {
        match self.resolve(field, entry)? {
            Resolved::File(file) => Some((file.clone(), self.load_resolved(field, &file)?)),
            Resolved::Folder(_) => {
                self.problem(field, ProblemKind::NotAFile(entry.to_owned()));
                None
            }
            Resolved::Missing => self.load_elsewhere(field, entry),
        }
    }

    fn load_elsewhere(&mut self, field: &str, entry: &str) -> Option<(TreePath, Arc<[u8]>)> {
        let Some(remote) = Remote::of_file_entry(entry) else {
            let path = self.root.folder.join(entry);
            self.problem(field, ProblemKind::Missing { entry: entry.to_owned(), path });
            return None;
        };
        let shown = remote.shown();
        match self.ask(field, &shown, Request::Remote(remote))? {
            Answer::Bytes(bytes) => Some((TreePath::new(&shown), bytes)),
            Answer::Folder { .. } => {
                self.problem(field, ProblemKind::NotAFile(shown));
                None
            }
        }
    }

    fn load_resolved(&mut self, field: &str, file: &TreePath) -> Option<Arc<[u8]>> {
        if !self.may_load(field, file) {
            return None;
        }
        self.session.tree.read(file).map_err(|error| self.problem(field, error)).ok()
    }

    fn may_load(&mut self, field: &str, file: &TreePath) -> bool {
        let is_free = self.session.options.load_restrictor == LoadRestrictor::None && !self.root.is_copy();
        let may = is_free || file.is_in(&self.root.folder);
        if !may {
            let (file, root) = (file.clone(), self.root.folder.clone());
            self.problem(field, ProblemKind::Outside { file, root });
        }
        may
    }

    /// Reads the objects of a file, given by its canonical path; a file is read at most twice in a build.
    pub(crate) fn read_objects(&mut self, field: &str, file: &TreePath) -> Option<Arc<[Read]>> {
        if !self.may_load(field, file) {
            return None;
        }
        let known = self.session.read.get(file);
        if let Some(Some(objects)) = known {
            return Some(Arc::clone(objects));
        }
        let is_shared = known.is_some();
        let bytes = self.session.tree.read(file).map_err(|error| self.problem(field, error)).ok()?;
        let objects: Arc<[Read]> = self.parse_objects(field, file, &bytes)?.into();
        self.session.read.insert(file.clone(), is_shared.then(|| Arc::clone(&objects)));
        Some(objects)
    }

    /// Parses objects; lists of objects come out as what they hold.
    pub(crate) fn parse_objects(&mut self, field: &str, file: &TreePath, bytes: &[u8]) -> Option<Vec<Read>> {
        match load::parse(file, bytes) {
            Ok(objects) => {
                for Read { object, .. } in &objects {
                    self.session.schema.note_object(object);
                }
                Some(objects)
            }
            Err(kinds) => {
                for kind in kinds {
                    self.problem(field, kind);
                }
                None
            }
        }
    }

    /// Adds objects that were read; those that clash are reported.
    pub(crate) fn add(&mut self, field: &str, objects: &[Read], file: &TreePath, to: &mut Accumulator) {
        let origin = Arc::new(Origin::File(file.clone()));
        for read in objects {
            if let Err(kind) = to.append(Resource::read(read.clone(), Arc::clone(&origin))) {
                self.problem(field, kind);
            }
        }
    }
}
