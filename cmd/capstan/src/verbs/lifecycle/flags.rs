use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use api::{
    ProviderId,
    plan::{SavedPlan, SavedReference, SavedRequest},
};
use management::{DiffDetail, LifecyclePlan, ProvidersRequest, WaitOptions};

use crate::{
    Environment, Failure, WithContext as _,
    session::Session,
    settings::{LeaseFlags, OutputFlag, OutputFormat, PLAN, ServerFlags, WAITING},
    suggested_commands::quoted,
    ui::write_private_file,
};

/// The default wait.
/// Source: clusterctl v1.14 cmd/init.go, where 0 means the default too.
const DEFAULT_WAIT: Duration = Duration::from_mins(5);

/// Flags that say what to wait for in the end.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = WAITING)]
pub(crate) struct WaitFlags {
    /// Fail, instead of warning, if a provider is not ready in time
    #[arg(long)]
    wait_providers: bool,

    /// Maximum time to wait until providers are ready, in seconds [default: 300]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    wait_provider_timeout: Option<i64>,

    /// The same as a duration, such as 90s or 10m
    #[arg(long, value_name = "DURATION")]
    timeout: Option<String>,

    /// Do not wait for providers, only for cert-manager if they need it
    #[arg(long)]
    no_wait: bool,
}

impl WaitFlags {
    pub(crate) fn wait_for(&self) -> Result<WaitOptions, Failure> {
        if self.no_wait && self.wait_providers {
            return Err(Failure::user("`--no-wait` cannot be combined with `--wait-providers`"));
        }
        let seconds = match self.wait_provider_timeout {
            None | Some(0) => None,
            Some(seconds) => Some(u64::try_from(seconds).map(Duration::from_secs).map_err(|_| {
                Failure::user(format!("invalid value `{seconds}` for `--wait-provider-timeout`"))
                    .cause("expected a number of seconds")
            })?),
        };
        let timeout =
            self.timeout.as_deref().map(parse_duration).transpose()?.or(seconds).unwrap_or(DEFAULT_WAIT);
        Ok(WaitOptions { timeout: (!self.no_wait).then_some(timeout), must_be_ready: self.wait_providers })
    }
}

/// Parses the value of `--timeout`.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, Failure> {
    duration_of("--timeout", text)
}

/// Parses the value of a flag or variable.
pub(crate) fn duration_of(name: &str, text: &str) -> Result<Duration, Failure> {
    let nanoseconds = manifest::duration::nanoseconds(text).and_then(|number| u64::try_from(number).ok());
    nanoseconds.map(Duration::from_nanos).ok_or_else(|| {
        Failure::user(format!("invalid value `{text}` for `{name}`"))
            .cause("expected a duration such as 90s or 10m")
    })
}

/// Returns the wait of a verb for which a timeout is a failure.
pub(crate) fn wait_until_done(timeout: Option<&str>, no_wait: bool) -> Result<WaitOptions, Failure> {
    let timeout = timeout.map(parse_duration).transpose()?.unwrap_or(DEFAULT_WAIT);
    Ok(WaitOptions { timeout: (!no_wait).then_some(timeout), must_be_ready: true })
}

/// Flags of verbs that delete an applied set of objects.
#[derive(clap::Args)]
pub(crate) struct RemovalFlags {
    /// Show the plan, and write nothing to the cluster
    #[arg(long, help_heading = PLAN)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) output: OutputFlag,

    /// Maximum time to wait until the objects are gone, such as 90s or 10m [default: 5m]
    #[arg(long, value_name = "DURATION", help_heading = WAITING)]
    timeout: Option<String>,

    #[command(flatten)]
    pub(crate) server: ServerFlags,

    #[command(flatten)]
    pub(crate) lease: LeaseFlags,
}

impl RemovalFlags {
    /// Returns the maximum time until the objects are gone.
    pub(crate) fn timeout(&self) -> Result<Duration, Failure> {
        Ok(self.timeout.as_deref().map(parse_duration).transpose()?.unwrap_or(DEFAULT_WAIT))
    }
}

/// The detail of `--diff`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum DiffFormat {
    /// Describes images, arguments, permissions and CRDs in words, and everything else as short diffs.
    Summary,
    /// Shows every line.
    Full,
}

/// Flags of verbs that show what they would do.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = PLAN)]
pub(crate) struct ShowFlags {
    /// Show the plan, and write nothing to the cluster
    #[arg(long)]
    dry_run: bool,

    /// Also show the changes as a summary, or every line with `full`; masks Secrets
    #[arg(
        long,
        value_name = "FORM",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "summary"
    )]
    diff: Option<DiffFormat>,

    #[command(flatten)]
    output: OutputFlag,
}

impl ShowFlags {
    /// Disables writes, for `plan` with the flags of another verb.
    fn with_dry_run(self) -> Self {
        Self { dry_run: true, ..self }
    }

    pub(crate) fn format(&self) -> Result<OutputFormat, Failure> {
        self.output.format()
    }

    /// True if the run writes nothing to the cluster.
    pub(crate) fn is_show_only(&self) -> bool {
        self.dry_run || self.diff.is_some()
    }

    /// Returns the detail of the report. Scripts get full diffs.
    pub(crate) fn diffs(&self, format: OutputFormat) -> DiffDetail {
        match self.diff {
            None => DiffDetail::Hidden,
            Some(DiffFormat::Summary) if format == OutputFormat::Text => DiffDetail::Summary,
            Some(_) => DiffDetail::Full,
        }
    }
}

/// Flags of plans.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = PLAN)]
pub(crate) struct PlanFlags {
    #[command(flatten)]
    pub(crate) show: ShowFlags,

    /// File to save the plan in; nothing is written to the cluster
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Saved plan to execute; the command refuses an outdated plan
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,

    /// Also execute a plan of another user
    #[arg(long, requires = "plan")]
    any_user: bool,
}

impl PlanFlags {
    /// Disables writes, for `plan` with the flags of another verb.
    pub(crate) fn with_dry_run(self) -> Self {
        Self { show: self.show.with_dry_run(), ..self }
    }

    /// True if the plan is saved in a file.
    pub(crate) fn is_saved(&self) -> bool {
        self.out.is_some()
    }

    /// True if the run writes nothing to the cluster.
    pub(crate) fn is_plan_only(&self) -> bool {
        self.show.is_show_only() || self.out.is_some()
    }

    pub(crate) fn is_server_dry_run(&self) -> bool {
        self.is_plan_only() || self.plan.is_some()
    }

    pub(crate) fn allows_any_user(&self) -> bool {
        self.any_user
    }

    pub(crate) fn read_saved_plan(
        &self,
        command: &str,
        session: &Session,
    ) -> Result<Option<SavedPlan>, Failure> {
        let Some(path) = &self.plan else { return Ok(None) };
        let cannot = || format!("cannot execute the plan `{}`", path.display());
        // The configuration does not affect local files.
        let context = repository::RepositoryContext::default();
        let file =
            repository::read_file(&context, &session.environment().resolve(path)).with_context(cannot)?;
        let plan = SavedPlan::parse(&file.bytes).with_context(cannot)?;
        let made_for = plan.request.command();
        if made_for != command {
            return Err(wrong_command(&plan.request).with_context(cannot()).hint(execute_hint(
                made_for,
                path,
                session.environment(),
            )));
        }
        Ok(Some(plan))
    }

    pub(crate) fn write_plan(
        &self,
        plan: impl FnOnce() -> Result<SavedPlan, Failure>,
        session: &Session,
    ) -> Result<(), Failure> {
        let Some(path) = &self.out else { return Ok(()) };
        let plan = plan()?;
        let text = crate::settings::to_json(&plan)?;
        write_private_file(&session.environment().resolve(path), text.as_bytes())?;
        let next = execute_hint(plan.request.command(), path, session.environment());
        session.messages().status(format!("saved the plan; {next}"));
        Ok(())
    }
}

fn execute_hint(command: &str, plan: &Path, environment: &Environment) -> String {
    let plan = quoted(&plan.display().to_string(), environment.home());
    format!("execute it with `capstan {command} --plan {plan}`")
}

pub(crate) fn providers_request(saved: &[SavedReference]) -> ProvidersRequest {
    let one = |saved: &SavedReference| (saved.provider.clone(), saved.version.clone());
    ProvidersRequest { providers: saved.iter().map(one).collect() }
}

pub(crate) fn saved_references<'a>(
    providers: impl IntoIterator<Item = (&'a ProviderId, Option<&'a String>)>,
) -> Vec<SavedReference> {
    let one = |(provider, version): (&ProviderId, Option<&String>)| SavedReference {
        provider: provider.clone(),
        version: version.cloned(),
    };
    providers.into_iter().map(one).collect()
}

/// Returns the providers that a plan installs or upgrades, in the planned versions.
pub(crate) fn planned_references(plan: &LifecyclePlan) -> Vec<SavedReference> {
    let comes =
        plan.providers.iter().filter(|provider| provider.to.is_some() && provider.from != provider.to);
    saved_references(comes.map(|provider| (&provider.id, provider.to.as_ref())))
}

pub(crate) fn wrong_command(request: &SavedRequest) -> Failure {
    Failure::user(format!("the plan is for `{}`", request.command()))
}

pub(crate) fn check_plan_alone(names_anything: bool, flags: &str) -> Result<(), Failure> {
    if names_anything {
        return Err(Failure::user(format!("`--plan` cannot be combined with {flags}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(flags: &WaitFlags) -> Option<(Option<u64>, bool)> {
        let wait = flags.wait_for().ok()?;
        Some((wait.timeout.map(|timeout| timeout.as_secs()), wait.must_be_ready))
    }

    #[test]
    fn zero_seconds_mean_the_default_and_a_duration_wins() {
        let seconds = |seconds| WaitFlags { wait_provider_timeout: Some(seconds), ..WaitFlags::default() };
        assert_eq!(waits(&WaitFlags::default()), Some((Some(300), false)));
        assert_eq!(waits(&seconds(0)), Some((Some(300), false)));
        assert_eq!(waits(&seconds(20)), Some((Some(20), false)));
        assert_eq!(waits(&seconds(-1)), None);
        let both = WaitFlags { timeout: Some("10m".to_owned()), ..seconds(20) };
        assert_eq!(waits(&both), Some((Some(600), false)));
        let wrong = WaitFlags { timeout: Some("10".to_owned()), ..WaitFlags::default() };
        assert_eq!(waits(&wrong), None);
    }

    #[test]
    fn no_wait_cannot_be_combined_with_wait_providers() {
        let no_wait = WaitFlags { no_wait: true, ..WaitFlags::default() };
        assert_eq!(waits(&no_wait), Some((None, false)));
        assert_eq!(waits(&WaitFlags { wait_providers: true, ..no_wait }), None);
        let insisting = WaitFlags { wait_providers: true, ..WaitFlags::default() };
        assert_eq!(waits(&insisting), Some((Some(300), true)));
    }
}
