//! The flags of updates of components and packages from their template.

use std::path::PathBuf;

use catalog::scaffold::{
    DependencyKind, DependencyUpdate, HookRunner, ListChange, ScaffoldRun, UpdateOutcome, ValueChanges,
    update,
};
use catalog::{Step, WorkingFolder};

use super::template_flags::{CommandVariables, HookFlag, author, letter, warn_of_hooks};
use super::{compile::Lines, tools::temporary_folder};
use crate::{Failure, session::Session};

/// The flags that components and packages have in common.
#[derive(clap::Args)]
pub(crate) struct UpdateFlags {
    /// Folder of the component or package, the top folder of a Git repository
    #[arg(value_name = "FOLDER")]
    path: PathBuf,

    /// Branch, tag or hash of the template [default: that of the last update]
    #[arg(long, value_name = "REVISION")]
    template_version: Option<String>,

    /// Show the changes without a commit
    #[arg(long, overrides_with = "commit")]
    no_commit: bool,

    #[arg(long, hide = true, overrides_with = "no_commit")]
    commit: bool,

    /// New holder of the copyright
    #[arg(long, value_name = "HOLDER")]
    copyright: Option<String>,

    /// Set the year of the copyright to the current year
    #[arg(long, overrides_with = "no_update_copyright_year")]
    update_copyright_year: bool,

    #[arg(long, hide = true, overrides_with = "update_copyright_year")]
    no_update_copyright_year: bool,

    /// Add golden tests; `--no-golden-tests` removes them
    #[arg(long, overrides_with = "no_golden_tests")]
    golden_tests: bool,

    #[arg(long, hide = true, overrides_with = "golden_tests")]
    no_golden_tests: bool,

    /// Test case to add; repeatable
    #[arg(short = 't', long, value_name = "CASE")]
    additional_test_case: Vec<String>,

    /// Test case to remove; repeatable
    #[arg(long, value_name = "CASE")]
    remove_test_case: Vec<String>,

    #[command(flatten)]
    hooks: HookFlag,
}

impl UpdateFlags {
    /// Updates the component or package, and prints the lines of Commodore.
    pub(super) fn update(
        &self,
        kind: DependencyKind,
        own: ValueChanges,
        variables: &CommandVariables<'_>,
        session: &mut Session,
    ) -> Result<(), Failure> {
        let values = self.values(own, variables);
        let lines = Lines::default();
        let outcome = self.update_with(kind, &values, &lines, session);
        if let Ok(outcome) = &outcome {
            lines.add(&Step::Text(outcome.summary(kind)));
        }
        lines.print(session)?;
        warn_of_hooks(&outcome?.hooks, session);
        Ok(())
    }

    fn update_with(
        &self,
        kind: DependencyKind,
        values: &ValueChanges,
        lines: &Lines,
        session: &Session,
    ) -> Result<UpdateOutcome, Failure> {
        let folder = session.environment().resolve(&self.path);
        if !folder.is_dir() {
            return Err(Failure::user(format!("Provided {} path isn't a directory", kind.word())));
        }
        let folder = folder.canonicalize().map_err(|error| Failure::io("read", &self.path, &error))?;
        let author = author(session);
        let request = DependencyUpdate {
            kind,
            folder: &folder,
            template_version: self.template_version.as_deref(),
            values,
            commit: self.commit || !self.no_commit,
            ignore_template_commit: false,
            author: author.as_ref(),
        };
        let temporary = temporary_folder(session)?;
        let temporary = WorkingFolder::new(temporary.path());
        let context = session.repositories()?;
        let report = |step| lines.add(&step);
        let hooks = self.hooks.runner(session)?;
        let run = ScaffoldRun {
            folder: &temporary,
            temporary: &temporary,
            context: &context,
            report: &report,
            hooks: hooks.as_ref().map(|hooks| hooks as &dyn HookRunner),
        };
        session.block_on(update(&request, run))
    }

    fn values(&self, own: ValueChanges, variables: &CommandVariables<'_>) -> ValueChanges {
        let mut values = own;
        let mut set = |name: &str, value: String| values.set.insert(name.to_owned(), value);
        if let Some(is_on) = variables.choice((self.golden_tests, self.no_golden_tests), "GOLDEN_TESTS") {
            set("add_golden", letter(is_on));
        }
        let holder = variables.text(self.copyright.as_deref(), "COPYRIGHT");
        if let Some(holder) = holder.filter(|holder| !holder.is_empty()) {
            set("copyright_holder", holder);
        }
        let year = (self.update_copyright_year, self.no_update_copyright_year);
        if variables.switch(year, "UPDATE_COPYRIGHT_YEAR", false) {
            set("copyright_year", jiff::Zoned::now().year().to_string());
        }
        values.lists.push(ListChange {
            name: "test_cases",
            separator: ' ',
            add: variables.list(&self.additional_test_case, "ADDITIONAL_TEST_CASE"),
            remove: variables.list(&self.remove_test_case, "REMOVE_TEST_CASE"),
            sorted: false,
        });
        values
    }
}
