//! `lock`: records reviewed releases and charts.

mod charts;
mod gather;

use std::{collections::BTreeMap, fs, path::Path};

use api::{
    output::{LockChange, LockReport, ProviderLock},
    shell_word,
};
use repository::LockFile as Locked;

use self::{
    charts::{GatheredChart, chart_targets, gather_charts},
    gather::{GatheredLock, GatheredProvider, gather_all, targets},
};
use crate::{
    Failure, WithContext as _,
    failure::Kind,
    session::Session,
    settings::{self, OutputFlag},
    ui::{Messages, NarrowingStep, format_count, table, write_file_atomically},
    verbs::{
        path_lock::{LOCK_WRITER, take_turn},
        provider_flags::SeveralProviders,
    },
};

/// Lock the versions and files of providers and charts, or verify the lock
///
/// Writes the version, file digests and images of every provider to capstan.lock, and with `--chart` the version and digest of
/// a Helm chart. Afterwards, every command reads only these files and fails if one has changed. Locked providers and charts
/// change only with `--update`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} lock --infrastructure aws
  {bin} lock --infrastructure aws --digests
  {bin} lock --chart oci://example.org/charts/web:^1.2
  {bin} lock --check
  {bin} lock --update infrastructure-aws:v2.11.1
  {bin} lock --update all")]
pub(crate) struct Lock {
    #[command(flatten)]
    providers: SeveralProviders,

    /// Verify all locked files and charts, and write nothing; exit with status 1 if one differs
    #[arg(long, conflicts_with_all = ["update", "file", "chart"], help_heading = HEADING)]
    check: bool,

    /// Lock a chart: `oci://HOST/PATH`, or the URL of its repository and `/NAME`; the newest version in the range. Repeatable
    #[arg(long, value_name = "URL[:RANGE]", help_heading = HEADING)]
    chart: Vec<String>,

    /// Lock these again: providers at a version or the configured one, `all` for every provider; charts by URL[:RANGE]
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

impl Lock {
    /// True if no flag selects providers or charts, so that all of the lock are meant.
    fn selects_all(&self) -> bool {
        !self.providers.is_given() && self.update.is_empty() && self.chart.is_empty()
    }
}

pub(crate) fn run(args: &Lock, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let path = settings::lock_file(session.globals(), session.environment())
        .ok_or_else(|| Failure::user("`lock` cannot be combined with `--lock off`"))?;
    let context = session.repositories_with(None)?;
    // A run that reads the lock before another one has written it would drop the changes of that one.
    let _turn = if args.check { None } else { take_turn(&path, LOCK_WRITER, &context, session)? };
    let mut lock = settings::read_lock(&path)?.unwrap_or_default();
    if args.check && lock.is_empty() {
        let message = format!("the lock `{}` is missing or empty", path.display());
        return Err(Failure::new(Kind::Environment, message).hint("run `capstan lock` to lock providers"));
    }
    let chart_targets = chart_targets(args, &lock)?;
    let targets = targets(args, &lock, &*session.config()?)?;
    let GatheredLock { providers: found, unknown_digests: unknown } =
        gather_all(targets, &lock, &path, args, session)?;
    let charts = gather_charts(&chart_targets, &lock, &path, context, session)?;
    for warning in found.iter().flat_map(|found| &found.warnings).chain(&unknown) {
        session.messages().warning(warning);
    }
    session.print(format, &report(&path, &found, &charts), report_text)?;
    if args.check {
        return check_lock(&found, &charts, unknown.len(), &path, session.messages());
    }
    refuse_changes(&found, &charts)?;
    lock.providers.extend(found.into_iter().map(|found| (found.label, found.entry)));
    for chart in charts {
        chart.write_to(&mut lock);
    }
    write(&lock, &path, session)
}

fn report(path: &Path, found: &[GatheredProvider], charts: &[GatheredChart]) -> LockReport {
    let provider = |found: &GatheredProvider| ProviderLock {
        provider: found.label.clone(),
        version: found.entry.version.clone(),
        changes: found.changes.clone(),
    };
    LockReport {
        lock: path.display().to_string(),
        providers: found.iter().map(provider).collect(),
        charts: charts.iter().flat_map(GatheredChart::report).collect(),
    }
}

/// Returns a row per change: a table of providers, and a table of charts. Empty without changes.
fn report_text(report: &LockReport, width: Option<usize>) -> String {
    let tables = [providers_text(report, width), charts::report_text(report, width)];
    let tables: Vec<String> = tables.into_iter().filter(|table| !table.is_empty()).collect();
    tables.join("\n")
}

fn providers_text(report: &LockReport, width: Option<usize>) -> String {
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

/// Returns the kind of a change from a locked value to one that was found.
fn change_text<T>(locked: Option<&T>, found: Option<&T>) -> &'static str {
    match (locked, found) {
        (None, _) => "added",
        (_, None) => "gone",
        _ => "changed",
    }
}

fn row(provider: &str, change: &LockChange) -> [String; 5] {
    let kind = change_text(change.locked.as_ref(), change.found.as_ref());
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
    charts: &[GatheredChart],
    unknown: usize,
    path: &Path,
    messages: &Messages,
) -> Result<(), Failure> {
    let providers = found.iter().filter(|it| !it.changes.is_empty());
    let changed = Changed {
        providers: providers.map(|it| it.label.as_str()).collect(),
        charts: charts.iter().filter(|it| it.is_changed()).collect(),
    };
    if changed.is_empty() && unknown > 0 {
        let images = if unknown == 1 { "1 image".to_owned() } else { format!("{unknown} images") };
        return Err(Failure::new(Kind::Environment, format!("cannot verify the digest of {images}"))
            .hint("everything else matches the lock; omit `--digests` to verify without registries"));
    }
    if changed.is_empty() {
        messages.status(format!("everything matches the lock `{}`", path.display()));
        return Ok(());
    }
    Err(changed.failure(&format!("from the lock `{}`", path.display())))
}

/// Fails if reviewed content changed, unless the provider or chart is named. New content may be added.
fn refuse_changes(found: &[GatheredProvider], charts: &[GatheredChart]) -> Result<(), Failure> {
    let is_change = |it: &LockChange| !it.is_addition() && it.affects_content();
    let providers = found.iter().filter(|found| !found.may_replace && found.changes.iter().any(is_change));
    let changed = Changed {
        providers: providers.map(|found| found.label.as_str()).collect(),
        charts: charts.iter().filter(|chart| !chart.may_replace && chart.is_changed()).collect(),
    };
    if changed.is_empty() { Ok(()) } else { Err(changed.failure("from the lock; nothing was written")) }
}

/// Providers and charts that differ from the lock.
struct Changed<'a> {
    providers: Vec<&'a str>,
    charts: Vec<&'a GatheredChart>,
}

impl Changed<'_> {
    fn is_empty(&self) -> bool {
        self.providers.is_empty() && self.charts.is_empty()
    }

    fn failure(&self, from: &str) -> Failure {
        let count = counts(self.providers.len(), self.charts.len());
        let differ = if self.providers.len() + self.charts.len() == 1 { "differs" } else { "differ" };
        let labels = self.providers.iter().map(|label| (*label).to_owned());
        let charts = self.charts.iter().map(|chart| chart.place());
        let labels = labels.chain(charts).collect::<Vec<_>>().join(",");
        Failure::new(Kind::Conflict, format!("{count} {differ} {from}")).hint(format!(
            "review the changes, then accept them with `capstan lock --update {}`",
            shell_word(&labels)
        ))
    }
}

/// Returns the text for a number of providers and of charts. None are not mentioned beside others.
fn counts(providers: usize, charts: usize) -> String {
    let [providers_text, charts_text] = [format_count(providers, "provider"), format_count(charts, "chart")];
    match (providers, charts) {
        (_, 0) => providers_text,
        (0, _) => charts_text,
        _ => format!("{providers_text} and {charts_text}"),
    }
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
        counts(lock.providers.len(), lock.charts.values().map(BTreeMap::len).sum()),
        path.display()
    ));
    Ok(())
}
