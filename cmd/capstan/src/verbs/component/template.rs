use std::path::Path;

use chart::MemoryTree;
use component::{RenderRequest, render_template};
use jiff::Timestamp;

use super::values::{ValueFlags, capabilities, read_file};
use crate::{Failure, WithContext as _, session::Session};

/// Print one template of a Component
///
/// Renders a Go template with the functions that the kustomizations of Components have: those of sprig, `toYaml`,
/// `include`, `tpl`, `lookup` and others. Does not contact a cluster: `lookup` finds nothing.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} component template deployment.yaml --values values.yaml
  {bin} component template map.yaml --name web --namespace shop")]
pub(crate) struct Template {
    /// File with the template
    #[arg(value_name = "FILE")]
    file: String,

    #[command(flatten)]
    values: ValueFlags,

    /// Name of the deployment that templates see
    #[arg(long, value_name = "NAME", default_value = "demo")]
    name: String,

    /// Namespace of the deployment that templates see
    #[arg(short, long, value_name = "NAME", default_value = "default")]
    namespace: String,

    /// Version of Kubernetes that templates see
    #[arg(long, value_name = "VERSION", default_value = "", hide_default_value = true)]
    kube_version: String,
}

pub(super) fn run(args: &Template, session: &mut Session) -> Result<(), Failure> {
    let content = read_file(&args.file, session.environment())?;
    let name = Path::new(&args.file).file_name().and_then(|name| name.to_str()).unwrap_or("template");
    let tree: MemoryTree = [(format!("/{name}"), content)].into_iter().collect();
    let mut request = RenderRequest::new(&tree, &args.name, &args.namespace);
    request.values = args.values.read(session)?.into();
    request.capabilities = capabilities(&args.kube_version, None, session)?;
    request.now = Timestamp::now();
    let printed =
        render_template(&request, name).with_context(|| format!("cannot render `{}`", args.file))?;
    session.printer().write(&printed)
}
