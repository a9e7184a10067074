//! What the user says about the cluster a template is rendered for.

use api::{InvalidDnsName, InvalidVersion, Version, check_dns_label, check_dns_subdomain};

use crate::config::Variables;

/// The answers of the command line; what is absent comes from the environment, the configuration or a default.
#[derive(Clone, Debug, Default)]
pub struct ClusterRequest {
    /// Name of the workload cluster.
    pub name: String,
    /// Namespace all objects go to.
    pub target_namespace: String,
    /// Kubernetes version of the workload cluster.
    pub kubernetes_version: Option<String>,
    /// Number of control-plane machines.
    pub control_plane_machine_count: Option<i64>,
    /// Number of worker machines.
    pub worker_machine_count: Option<i64>,
}

/// An answer no cluster can be rendered for.
#[derive(Debug, thiserror::Error)]
pub enum InvalidClusterRequest {
    /// The target namespace is no namespace name.
    #[error("invalid target namespace")]
    TargetNamespace(#[source] InvalidDnsName),
    /// The cluster name is no object name.
    #[error("invalid cluster name")]
    Name(#[source] InvalidDnsName),
    /// The Kubernetes version is no version.
    #[error("invalid Kubernetes version")]
    KubernetesVersion(#[source] InvalidVersion),
    /// A machine count that is no whole number.
    #[error("invalid value {text:?} of `{variable}`: a whole number is expected")]
    CountText {
        /// The environment variable or configuration key.
        variable: &'static str,
        /// What it holds.
        text: String,
    },
    /// A machine count below the least that works.
    #[error("invalid {what} machine count {count}: at least {least} is needed")]
    CountTooSmall {
        /// `control-plane` or `worker`.
        what: &'static str,
        /// What was asked for.
        count: i64,
        /// The least that works.
        least: i64,
    },
}

impl ClusterRequest {
    /// Checks the answers and sets them as variables that nothing else overrides.
    /// Shape: sets NAMESPACE, CLUSTER_NAME, both machine counts always, KUBERNETES_VERSION when it was given; counts
    /// default to 1 and 0.
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

const CONTROL_PLANE: Count = Count {
    what: "control-plane",
    variable: "CONTROL_PLANE_MACHINE_COUNT",
    flag: "--control-plane-machine-count",
    default: 1,
    least: 1,
};

const WORKERS: Count = Count {
    what: "worker",
    variable: "WORKER_MACHINE_COUNT",
    flag: "--worker-machine-count",
    default: 0,
    least: 0,
};

struct Count {
    what: &'static str,
    variable: &'static str,
    flag: &'static str,
    default: i64,
    least: i64,
}

impl Count {
    fn set(&self, given: Option<i64>, variables: &mut Variables<'_>) -> Result<(), InvalidClusterRequest> {
        let count = match (given, variables.get(self.variable)) {
            (Some(count), _) => count,
            (None, None) => self.default,
            (None, Some(found)) => found.text.parse().map_err(|_| InvalidClusterRequest::CountText {
                variable: self.variable,
                text: found.text.clone().into_owned(),
            })?,
        };
        if count < self.least {
            return Err(InvalidClusterRequest::CountTooSmall { what: self.what, count, least: self.least });
        }
        variables.set(self.variable, count.to_string(), self.flag);
        Ok(())
    }
}
