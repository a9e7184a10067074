use std::fmt::Write as _;

use api::output::{ExplainedField, FieldExplanation, FieldSetter};
use apply::masked;
use manifest::{Object, Value, pointer, provenance::Trace};

use super::render::RenderFlags;
use crate::{
    Failure,
    session::Session,
    settings::OutputFlag,
    verbs::provenance::{field_setter, non_empty},
};

/// Show the template, values, patches and variables that set a field
///
/// Lists every step that set the field in an object of a Component, oldest first: the line of the template with the sources
/// of its values, entries of kustomizations, variables, and patches of `spec.postBuild`. A file without a line is the most
/// that is known. Names of Secrets are shown, but not their values. Does not contact a cluster.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} component explain web.yaml spec.replicas --source ./manifests

  # With several objects, and with a name that contains dots
  {bin} component explain web.yaml spec.paused --object Deployment/web
  {bin} component explain components/ /metadata/labels/example.org~1team")]
pub(crate) struct Explain {
    /// File or folder with Components, their Secrets and sources; `-` for stdin
    #[arg(value_name = "FILE|DIR")]
    file: String,

    /// Field such as `spec.ports[0].name`, or a JSON pointer
    #[arg(value_name = "FIELD")]
    field: String,

    /// Object with the field, if several objects have it
    #[arg(long, value_name = "KIND/NAME")]
    object: Option<String>,

    #[command(flatten)]
    render: RenderFlags,

    #[command(flatten)]
    output: OutputFlag,
}

pub(super) fn run(args: &Explain, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let path = parse_field(&args.field)?;
    let objects = args.render.objects(std::slice::from_ref(&args.file), Trace::On, session)?;
    let object = select(&objects, &path, args)?;
    let mut fields = Vec::new();
    let shown = masked(object);
    let value = path
        .iter()
        .try_fold(&Value::Object(shown.as_map().clone()), |value, step| child(value, step))
        .cloned();
    explain(object, &value.unwrap_or_default(), &path, &mut fields);
    let explanation = FieldExplanation {
        api_version: object.api_version().to_owned(),
        kind: object.kind().to_owned(),
        namespace: non_empty(object.namespace()),
        name: object.name().to_owned(),
        fields,
    };
    session.print(format, &explanation, |explanation, _| text(explanation))
}

/// Reads `spec.ports[0].name` or a JSON pointer.
fn parse_field(field: &str) -> Result<Vec<String>, Failure> {
    let steps: Vec<String> = match field.strip_prefix('/') {
        Some(rest) => rest.split('/').map(pointer::name).collect(),
        None => {
            field.split(['.', '[']).map(|step| step.strip_suffix(']').unwrap_or(step).to_owned()).collect()
        }
    };
    if steps.iter().any(String::is_empty) {
        return Err(Failure::user(format!("`{field}` is not a field")).hint(
            "use names with dots such as `spec.ports[0].name`, or a JSON pointer such as `/spec/ports/0`",
        ));
    }
    Ok(steps)
}

fn child<'v>(value: &'v Value, step: &str) -> Option<&'v Value> {
    match value {
        Value::Object(fields) => fields.get(step),
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    }
}

fn has(object: &Object, path: &[String]) -> bool {
    let Some((first, rest)) = path.split_first() else { return false };
    let first = object.as_map().get(first);
    first.is_some_and(|first| rest.iter().try_fold(first, |value, step| child(value, step)).is_some())
}

/// Returns the object with the field.
fn select<'o>(objects: &'o [Object], path: &[String], args: &Explain) -> Result<&'o Object, Failure> {
    let name = |object: &Object| format!("{}/{}", object.kind(), object.name());
    let is_named = |object: &&Object| {
        args.object.as_ref().is_none_or(|wanted| name(object).eq_ignore_ascii_case(wanted))
    };
    let named: Vec<&Object> = objects.iter().filter(is_named).collect();
    if let (Some(wanted), true) = (&args.object, named.is_empty()) {
        let known: Vec<String> = objects.iter().map(name).collect();
        return Err(Failure::user(format!("cannot find object `{wanted}`"))
            .hint(format!("the Components have {}", api::one_of(&known))));
    }
    let found: Vec<&Object> = named.into_iter().filter(|object| has(object, path)).collect();
    match found.as_slice() {
        [] => Err(Failure::user(format!("no object has the field `{}`", args.field))
            .hint("print the objects with `capstan component render` and the same file and flags")),
        [only] => Ok(only),
        several => {
            let known: Vec<String> = several.iter().map(|object| name(object)).collect();
            let failure = Failure::user(format!("{} objects have the field `{}`", several.len(), args.field));
            Err(failure.hint(format!("select one of them with `--object`: {}", known.join(", "))))
        }
    }
}

/// Explains a value, or the scalar and empty values in it.
fn explain(object: &Object, value: &Value, path: &[String], fields: &mut Vec<ExplainedField>) {
    let inside = |step: String| [path, &[step]].concat();
    match value {
        Value::Object(entries) if !entries.is_empty() => {
            for (key, value) in entries {
                explain(object, value, &inside(key.clone()), fields);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (index, value) in items.iter().enumerate() {
                explain(object, value, &inside(index.to_string()), fields);
            }
        }
        _ => {
            let setters = object.provenance().map(|provenance| provenance.setters(path)).unwrap_or_default();
            fields.push(ExplainedField {
                path: format!(
                    "/{}",
                    path.iter().map(|step| pointer::step(step)).collect::<Vec<_>>().join("/")
                ),
                value: value.clone(),
                set_by: setters.into_iter().map(field_setter).collect(),
            });
        }
    }
}

fn text(explanation: &FieldExplanation) -> String {
    let namespace = explanation.namespace.as_ref().map(|name| format!("{name}/")).unwrap_or_default();
    let mut text = format!("{} {namespace}{}\n", explanation.kind, explanation.name);
    for ExplainedField { path, value, set_by } in &explanation.fields {
        let _ = writeln!(text, "{path}: {value}");
        for FieldSetter { file, field, content } in set_by {
            let place: Vec<&str> = [file, field].into_iter().flatten().map(String::as_str).collect();
            let content = content.as_ref().map(|content| format!(" ({content})")).unwrap_or_default();
            let _ = writeln!(text, "  {}{content}", place.join(": "));
        }
    }
    text
}
