use component::{Preparation, PrepareError, TemplateCluster};
use manifest::write_stream;
use repository::RepositoryContext;

use super::{
    files::{FileFlags, read_components, read_objects},
    source::SourceFlag,
    values::{ValueFlags, capabilities},
};
use crate::{Failure, session::Session};

/// Print the objects of Components
///
/// Renders the charts and kustomizations of Components with their values, and changes the objects as `spec.postBuild` says.
/// Does not contact a cluster: Secrets and sources come from files, and `lookup` finds nothing.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} component render web.yaml --source ./manifests
  {bin} component render web.yaml --source app.tgz --secret secrets.yaml

  # With the artifact of a source of Flux
  {bin} component render web.yaml git-repository.yaml

  # With the files of a Git repository or a registry
  {bin} component render web.yaml --source git+https://git.example/web//app
  {bin} component render web.yaml --source oci://registry.example/web:1.0")]
pub(crate) struct Render {
    #[command(flatten)]
    files: FileFlags,

    #[command(flatten)]
    source: SourceFlag,

    /// File with Secrets that Components refer to; repeatable
    #[arg(long, value_name = "FILE")]
    secret: Vec<String>,

    #[command(flatten)]
    values: ValueFlags,

    /// Namespace of Components without one
    #[arg(short, long, value_name = "NAME", default_value = "default")]
    namespace: String,

    /// Version of Kubernetes that templates see
    #[arg(long, value_name = "VERSION", default_value = "", hide_default_value = true)]
    kube_version: String,

    /// File with the APIs that templates see, one `GROUP/VERSION/KIND` on each line
    #[arg(long, value_name = "FILE")]
    api_versions: Option<String>,
}

pub(super) fn run(args: &Render, session: &mut Session) -> Result<(), Failure> {
    let mut files = read_components(&args.files.places()?, &args.namespace, session)?;
    files.others.extend(read_objects(&args.secret, session)?);
    let source = args.source.read(session)?;
    let repositories =
        if source.is_some() { RepositoryContext::default() } else { session.repositories()? };
    let values = args.values.read(session)?;
    let preparation = Preparation { repositories, source, values };
    let capabilities = capabilities(&args.kube_version, args.api_versions.as_deref(), session)?;
    let cluster = TemplateCluster { capabilities, reader: None };
    let mut objects = Vec::new();
    for checked in &files.components {
        let hub = files.objects_for(checked);
        let prepared = async {
            let resolved = preparation.resolve(checked.component.clone(), &hub).await?;
            preparation.render(resolved, cluster.clone()).await
        };
        let rendered = session.block_on(async { Ok::<_, Failure>(prepared.await) })?;
        objects.extend(rendered.map_err(failure)?.objects);
    }
    let mut text = write_stream(&objects);
    if !text.is_empty() {
        text.push('\n');
    }
    session.printer().write(text)
}

/// Names the flags for missing references.
fn failure(error: PrepareError) -> Failure {
    let is_missing = matches!(error, PrepareError::References { .. });
    let failure = Failure::from(error);
    if is_missing {
        failure.hint("add files with the objects, `--secret FILE` for Secrets, or `--source` for the source")
    } else {
        failure
    }
}
