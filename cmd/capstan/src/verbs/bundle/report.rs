use api::output::{BundleContent, BundleContentKind, BundleReport};
use repository::{Bundle as Archive, BundleEntry, BundleItem};

use crate::ui::{Narrow, in_bytes, table};

pub(super) fn of(file: &str, bundle: &Archive) -> BundleReport {
    BundleReport { file: file.to_owned(), contents: bundle.entries().iter().map(content).collect() }
}

fn content(entry: &BundleEntry) -> BundleContent {
    let platform = match &entry.item {
        BundleItem::Image { platform, .. } => platform.clone(),
        _ => None,
    };
    BundleContent {
        kind: kind_of(&entry.item),
        name: entry.item.name(),
        digest: entry.digest.to_string(),
        size_bytes: entry.size_bytes,
        platform,
        files: entry.files.iter().map(|file| file.name.clone()).collect(),
    }
}

pub(super) fn kind_of(item: &BundleItem) -> BundleContentKind {
    match item {
        BundleItem::Configuration => BundleContentKind::Configuration,
        BundleItem::Release { .. } => BundleContentKind::Release,
        BundleItem::Image { .. } => BundleContentKind::Image,
        BundleItem::Signature { .. } => BundleContentKind::Signature,
    }
}

pub(super) fn word(kind: BundleContentKind) -> &'static str {
    match kind {
        BundleContentKind::Configuration => "configuration",
        BundleContentKind::Release => "release",
        BundleContentKind::Image => "image",
        BundleContentKind::Signature => "signature",
    }
}

pub(super) fn text(report: &BundleReport, width: Option<usize>) -> String {
    let row = |it: &BundleContent| {
        let platform = it.platform.as_ref().map(|platform| format!(" ({platform})")).unwrap_or_default();
        let files = if it.files.is_empty() { "-".to_owned() } else { it.files.len().to_string() };
        [word(it.kind).to_owned(), format!("{}{platform}", it.name), files, in_bytes(it.size_bytes)]
    };
    let rows: Vec<[String; 4]> = report.contents.iter().map(row).collect();
    let ways = [Narrow::Shorten("NAME", 40), Narrow::Drop("FILES"), Narrow::Shorten("NAME", 16)];
    table(width, &ways, ["KIND", "NAME", "FILES", "SIZE"], &rows)
}
