//! `bundle inspect` and `bundle verify`: show and check the content of a bundle.

use api::output::{BundleContent, BundleContentKind, BundleReport, BundleVerification};
use bundle::{Bundle as Archive, BundleEntry, BundleItem};

use crate::{
    Failure,
    session::Session,
    settings::OutputFlag,
    ui::{NarrowingStep, format_bytes, table},
};

/// The flags of both verbs.
#[derive(clap::Args)]
pub(crate) struct ReadFlags {
    /// Bundle file, or `-` for standard input
    #[arg(value_name = "FILE")]
    file: String,

    #[command(flatten)]
    output: OutputFlag,
}

pub(super) fn inspect(args: &ReadFlags, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let bundle = open(&args.file, session)?;
    session.print(format, &bundle_report(&args.file, &bundle), report_text)
}

pub(super) fn verify(args: &ReadFlags, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let bundle = open(&args.file, session)?;
    let unreferenced: Vec<String> = bundle.verify()?.iter().map(ToString::to_string).collect();
    for stray in &unreferenced {
        session.messages().warning(format!("nothing in `{}` refers to {stray}", args.file));
    }
    let entries = bundle.entries().len();
    session.messages().status(format!("verified `{}`: the digests of {entries} entries match", args.file));
    let report = BundleVerification { file: args.file.clone(), entries, unreferenced };
    session.print(format, &report, |_, _| String::new())
}

pub(super) fn bundle_report(file: &str, bundle: &Archive) -> BundleReport {
    BundleReport { file: file.to_owned(), contents: bundle.entries().iter().map(bundle_content).collect() }
}

fn bundle_content(entry: &BundleEntry) -> BundleContent {
    let platform = match &entry.item {
        BundleItem::Image { platform, .. } => platform.clone(),
        _ => None,
    };
    BundleContent {
        kind: entry.item.kind(),
        name: entry.item.name(),
        digest: entry.digest.to_string(),
        size_bytes: entry.size_bytes,
        platform,
        files: entry.files.iter().map(|file| file.name.clone()).collect(),
    }
}

pub(super) fn content_kind_text(kind: BundleContentKind) -> &'static str {
    match kind {
        BundleContentKind::Configuration => "configuration",
        BundleContentKind::Release => "release",
        BundleContentKind::Chart => "chart",
        BundleContentKind::Image => "image",
        BundleContentKind::Signature => "signature",
    }
}

pub(super) fn report_text(report: &BundleReport, width: Option<usize>) -> String {
    let row = |it: &BundleContent| {
        let platform = it.platform.as_ref().map(|platform| format!(" ({platform})")).unwrap_or_default();
        let files = if it.files.is_empty() { "-".to_owned() } else { it.files.len().to_string() };
        [
            content_kind_text(it.kind).to_owned(),
            format!("{}{platform}", it.name),
            files,
            format_bytes(it.size_bytes),
        ]
    };
    let rows: Vec<[String; 4]> = report.contents.iter().map(row).collect();
    let ways = [
        NarrowingStep::Shorten("NAME", 40),
        NarrowingStep::Drop("FILES"),
        NarrowingStep::Shorten("NAME", 16),
    ];
    table(width, &ways, ["KIND", "NAME", "FILES", "SIZE"], &rows)
}

const STDIN: &str = "-";

/// Opens a bundle from a file or from standard input.
pub(super) fn open(file: &str, session: &mut Session) -> Result<Archive, Failure> {
    if file == STDIN {
        return Ok(Archive::from_stream(session.stdin(), "standard input")?);
    }
    Ok(Archive::open(&session.environment().resolve(file))?)
}
