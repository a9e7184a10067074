use provider::{TemplateText, config::Variables};

use super::print;
use crate::{
    Failure, WithContext as _, session::Session, settings::OutputFormat, verbs::provenance::Provenance,
};

/// Print a template with substituted variables
///
/// Values come from the environment, then from the configuration file.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  # Values from the environment
  NAME=demo {bin} generate yaml --from template.yaml

  # The variables of a template
  cat template.yaml | {bin} generate yaml --list-variables")]
pub(crate) struct GenerateYaml {
    /// Path or URL of the template, or `-` for standard input
    #[arg(long, value_name = "PATH|URL", default_value = "-")]
    from: String,

    /// List the variables of the template instead
    #[arg(long)]
    list_variables: bool,

    /// Output format of `--list-variables`: text, json or yaml; otherwise text
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: String,

    /// Ignored, as by clusterctl
    #[arg(hide = true, num_args = 0..)]
    ignored: Vec<String>,
}

pub(super) fn run(args: &GenerateYaml, session: &mut Session) -> Result<(), Failure> {
    let format = OutputFormat::parse(&args.output)?;
    if args.from.is_empty() {
        return Err(Failure::user("`--from` is empty").hint("use a file or URL, or `-` for standard input"));
    }
    let config = session.config()?;
    let variables = Variables::new(&config);
    let template = read_template(&args.from, session)?;
    if args.list_variables {
        let listed = template.variables(&variables)?;
        return print::print_variables(listed, format, session, print::variable_names);
    }
    let text = template.substitute(&variables)?;
    let stream = template.read_objects(&text)?;
    for warning in template.warnings(&stream) {
        session.messages().warning(warning);
    }
    print::print_objects(stream.objects, format, Provenance::Off, None, session)
}

const STDIN: &str = "-";

/// Reads a template from `-`, a path, or a `file:` or `https://` URL.
/// Source: clusterctl v1.14 client/cluster/template.go (GetFromURL).
pub(super) fn read_template(from: &str, session: &mut Session) -> Result<TemplateText, Failure> {
    if from == STDIN {
        let bytes = session.read_stdin()?;
        return Ok(TemplateText::new("<stdin>", &bytes)?);
    }
    let context = session.repositories()?;
    let path = match from.split_once("://") {
        None => Some(from.strip_prefix("file:").filter(|path| path.starts_with('/')).unwrap_or(from)),
        Some(("file", path)) => Some(path),
        Some(_) => None,
    };
    let file = match path {
        Some(path) => {
            repository::read_file(&context, &session.environment().resolve(path)).map_err(Failure::from)
        }
        None => session.block_on(repository::fetch_template(&context, from)),
    };
    let file = file
        .with_context(|| format!("cannot read the template `{}`", transport::address::redact_text(from)))?;
    Ok(TemplateText::new(file.source.to_string(), &file.bytes)?)
}
