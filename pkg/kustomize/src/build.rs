//! One build: from a folder to the objects it describes.

pub(crate) mod entries;
mod target;

use std::collections::HashMap;

use manifest::Object;

use crate::problems::Report;
use crate::resource::BuildMetadata;
use crate::schema::Schema;
use crate::scope::Session;
use crate::{Answers, Options, Output, Tree, TreePath};

/// One build of a kustomization.
#[derive(Clone, Copy)]
pub struct Build<'a> {
    /// The files of the build.
    pub tree: &'a dyn Tree,
    /// The content that the caller fetched; empty for a first build.
    pub answers: &'a Answers,
    /// The options of the build.
    pub options: Options,
}

/// The objects that a kustomization is built onto.
#[derive(Clone, Debug, Default)]
pub struct BaseObjects {
    /// The objects; each has a kind and a name.
    pub objects: Vec<Object>,
    /// The source of the objects, as users know it.
    pub name: String,
}

impl Build<'_> {
    /// Builds the kustomization in a folder.
    ///
    /// The same tree and answers always give the same bytes.
    /// # Errors
    /// Every problem found, or the requests without an answer.
    pub fn run(&self, folder: &TreePath) -> Result<Output, Report> {
        self.run_onto(folder, None, BaseObjects::default())
    }

    /// Builds the kustomization or component in a folder onto existing objects, as if its `resources` began with them.
    ///
    /// With `top`, the folder belongs to a copy of a repository; no path may leave that copy.
    /// # Errors
    /// As for [`Build::run`].
    pub fn run_onto(
        &self,
        folder: &TreePath,
        top: Option<&TreePath>,
        base: BaseObjects,
    ) -> Result<Output, Report> {
        let mut session = Session {
            tree: self.tree,
            answers: self.answers,
            options: self.options,
            report: Report::default(),
            metadata: BuildMetadata::default(),
            schema: Schema::default(),
            read: HashMap::new(),
        };
        let objects = target::build_top(&mut session, folder, top, base);
        let report = session.report;
        if report.wanted.is_empty() && report.errors.is_empty() {
            return Ok(Output { objects, warnings: report.warnings });
        }
        Err(report)
    }
}
