use std::sync::Arc;

use api::labels::CAPSTAN_DOMAIN;
use apply::{
    AdoptionPolicy, ApplyOptions, ApplySet, Engine, EngineError, OwnershipMarks, Policies, ReadByName, Server,
};
use chart::{Capabilities, Chart, RenderOptions, Rendered, Values};
use component::{ServerLookup, server_capabilities};
use manifest::Object;
use tokio::{runtime::Handle, task::spawn_blocking};

use super::helm_flags::HelmFlags;
use crate::{
    Failure, WithContext as _,
    session::Session,
    settings::{self, KubeFlags, PaceFlags},
};

/// Flags that connect a render with a cluster. Without them, charts are rendered without one.
#[derive(clap::Args)]
pub(super) struct ClusterFlags {
    /// Check the objects by a dry run of the cluster
    #[arg(long)]
    validate: bool,

    /// `server` lets `lookup` read the cluster
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "client", value_name = "MODE")]
    dry_run: Option<String>,

    #[command(flatten)]
    kube: KubeFlags,

    #[command(flatten)]
    helm: HelmFlags,
}

/// The cluster of a render.
pub(super) struct ChartCluster {
    server: Server,
    is_validated: bool,
    reads_objects: bool,
}

impl ClusterFlags {
    /// Connects to the cluster, if a flag needs it.
    pub(super) fn connect(&self, session: &Session) -> Result<Option<ChartCluster>, Failure> {
        let reads_objects = match self.dry_run.as_deref() {
            Some("server") => true,
            None | Some("" | "client" | "none" | "true" | "false") => false,
            Some(other) => {
                return Err(Failure::user(format!("invalid value `{other}` for `--dry-run`"))
                    .hint("use `--dry-run=client` or `--dry-run=server`"));
            }
        };
        if !self.validate && !reads_objects {
            return Ok(None);
        }
        if self.helm.kube_token.is_some() {
            let failure =
                Failure::user("`--kube-…` flags are not supported: a kubeconfig must say how to connect");
            return Err(failure.hint("write the connection to a file, and use `--kubeconfig FILE`"));
        }
        let cluster = settings::management_cluster(&self.kube, &PaceFlags::default(), session)?;
        let server = cluster.server().clone();
        Ok(Some(ChartCluster { server, is_validated: self.validate, reads_objects }))
    }
}

impl ChartCluster {
    /// Returns the capabilities of the cluster. `None` if the flags of the render define them.
    pub(super) fn capabilities(&self, session: &Session) -> Result<Option<Capabilities>, Failure> {
        if !self.is_validated {
            return Ok(None);
        }
        session.block_on(async { server_capabilities(&self.server).await.map(Some) })
    }

    /// Renders a chart whose templates may look up objects. They block, so another thread serves their requests.
    pub(super) fn render(
        &self,
        chart: &Arc<Chart>,
        values: Values,
        mut options: RenderOptions,
        session: &Session,
    ) -> Result<Rendered, Failure> {
        if !self.reads_objects {
            return Ok(chart.render(&values, &options)?);
        }
        let chart = chart.clone();
        session.block_on(async {
            options.lookup = Some(Arc::new(ServerLookup::new(self.server.clone(), Handle::current())));
            let rendered = spawn_blocking(move || chart.render(&values, &options)).await;
            rendered.expect("invariant: the task is neither cancelled nor does it panic")
        })
    }

    /// Checks objects by a dry run, if the flags ask for it. Objects whose namespace or kind is missing because the chart
    /// creates it are only checked for their form.
    pub(super) fn validate(
        &self,
        objects: Vec<Object>,
        namespace: &str,
        session: &Session,
    ) -> Result<(), Failure> {
        if !self.is_validated {
            return Ok(());
        }
        session
            .block_on(Box::pin(dry_run(&self.server, objects, namespace)))
            .with_context(|| "the cluster does not accept the objects".to_owned())
    }
}

/// Sends objects as a dry run, each as its own apply.
async fn dry_run(server: &Server, objects: Vec<Object>, namespace: &str) -> Result<(), EngineError> {
    let marks =
        OwnershipMarks { finalizer: None, ..OwnershipMarks::of_component(CAPSTAN_DOMAIN, "validation") };
    let options = ApplyOptions {
        defaults: Policies { adoption: AdoptionPolicy::Always, ..Policies::default() },
        ..ApplyOptions::new("helm", CAPSTAN_DOMAIN, namespace)
    };
    let engine = Engine { server, marks: &marks, options: &options };
    let mut planned = engine.plan_objects(ApplySet::default(), objects, ReadByName::All).await?;
    engine.dry_run(&mut planned, |_| true).await
}
