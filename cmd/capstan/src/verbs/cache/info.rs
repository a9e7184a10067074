use std::fmt::Write as _;

use api::output::{CacheHost, CacheReport};

use super::store::store;
use crate::{
    Failure, Within as _,
    session::Session,
    settings::OutputFormat,
    ui::{Narrow, in_bytes, table},
};

/// Show where fetched files are kept, how many of which host, and how many may be
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} cache info
  {bin} cache info -o json")]
pub(crate) struct Info {
    /// Output format: text, yaml or json
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: String,
}

pub(crate) fn run(args: &Info, session: &mut Session) -> Result<(), Failure> {
    let format = OutputFormat::parse(&args.output)?;
    let store = store(session)?;
    let survey = store.survey().within(|| "cannot look at the cache".to_owned())?;
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
    session.print(format, &report, text)
}

fn text(report: &CacheReport, width: Option<usize>) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{:<9}{value}", format!("{name}:"));
    };
    line("Folder", &report.folder);
    line("Size", &format!("{} of {}", in_bytes(report.size_bytes), in_bytes(report.max_bytes)));
    line("Files", &report.files.to_string());
    if report.git_bytes > 0 {
        line("Git", &in_bytes(report.git_bytes));
    }
    if report.temporary_bytes > 0 {
        line("Unended", &in_bytes(report.temporary_bytes));
    }
    let row = |host: &CacheHost| [host.host.clone(), host.files.to_string(), in_bytes(host.size_bytes)];
    let rows: Vec<[String; 3]> = report.hosts.iter().map(row).collect();
    if !rows.is_empty() {
        text.push('\n');
        text.push_str(&table(width, &[Narrow::Shorten("HOST", 16)], ["HOST", "FILES", "SIZE"], &rows));
    }
    text
}
