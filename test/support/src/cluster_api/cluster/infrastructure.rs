//! The infrastructure of a Cluster and of its machines.

use serde_json::{Value, json};

use crate::{
    cluster_api::{conditions, kubeadm},
    kind::{self, Kind},
};

/// The kinds of an infrastructure provider and its bootstrap provider, with the content of their objects.
#[derive(Clone, Debug)]
pub struct Infrastructure {
    /// The kind for Clusters, such as DockerCluster.
    pub cluster: Kind,
    /// The spec of the Cluster kind, without the endpoint.
    pub cluster_spec: Value,
    /// The kind for Machines.
    pub machine: Kind,
    /// The template kind for Machines.
    pub machine_template: Kind,
    /// The spec of both Machine kinds. Machines have a provider id in addition.
    pub machine_spec: Value,
    /// The bootstrap config kind for Machines.
    pub config: Kind,
    /// The template kind for bootstrap configs.
    pub config_template: Kind,
    /// The spec of both bootstrap config kinds.
    pub config_spec: Value,
    /// The status of Cluster and Machine, in the form that the contract of the provider requires.
    pub status: Value,
    /// The status of a bootstrap config, without the name of its data Secret.
    pub config_status: Value,
}

impl Infrastructure {
    /// Docker infrastructure with kubeadm.
    #[must_use]
    pub fn docker() -> Self {
        Self {
            cluster: kind::DOCKER_CLUSTER,
            cluster_spec: json!({}),
            machine: kind::DOCKER_MACHINE,
            machine_template: kind::DOCKER_MACHINE_TEMPLATE,
            machine_spec: json!({}),
            config: kind::KUBEADM_CONFIG,
            config_template: kind::KUBEADM_CONFIG_TEMPLATE,
            config_spec: kubeadm(),
            status: json!({"initialization": {"provisioned": true}, "conditions": conditions(&["Ready"])}),
            config_status: json!({
                "initialization": {"dataSecretCreated": true},
                "conditions": conditions(&["Ready", "DataSecretAvailable"]),
            }),
        }
    }
}

/// The finalizer that the controller of a kind adds to its objects.
pub(super) fn finalizer(kind: Kind) -> String {
    format!("{}.{}", kind.kind.to_lowercase(), kind.group)
}
