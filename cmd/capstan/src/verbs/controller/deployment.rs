//! The flags that describe a deployment of the controller.

use api::check_dns_label;
use controller::{DeploymentSettings, MAX_SHARDS};
use manifest::images::{ImageReference, ImageReferenceError};

use crate::Failure;

/// The flags of the objects that run the controller.
#[derive(clap::Args)]
pub(super) struct DeploymentFlags {
    /// Image whose entry point is capstan
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,

    #[command(flatten)]
    pub(super) namespace: NamespaceFlag,

    /// Number of replicas of each shard, of which one works
    #[arg(long, value_name = "N", default_value_t = 1)]
    replicas: u32,

    /// Number of shards that work at the same time, each with a Deployment of its own
    #[arg(long, value_name = "N", default_value_t = 1)]
    shards: u16,

    /// Let the controller write every kind, instead of only acting as service accounts
    #[arg(long)]
    cluster_admin: bool,
}

/// The flag of the namespace of the controller.
#[derive(clap::Args)]
pub(super) struct NamespaceFlag {
    /// Namespace of the controller
    #[arg(short, long, value_name = "NAME", default_value = "component-operator-system")]
    namespace: String,
}

impl NamespaceFlag {
    /// Returns the namespace.
    pub(super) fn name(&self) -> Result<&str, Failure> {
        let namespace = &self.namespace;
        check_dns_label(namespace)
            .map_err(|error| Failure::user(format!("invalid namespace `{namespace}`")).because(&error))?;
        Ok(namespace)
    }
}

impl DeploymentFlags {
    pub(super) fn settings(&self) -> Result<DeploymentSettings, Failure> {
        let namespace = self.namespace.name()?.to_owned();
        let image = self.image.clone().filter(|image| !image.is_empty()).ok_or_else(|| {
            Failure::user("missing flag `--image`").hint(
                "name an image whose entry point is capstan, such as `--image registry.example/capstan:v1`",
            )
        })?;
        match ImageReference::parse(&image) {
            Ok(_) | Err(ImageReferenceError::NotCanonical { .. }) => {}
            Err(error) => {
                return Err(
                    Failure::user(format!("invalid value `{image}` for `--image`")).cause(error.to_string())
                );
            }
        }
        if !(1..=MAX_SHARDS).contains(&self.shards) {
            return Err(Failure::user(format!("invalid value `{}` for `--shards`", self.shards))
                .cause(format!("expected a number from 1 to {MAX_SHARDS}")));
        }
        Ok(DeploymentSettings {
            image,
            namespace,
            replicas: self.replicas,
            shards: self.shards,
            is_cluster_admin: self.cluster_admin,
        })
    }
}
