//! Hooks of templates: programs that change the files of a new component or package.
//!
//! ```text
//! empty folder ─► pre_gen_project ─► rendered files ─► post_gen_project ─► files in memory
//! ```
//!
//! Source: cookiecutter 2 generate.py and hooks.py. Differs: the folder is a temporary one, so that a failed hook leaves
//! nothing. `pre_prompt` does not run, as in cruft.

use std::path::{Path, PathBuf};

use repository::git::NewFile;

use super::merge::write_file;
use crate::compile::ToolError;
use crate::cookiecutter::{self, CookiecutterError, OrderedMap};

/// A hook to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCall {
    /// The rendered program, with the extension of the hook.
    pub program: PathBuf,
    /// The folder of the new files, in which the hook runs.
    pub folder: PathBuf,
}

/// Runs the hooks of templates.
pub trait HookRunner {
    /// Runs a hook. Returns its standard output.
    ///
    /// # Errors
    /// The hook cannot be started, or fails.
    fn run_hook(&self, call: &HookCall) -> Result<String, ToolError>;
}

/// A template whose hooks run.
pub(super) struct HookedTemplate<'a> {
    /// The folder of the template.
    pub(super) template: &'a Path,
    /// A folder for new files.
    pub(super) scratch: &'a Path,
    pub(super) runner: &'a dyn HookRunner,
}

impl HookedTemplate<'_> {
    /// Renders the files, and runs the hooks in their folder. Also returns the output of the hooks.
    pub(super) fn render(&self, variables: &OrderedMap) -> Result<(Vec<NewFile>, String), CookiecutterError> {
        let disk = |source| CookiecutterError::Disk { path: self.scratch.to_owned(), source };
        let work = tempfile::Builder::new().prefix("hooks-").tempdir_in(self.scratch).map_err(disk)?;
        let folder = work.path().join(cookiecutter::project_name(self.template, variables)?);
        std::fs::create_dir_all(&folder).map_err(disk)?;
        let mut output = self.run(cookiecutter::PRE_HOOK, work.path(), &folder, variables)?;
        for file in cookiecutter::render(self.template, variables)? {
            let path = folder.join(&file.path);
            write_file(&path, &file).map_err(|source| CookiecutterError::Write { path, source })?;
        }
        output.push_str(&self.run(cookiecutter::POST_HOOK, work.path(), &folder, variables)?);
        Ok((cookiecutter::read_folder(&folder)?, output))
    }

    /// Runs the hooks of an event.
    fn run(
        &self,
        event: &str,
        work: &Path,
        folder: &Path,
        variables: &OrderedMap,
    ) -> Result<String, CookiecutterError> {
        let mut output = String::new();
        for hook in cookiecutter::hooks(self.template) {
            let name = hook.strip_prefix("hooks/").unwrap_or(&hook);
            if cookiecutter::hook_name(name) != Some(event) {
                continue;
            }
            let content = cookiecutter::render_hook(self.template, &hook, variables)?;
            let file = NewFile { path: name.to_owned(), content, is_executable: true };
            let program = work.join(format!("run-{name}"));
            let written = write_file(&program, &file);
            written.map_err(|source| CookiecutterError::Write { path: program.clone(), source })?;
            let ran = self.runner.run_hook(&HookCall { program, folder: folder.to_owned() });
            output.push_str(&ran.map_err(|error| CookiecutterError::Hook { hook: hook.clone(), error })?);
        }
        Ok(output)
    }
}
