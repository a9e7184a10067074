//! The flags that update many components or packages on GitHub.

use std::path::PathBuf;
use std::time::Duration;

use api::output::ErrorKind;
use catalog::scaffold::{
    DependencyKind, HookRunner, ScaffoldRun, SyncRequest, SyncResult, read_repositories, sync,
};
use catalog::{Step, WorkingFolder};
use transport::Secret;

use super::template_flags::{HookFlag, author};
use super::{compile::Lines, tools::temporary_folder};
use crate::{Failure, session::Session, ui::format_count};

/// The flags that components and packages have in common.
#[derive(clap::Args)]
pub(crate) struct SyncFlags {
    /// YAML file with a list of repositories, each as `organization/name`
    #[arg(value_name = "FILE")]
    list: PathBuf,

    /// Show the changes, without pull requests
    #[arg(long)]
    dry_run: bool,

    /// Token for GitHub [default: $COMMODORE_GITHUB_TOKEN]
    #[arg(long, value_name = "TOKEN")]
    github_token: Option<String>,

    /// Branch of the pull requests, which is replaced
    #[arg(short = 'b', long, value_name = "BRANCH", default_value = "template-sync")]
    pr_branch: String,

    /// Label of the pull requests; repeatable
    #[arg(short = 'l', long, value_name = "LABEL")]
    pr_label: Vec<String>,

    /// Number of pull requests before a pause
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    pr_batch_size: usize,

    /// Length of a pause in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    github_pause: u64,

    /// Regular expression for the repositories to update [default: all]
    #[arg(long, value_name = "REGEX")]
    filter: Option<String>,

    /// Branch, tag or hash of the template; implies `--dry-run` [default: that of each repository]
    #[arg(long, value_name = "REVISION")]
    template_version: Option<String>,

    #[command(flatten)]
    hooks: HookFlag,
}

impl SyncFlags {
    /// Updates all repositories of the list. A failure does not stop the others.
    pub(super) fn sync(&self, kind: DependencyKind, session: &mut Session) -> Result<(), Failure> {
        let environment = session.environment();
        let token = self.github_token.as_deref().or_else(|| environment.text("COMMODORE_GITHUB_TOKEN"));
        let token =
            token.and_then(|token| Secret::new("the token of `--github-token`", token)).ok_or_else(|| {
                Failure::user("Can't continue, missing GitHub API token.")
                    .hint("pass it with `--github-token` or `COMMODORE_GITHUB_TOKEN`")
            })?;
        let filter = self.filter.as_deref().filter(|filter| !filter.is_empty());
        let names = read_repositories(&environment.resolve(&self.list), filter)?;
        let (lines, mut failed, mut changed) = (Lines::default(), 0, 0);
        if self.template_version.is_some() && !self.dry_run {
            lines.add(&Step::Notice(
                "Custom template version provided for sync, but dry run not active. Forcing dry run"
                    .to_owned(),
            ));
        }
        for (index, name) in names.iter().enumerate() {
            let result = self.sync_one(kind, name, &token, &lines, session);
            lines.print(session)?;
            match result {
                Ok(SyncResult::Changed) => changed += 1,
                Ok(_) => {}
                Err(failure) if failure.kind() == ErrorKind::Interrupted => return Err(failure),
                Err(failure) => {
                    failed += 1;
                    session.messages().warning(format!("cannot update {name}: {}", failure.one_line()));
                }
            }
            if changed == self.pr_batch_size && !self.is_dry_run() && index + 1 < names.len() {
                self.pause(&lines, session)?;
                changed = 0;
            }
        }
        match failed {
            0 => Ok(()),
            count => Err(Failure::user(format!("cannot update {}", format_count(count, kind.word())))
                .hint("re-run the command to update the others again")),
        }
    }

    fn is_dry_run(&self) -> bool {
        self.dry_run || self.template_version.is_some()
    }

    fn sync_one(
        &self,
        kind: DependencyKind,
        name: &str,
        token: &Secret,
        lines: &Lines,
        session: &Session,
    ) -> Result<SyncResult, Failure> {
        let temporary = temporary_folder(session)?;
        let folder = WorkingFolder::new(temporary.path());
        let (context, author) = (session.repositories()?, author(session));
        let report = |step| lines.add(&step);
        let hooks = self.hooks.runner(session)?;
        let run = ScaffoldRun {
            folder: &folder,
            temporary: &folder,
            context: &context,
            report: &report,
            hooks: hooks.as_ref().map(|hooks| hooks as &dyn HookRunner),
        };
        let request = SyncRequest {
            kind,
            repository: name,
            template_version: self.template_version.as_deref(),
            dry_run: self.is_dry_run(),
            branch: &self.pr_branch,
            labels: &self.pr_label,
            token,
            author: author.as_ref(),
        };
        if request.dry_run {
            session.block_on(sync(&request, run))
        } else {
            session.push(sync(&request, run))
        }
    }

    fn pause(&self, lines: &Lines, session: &mut Session) -> Result<(), Failure> {
        lines.add(&Step::Notice(format!(
            "Created or updated {} PRs, pausing for {}s to avoid secondary rate limits.",
            self.pr_batch_size, self.github_pause
        )));
        lines.print(session)?;
        session.block_on(async {
            tokio::time::sleep(Duration::from_secs(self.github_pause)).await;
            Ok::<_, Failure>(())
        })
    }
}
