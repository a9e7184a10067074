use std::path::{Path, PathBuf};

use manifest::{Object, write_stream};
use provider::{
    TemplateText,
    convert::{ConversionOutcome, ConversionResult, convert},
};

use crate::{Failure, session::Session, verbs::generate::print::write_objects};

/// Convert Cluster API objects from v1beta1 to v1beta2
///
/// Converts objects of the group cluster.x-k8s.io and prints others unchanged. The command warns about dropped fields, and
/// writes nothing if a field cannot be converted. Comments and the key order are lost.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} convert cluster.yaml
  cat cluster.yaml | {bin} convert
  {bin} convert cluster.yaml --output converted.yaml")]
pub(crate) struct Convert {
    /// File to read, or `-` for standard input [default: standard input]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// File to write [default: standard output]
    #[arg(short, long, value_name = "PATH", default_value = "", hide_default_value = true)]
    output: String,

    /// Target version: v1beta2
    #[arg(long, value_name = "VERSION", default_value = TARGET_VERSION)]
    to_version: String,
}

const TARGET_VERSION: &str = "v1beta2";

/// Source: clusterctl v1.14 cmd/convert.go, run; differs: references and unknown fields are kept, and documents with
/// only comments are skipped.
pub(crate) fn run(args: &Convert, session: &mut Session) -> Result<(), Failure> {
    if args.to_version != TARGET_VERSION {
        return Err(Failure::user(format!("cannot convert to `{}`", args.to_version))
            .hint(format!("use `--to-version {TARGET_VERSION}`")));
    }
    let text = read(args.file.as_deref(), session)?;
    let stream = text.read_objects(&text.text)?;
    check(&stream.objects, &stream.lines, &text.file)?;
    for warning in text.warnings(&stream) {
        session.messages().warning(warning);
    }
    let converted = convert(stream.objects).map_err(|error| {
        let failure = Failure::user(format!("cannot convert `{}`", text.file));
        error.faults.iter().fold(failure, |failure, fault| failure.cause(fault.to_string()))
    })?;
    for note in &converted.notes {
        session.messages().warning(note.to_string());
    }
    print(&converted, &args.output, session)?;
    session.messages().status(format!(
        "Converted {} resource(s) to {TARGET_VERSION}. {} resource(s) passed through unchanged.",
        converted.count(ConversionOutcome::Converted),
        converted.count(ConversionOutcome::PassedThrough)
    ));
    Ok(())
}

fn read(file: Option<&Path>, session: &mut Session) -> Result<TemplateText, Failure> {
    match file.filter(|file| *file != Path::new("-")) {
        None => Ok(TemplateText::new("<stdin>", &session.read_stdin()?)?),
        Some(file) => {
            // The configuration does not affect local files, and may be invalid.
            let context = repository::RepositoryContext::default();
            let read = repository::read_file(&context, &session.environment().resolve(file))?;
            Ok(TemplateText::new(file.display().to_string(), &read.bytes)?)
        }
    }
}

/// Fails if an object has no kind or version, because the conversion depends on them.
fn check(objects: &[Object], lines: &[usize], file: &str) -> Result<(), Failure> {
    let mut failure = None;
    for (object, line) in objects.iter().zip(lines) {
        let absent = [("apiVersion", object.api_version()), ("kind", object.kind())];
        if let Some((field, _)) = absent.iter().find(|(_, value)| value.is_empty()) {
            let so_far = failure.unwrap_or_else(|| Failure::user(format!("cannot convert `{file}`")));
            failure = Some(so_far.cause(format!("the object at line {line} has no `{field}`")));
        }
    }
    failure.map_or(Ok(()), Err)
}

fn print(converted: &ConversionResult, output: &str, session: &mut Session) -> Result<(), Failure> {
    let mut text = write_stream(&converted.objects);
    if !text.is_empty() {
        text.push('\n');
    }
    match output {
        "" | "-" => session.printer().write(text),
        path => write_objects(&session.environment().resolve(path), &text),
    }
}
