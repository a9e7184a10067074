use std::path::Path;

use api::output::{LockChange, LockReport, ProviderLock};

use super::gather::Found;
use crate::ui::{Narrow, table};

pub(super) fn report(path: &Path, found: &[Found]) -> LockReport {
    let provider = |found: &Found| ProviderLock {
        provider: found.label.clone(),
        version: found.entry.version.clone(),
        changes: found.changes.clone(),
    };
    LockReport { lock: path.display().to_string(), providers: found.iter().map(provider).collect() }
}

/// A row for each change; nothing when all is as it was.
pub(super) fn text(report: &LockReport, width: Option<usize>) -> String {
    let changes = report.providers.iter().flat_map(|it| it.changes.iter().map(move |change| (it, change)));
    let rows: Vec<[String; 5]> = changes.map(|(provider, change)| row(&provider.provider, change)).collect();
    if rows.is_empty() {
        return String::new();
    }
    let ways = [
        Narrow::Shorten("LOCKED", 12),
        Narrow::Shorten("FOUND", 12),
        Narrow::Shorten("WHAT", 16),
        Narrow::Shorten("PROVIDER", 16),
    ];
    table(width, &ways, ["PROVIDER", "CHANGE", "WHAT", "LOCKED", "FOUND"], &rows)
}

fn row(provider: &str, change: &LockChange) -> [String; 5] {
    let kind = match (&change.locked, &change.found) {
        (None, _) => "added",
        (_, None) => "gone",
        _ => "changed",
    };
    let what = change.what();
    let value = |value: &Option<String>| match value.as_deref() {
        // An image without known digest stands for itself.
        Some(text) if text != what => short(text).to_owned(),
        _ => "-".to_owned(),
    };
    [provider, kind, what, &value(&change.locked), &value(&change.found)].map(str::to_owned)
}

/// Enough of a digest to tell two apart; `-o json` has all of it.
fn short(text: &str) -> &str {
    const SHOWN: usize = "sha256:".len() + 12;
    if text.starts_with("sha256:") { text.get(..SHOWN).unwrap_or(text) } else { text }
}
