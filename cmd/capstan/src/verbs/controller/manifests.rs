use api::check_dns_label;
use controller::DeploymentSettings;

use crate::{Failure, session::Session};

/// Print the objects that run the controller on a cluster
///
/// Prints the definition of Components, a namespace, a Deployment and what it needs. The controller may write every kind, because
/// Components may contain objects of every kind. Does not contact a cluster.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} controller manifests --image host.example/capstan:v1 > all.yaml
  {bin} controller manifests --image host.example/capstan:v1 --replicas 2")]
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
}

pub(super) fn run(args: &Manifests, session: &mut Session) -> Result<(), Failure> {
    let namespace = &args.namespace;
    check_dns_label(namespace)
        .map_err(|error| Failure::user(format!("invalid namespace `{namespace}`")).because(&error))?;
    let settings = DeploymentSettings {
        image: args.image.clone(),
        namespace: namespace.clone(),
        replicas: args.replicas,
    };
    session.printer().write(manifest::write_stream(&controller::manifests(&settings)) + "\n")
}
