//! MachineDeployments, and Machines with their bootstrap config and infrastructure.

use serde_json::json;

use super::{CLUSTER_NAME, ClusterBuilder, TOPOLOGY_OWNED, infrastructure::finalizer, replicated};
use crate::{
    cluster_api::{Object, VERSION, conditions, in_same_namespace, object, reference},
    kind::{self, Kind},
};

const DEPLOYMENT_NAME: &str = "cluster.x-k8s.io/deployment-name";

impl ClusterBuilder {
    /// A MachineDeployment with its templates, MachineSet and Machines.
    pub(super) fn deployment(&self, topology_name: &str, machines: usize) -> Vec<Object> {
        let name = &*format!("{}-{topology_name}", self.name());
        let set = &*format!("{name}-1");
        let of = &self.infrastructure;
        let own = json!({CLUSTER_NAME: self.name(), DEPLOYMENT_NAME: name});
        let spec = json!({
            "clusterName": self.name(),
            "replicas": machines,
            "selector": {"matchLabels": own},
            "template": {"metadata": {"labels": own}, "spec": {
                "clusterName": self.name(),
                "version": VERSION,
                "bootstrap": {"configRef": reference(of.config_template, name)},
                "infrastructureRef": reference(of.machine_template, name),
            }},
        });
        // Objects of a topology have both finalizers; other objects have only the second.
        let part = |kind: Kind, name: &str, labels: &[(&str, &str)], finalizers: [&str; 2]| {
            let ready = conditions(&["MachinesReady", "MachinesUpToDate"]);
            let part = self.labelled(kind, name, labels).field("spec", spec.clone());
            let part = part.status(replicated(machines, json!({"conditions": ready})));
            let finalizers = &finalizers[usize::from(self.class.is_none())..];
            finalizers.iter().fold(part, |part, finalizer| part.finalizer(finalizer))
        };
        let mut labels = Vec::new();
        if self.class.is_some() {
            labels
                .extend([(TOPOLOGY_OWNED, ""), ("topology.cluster.x-k8s.io/deployment-name", topology_name)]);
        }
        let finalizers =
            ["machinedeployment.topology.cluster.x-k8s.io", "cluster.x-k8s.io/machinedeployment"];
        let deployment = part(kind::MACHINE_DEPLOYMENT, name, &labels, finalizers);
        labels.extend([(DEPLOYMENT_NAME, name), ("machine-template-hash", "1")]);
        let finalizers = ["machineset.topology.cluster.x-k8s.io", "cluster.x-k8s.io/machineset"];
        let machine_set = part(kind::MACHINE_SET, set, &labels, finalizers);
        let mut objects = vec![
            self.template(of.config_template, name, &of.config_spec),
            self.machine_template(name),
            deployment.owned_by(kind::CLUSTER, self.name()),
            machine_set.controlled_by(kind::MACHINE_DEPLOYMENT, name),
        ];
        labels.push(("cluster.x-k8s.io/set-name", set));
        objects.extend(self.machines_of(set, machines, (kind::MACHINE_SET, set, true), &labels));
        objects
    }

    /// Machines `NAME-0` and so on. `owner` is kind, name, and true if the owner is the controller.
    pub(super) fn machines_of(
        &self,
        name: &str,
        machines: usize,
        owner: (Kind, &str, bool),
        labels: &[(&str, &str)],
    ) -> Vec<Object> {
        (0..machines).flat_map(|number| self.machine(&format!("{name}-{number}"), owner, labels)).collect()
    }

    /// A running Machine with its bootstrap config, infrastructure and bootstrap data.
    fn machine(&self, name: &str, owner: (Kind, &str, bool), labels: &[(&str, &str)]) -> [Object; 4] {
        let of = &self.infrastructure;
        let provider_id = format!("docker:////{name}");
        let spec = json!({
            "clusterName": self.name(),
            "version": VERSION,
            "providerID": provider_id,
            "bootstrap": {"configRef": reference(of.config, name), "dataSecretName": name},
            "infrastructureRef": reference(of.machine, name),
        });
        let hold =
            ["Available", "Ready", "UpToDate", "BootstrapConfigReady", "InfrastructureReady", "NodeHealthy"];
        let machine =
            self.labelled(kind::MACHINE, name, labels).finalizer("machine.cluster.x-k8s.io").status(json!({
                "phase": "Running",
                "nodeRef": {"name": name},
                "initialization": {"bootstrapDataSecretCreated": true, "infrastructureProvisioned": true},
                "conditions": conditions(&hold),
            }));
        let mut config_status = of.config_status.clone();
        config_status["dataSecretName"] = json!(name);
        let config = self.labelled(of.config, name, labels).status(config_status);
        let infrastructure = self.labelled(of.machine, name, labels).status(of.status.clone());
        let mut infrastructure_spec = of.machine_spec.clone();
        infrastructure_spec["providerID"] = json!(provider_id);
        let data = json!({"format": "cloud-config", "value": format!("#cloud-config of {name}")});
        [
            machine.owned(owner.0, owner.1, owner.2).field("spec", spec),
            config.controlled_by(kind::MACHINE, name).field("spec", of.config_spec.clone()),
            infrastructure
                .controlled_by(kind::MACHINE, name)
                .finalizer(&finalizer(of.machine))
                .field("spec", infrastructure_spec),
            self.labelled(kind::SECRET, name, &[])
                .controlled_by(of.config, name)
                .field("type", json!("cluster.x-k8s.io/secret"))
                .field("stringData", data),
        ]
    }

    /// An object of the Cluster with the cluster name label and these labels.
    fn labelled(&self, kind: Kind, name: &str, labels: &[(&str, &str)]) -> Object {
        let object =
            object(kind, &in_same_namespace(&self.namespaced_name, name)).label(CLUSTER_NAME, self.name());
        labels.iter().fold(object, |object, (key, value)| object.label(key, value))
    }
}
