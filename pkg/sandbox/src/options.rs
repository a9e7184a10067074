//! Options of a sandbox.

use std::path::PathBuf;

use crate::{admission::ServiceWebhooks, faults::Fault, store::DEFAULT_HISTORY};

/// The options of a sandbox.
#[derive(Clone, Debug)]
pub struct Options {
    /// The data directory. `None` keeps objects in memory only.
    pub data_dir: Option<PathBuf>,
    /// The id of this process, shown to other processes that want the same data directory.
    pub process: Option<u32>,
    /// The number of remembered changes. The server answers older watches and lists with 410.
    pub history: usize,
    /// The number of requests in the audit log.
    pub audited: usize,
    /// Simulated controllers.
    pub controllers: Switches,
    /// The handling of admission webhooks behind a service.
    pub service_webhooks: ServiceWebhooks,
    /// Faults from the start.
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

/// Switches for the simulated controllers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switches {
    /// Owner garbage collection and namespace deletion. Every real cluster has both.
    pub garbage: bool,
    /// Deployments, ReplicaSets, DaemonSets, StatefulSets, Jobs, their pods on one node, endpoints, default objects of
    /// namespaces, and aggregated roles.
    pub workloads: bool,
    /// APIServices: reports them as available.
    pub api_services: bool,
    /// cert-manager: Issuers, Certificates, CA injection.
    pub cert_manager: bool,
    /// Cluster API: core, kubeadm bootstrap and control plane, infrastructure.
    pub cluster_api: bool,
}

impl Switches {
    /// Disables all controllers.
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
