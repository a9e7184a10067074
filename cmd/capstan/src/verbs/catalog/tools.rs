//! The work of the program for targets of a catalog.

use std::path::Path;

use catalog::compile::{KustomizationOutput, ToolError, Tools};
use chart::ChartFile;
use kustomize::BuildOptions;

use crate::{
    Failure,
    kustomizations::{self, distinct_problems},
    session::Session,
    verbs::chart::read_chart_files,
};

/// Reads charts, and builds kustomizations with their remote content.
pub(super) struct SessionTools<'a>(pub(super) &'a Session);

impl Tools for SessionTools<'_> {
    fn read_chart(&self, folder: &Path) -> Result<Vec<ChartFile>, ToolError> {
        read_chart_files(folder).map_err(|failure| tool_error(&failure))
    }

    fn build_kustomization(&self, folder: &Path) -> Result<KustomizationOutput, ToolError> {
        let place = folder.display().to_string();
        let options = BuildOptions::default();
        let built =
            kustomizations::build(&place, &options, self.0).map_err(|failure| tool_error(&failure))?;
        let names = &built.names;
        match built.result {
            Ok(output) => Ok(KustomizationOutput {
                files: output.files(),
                objects: output.objects.iter().map(|object| object.as_map().clone().into()).collect(),
            }),
            Err(report) => {
                let problems = distinct_problems(&report.errors);
                let hints = problems.iter().flat_map(|problem| problem.hints()).chain(built.hints).collect();
                let reasons: Vec<_> =
                    problems.into_iter().map(|problem| names.problem_text(problem)).collect();
                Err(ToolError { reason: reasons.join("; "), hints })
            }
        }
    }
}

fn tool_error(failure: &Failure) -> ToolError {
    ToolError { reason: failure.one_line(), hints: failure.distinct_hints().map(str::to_owned).collect() }
}
