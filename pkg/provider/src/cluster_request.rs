//! The user's request for a workload cluster.

use api::{DnsNameError, Version, VersionError, check_dns_label, check_dns_subdomain};

use crate::config::Variables;

/// Values from the command line. Absent values come from the environment, the configuration or a default.
#[derive(Clone, Debug, Default)]
pub struct ClusterRequest {
    /// The name of the workload cluster.
    pub name: String,
    /// The namespace of all objects.
    pub target_namespace: String,
    /// The Kubernetes version of the workload cluster.
    pub kubernetes_version: Option<String>,
    /// The number of control-plane machines.
    pub control_plane_machine_count: Option<i64>,
    /// The number of worker machines.
    pub worker_machine_count: Option<i64>,
}

/// An invalid value for a workload cluster.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum InvalidClusterRequest {
    #[error("invalid target namespace")]
    TargetNamespace(#[source] DnsNameError),
    #[error("invalid cluster name")]
    Name(#[source] DnsNameError),
    #[error("invalid Kubernetes version")]
    KubernetesVersion(#[source] VersionError),
    #[error("`{variable}` must be an integer, not {text:?}")]
    CountText { variable: &'static str, text: String },
    #[error("invalid {what} machine count {count}: the minimum is {least}")]
    CountTooSmall { what: &'static str, count: i64, least: i64 },
}

impl ClusterRequest {
    /// Validates the values and sets them as variables that nothing else overrides.
    ///
    /// Shape: sets NAMESPACE, CLUSTER_NAME and both machine counts, which default to 1 and 0. Sets KUBERNETES_VERSION
    /// if given.
    /// Source: clusterctl v1.14 client/config.go (templateOptionsToVariables).
    pub fn set_variables(&self, variables: &mut Variables<'_>) -> Result<(), InvalidClusterRequest> {
        check_dns_label(&self.target_namespace).map_err(InvalidClusterRequest::TargetNamespace)?;
        check_dns_subdomain(&self.name).map_err(InvalidClusterRequest::Name)?;
        variables.set("NAMESPACE", &self.target_namespace, "--target-namespace");
        variables.set("CLUSTER_NAME", &self.name, "NAME");
        if let Some(version) = &self.kubernetes_version {
            Version::parse(version).map_err(InvalidClusterRequest::KubernetesVersion)?;
            variables.set("KUBERNETES_VERSION", version, "--kubernetes-version");
        }
        CONTROL_PLANE.set(self.control_plane_machine_count, variables)?;
        WORKERS.set(self.worker_machine_count, variables)
    }
}

const CONTROL_PLANE: MachineCount = MachineCount {
    role: "control-plane",
    variable: "CONTROL_PLANE_MACHINE_COUNT",
    flag: "--control-plane-machine-count",
    default: 1,
    minimum: 1,
};

const WORKERS: MachineCount = MachineCount {
    role: "worker",
    variable: "WORKER_MACHINE_COUNT",
    flag: "--worker-machine-count",
    default: 0,
    minimum: 0,
};

struct MachineCount {
    role: &'static str,
    variable: &'static str,
    flag: &'static str,
    default: i64,
    minimum: i64,
}

impl MachineCount {
    fn set(&self, given: Option<i64>, variables: &mut Variables<'_>) -> Result<(), InvalidClusterRequest> {
        let count = match (given, variables.get(self.variable)) {
            (Some(count), _) => count,
            (None, None) => self.default,
            (None, Some(found)) => found.text.parse().map_err(|_| InvalidClusterRequest::CountText {
                variable: self.variable,
                text: found.text.clone().into_owned(),
            })?,
        };
        if count < self.minimum {
            return Err(InvalidClusterRequest::CountTooSmall { what: self.role, count, least: self.minimum });
        }
        variables.set(self.variable, count.to_string(), self.flag);
        Ok(())
    }
}
