use std::time::Duration;

use api::output::CachePruning;
use repository::Prune;

use super::store::store;
use crate::{Failure, Within as _, session::Session, settings::OutputFormat, ui::in_bytes};

/// Remove what is over the limit, least recently used first, and what killed runs left behind
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} cache prune
  {bin} cache prune --older-than 30d
  {bin} cache prune --all")]
pub(crate) struct PruneArgs {
    /// Remove what was not used for so long too, as 30d or 12h
    #[arg(long, value_name = "AGE", value_parser = age)]
    older_than: Option<Duration>,

    /// Remove everything
    #[arg(long, conflicts_with = "older_than")]
    all: bool,

    /// Output format: text, json or yaml
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: String,
}

pub(crate) fn run(args: &PruneArgs, session: &mut Session) -> Result<(), Failure> {
    let format = OutputFormat::parse(&args.output)?;
    let store = store(session)?;
    let what = match (args.all, args.older_than) {
        (true, _) => Prune::Everything,
        (false, Some(age)) => Prune::Unused(age),
        (false, None) => Prune::ToLimit,
    };
    let pruned = session
        .block_on(async { store.prune(what).await })
        .within(|| format!("cannot prune the cache `{}`", store.settings().folder.display()))?;
    let report = CachePruning {
        folder: store.settings().folder.display().to_string(),
        freed_bytes: pruned.freed_bytes,
        left_bytes: pruned.left_bytes,
        max_bytes: store.settings().max_bytes,
    };
    session.done(format!(
        "freed {}; {} are left of {} that may be kept",
        in_bytes(report.freed_bytes),
        in_bytes(report.left_bytes),
        in_bytes(report.max_bytes)
    ));
    session.print(format, &report, |_, _| String::new())
}

/// Reads an age in days or hours.
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
        _ => Err("days or hours are expected, as 30d or 12h".to_owned()),
    }
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
