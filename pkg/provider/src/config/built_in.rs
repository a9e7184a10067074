use api::{
    ProviderId,
    ProviderType::{self, Addon, Bootstrap, ControlPlane, Core, Infrastructure, Ipam, RuntimeExtension},
};

use super::ProviderConfig;

/// Type, name and GitHub repository, in listing order.
/// Source: clusterctl v1.14.0, `config repositories` on an empty configuration.
const BUILT_IN: [(ProviderType, &str, &str); 64] = [
    (Core, "cluster-api", "kubernetes-sigs/cluster-api"),
    (Bootstrap, "canonical-kubernetes", "canonical/cluster-api-k8s"),
    (Bootstrap, "k0sproject-k0smotron", "k0sproject/k0smotron"),
    (Bootstrap, "kubeadm", "kubernetes-sigs/cluster-api"),
    (Bootstrap, "kubekey-k3s", "kubesphere/kubekey"),
    (Bootstrap, "microk8s", "canonical/cluster-api-bootstrap-provider-microk8s"),
    (Bootstrap, "rke2", "rancher/cluster-api-provider-rke2"),
    (Bootstrap, "talos", "siderolabs/cluster-api-bootstrap-provider-talos"),
    (ControlPlane, "canonical-kubernetes", "canonical/cluster-api-k8s"),
    (ControlPlane, "hosted-control-plane", "teutonet/cluster-api-provider-hosted-control-plane"),
    (ControlPlane, "k0sproject-k0smotron", "k0sproject/k0smotron"),
    (ControlPlane, "kamaji", "clastix/cluster-api-control-plane-provider-kamaji"),
    (ControlPlane, "kubeadm", "kubernetes-sigs/cluster-api"),
    (ControlPlane, "kubekey-k3s", "kubesphere/kubekey"),
    (ControlPlane, "microk8s", "canonical/cluster-api-control-plane-provider-microk8s"),
    (ControlPlane, "nested", "kubernetes-sigs/cluster-api-provider-nested"),
    (ControlPlane, "rke2", "rancher/cluster-api-provider-rke2"),
    (ControlPlane, "talos", "siderolabs/cluster-api-control-plane-provider-talos"),
    (Infrastructure, "aws", "kubernetes-sigs/cluster-api-provider-aws"),
    (Infrastructure, "azure", "kubernetes-sigs/cluster-api-provider-azure"),
    (Infrastructure, "byoh", "vmware-tanzu/cluster-api-provider-bringyourownhost"),
    (Infrastructure, "cloudscale-ch-cloudscale", "cloudscale-ch/cluster-api-provider-cloudscale"),
    (Infrastructure, "cloudstack", "kubernetes-sigs/cluster-api-provider-cloudstack"),
    (Infrastructure, "coxedge", "coxedge/cluster-api-provider-coxedge"),
    (Infrastructure, "digitalocean", "kubernetes-sigs/cluster-api-provider-digitalocean"),
    (Infrastructure, "docker", "kubernetes-sigs/cluster-api"),
    (Infrastructure, "gcp", "kubernetes-sigs/cluster-api-provider-gcp"),
    (Infrastructure, "harvester-harvester", "rancher-sandbox/cluster-api-provider-harvester"),
    (Infrastructure, "hetzner", "syself/cluster-api-provider-hetzner"),
    (Infrastructure, "hivelocity-hivelocity", "hivelocity/cluster-api-provider-hivelocity"),
    (Infrastructure, "huawei", "HuaweiCloudDeveloper/cluster-api-provider-huawei"),
    (Infrastructure, "ibmcloud", "kubernetes-sigs/cluster-api-provider-ibmcloud"),
    (Infrastructure, "ionoscloud-ionoscloud", "ionos-cloud/cluster-api-provider-ionoscloud"),
    (Infrastructure, "k0sproject-k0smotron", "k0sproject/k0smotron"),
    (Infrastructure, "kubekey", "kubesphere/kubekey"),
    (Infrastructure, "kubeswift-io", "kubeswift-io/cluster-api-provider-kubeswift"),
    (Infrastructure, "kubevirt", "kubernetes-sigs/cluster-api-provider-kubevirt"),
    (Infrastructure, "linode-linode", "linode/cluster-api-provider-linode"),
    (Infrastructure, "maas", "spectrocloud/cluster-api-provider-maas"),
    (Infrastructure, "metal-stack", "metal-stack/cluster-api-provider-metal-stack"),
    (Infrastructure, "metal3", "metal3-io/cluster-api-provider-metal3"),
    (Infrastructure, "nested", "kubernetes-sigs/cluster-api-provider-nested"),
    (Infrastructure, "nutanix", "nutanix-cloud-native/cluster-api-provider-nutanix"),
    (Infrastructure, "oci", "oracle/cluster-api-provider-oci"),
    (Infrastructure, "opennebula", "OpenNebula/cluster-api-provider-opennebula"),
    (Infrastructure, "openstack", "kubernetes-sigs/cluster-api-provider-openstack"),
    (Infrastructure, "outscale", "outscale/cluster-api-provider-outscale"),
    (Infrastructure, "oxide", "oxidecomputer/cluster-api-provider-oxide"),
    (Infrastructure, "proxmox", "ionos-cloud/cluster-api-provider-proxmox"),
    (Infrastructure, "scaleway", "scaleway/cluster-api-provider-scaleway"),
    (Infrastructure, "sidero", "siderolabs/sidero"),
    (Infrastructure, "tinkerbell-tinkerbell", "tinkerbell/cluster-api-provider-tinkerbell"),
    (Infrastructure, "vcd", "vmware/cluster-api-provider-cloud-director"),
    (Infrastructure, "vcluster", "loft-sh/cluster-api-provider-vcluster"),
    (Infrastructure, "virtink", "smartxworks/cluster-api-provider-virtink"),
    (Infrastructure, "vsphere", "kubernetes-sigs/cluster-api-provider-vsphere"),
    (Infrastructure, "vultr-vultr", "vultr/cluster-api-provider-vultr"),
    (Ipam, "in-cluster", "kubernetes-sigs/cluster-api-ipam-provider-in-cluster"),
    (Ipam, "metal3", "metal3-io/ip-address-manager"),
    (Ipam, "nutanix", "nutanix-cloud-native/cluster-api-ipam-provider-nutanix"),
    (RuntimeExtension, "nutanix", "nutanix-cloud-native/cluster-api-runtime-extensions-nutanix"),
    (Addon, "eitco-cdk8s", "eitco/cluster-api-addon-provider-cdk8s"),
    (Addon, "helm", "kubernetes-sigs/cluster-api-addon-provider-helm"),
    (Addon, "rancher-fleet", "rancher/cluster-api-addon-provider-fleet"),
];

/// The built-in providers, sorted by type, then by name.
///
/// Each url points to the newest GitHub release and the default file name of the type. Only `docker` publishes
/// development components.
pub(super) fn built_in_providers() -> impl Iterator<Item = ProviderConfig> {
    BUILT_IN.iter().map(|&(provider_type, name, repository)| {
        let file = match (provider_type, name) {
            (Infrastructure, "docker") => "infrastructure-components-development.yaml",
            _ => provider_type.components_file(),
        };
        ProviderConfig {
            id: ProviderId::new(provider_type, name),
            url: format!("https://github.com/{repository}/releases/latest/{file}"),
            kind: None,
            source: api::output::ProviderSource::BuiltIn,
        }
    })
}
