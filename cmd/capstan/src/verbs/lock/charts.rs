//! Charts of a lock: the archives at their hosts, and the differences.

use std::path::{Path, PathBuf};

use api::output::{ChartLock, LockReport};
use chart::{Chart, VersionRange};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use repository::{ChartSource, LockFile, RepositoryContext, read_stored_chart};
use transport::{AddressOrigin, Digest};

use super::{Lock, change_text, short};
use crate::{
    Failure, WithContext as _,
    session::Session,
    settings,
    ui::{NarrowingStep, table},
};

const MAX_CHARTS_AT_ONCE: usize = 4;

/// A chart to read as if there were no lock.
pub(super) struct ChartTarget {
    source: ChartSource,
    range: VersionRange,
    /// True if the chart replaces its locked versions.
    may_replace: bool,
}

/// One version of a chart.
pub(super) struct GatheredChart {
    /// The name of the chart in a lock.
    name: String,
    version: String,
    digest: Digest,
    locked: Option<Digest>,
    /// Locked versions that this one replaces.
    replaced: Vec<(String, Digest)>,
    pub(super) may_replace: bool,
}

impl GatheredChart {
    /// Returns `URL:VERSION`, as in `--chart` and `--update`.
    pub(super) fn place(&self) -> String {
        format!("{}:{}", self.name, self.version)
    }

    /// True if a locked version has another archive now, or is gone.
    pub(super) fn is_changed(&self) -> bool {
        self.locked.is_some_and(|locked| locked != self.digest) || !self.replaced.is_empty()
    }

    pub(super) fn report(&self) -> impl Iterator<Item = ChartLock> {
        let entry = |version: &str, locked: Option<Digest>, found: Option<Digest>| ChartLock {
            chart: self.name.clone(),
            version: version.to_owned(),
            locked: locked.map(|digest| digest.to_string()),
            found: found.map(|digest| digest.to_string()),
        };
        let replaced = self.replaced.iter().map(move |(version, digest)| entry(version, Some(*digest), None));
        replaced.chain([entry(&self.version, self.locked, Some(self.digest))])
    }

    pub(super) fn write_to(self, lock: &mut LockFile) {
        let versions = lock.charts.entry(self.name).or_default();
        for (version, _) in &self.replaced {
            versions.remove(version);
        }
        versions.insert(self.version, self.digest);
    }
}

/// Returns the charts of the flags, or else those of the lock.
pub(super) fn chart_targets(args: &Lock, lock: &LockFile) -> Result<Vec<ChartTarget>, Failure> {
    if args.selects_all() {
        let locked =
            lock.charts.iter().flat_map(|(name, versions)| versions.keys().map(move |it| (name, it)));
        let target = |(name, version): (&String, &String)| {
            let source = ChartSource::of_url(name, AddressOrigin::User)?;
            Ok(ChartTarget { source, range: VersionRange::exact(version), may_replace: false })
        };
        return locked.map(target).collect();
    }
    let added = args.chart.iter().map(|text| (text, false));
    let updated = args.update.iter().filter(|text| ChartSource::is_url(text)).map(|text| (text, true));
    added.chain(updated).map(|(text, may_replace)| named_target(text, may_replace, lock)).collect()
}

/// Reads `URL[:RANGE]`. A chart that may not be replaced stays at a locked version in the range.
fn named_target(text: &str, may_replace: bool, lock: &LockFile) -> Result<ChartTarget, Failure> {
    let end = text.rfind('/').unwrap_or_default();
    let (url, range) = match text[end..].find(':') {
        Some(colon) => (&text[..end + colon], &text[end + colon + 1..]),
        None => (text, ""),
    };
    let within = || format!("cannot lock chart `{}`", transport::address::redact_text(url));
    if !ChartSource::is_url(url) {
        return Err(Failure::user(format!("cannot lock chart `{url}`: it is not a URL")).hint(
            "use the URL of its repository and its name, such as `https://example.org/charts/web`, or `oci://HOST/PATH`",
        ));
    }
    let source = ChartSource::of_url(url, AddressOrigin::User).with_context(within)?;
    let range = VersionRange::parse(range, false).with_context(within)?;
    let locked = lock.locked_chart(&source.name(), &range).filter(|_| !may_replace);
    let range = locked.map_or(range, |(version, _)| VersionRange::exact(version));
    Ok(ChartTarget { source, range, may_replace })
}

/// Reads all charts as if there were no lock.
pub(super) fn gather_charts(
    targets: &[ChartTarget],
    lock: &LockFile,
    path: &Path,
    context: RepositoryContext,
    session: &Session,
) -> Result<Vec<GatheredChart>, Failure> {
    let gatherer = &Gatherer { lock, folder: settings::chart_folder(path), context };
    let mut charts: Vec<GatheredChart> = session.block_on(async {
        let each = targets.iter().map(|target| async move {
            let found = Box::pin(gatherer.gather(target)).await;
            found.with_context(|| format!("cannot lock chart `{}`", target.source.name()))
        });
        stream::iter(each).buffered(MAX_CHARTS_AT_ONCE).try_collect().await
    })?;
    charts.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    charts.dedup_by(|a, b| (&a.name, &a.version, a.may_replace) == (&b.name, &b.version, b.may_replace));
    Ok(charts)
}

struct Gatherer<'a> {
    lock: &'a LockFile,
    /// The folder beside the lock, in which a closed site has its charts.
    folder: PathBuf,
    context: RepositoryContext,
}

impl Gatherer<'_> {
    async fn gather(&self, target: &ChartTarget) -> Result<GatheredChart, Failure> {
        let ChartTarget { source, range, .. } = target;
        let (name, limit) = (source.name(), self.context.max_file_bytes());
        let found = match read_stored_chart(&self.folder, &name, range.as_str(), limit)? {
            Some(found) => found,
            None => source.fetch(range, &self.context).await?,
        };
        // The archive of a URL has its version only inside.
        let chart = Chart::from_archive(&found.bytes)?;
        let version = found.version.unwrap_or_else(|| chart.metadata().version.clone());
        let versions = self.lock.charts.get(&name).into_iter().flatten();
        let (same, others): (Vec<_>, Vec<_>) = versions
            .map(|(version, digest)| (version.clone(), *digest))
            .partition(|(locked, _)| *locked == version);
        Ok(GatheredChart {
            locked: same.first().map(|(_, digest)| *digest),
            replaced: if target.may_replace || target.source.is_archive() { others } else { Vec::new() },
            digest: found.digest,
            may_replace: target.may_replace,
            name,
            version,
        })
    }
}

/// Returns a row per change. Empty without changes.
pub(super) fn report_text(report: &LockReport, width: Option<usize>) -> String {
    let changed = report.charts.iter().filter(|it| it.locked != it.found);
    let value = |digest: &Option<String>| digest.as_deref().map_or("-", short).to_owned();
    let row = |it: &ChartLock| {
        let change = change_text(it.locked.as_ref(), it.found.as_ref()).to_owned();
        [it.chart.clone(), change, it.version.clone(), value(&it.locked), value(&it.found)]
    };
    let rows: Vec<[String; 5]> = changed.map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let steps = [
        NarrowingStep::Shorten("LOCKED", 12),
        NarrowingStep::Shorten("FOUND", 12),
        NarrowingStep::Shorten("CHART", 16),
    ];
    table(width, &steps, ["CHART", "CHANGE", "VERSION", "LOCKED", "FOUND"], &rows)
}
