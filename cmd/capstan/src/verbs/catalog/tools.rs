//! The services of the program for the compilation of catalogs: tools, the limits of programs, temporary folders.

use std::{io::ErrorKind, path::Path, process::Command};

use catalog::EvaluationControl;
use catalog::compile::{KustomizationOutput, ProgramCall, ToolError, Tools};
use catalog::scaffold::{HookCall, HookRunner};
use chart::ChartFile;
use kustomize::BuildOptions;

use super::program::ProgramRunner;
use crate::{
    Failure,
    kustomizations::{self, distinct_problems},
    session::Session,
    verbs::{chart::read_chart_files, lifecycle::duration_of},
};

/// The interpreter of hooks in Python.
const PYTHON: &str = "python3";

/// Reads charts, builds kustomizations with their remote content, and runs programs.
pub(super) struct SessionTools<'a> {
    session: &'a Session,
    programs: ProgramRunner<'a>,
    /// The working folder of programs of components. Without it, they are refused.
    program_folder: Option<&'a Path>,
}

impl<'a> SessionTools<'a> {
    pub(super) fn new(session: &'a Session, program_folder: Option<&'a Path>) -> Result<Self, Failure> {
        Ok(Self { session, programs: ProgramRunner::new(session)?, program_folder })
    }
}

impl Tools for SessionTools<'_> {
    fn read_chart(&self, folder: &Path) -> Result<Vec<ChartFile>, ToolError> {
        read_chart_files(folder).map_err(|failure| tool_error(&failure))
    }

    fn build_kustomization(&self, folder: &Path) -> Result<KustomizationOutput, ToolError> {
        let place = folder.display().to_string();
        let options = BuildOptions::default();
        let built =
            kustomizations::build(&place, &options, self.session).map_err(|failure| tool_error(&failure))?;
        let names = &built.names;
        match built.result {
            Ok(output) => Ok(KustomizationOutput {
                files: output.files(),
                inputs: built.inputs,
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

    fn run_program(&self, call: &ProgramCall) -> Result<(), ToolError> {
        let Some(folder) = self.program_folder else {
            return Err(ToolError {
                reason: "programs of components are not allowed".to_owned(),
                hints: vec!["allow them with `--allow-external`, if you trust the component".to_owned()],
            });
        };
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(&call.command_line).current_dir(folder);
        let not_started = |error| format!("cannot start `/bin/sh`: {error}");
        self.programs.run(&mut command, &call.variables, not_started).map(drop)
    }
}

/// Runs the hooks of templates.
pub(super) struct SessionHooks<'a>(pub(super) ProgramRunner<'a>);

impl HookRunner for SessionHooks<'_> {
    fn run_hook(&self, call: &HookCall) -> Result<String, ToolError> {
        let is_python = call.program.extension().is_some_and(|extension| extension == "py");
        let mut command = if is_python {
            let mut python = Command::new(PYTHON);
            python.arg(&call.program);
            python
        } else {
            Command::new(&call.program)
        };
        self.0.run(command.current_dir(&call.folder), &[], |error| match error.kind() {
            ErrorKind::NotFound if is_python => format!("it needs `{PYTHON}`, which is not on the PATH"),
            ErrorKind::NotFound => "the interpreter of its first line does not exist".to_owned(),
            _ => format!("{error}; its first line must name an interpreter, such as `#!/bin/sh`"),
        })
    }
}

fn tool_error(failure: &Failure) -> ToolError {
    ToolError { reason: failure.one_line(), hints: failure.distinct_hints().map(str::to_owned).collect() }
}

/// Reads the time limit of Jsonnet programs. From now on, Ctrl-C ends a running program and lets the verb clean up.
pub(super) fn evaluation_control(session: &Session) -> Result<EvaluationControl, Failure> {
    let control = EvaluationControl::default().interrupted_by(session.defer_interrupts());
    match session.environment().text("CAPSTAN_JSONNET_TIMEOUT") {
        Some(text) => Ok(control.with_timeout(duration_of("CAPSTAN_JSONNET_TIMEOUT", text)?)),
        None => Ok(control),
    }
}

/// Creates a folder that is deleted at the end of the run.
pub(super) fn temporary_folder(session: &Session) -> Result<tempfile::TempDir, Failure> {
    let environment = session.environment();
    let folder = ["TMPDIR", "TEMP"].into_iter().find_map(|name| environment.text(name)).unwrap_or("/tmp");
    let created = tempfile::Builder::new().prefix("capstan-catalog-").tempdir_in(folder);
    created.map_err(|error| Failure::io("create a folder in", Path::new(folder), &error))
}
