//! One build: from a folder to the objects it describes.

pub(crate) mod entries;
mod target;

use std::collections::HashMap;

use manifest::Object;

use crate::report::BuildReport;
use crate::resource::BuildMetadata;
use crate::schema::Schema;
use crate::scope::BuildState;
use crate::{BuildOptions, BuildOutput, FetchResults, Tree, TreePath};

/// One build of a kustomization.
#[derive(Clone)]
pub struct Build<'a> {
    /// The files of the build.
    pub tree: &'a dyn Tree,
    /// The content that the caller fetched; empty for a first build.
    pub fetch_results: &'a FetchResults,
    /// The options of the build.
    pub options: BuildOptions,
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
    pub fn run(&self, folder: &TreePath) -> Result<BuildOutput, BuildReport> {
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
    ) -> Result<BuildOutput, BuildReport> {
        let mut session = BuildState {
            tree: self.tree,
            fetch_results: self.fetch_results,
            options: self.options.clone(),
            report: BuildReport::default(),
            metadata: BuildMetadata::default(),
            schema: Schema::default(),
            files: HashMap::new(),
        };
        let objects = target::build_top(&mut session, folder, top, base);
        let report = session.report;
        if report.requests.is_empty() && report.errors.is_empty() {
            return Ok(BuildOutput { objects, warnings: report.warnings });
        }
        Err(report)
    }
}
