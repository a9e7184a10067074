use api::check_dns_label;
use controller::DeploymentSettings;

use crate::{Failure, session::Session};

/// Print the objects that run the controller on a cluster
///
/// Prints the definitions of Components and Blueprints, a namespace, permissions, a Deployment and what it needs. The controller
/// acts as the service account of each Component, and may only read Components and what they refer to. With `--cluster-admin`, it
/// may write every kind. Does not contact a cluster.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} controller manifests --image host.example/capstan:v1 > all.yaml
  {bin} controller manifests --image example.org/capstan:v1 --cluster-admin")]
pub(crate) struct Manifests {
    /// Image whose entry point is capstan
    #[arg(long, value_name = "IMAGE")]
    image: String,

    /// Namespace of the controller
    #[arg(short, long, value_name = "NAME", default_value = "component-operator-system")]
    namespace: String,

    /// Number of replicas, of which one works
    #[arg(long, value_name = "N", default_value_t = 1)]
    replicas: u32,

    /// Let the controller write every kind, instead of only acting as service accounts
    #[arg(long)]
    cluster_admin: bool,
}

pub(super) fn run(args: &Manifests, session: &mut Session) -> Result<(), Failure> {
    let namespace = &args.namespace;
    check_dns_label(namespace)
        .map_err(|error| Failure::user(format!("invalid namespace `{namespace}`")).because(&error))?;
    let settings = DeploymentSettings {
        image: args.image.clone(),
        namespace: namespace.clone(),
        replicas: args.replicas,
        is_cluster_admin: args.cluster_admin,
    };
    session.printer().write(manifest::write_stream(&controller::manifests(&settings)) + "\n")
}
