use chart::Capabilities;
use component::{Preparation, PrepareError, RenderMode, TemplateCluster};
use manifest::{Object, provenance::Trace, write_stream};
use repository::RepositoryContext;

use super::{
    files::{ComponentFiles, FileFlags, read_components, read_objects},
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
    render: RenderFlags,
}

/// The flags for rendering.
#[derive(clap::Args)]
pub(super) struct RenderFlags {
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
    let objects = args.render.objects(&args.files.places()?, Trace::Off, session)?;
    let mut text = write_stream(&objects);
    if !text.is_empty() {
        text.push('\n');
    }
    session.printer().write(text)
}

impl RenderFlags {
    /// Renders the objects of the Components in files and folders.
    pub(super) fn objects(
        &self,
        places: &[String],
        trace: Trace,
        session: &mut Session,
    ) -> Result<Vec<Object>, Failure> {
        let mut files = read_components(places, &self.namespace, session)?;
        files.others.extend(read_objects(&self.secret, session)?);
        let source = self.source.read(session)?;
        let repositories =
            if source.is_some() { RepositoryContext::default() } else { session.repositories()? };
        let values = self.values.read(session)?;
        let mode = RenderMode { trace, ..RenderMode::default() };
        let preparation = Preparation { repositories, source, values, mode, ..Preparation::default() };
        let capabilities = capabilities(&self.kube_version, self.api_versions.as_deref(), session)?;
        render_files(&files, &preparation, capabilities, session)
    }
}

/// Renders the objects of all Components of files, in their order.
pub(super) fn render_files(
    files: &ComponentFiles,
    preparation: &Preparation,
    capabilities: Capabilities,
    session: &Session,
) -> Result<Vec<Object>, Failure> {
    let cluster = TemplateCluster { capabilities, reader: None };
    let mut objects = Vec::new();
    for checked in &files.components {
        let hub = files.objects_for(checked.component.namespace());
        let prepared = async {
            let resolved = preparation.resolve(checked.component.clone(), &hub).await?;
            preparation.render(resolved, cluster.clone()).await
        };
        let rendered = session.block_on(async { Ok::<_, Failure>(prepared.await) })?;
        objects.extend(rendered.map_err(failure)?.objects);
    }
    Ok(objects)
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
