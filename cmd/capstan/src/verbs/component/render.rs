use component::{RenderRequest, render};
use manifest::write_stream;

use super::source::{ValueFlags, capabilities, now, read_folder, read_yaml};
use crate::{Failure, WithContext as _, session::Session};

/// Print the objects of a Component
///
/// Renders the chart or the kustomization in a folder with the values of a Component. Does not contact a cluster.
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
    let component = read_yaml(&args.file, session)?;
    let text = |pointer: &str| component.pointer(pointer).and_then(|value| value.as_str());
    let name = text("/spec/name").or_else(|| text("/metadata/name")).unwrap_or_default();
    let namespace = text("/spec/namespace").or_else(|| text("/metadata/namespace")).unwrap_or("default");
    let tree = read_folder(&session.environment().resolve(&args.source))?;
    let mut request = RenderRequest::new(&tree, name, namespace);
    request.path = text("/spec/path").unwrap_or_default();
    request.values = args.values.read(session)?;
    request.capabilities = capabilities(&args.kube_version, args.api_versions.as_deref(), session)?;
    request.now = now();
    request.component = component.clone();
    let objects = render(&request).with_context(|| format!("cannot render Component `{}`", args.file))?;
    let mut text = write_stream(&objects);
    if !text.is_empty() {
        text.push('\n');
    }
    session.printer().write(text)
}
