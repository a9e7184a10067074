//! The kinds that tests name.

/// A kind as the server serves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Empty for core.
    pub group: &'static str,
    /// Such as `v1beta2`.
    pub version: &'static str,
    /// Such as `Machine`.
    pub kind: &'static str,
    /// Such as `machines`.
    pub plural: &'static str,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

impl Kind {
    /// A kind whose objects live in namespaces.
    pub const fn new(
        group: &'static str,
        version: &'static str,
        kind: &'static str,
        plural: &'static str,
    ) -> Self {
        Self { group, version, kind, plural, namespaced: true }
    }

    /// The same, for objects of the whole cluster.
    #[must_use]
    pub const fn of_the_cluster(self) -> Self {
        Self { namespaced: false, ..self }
    }

    /// As objects name it, such as `cluster.x-k8s.io/v1beta2`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_owned()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// The path of its objects in one namespace; in all for the empty one.
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
pub const NAMESPACE: Kind = core("Namespace", "namespaces").of_the_cluster();
/// A Secret.
pub const SECRET: Kind = core("Secret", "secrets");
/// The definition of a custom resource.
pub const CUSTOM_RESOURCE_DEFINITION: Kind =
    Kind::new("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions")
        .of_the_cluster();

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
/// What ClusterResourceSets did to one Cluster.
pub const CLUSTER_RESOURCE_SET_BINDING: Kind =
    addons("ClusterResourceSetBinding", "clusterresourcesetbindings");
/// A bootstrap config.
pub const KUBEADM_CONFIG: Kind = bootstrap("KubeadmConfig", "kubeadmconfigs");
/// What bootstrap configs are made from.
pub const KUBEADM_CONFIG_TEMPLATE: Kind = bootstrap("KubeadmConfigTemplate", "kubeadmconfigtemplates");
/// A control plane.
pub const KUBEADM_CONTROL_PLANE: Kind = control_plane("KubeadmControlPlane", "kubeadmcontrolplanes");
/// What control planes of a class are made from.
pub const KUBEADM_CONTROL_PLANE_TEMPLATE: Kind =
    control_plane("KubeadmControlPlaneTemplate", "kubeadmcontrolplanetemplates");
/// The infrastructure of a Cluster.
pub const DOCKER_CLUSTER: Kind = infrastructure("DockerCluster", "dockerclusters");
/// What the infrastructure of Clusters of a class is made from.
pub const DOCKER_CLUSTER_TEMPLATE: Kind = infrastructure("DockerClusterTemplate", "dockerclustertemplates");
/// The infrastructure of a Machine.
pub const DOCKER_MACHINE: Kind = infrastructure("DockerMachine", "dockermachines");
/// What the infrastructure of Machines is made from.
pub const DOCKER_MACHINE_TEMPLATE: Kind = infrastructure("DockerMachineTemplate", "dockermachinetemplates");
/// A global identity: credentials that Clusters of all namespaces share.
pub const AWS_CLUSTER_STATIC_IDENTITY: Kind =
    infrastructure("AWSClusterStaticIdentity", "awsclusterstaticidentities").of_the_cluster();
/// An entry of the provider inventory.
pub const PROVIDER: Kind = Kind::new("clusterctl.cluster.x-k8s.io", "v1alpha3", "Provider", "providers");
