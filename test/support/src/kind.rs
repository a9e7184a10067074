//! The kinds used in tests.

/// A kind as served by the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The group. Empty for the core group.
    pub group: &'static str,
    /// The version, such as `v1beta2`.
    pub version: &'static str,
    /// The kind, such as `Machine`.
    pub kind: &'static str,
    /// The plural, such as `machines`.
    pub plural: &'static str,
    /// True if objects of the kind are namespaced.
    pub namespaced: bool,
}

impl Kind {
    /// A namespaced kind.
    pub const fn new(
        group: &'static str,
        version: &'static str,
        kind: &'static str,
        plural: &'static str,
    ) -> Self {
        Self { group, version, kind, plural, namespaced: true }
    }

    /// Makes the kind cluster-scoped.
    #[must_use]
    pub const fn cluster_scoped(self) -> Self {
        Self { namespaced: false, ..self }
    }

    /// The `apiVersion` of objects, such as `cluster.x-k8s.io/v1beta2`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_owned()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// The API path of objects in one namespace, or in all namespaces if `namespace` is empty.
    pub fn path(&self, namespace: &str) -> String {
        let root = if self.group.is_empty() { "/api" } else { "/apis" };
        let within = if namespace.is_empty() { String::new() } else { format!("namespaces/{namespace}/") };
        format!("{root}/{}/{within}{}", self.api_version(), self.plural)
    }
}

const fn core(kind: &'static str, plural: &'static str) -> Kind {
    Kind::new("", "v1", kind, plural)
}
const fn cluster_api(kind: &'static str, plural: &'static str) -> Kind {
    Kind::new("cluster.x-k8s.io", "v1beta2", kind, plural)
}
const fn addons(kind: &'static str, plural: &'static str) -> Kind {
    Kind::new("addons.cluster.x-k8s.io", "v1beta2", kind, plural)
}
const fn bootstrap(kind: &'static str, plural: &'static str) -> Kind {
    Kind::new("bootstrap.cluster.x-k8s.io", "v1beta2", kind, plural)
}
const fn control_plane(kind: &'static str, plural: &'static str) -> Kind {
    Kind::new("controlplane.cluster.x-k8s.io", "v1beta2", kind, plural)
}
const fn infrastructure(kind: &'static str, plural: &'static str) -> Kind {
    Kind::new("infrastructure.cluster.x-k8s.io", "v1beta2", kind, plural)
}

/// A ConfigMap.
pub const CONFIG_MAP: Kind = core("ConfigMap", "configmaps");
/// A Namespace.
pub const NAMESPACE: Kind = core("Namespace", "namespaces").cluster_scoped();
/// A Secret.
pub const SECRET: Kind = core("Secret", "secrets");
/// A GitRepository of Flux.
pub const GIT_REPOSITORY: Kind =
    Kind::new("source.toolkit.fluxcd.io", "v1", "GitRepository", "gitrepositories");
/// A Blueprint of component-operator.
pub const BLUEPRINT: Kind = Kind::new("core.cs.sap.com", "v1alpha1", "Blueprint", "blueprints");
/// A Deployment.
pub const DEPLOYMENT: Kind = Kind::new("apps", "v1", "Deployment", "deployments");
/// A CustomResourceDefinition.
pub const CUSTOM_RESOURCE_DEFINITION: Kind =
    Kind::new("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions")
        .cluster_scoped();

/// A Cluster.
pub const CLUSTER: Kind = cluster_api("Cluster", "clusters");
/// A ClusterClass.
pub const CLUSTER_CLASS: Kind = cluster_api("ClusterClass", "clusterclasses");
/// A Machine.
pub const MACHINE: Kind = cluster_api("Machine", "machines");
/// A MachineSet.
pub const MACHINE_SET: Kind = cluster_api("MachineSet", "machinesets");
/// A MachineDeployment.
pub const MACHINE_DEPLOYMENT: Kind = cluster_api("MachineDeployment", "machinedeployments");
/// A MachinePool.
pub const MACHINE_POOL: Kind = cluster_api("MachinePool", "machinepools");
/// A MachineHealthCheck.
pub const MACHINE_HEALTH_CHECK: Kind = cluster_api("MachineHealthCheck", "machinehealthchecks");
/// A ClusterResourceSet.
pub const CLUSTER_RESOURCE_SET: Kind = addons("ClusterResourceSet", "clusterresourcesets");
/// A ClusterResourceSetBinding.
pub const CLUSTER_RESOURCE_SET_BINDING: Kind =
    addons("ClusterResourceSetBinding", "clusterresourcesetbindings");
/// A KubeadmConfig.
pub const KUBEADM_CONFIG: Kind = bootstrap("KubeadmConfig", "kubeadmconfigs");
/// A KubeadmConfigTemplate.
pub const KUBEADM_CONFIG_TEMPLATE: Kind = bootstrap("KubeadmConfigTemplate", "kubeadmconfigtemplates");
/// A KubeadmControlPlane.
pub const KUBEADM_CONTROL_PLANE: Kind = control_plane("KubeadmControlPlane", "kubeadmcontrolplanes");
/// A KubeadmControlPlaneTemplate.
pub const KUBEADM_CONTROL_PLANE_TEMPLATE: Kind =
    control_plane("KubeadmControlPlaneTemplate", "kubeadmcontrolplanetemplates");
/// A DockerCluster.
pub const DOCKER_CLUSTER: Kind = infrastructure("DockerCluster", "dockerclusters");
/// A DockerClusterTemplate.
pub const DOCKER_CLUSTER_TEMPLATE: Kind = infrastructure("DockerClusterTemplate", "dockerclustertemplates");
/// A DockerMachine.
pub const DOCKER_MACHINE: Kind = infrastructure("DockerMachine", "dockermachines");
/// A DockerMachineTemplate.
pub const DOCKER_MACHINE_TEMPLATE: Kind = infrastructure("DockerMachineTemplate", "dockermachinetemplates");
/// An AWSClusterStaticIdentity: credentials shared by Clusters of all namespaces.
pub const AWS_CLUSTER_STATIC_IDENTITY: Kind =
    infrastructure("AWSClusterStaticIdentity", "awsclusterstaticidentities").cluster_scoped();
/// An entry of the provider inventory.
pub const PROVIDER: Kind = Kind::new("clusterctl.cluster.x-k8s.io", "v1alpha3", "Provider", "providers");
