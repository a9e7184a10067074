use management::{ManagementCluster, ResourceRef, RolloutResource};

use crate::{
    Failure,
    events::ProgressFormat,
    session::Session,
    settings::{self, ServerFlags},
};

/// What the verbs of `rollout` work on.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct Target {
    /// Resources, as md/demo-workers or kcp/demo-control-plane
    #[arg(id = "rollouts", value_name = "RESOURCE")]
    resources: Vec<String>,

    /// Namespace of the resources [default: that of the current context]
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,

    #[command(flatten)]
    server: ServerFlags,
}

impl Target {
    /// The form in which progress is shown.
    pub(super) fn progress(&self) -> ProgressFormat {
        self.server.pace.progress
    }

    /// Connects, and tells what is meant. Every word is looked at before anything is done to the first.
    /// # Errors
    /// Says which word is no resource.
    pub(super) fn resources(
        &self,
        session: &Session,
    ) -> Result<(ManagementCluster, Vec<RolloutResource>), Failure> {
        if self.resources.is_empty() {
            return Err(
                Failure::user("no resource is named").hint("name one as TYPE/NAME, such as md/demo-workers")
            );
        }
        let refs: Result<Vec<_>, _> = self.resources.iter().map(|word| ResourceRef::parse(word)).collect();
        let refs = refs?;
        let namespace = self.server.kube.namespace(self.namespace.as_deref(), session.environment())?;
        let cluster = settings::management_cluster(&self.server.kube, &self.server.pace, session)?;
        let resources = session.block_on(management::rollout_resources(&cluster, &namespace, &refs))?;
        Ok((cluster, resources))
    }
}
