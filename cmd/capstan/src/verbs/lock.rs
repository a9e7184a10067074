//! `lock`: records reviewed releases.

mod gather;

use std::{fs, path::Path};

use api::output::{LockChange, LockReport, ProviderLock};
use repository::LockFile as Locked;

use self::gather::{GatheredLock, GatheredProvider, gather_all, targets};
use crate::{
    Failure, WithContext as _,
    failure::Kind,
    session::Session,
    settings::{self, OutputFlag},
    ui::{Messages, NarrowingStep, format_count, table, write_file_atomically},
    verbs::provider_flags::SeveralProviders,
};

/// Lock the versions and files of providers, or verify the lock
///
/// Writes the version, file digests and images of every provider to capstan.lock. Afterwards, every command reads only these
/// files and fails if one has changed. Locked providers change only with `--update`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} lock --infrastructure aws
  {bin} lock --infrastructure aws --digests
  {bin} lock --check
  {bin} lock --update infrastructure-aws:v2.11.1
  {bin} lock --update all")]
pub(crate) struct Lock {
    #[command(flatten)]
    providers: SeveralProviders,

    /// Verify all locked files, and write nothing; exit with status 1 if one differs
    #[arg(long, conflicts_with_all = ["update", "file"], help_heading = HEADING)]
    check: bool,

    /// Lock these providers again, at a version or the configured one; `all` for every provider
    #[arg(long, value_name = "LABEL[:VERSION],…", value_delimiter = ',', help_heading = HEADING)]
    update: Vec<String>,

    /// Also lock this template file of infrastructure providers; for hosts without file lists
    #[arg(long, value_name = "FILE,…", value_delimiter = ',', help_heading = HEADING)]
    file: Vec<String>,

    /// Also lock the digest of each image, or verify it with `--check`
    #[arg(long, help_heading = HEADING)]
    digests: bool,

    #[command(flatten, next_help_heading = HEADING)]
    output: OutputFlag,
}

const HEADING: &str = "Lock";

pub(crate) fn run(args: &Lock, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let path = settings::lock_file(session.globals(), session.environment())
        .ok_or_else(|| Failure::user("`lock` cannot be combined with `--lock off`"))?;
    let mut lock = settings::read_lock(&path)?.unwrap_or_default();
    if args.check && lock.providers.is_empty() {
        let message = format!("the lock `{}` is missing or empty", path.display());
        return Err(Failure::new(Kind::Environment, message).hint("run `capstan lock` to lock providers"));
    }
    let targets = targets(args, &lock, &*session.config()?)?;
    let GatheredLock { providers: found, unknown_digests: unknown } =
        gather_all(targets, &lock, args, session)?;
    for warning in found.iter().flat_map(|found| &found.warnings).chain(&unknown) {
        session.messages().warning(warning);
    }
    session.print(format, &report(&path, &found), report_text)?;
    if args.check {
        return check_lock(&found, unknown.len(), &path, session.messages());
    }
    refuse_changes(&found)?;
    lock.providers.extend(found.into_iter().map(|found| (found.label, found.entry)));
    write(&lock, &path, session)
}

fn report(path: &Path, found: &[GatheredProvider]) -> LockReport {
    let provider = |found: &GatheredProvider| ProviderLock {
        provider: found.label.clone(),
        version: found.entry.version.clone(),
        changes: found.changes.clone(),
    };
    LockReport { lock: path.display().to_string(), providers: found.iter().map(provider).collect() }
}

/// Returns a row per change. Empty without changes.
fn report_text(report: &LockReport, width: Option<usize>) -> String {
    let changes = report.providers.iter().flat_map(|it| it.changes.iter().map(move |change| (it, change)));
    let rows: Vec<[String; 5]> = changes.map(|(provider, change)| row(&provider.provider, change)).collect();
    if rows.is_empty() {
        return String::new();
    }
    let ways = [
        NarrowingStep::Shorten("LOCKED", 12),
        NarrowingStep::Shorten("FOUND", 12),
        NarrowingStep::Shorten("WHAT", 16),
        NarrowingStep::Shorten("PROVIDER", 16),
    ];
    table(width, &ways, ["PROVIDER", "CHANGE", "WHAT", "LOCKED", "FOUND"], &rows)
}

fn row(provider: &str, change: &LockChange) -> [String; 5] {
    let kind = match (&change.locked, &change.found) {
        (None, _) => "added",
        (_, None) => "gone",
        _ => "changed",
    };
    let what = change.subject();
    let value = |value: &Option<String>| match value.as_deref() {
        // An image without a known digest is its own value.
        Some(text) if text != what => short(text).to_owned(),
        _ => "-".to_owned(),
    };
    [provider, kind, what, &value(&change.locked), &value(&change.found)].map(str::to_owned)
}

/// Shortens a digest to a distinguishable length. `-o json` shows the whole digest.
fn short(text: &str) -> &str {
    const SHOWN: usize = "sha256:".len() + 12;
    if text.starts_with("sha256:") { text.get(..SHOWN).unwrap_or(text) } else { text }
}

const LOCK_MODE: u32 = 0o644;

/// Fails if anything differs from the lock, or could not be checked.
fn check_lock(
    found: &[GatheredProvider],
    unknown: usize,
    path: &Path,
    messages: &Messages,
) -> Result<(), Failure> {
    let changed: Vec<&str> =
        found.iter().filter(|it| !it.changes.is_empty()).map(|it| it.label.as_str()).collect();
    if changed.is_empty() && unknown > 0 {
        let images = if unknown == 1 { "1 image".to_owned() } else { format!("{unknown} images") };
        return Err(Failure::new(Kind::Environment, format!("cannot verify the digest of {images}"))
            .hint("everything else matches the lock; omit `--digests` to verify without registries"));
    }
    if changed.is_empty() {
        messages.status(format!("everything matches the lock `{}`", path.display()));
        return Ok(());
    }
    let message = format!("{} from the lock `{}`", provider_count(changed.len()), path.display());
    Err(with_update_hint(Failure::new(Kind::Conflict, message), &changed))
}

/// Fails if reviewed content changed, unless the provider is named. New content may be added.
fn refuse_changes(found: &[GatheredProvider]) -> Result<(), Failure> {
    let is_change = |it: &LockChange| !it.is_addition() && it.affects_content();
    let changed: Vec<&str> = found
        .iter()
        .filter(|found| !found.may_replace && found.changes.iter().any(is_change))
        .map(|found| found.label.as_str())
        .collect();
    if changed.is_empty() {
        return Ok(());
    }
    let message = format!("{} from the lock; nothing was written", provider_count(changed.len()));
    Err(with_update_hint(Failure::new(Kind::Conflict, message), &changed))
}

fn provider_count(count: usize) -> String {
    if count == 1 { "1 provider differs".to_owned() } else { format!("{count} providers differ") }
}

fn with_update_hint(failure: Failure, labels: &[&str]) -> Failure {
    failure.hint(format!(
        "review the changes, then accept them with `capstan lock --update {}`",
        labels.join(",")
    ))
}

fn write(lock: &Locked, path: &Path, session: &Session) -> Result<(), Failure> {
    let text = lock.to_string();
    if fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        session.show_result(format!("nothing changed in `{}`", path.display()));
        return Ok(());
    }
    write_file_atomically(path, text.as_bytes(), LOCK_MODE)
        .with_context(|| "cannot write the lock".to_owned())?;
    session.show_result(format!(
        "locked {} in `{}`",
        format_count(lock.providers.len(), "provider"),
        path.display()
    ));
    Ok(())
}
