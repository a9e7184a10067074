//! What a sandbox is started with.

use std::path::PathBuf;

use crate::{admission::ServiceWebhooks, faults::Fault, store::DEFAULT_HISTORY};

/// What a sandbox is started with.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where its objects are kept; `None` keeps them in memory alone.
    pub data_dir: Option<PathBuf>,
    /// The number of this process, told to others that want the same data directory.
    pub process: Option<u32>,
    /// How many changes it remembers: a watch or a list that wants to go further back is answered with 410.
    pub history: usize,
    /// How many requests the audit log keeps.
    pub audited: usize,
    /// Which controllers are played.
    pub controllers: Switches,
    /// What becomes of admission webhooks behind a service.
    pub service_webhooks: ServiceWebhooks,
    /// Trouble from the start.
    pub faults: Vec<Fault>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            data_dir: None,
            process: None,
            history: DEFAULT_HISTORY,
            audited: 100_000,
            controllers: Switches::default(),
            service_webhooks: ServiceWebhooks::default(),
            faults: Vec::new(),
        }
    }
}

/// Which controllers run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switches {
    /// Owner garbage collection and namespace deletion: a cluster is no cluster without them.
    pub garbage: bool,
    /// Deployments, ReplicaSets, DaemonSets, StatefulSets, Jobs, their pods on one node, endpoints, what namespaces are
    /// given, and aggregated roles.
    pub workloads: bool,
    /// APIServices become available.
    pub api_services: bool,
    /// cert-manager: Issuers, Certificates, CA injection.
    pub cert_manager: bool,
    /// Cluster API: core, kubeadm bootstrap and control plane, infrastructure.
    pub cluster_api: bool,
}

impl Switches {
    /// No controllers at all.
    pub fn none() -> Self {
        Self {
            garbage: false,
            workloads: false,
            api_services: false,
            cert_manager: false,
            cluster_api: false,
        }
    }
}

impl Default for Switches {
    fn default() -> Self {
        Self { garbage: true, workloads: true, api_services: true, cert_manager: true, cluster_api: true }
    }
}
