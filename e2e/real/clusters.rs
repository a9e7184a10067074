//! A docker Cluster with a class and an EKS Cluster: the user's commands, and the objects that controllers would
//! create.

use serde_json::json;
use support::{
    cluster_api::{Infrastructure, Object, cluster, object},
    kind::{self, Kind},
};

/// A Cluster from a provider template.
pub(super) struct Sample {
    pub(super) namespace: &'static str,
    pub(super) name: &'static str,
    infrastructure: &'static str,
    flavor: &'static str,
    objects: fn() -> Vec<Object>,
}

/// A managed topology with its class in the same namespace.
const SHOP: Sample = Sample {
    namespace: "web",
    name: "shop",
    infrastructure: "docker:v1.14.0",
    flavor: "development",
    objects: shop,
};
/// A v1beta1 template whose control plane is not kubeadm and has no machines.
const BANK: Sample =
    Sample { namespace: "money", name: "bank", infrastructure: "aws:v2.11.1", flavor: "eks", objects: bank };
pub(super) const SAMPLES: [Sample; 2] = [SHOP, BANK];

/// The variables of the templates.
pub(super) const VARIABLES: &str =
    "AWS_REGION: eu-west-1\nAWS_SSH_KEY_NAME: default\nAWS_NODE_MACHINE_TYPE: t3.large\n";

const fn infrastructure(kind: &'static str, plural: &'static str) -> Kind {
    Kind::new("infrastructure.cluster.x-k8s.io", "v1beta2", kind, plural)
}

const DEV_CLUSTER: Kind = infrastructure("DevCluster", "devclusters");
const DEV_CLUSTER_TEMPLATE: Kind = infrastructure("DevClusterTemplate", "devclustertemplates");
const DEV_MACHINE: Kind = infrastructure("DevMachine", "devmachines");
const DEV_MACHINE_TEMPLATE: Kind = infrastructure("DevMachineTemplate", "devmachinetemplates");
const DEV_MACHINE_POOL_TEMPLATE: Kind = infrastructure("DevMachinePoolTemplate", "devmachinepooltemplates");
const AWS_MANAGED_CLUSTER: Kind = infrastructure("AWSManagedCluster", "awsmanagedclusters");
const AWS_MACHINE: Kind = infrastructure("AWSMachine", "awsmachines");
const AWS_MACHINE_TEMPLATE: Kind = infrastructure("AWSMachineTemplate", "awsmachinetemplates");
const EKS_CONFIG: Kind = Kind::new("bootstrap.cluster.x-k8s.io", "v1beta2", "EKSConfig", "eksconfigs");
const EKS_CONFIG_TEMPLATE: Kind =
    Kind::new("bootstrap.cluster.x-k8s.io", "v1beta2", "EKSConfigTemplate", "eksconfigtemplates");
const AWS_MANAGED_CONTROL_PLANE: Kind = Kind::new(
    "controlplane.cluster.x-k8s.io",
    "v1beta2",
    "AWSManagedControlPlane",
    "awsmanagedcontrolplanes",
);

impl Sample {
    /// The command that renders the template.
    pub(super) fn command(&self) -> Vec<&'static str> {
        let place = ["generate", "cluster", self.name, "--target-namespace", self.namespace];
        let template = ["--infrastructure", self.infrastructure, "--flavor", self.flavor];
        let size = ["--control-plane-machine-count", "1", "--worker-machine-count", "2"];
        [&place[..], &template, &size, &["--kubernetes-version", "v1.36.0"]].concat()
    }

    /// The objects after controllers have reconciled them, owners first.
    pub(super) fn objects(&self) -> Vec<Object> {
        (self.objects)()
    }
}

fn shop() -> Vec<Object> {
    let of_class = [
        (DEV_CLUSTER_TEMPLATE, "quick-start-cluster"),
        (kind::KUBEADM_CONTROL_PLANE_TEMPLATE, "quick-start-control-plane"),
        (DEV_MACHINE_TEMPLATE, "quick-start-control-plane"),
        (DEV_MACHINE_TEMPLATE, "quick-start-default-worker-machinetemplate"),
        (DEV_MACHINE_POOL_TEMPLATE, "quick-start-default-worker-machinepooltemplate"),
        (kind::KUBEADM_CONFIG_TEMPLATE, "quick-start-default-worker-bootstraptemplate"),
    ];
    let template =
        |(kind, name)| object(kind, &format!("web/{name}")).owned_by(kind::CLUSTER_CLASS, "quick-start");
    let docker = json!({"backend": {"docker": {}}});
    let dev = Infrastructure {
        cluster: DEV_CLUSTER,
        cluster_spec: docker.clone(),
        machine: DEV_MACHINE,
        machine_template: DEV_MACHINE_TEMPLATE,
        machine_spec: docker,
        ..Infrastructure::docker()
    };
    let cluster = cluster("web/shop").with_infrastructure(dev).of_class("quick-start");
    of_class.map(template).into_iter().chain(cluster.control_plane(1).machine_deployment("md-0", 2)).collect()
}

fn bank() -> Vec<Object> {
    let eks = Infrastructure {
        cluster: AWS_MANAGED_CLUSTER,
        cluster_spec: json!({}),
        machine: AWS_MACHINE,
        machine_template: AWS_MACHINE_TEMPLATE,
        machine_spec: json!({"instanceType": "t3.large"}),
        config: EKS_CONFIG,
        config_template: EKS_CONFIG_TEMPLATE,
        config_spec: json!({}),
        status: json!({"ready": true}),
        config_status: json!({"ready": true}),
    };
    let control_plane = object(AWS_MANAGED_CONTROL_PLANE, "money/bank-control-plane")
        .finalizer("awsmanagedcontrolplane.controlplane.cluster.x-k8s.io")
        .owned_by(kind::CLUSTER, "bank")
        .status(json!({"ready": true, "initialized": true}));
    let mut objects: Vec<Object> =
        cluster("money/bank").with_infrastructure(eks).machine_deployment("md-0", 2).into_iter().collect();
    objects.push(control_plane);
    objects
}
