//! Simulated controllers of a cluster; options switch each controller on or off.

mod aggregation;
mod api_services;
mod cert_manager;
mod cluster_api;
mod controller;
mod garbage_collector;
mod namespaces;
pub(crate) mod runner;
mod workloads;

use std::sync::Arc;

pub(crate) use self::controller::{Controller, Reconciliation, Requeue};
pub(crate) use crate::meta::{ObjectRef, group_of};
use crate::options::ControllerSwitches;

pub(crate) fn controllers(switches: &ControllerSwitches) -> Vec<Arc<dyn Controller>> {
    let mut chosen: Vec<Arc<dyn Controller>> = Vec::new();
    if switches.garbage_collection {
        chosen.push(Arc::new(garbage_collector::GarbageCollector::default()));
        chosen.push(Arc::new(namespaces::NamespaceController));
    }
    if switches.workloads {
        chosen.extend(workloads::controllers());
    }
    if switches.api_services {
        chosen.extend(api_services::controllers());
    }
    if switches.cert_manager {
        chosen.push(Arc::new(cert_manager::CertManager::default()));
    }
    if switches.cluster_api {
        chosen.push(Arc::new(cluster_api::ClusterApi::default()));
    }
    chosen
}
