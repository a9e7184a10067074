//! `cache`: manages the cached files on this machine.

use std::{fmt::Write as _, time::Duration};

use api::output::{CacheHost, CachePruning, CacheReport, CacheVerification, DamagedFile};
use transport::{Store, store::PrunePolicy};

use crate::{
    Failure, WithContext as _,
    failure::Kind,
    session::Session,
    settings::OutputFlag,
    ui::{NarrowingStep, format_bytes, table},
};

/// Manage the cache of fetched files
#[derive(clap::Subcommand)]
pub(crate) enum Cache {
    Info(Info),
    Prune(PruneArgs),
    Verify(Verify),
}

impl Cache {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Info(args) => info(&args, session),
            Self::Prune(args) => prune(&args, session),
            Self::Verify(args) => verify(&args, session),
        }
    }
}

/// Show the folder, size and hosts of the cache
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} cache info
  {bin} cache info -o json")]
pub(crate) struct Info {
    #[command(flatten)]
    output: OutputFlag,
}

fn info(args: &Info, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let store = open_store(session)?;
    let survey = store.survey().with_context(|| "cannot read the cache".to_owned())?;
    let hosts = survey.hosts.into_iter().map(|(host, share)| CacheHost {
        host,
        files: share.entries,
        size_bytes: share.size_bytes,
    });
    let report = CacheReport {
        folder: store.settings().folder.display().to_string(),
        size_bytes: survey.size_bytes + survey.readers.values().sum::<u64>(),
        max_bytes: store.settings().max_bytes,
        files: survey.blobs,
        hosts: hosts.collect(),
        git_bytes: survey.readers.values().sum(),
        temporary_bytes: survey.temporary_bytes,
    };
    session.print(format, &report, report_text)
}

fn report_text(report: &CacheReport, width: Option<usize>) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{:<9}{value}", format!("{name}:"));
    };
    line("Folder", &report.folder);
    line("Size", &format!("{} of {}", format_bytes(report.size_bytes), format_bytes(report.max_bytes)));
    line("Files", &report.files.to_string());
    if report.git_bytes > 0 {
        line("Git", &format_bytes(report.git_bytes));
    }
    if report.temporary_bytes > 0 {
        line("Partial", &format_bytes(report.temporary_bytes));
    }
    let row = |host: &CacheHost| [host.host.clone(), host.files.to_string(), format_bytes(host.size_bytes)];
    let rows: Vec<[String; 3]> = report.hosts.iter().map(row).collect();
    if !rows.is_empty() {
        text.push('\n');
        text.push_str(&table(width, &[NarrowingStep::Shorten("HOST", 16)], ["HOST", "FILES", "SIZE"], &rows));
    }
    text
}

/// Remove the least recently used files above the size limit, and partial files
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} cache prune
  {bin} cache prune --older-than 30d
  {bin} cache prune --all")]
pub(crate) struct PruneArgs {
    /// Also remove files that were not used for this time, such as 30d or 12h
    #[arg(long, value_name = "AGE", value_parser = age)]
    older_than: Option<Duration>,

    /// Remove all files
    #[arg(long, conflicts_with = "older_than")]
    all: bool,

    #[command(flatten)]
    output: OutputFlag,
}

fn prune(args: &PruneArgs, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let store = open_store(session)?;
    let what = match (args.all, args.older_than) {
        (true, _) => PrunePolicy::Everything,
        (false, Some(age)) => PrunePolicy::Unused(age),
        (false, None) => PrunePolicy::ToLimit,
    };
    let pruned = session
        .block_on(async { store.prune(what).await })
        .with_context(|| format!("cannot prune the cache `{}`", store.settings().folder.display()))?;
    let report = CachePruning {
        folder: store.settings().folder.display().to_string(),
        freed_bytes: pruned.freed_bytes,
        left_bytes: pruned.remaining_bytes,
        max_bytes: store.settings().max_bytes,
    };
    session.show_result(format!(
        "freed {}; the cache now has {} of at most {}",
        format_bytes(report.freed_bytes),
        format_bytes(report.left_bytes),
        format_bytes(report.max_bytes)
    ));
    session.print(format, &report, |_, _| String::new())
}

fn age(text: &str) -> Result<Duration, String> {
    let unit = text.chars().next_back().unwrap_or_default();
    let hours = match unit {
        'd' => Some(24),
        'h' => Some(1),
        _ => None,
    };
    let count = text.strip_suffix(unit).and_then(|count| count.parse::<u32>().ok());
    match (count, hours) {
        (Some(count), Some(hours)) => Ok(Duration::from_hours(u64::from(count) * hours)),
        _ => Err("expected days or hours, such as 30d or 12h".to_owned()),
    }
}

/// Verify all files of the cache, and remove damaged ones
///
/// Exits with status 1 if a file was damaged. Every other command also verifies the files that it reads.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} cache verify
  {bin} cache verify -o json")]
pub(crate) struct Verify {
    #[command(flatten)]
    output: OutputFlag,
}

fn verify(args: &Verify, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let store = open_store(session)?;
    let verified = store.verify().with_context(|| "cannot verify the cache".to_owned())?;
    let damaged = |it: transport::store::DamagedEntry| DamagedFile { addresses: it.keys, reason: it.reason };
    let report = CacheVerification {
        folder: store.settings().folder.display().to_string(),
        files: verified.intact,
        size_bytes: verified.read_bytes,
        removed: verified.damaged.into_iter().map(damaged).collect(),
    };
    for removed in &report.removed {
        session.messages().warning(format!("removed {}: {}", removed.addresses.join(", "), removed.reason));
    }
    let whole = format!("{} files are intact ({})", report.files, format_bytes(report.size_bytes));
    session.messages().status(whole);
    session.print(format, &report, |_, _| String::new())?;
    match report.removed.len() {
        0 => Ok(()),
        1 => Err(damage_failure("removed one damaged file from the cache")),
        several => Err(damage_failure(&format!("removed {several} damaged files from the cache"))),
    }
}

fn damage_failure(message: &str) -> Failure {
    Failure::new(Kind::Environment, message).hint("no action is needed; capstan fetches removed files again")
}

fn open_store(session: &Session) -> Result<Store, Failure> {
    session.repositories()?.store().cloned().ok_or_else(|| {
        Failure::user("the cache is disabled: it is `off`, or HOME is not set")
            .hint("set `CAPSTAN_CACHE_DIR` or `cache.folder` in clusterctl.yaml to a folder")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_in_days_or_hours() {
        assert_eq!(age("30d"), Ok(Duration::from_hours(720)));
        assert_eq!(age("12h"), Ok(Duration::from_hours(12)));
        assert_eq!(age("0d"), Ok(Duration::ZERO));
        for bad in ["", "d", "30", "1.5d", "-1d", "3m", "99999999999d", "1é"] {
            assert!(age(bad).is_err(), "{bad}");
        }
    }
}
