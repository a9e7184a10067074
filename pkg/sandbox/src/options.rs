//! Options of a sandbox.

use std::path::PathBuf;

use crate::{admission::ServiceWebhooks, faults::Fault, store::DEFAULT_HISTORY};

/// The options of a sandbox.
#[derive(Clone, Debug)]
pub struct Options {
    /// The data directory. `None` keeps objects in memory only.
    pub data_dir: Option<PathBuf>,
    /// The id of this process, shown to other processes that want the same data directory.
    pub process_id: Option<u32>,
    /// The number of remembered changes. The server answers older watches and lists with 410.
    pub history_limit: usize,
    /// The number of requests in the audit log.
    pub audit_limit: usize,
    /// The controllers that the sandbox simulates.
    pub controllers: ControllerSwitches,
    /// The handling of admission webhooks behind a service.
    pub service_webhooks: ServiceWebhooks,
    /// Faults from the start.
    pub faults: Vec<Fault>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            data_dir: None,
            process_id: None,
            history_limit: DEFAULT_HISTORY,
            audit_limit: 100_000,
            controllers: ControllerSwitches::default(),
            service_webhooks: ServiceWebhooks::default(),
            faults: Vec::new(),
        }
    }
}

/// Switches for the simulated controllers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerSwitches {
    /// Owner garbage collection and namespace deletion. Every real cluster has both.
    pub garbage_collection: bool,
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

impl ControllerSwitches {
    /// Disables all controllers.
    pub fn none() -> Self {
        Self {
            garbage_collection: false,
            workloads: false,
            api_services: false,
            cert_manager: false,
            cluster_api: false,
        }
    }
}

impl Default for ControllerSwitches {
    fn default() -> Self {
        Self {
            garbage_collection: true,
            workloads: true,
            api_services: true,
            cert_manager: true,
            cluster_api: true,
        }
    }
}
