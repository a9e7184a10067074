//! One build, from a folder to the objects it describes.

pub(crate) mod entries;
mod target;

use std::collections::HashMap;

use manifest::Object;

use crate::problems::Report;
use crate::resource::BuildMetadata;
use crate::schema::Schema;
use crate::scope::Session;
use crate::{Answers, Options, Output, Tree, TreePath};

/// A build.
#[derive(Clone, Copy)]
pub struct Build<'a> {
    /// The files.
    pub tree: &'a dyn Tree,
    /// Everything the caller fetched; empty for a first build.
    pub answers: &'a Answers,
    /// The options.
    pub options: Options,
}

/// The objects that a kustomization is built onto.
#[derive(Clone, Debug, Default)]
pub struct BaseObjects {
    /// The objects, each with kind and name.
    pub objects: Vec<Object>,
    /// Their source, as people know it.
    pub name: String,
}

impl Build<'_> {
    /// Builds the kustomization in a folder.
    ///
    /// Shape: the same tree and answers give the same bytes.
    /// # Errors
    /// Every problem that could be found, or the requests that have no answer yet.
    pub fn run(&self, folder: &TreePath) -> Result<Output, Report> {
        self.run_onto(folder, None, BaseObjects::default())
    }

    /// Builds the kustomization or component in a folder onto objects made elsewhere, as if its `resources` began with
    /// them. With `top`, the folder is in a copy of a repository, which nothing in it may leave.
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
