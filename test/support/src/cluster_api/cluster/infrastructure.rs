//! What the infrastructure and the machines of a Cluster are made of.

use serde_json::{Value, json};

use crate::{
    cluster_api::{conditions, kubeadm},
    kind::{self, Kind},
};

/// Kinds of an infrastructure provider and of the bootstrap provider beside it, and what their objects have to say.
#[derive(Clone, Debug)]
pub struct Infrastructure {
    /// Of the Cluster, such as DockerCluster.
    pub cluster: Kind,
    /// What it says beside its endpoint.
    pub cluster_spec: Value,
    /// Of a Machine.
    pub machine: Kind,
    /// What they are made from.
    pub machine_template: Kind,
    /// What both say; a machine has its provider id besides.
    pub machine_spec: Value,
    /// The bootstrap config of a Machine.
    pub config: Kind,
    /// What they are made from.
    pub config_template: Kind,
    /// What both say.
    pub config_spec: Value,
    /// What Cluster and Machine report, as the contract has it that the provider follows.
    pub status: Value,
    /// What a config reports beside the name of its data.
    pub config_status: Value,
}

impl Infrastructure {
    /// Docker and kubeadm.
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

/// The finalizer that the controller of a kind puts on its objects.
pub(super) fn finalizer(kind: Kind) -> String {
    format!("{}.{}", kind.kind.to_lowercase(), kind.group)
}
