//! One build, from a folder to the objects it describes.

mod components;
mod load;
mod resources;
mod root;
mod scope;
mod target;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use manifest::{Object, provenance::Trace};

pub(crate) use load::Read;
pub(crate) use resources::add as add_resource;
pub(crate) use scope::Scope;

use crate::output::metadata::BuildMetadata;
use crate::problems::Problems;
use crate::schema::Schema;
use crate::{Answers, BuildErrors, Output, Request, Tree, TreePath};

/// What is to be built, and of what.
#[derive(Clone, Copy)]
pub struct Build<'a> {
    /// The files.
    pub tree: &'a dyn Tree,
    /// What the caller fetched; a first build has none.
    pub answers: &'a Answers,
    /// How to build.
    pub options: Options,
}

/// What a kustomization is built onto.
#[derive(Clone, Debug, Default)]
pub struct Beneath {
    /// The objects, each with kind and name.
    pub objects: Vec<Object>,
    /// Where they come from, as people know it.
    pub name: String,
}

/// How to build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Which files a kustomization may name.
    pub load_restrictor: LoadRestrictor,
    /// The order of the objects where the top kustomization has no `sortOptions`.
    pub reorder: Reorder,
    /// Whether charts may be asked for.
    pub helm: Helm,
    /// Whether every object is labelled as managed by kustomize, whatever `buildMetadata` says.
    pub managed_by_label: bool,
    /// Whether patches that disagree are told.
    pub conflicts: Conflicts,
    /// Whether the objects are traced, so that they tell what set their fields.
    pub trace: Trace,
}

/// Whether the caller runs `helm`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Helm {
    /// Charts are problems.
    #[default]
    Off,
    /// Charts are requests.
    On,
}

/// Whether patches of one list that set a field to different values are told, as warnings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conflicts {
    /// They are not looked for; the last one counts.
    #[default]
    Ignored,
    /// Each with both places.
    Told,
}

/// Which files a kustomization may name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadRestrictor {
    /// Those in its folder, and below.
    #[default]
    RootOnly,
    /// All.
    None,
}

/// An order of objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reorder {
    /// Kinds that others need first, then by kind, namespace and name.
    #[default]
    Legacy,
    /// As they were gathered.
    None,
}

/// What came of a build.
#[derive(Debug)]
pub enum Outcome {
    /// The objects.
    Built(Output),
    /// Nothing yet: the build needs these from elsewhere.
    Wants(BTreeSet<Request>),
}

/// What all targets of one build share.
pub(crate) struct Session<'a> {
    pub(crate) tree: &'a dyn Tree,
    pub(crate) answers: &'a Answers,
    pub(crate) options: Options,
    pub(crate) problems: Problems,
    /// What the objects shall tell of the build.
    pub(crate) metadata: BuildMetadata,
    /// How lists are merged; the first kustomization to say so decides for all.
    pub(crate) schema: Schema,
    /// Files whose objects were read, with the objects of those that were read again, since overlays share bases. Those of
    /// a file that is read once are not kept: what is written to would be held twice.
    read: HashMap<TreePath, Option<Arc<[Read]>>>,
}

impl Build<'_> {
    /// Builds the kustomization in a folder.
    ///
    /// Shape: the same tree and answers give the same bytes. Where something is wanted from elsewhere, problems are left
    /// for the build that has it.
    /// # Errors
    /// Every problem that could be found.
    pub fn run(&self, folder: &TreePath) -> Result<Outcome, BuildErrors> {
        self.run_within(folder, None)
    }

    /// Builds the kustomization in a folder of a copy of a repository, which nothing in it may leave.
    /// # Errors
    /// As for [`Build::run`].
    pub fn run_within(&self, folder: &TreePath, top: Option<&TreePath>) -> Result<Outcome, BuildErrors> {
        self.run_onto(folder, top, Beneath::default())
    }

    /// Builds the kustomization or component in a folder onto objects made elsewhere, as if its `resources` began with
    /// them.
    /// # Errors
    /// As for [`Build::run`].
    pub fn run_onto(
        &self,
        folder: &TreePath,
        top: Option<&TreePath>,
        beneath: Beneath,
    ) -> Result<Outcome, BuildErrors> {
        let mut session = Session {
            tree: self.tree,
            answers: self.answers,
            options: self.options,
            problems: Problems::default(),
            metadata: BuildMetadata::default(),
            schema: Schema::default(),
            read: HashMap::new(),
        };
        let objects = target::build_top(&mut session, folder, top, beneath);
        let Problems { errors, warnings, wanted } = session.problems;
        if !wanted.is_empty() {
            return Ok(Outcome::Wants(wanted));
        }
        if !errors.is_empty() {
            return Err(BuildErrors { problems: errors, warnings });
        }
        Ok(Outcome::Built(Output { objects, warnings }))
    }
}

#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod properties;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod traced;
