//! New components and packages from templates, their update and their deletion.
//!
//! ```text
//! template in Git + choices ─► files ─► first commit ─► worktree in the working folder, or a folder of its own
//! ```

mod create;
mod delete;
mod github;
mod hooks;
mod kind;
mod merge;
mod sync;
mod template;
mod update;

pub use create::{CreatedDependency, NewDependency, create};
pub use delete::{DeletableComponent, find_component};
pub use hooks::{HookCall, HookRunner};
pub use kind::DependencyKind;
pub(crate) use kind::check_slug;
pub use sync::{SyncRequest, SyncResult, read_repositories, sync};
pub use update::{DependencyUpdate, ListChange, UpdateOutcome, ValueChanges, update};

use repository::RepositoryContext;

use crate::step::StepSink;
use crate::working_folder::WorkingFolder;

/// The surroundings of a change of a component or package.
#[derive(Clone, Copy)]
pub struct ScaffoldRun<'a> {
    /// The working folder.
    pub folder: &'a WorkingFolder,
    /// An empty folder for the template.
    pub temporary: &'a WorkingFolder,
    /// The access to repositories.
    pub context: &'a RepositoryContext,
    /// The receiver of steps.
    pub report: StepSink<'a>,
    /// Runs the hooks of templates. Without it, they do not run.
    pub hooks: Option<&'a dyn HookRunner>,
}
