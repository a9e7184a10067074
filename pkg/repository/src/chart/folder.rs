//! Archives of locked charts in a folder beside the lock, as `bundle load` writes them.

use std::path::Path;

use transport::{Digest, disk::read_limited};

use super::{ARCHIVE_SUFFIX, FetchedChart};
use crate::Error;

/// The name of the folder, beside the lock.
pub const CHART_FOLDER: &str = "charts";

/// Returns the path of a chart in folders and registries, such as `charts.example.org/stable/web`, from its
/// [name](super::ChartSource::name).
///
/// Every part has lower-case letters and digits with single `-`, `_` or `.` between them, so the path stays in its folder
/// and is the name of a repository. Charts whose URLs differ only in other characters have one path.
pub fn chart_path(name: &str) -> String {
    let name = name.split_once("://").map_or(name, |(_, rest)| rest).trim_end_matches(ARCHIVE_SUFFIX);
    let parts: Vec<String> = name.split('/').map(plain_part).filter(|part| !part.is_empty()).collect();
    parts.join("/")
}

fn plain_part(part: &str) -> String {
    let (mut plain, mut between) = (String::new(), None);
    for c in part.to_lowercase().chars() {
        if c.is_ascii_lowercase() || c.is_ascii_digit() {
            plain.extend(between.take().filter(|_| !plain.is_empty()));
            plain.push(c);
        } else {
            between = Some(if between.is_none() && "_.".contains(c) { c } else { '-' });
        }
    }
    plain
}

/// Returns the path of the archive of a chart in [`CHART_FOLDER`], such as `charts.example.org/stable/web-1.2.3.tgz`.
pub fn chart_archive(name: &str, version: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.+".contains(c) { c } else { '-' };
    let version: String = version.chars().map(plain).collect();
    format!("{}-{version}{ARCHIVE_SUFFIX}", chart_path(name))
}

/// Reads the archive of one version from a folder. None if the folder does not have it.
/// # Errors
/// Errors of the read; a file over the limit.
pub fn read_stored_chart(
    folder: &Path,
    name: &str,
    version: &str,
    limit_bytes: u64,
) -> Result<Option<FetchedChart>, Error> {
    let path = folder.join(chart_archive(name, version));
    let chart = read_limited(&path, limit_bytes)?.map(|bytes| FetchedChart {
        digest: Digest::of(&bytes),
        version: Some(version.to_owned()),
        address: path.display().to_string(),
        bytes,
    });
    Ok(chart)
}
