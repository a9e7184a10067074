use std::collections::BTreeMap;

use manifest::{
    Value,
    envsubst::{Dialect, Template},
    type_name,
};

use super::values::{read_file, read_yaml};
use crate::{Failure, session::Session};

/// Substitute variables in a file as `spec.postBuild` of a Component does
///
/// Replaces `${NAME}` and its forms such as `${NAME:=default}` in the whole text, comments included. Variables without a
/// value are empty. `$${NAME}`, `\\` and `\/` stand for `${NAME}`, `\` and `/`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} component substitute manifest.yaml --vars vars.yaml")]
pub(crate) struct Substitute {
    /// File with substitutions
    #[arg(value_name = "FILE")]
    file: String,

    /// YAML file with the variables: a mapping of names to strings
    #[arg(long, value_name = "FILE")]
    vars: String,
}

/// Source: component-operator, drone/envsubst v1.0.3.
pub(super) fn run(args: &Substitute, session: &mut Session) -> Result<(), Failure> {
    let text = String::from_utf8(read_file(&args.file, session.environment())?)
        .map_err(|_| Failure::user(format!("`{}` is not valid UTF-8", args.file)))?;
    let variables = read_variables(&args.vars, session)?;
    let cannot = || Failure::user(format!("cannot substitute the variables in `{}`", args.file));
    let template = Template::parse_in(&text, Dialect::Components)
        .map_err(|error| error.faults.iter().map(ToString::to_string).fold(cannot(), Failure::cause))?;
    let rendered = template
        .render(&mut |name| Some(variables.get(name).map_or("", String::as_str).into()))
        .map_err(|error| cannot().cause(error.to_string()))?;
    session.printer().write(rendered)
}

fn read_variables(file: &str, session: &Session) -> Result<BTreeMap<String, String>, Failure> {
    let cannot = || Failure::user(format!("cannot read the variables in `{file}`"));
    let fields = match read_yaml(file, session)? {
        Value::Null => return Ok(BTreeMap::new()),
        Value::Object(fields) => fields,
        other => return Err(cannot().cause(format!("expected a mapping, found {}", type_name(&other)))),
    };
    let entries = fields.into_iter().map(|(name, value)| match value {
        Value::String(text) => Ok((name, text)),
        other => Err(cannot()
            .cause(format!("`{name}` must be a string, not {}", type_name(&other)))
            .hint(format!("put quotes around the value of `{name}`"))),
    });
    entries.collect()
}
