//! The work of the program for targets of a catalog.

use std::{
    io::ErrorKind,
    path::Path,
    process::{Command, Output, Stdio},
};

use catalog::compile::{KustomizationOutput, ProgramCall, ToolError, Tools};
use catalog::scaffold::{HookCall, HookRunner};
use chart::ChartFile;
use kustomize::BuildOptions;

use crate::{
    Failure,
    kustomizations::{self, distinct_problems},
    session::Session,
    verbs::chart::read_chart_files,
};

/// The interpreter of hooks in Python.
const PYTHON: &str = "python3";
/// The maximum number of characters that are shown of the standard error of a program.
const MAX_ERROR: usize = 2_000;

/// Reads charts, builds kustomizations with their remote content, and runs programs.
pub(super) struct SessionTools<'a> {
    pub(super) session: &'a Session,
    /// The working folder of programs of components. Without it, they are refused.
    pub(super) program_folder: Option<&'a Path>,
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
        let fail = |reason: String| ToolError { reason, hints: Vec::new() };
        let Some(folder) = self.program_folder else {
            return Err(ToolError {
                reason: "programs of components are not allowed".to_owned(),
                hints: vec!["allow them with `--allow-external`, if you trust the component".to_owned()],
            });
        };
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(&call.command_line).current_dir(folder);
        limit_environment(&mut command, self.session).envs(call.variables.iter().cloned());
        let ended = command.output().map_err(|error| fail(format!("cannot start `/bin/sh`: {error}")))?;
        if ended.status.success() { Ok(()) } else { Err(fail(problem_of(&ended))) }
    }
}

/// Runs the hooks of templates, with the variables `HOME` and `PATH`.
pub(super) struct SessionHooks<'a>(pub(super) &'a Session);

impl HookRunner for SessionHooks<'_> {
    fn run_hook(&self, call: &HookCall) -> Result<String, ToolError> {
        let fail = |reason: String| ToolError { reason, hints: Vec::new() };
        let is_python = call.program.extension().is_some_and(|extension| extension == "py");
        let mut command = if is_python {
            let mut python = Command::new(PYTHON);
            python.arg(&call.program);
            python
        } else {
            Command::new(&call.program)
        };
        limit_environment(command.current_dir(&call.folder), self.0);
        let ended = command.output().map_err(|error| match error.kind() {
            ErrorKind::NotFound if is_python => {
                fail(format!("it needs `{PYTHON}`, which is not on the PATH"))
            }
            ErrorKind::NotFound => fail("the interpreter of its first line does not exist".to_owned()),
            _ => fail(format!("{error}; its first line must name an interpreter, such as `#!/bin/sh`")),
        })?;
        if ended.status.success() {
            Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
        } else {
            Err(fail(problem_of(&ended)))
        }
    }
}

/// Gives a foreign program nothing but `HOME` and `PATH`.
fn limit_environment<'c>(command: &'c mut Command, session: &Session) -> &'c mut Command {
    let environment = session.environment();
    let inherited =
        ["HOME", "PATH"].into_iter().filter_map(|name| Some((name, environment.get(name)?.to_owned())));
    command.stdin(Stdio::null()).env_clear().envs(inherited)
}

/// Returns the standard error of a failed program, or else its status.
fn problem_of(ended: &Output) -> String {
    let text = String::from_utf8_lossy(&ended.stderr);
    let text: String = text.trim().chars().take(MAX_ERROR).collect();
    if text.is_empty() { ended.status.to_string() } else { text }
}

fn tool_error(failure: &Failure) -> ToolError {
    ToolError { reason: failure.one_line(), hints: failure.distinct_hints().map(str::to_owned).collect() }
}
