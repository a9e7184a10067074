use std::process::Command;

use anyhow::{Context as _, Result};

use crate::workspace;

/// The time of files if neither the environment nor Git names one: 1980-01-01, the first that every archive format has.
pub(super) const FALLBACK_TIME: u64 = 315_532_800;

/// The source of a release.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) version: String,
    /// The commit. `None` outside Git, or if files differ from the commit.
    pub(super) commit: Option<String>,
    /// The time of all files, in seconds since 1970.
    pub(super) time: u64,
}

impl Source {
    /// Reads the version, the commit and its time. `SOURCE_DATE_EPOCH` replaces the time.
    ///
    /// # Errors
    /// Fails if `SOURCE_DATE_EPOCH` is not a number.
    pub(super) fn read() -> Result<Self> {
        let given = workspace::variable("SOURCE_DATE_EPOCH").map(|text| {
            let number = text.to_str().and_then(|text| text.parse::<u64>().ok());
            number.context("cannot use `SOURCE_DATE_EPOCH`: it must be a number of seconds since 1970")
        });
        let last = git(&["log", "-1", "--format=%H %ct"]);
        let last = last.as_deref().and_then(|line| line.trim().split_once(' '));
        let is_clean = git(&["status", "--porcelain"]).is_some_and(|changes| changes.trim().is_empty());
        let of_commit = last.and_then(|(_, time)| time.parse().ok()).unwrap_or(FALLBACK_TIME);
        Ok(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: last.filter(|_| is_clean).map(|(commit, _)| commit.to_owned()),
            time: given.transpose()?.unwrap_or(of_commit),
        })
    }

    /// Returns the time as RFC 3339.
    pub(super) fn timestamp(&self) -> String {
        self.date().map_or_else(String::new, |date| date.to_string())
    }

    /// Returns the time in the format of Debian changelogs.
    pub(super) fn changelog_date(&self) -> String {
        let date = self.date().map(|date| date.strftime("%a, %d %b %Y %H:%M:%S +0000").to_string());
        date.unwrap_or_default()
    }

    /// Returns the year.
    pub(super) fn year(&self) -> String {
        self.date().map_or_else(String::new, |date| date.strftime("%Y").to_string())
    }

    fn date(&self) -> Option<jiff::Timestamp> {
        jiff::Timestamp::from_second(i64::try_from(self.time).ok()?).ok()
    }
}

/// Runs git in the project. `None` without Git, or outside a clone.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).current_dir(workspace::root()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_written_as_each_format_needs_it() {
        let source = Source { version: "1.2.3".to_owned(), commit: None, time: 1_700_000_000 };
        assert_eq!(source.timestamp(), "2023-11-14T22:13:20Z");
        assert_eq!(source.year(), "2023");
        assert_eq!(source.changelog_date(), "Tue, 14 Nov 2023 22:13:20 +0000");
    }
}
