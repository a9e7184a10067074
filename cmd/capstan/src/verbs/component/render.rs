use component::{CheckedComponent, Component, RenderRequest, render};
use manifest::{type_name, write_stream};
use serde_json::{Map, Value};

use super::{
    files::read_components,
    source::{ValueFlags, capabilities, now, read_folder},
};
use crate::{Failure, WithContext as _, session::Session};

/// Print the objects of a Component
///
/// Renders the chart or the kustomization in a folder with `spec.values` of a Component. Does not contact a cluster.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} component render component.yaml --source ./manifests
  {bin} component render component.yaml --source . --values values.yaml")]
pub(crate) struct Render {
    /// File with the Component
    #[arg(value_name = "FILE")]
    file: String,

    /// Folder with the files of the source
    #[arg(long, value_name = "DIR")]
    source: String,

    #[command(flatten)]
    values: ValueFlags,

    /// Version of Kubernetes that templates see
    #[arg(long, value_name = "VERSION", default_value = "", hide_default_value = true)]
    kube_version: String,

    /// File with the APIs that templates see, one `GROUP/VERSION/KIND` on each line
    #[arg(long, value_name = "FILE")]
    api_versions: Option<String>,
}

pub(super) fn run(args: &Render, session: &mut Session) -> Result<(), Failure> {
    let CheckedComponent { component, object, .. } = read_component(&args.file, session)?;
    let context = || format!("cannot render Component `{}`", component.name());
    check_fields(&component).with_context(context)?;
    let tree = read_folder(&session.environment().resolve(&args.source))?;
    let mut request =
        RenderRequest::new(&tree, component.deployment_name(), component.deployment_namespace());
    request.path = component.spec.path.as_deref().unwrap_or_default();
    request.values = args.values.read(own_values(&component).with_context(context)?, session)?;
    request.capabilities = capabilities(&args.kube_version, args.api_versions.as_deref(), session)?;
    request.now = now();
    request.component = object.into_value();
    let objects = render(&request).with_context(context)?;
    let mut text = write_stream(&objects);
    if !text.is_empty() {
        text.push('\n');
    }
    session.printer().write(text)
}

/// Reads the only Component of a file.
fn read_component(file: &str, session: &mut Session) -> Result<CheckedComponent, Failure> {
    let mut found = read_components(&[file.to_owned()], "default", session)?;
    match found.pop() {
        Some(only) if found.is_empty() => Ok(only),
        _ => Err(Failure::user(format!("`{file}` has {} Components, expected one", found.len() + 1))),
    }
}

fn own_values(component: &Component) -> Result<Map<String, Value>, Failure> {
    match &component.spec.values {
        Some(Value::Object(values)) => Ok(values.clone()),
        None | Some(Value::Null) => Ok(Map::new()),
        Some(other) => {
            Err(Failure::user(format!("`spec.values` must be a mapping, not {}", type_name(other))))
        }
    }
}

/// Refuses Components whose objects depend on more than the folder and the values.
fn check_fields(component: &Component) -> Result<(), Failure> {
    let spec = &component.spec;
    let field = match () {
        () if !spec.values_from.is_empty() => "valuesFrom",
        () if spec.decryption.is_some() => "decryption",
        () if spec.post_build.is_some() => "postBuild",
        () => return Ok(()),
    };
    Err(Failure::user(format!("`spec.{field}` is not supported yet")))
}
