//! The workers of a managed topology: MachineDeployments and MachinePools.

use serde_json::{Map, Value, json};

use super::{
    TemplateRotation, TopologyOutcome,
    blueprint::{Blueprint, WorkerClass},
    instantiate, merge_desired,
};
use crate::controllers::cluster_api::{
    contract::{Contract, referenced_object},
    object::{
        CLUSTER_NAME, TOPOLOGY_OWNED, is_deleting, label, merge_maps, name, namespace, number,
        owner_reference, set, string_map, text,
    },
    plan::{ObjectReader, WritePlan, core_api_version, objects_of_cluster},
    template::expand_name,
};

struct WorkerKind {
    kind: &'static str,
    field: &'static str,
    label: &'static str,
    naming: &'static str,
    own_name: &'static str,
}

const DEPLOYMENTS: WorkerKind = WorkerKind {
    kind: "MachineDeployment",
    field: "machineDeployments",
    label: "topology.cluster.x-k8s.io/deployment-name",
    naming: "{{ .cluster.name }}-{{ .machineDeployment.topologyName }}-{{ .random }}",
    own_name: "machineDeployment.topologyName",
};
const POOLS: WorkerKind = WorkerKind {
    kind: "MachinePool",
    field: "machinePools",
    label: "topology.cluster.x-k8s.io/pool-name",
    naming: "{{ .cluster.name }}-{{ .machinePool.topologyName }}-{{ .random }}",
    own_name: "machinePool.topologyName",
};

/// Plans the workers of the topology. Workers get a new version only after the control plane has reached the version.
pub(super) fn build(
    reader: &ObjectReader<'_>,
    cluster: &Value,
    blueprint: &Blueprint,
    upgraded: bool,
    plan: &mut WritePlan,
) -> TopologyOutcome {
    let mut outcome = TopologyOutcome::Reconciled;
    for (sort, classes) in [(&DEPLOYMENTS, &blueprint.deployments), (&POOLS, &blueprint.pools)] {
        let existing = objects_of_cluster(reader, sort.kind, cluster);
        let there: Vec<Value> =
            existing.into_iter().filter(|worker| label(worker, TOPOLOGY_OWNED).is_some()).collect();
        let wanted = cluster["spec"]["topology"]["workers"][sort.field].as_array();
        let wanted: Vec<&Value> = wanted.into_iter().flatten().collect();
        for worker in &there {
            let named = label(worker, sort.label);
            if !wanted.iter().any(|topology| topology["name"].as_str() == named) {
                plan.delete(worker);
            }
        }
        for topology in wanted {
            let Some(class) = classes.iter().find(|class| class.class == text(topology, "/class")) else {
                let message =
                    format!("worker class {} not found in the ClusterClass", text(topology, "/class"));
                outcome = TopologyOutcome::Waiting("ReconcileFailed", message);
                continue;
            };
            let found = there.iter().find(|worker| label(worker, sort.label) == topology["name"].as_str());
            let worker = Worker { reader, cluster, topology, class, kind: sort, existing: found, upgraded };
            if worker.build(plan).is_none() {
                let message = format!("failed to read the templates of worker class {}", class.class);
                outcome = TopologyOutcome::Waiting("ReconcileFailed", message);
            }
        }
    }
    outcome
}

/// A worker entry of the topology and its existing object.
struct Worker<'a> {
    reader: &'a ObjectReader<'a>,
    cluster: &'a Value,
    topology: &'a Value,
    class: &'a WorkerClass,
    kind: &'a WorkerKind,
    existing: Option<&'a Value>,
    upgraded: bool,
}

impl Worker<'_> {
    /// Plans the worker: `None` if a template is missing.
    fn build(&self, plan: &mut WritePlan) -> Option<()> {
        if self.existing.is_some_and(is_deleting) {
            return Some(());
        }
        let bootstrap =
            self.part(self.class.bootstrap.as_ref(), "/spec/template/spec/bootstrap/configRef", plan)?;
        let infrastructure =
            self.part(self.class.infrastructure.as_ref(), "/spec/template/spec/infrastructureRef", plan)?;
        let wanted = self.desired(&bootstrap, &infrastructure);
        match self.existing {
            Some(found) => {
                let mut changed = found.clone();
                merge_desired(&mut changed, &wanted);
                plan.update(found, changed);
            }
            None => plan.create(wanted),
        }
        Some(())
    }

    /// Returns the bootstrap or infrastructure part: MachineDeployments use a copied template, MachinePools an object.
    fn part(
        &self,
        template: Option<&crate::controllers::ObjectRef>,
        pointer: &str,
        plan: &mut WritePlan,
    ) -> Option<Value> {
        let template = template?;
        let current = self.existing.and_then(|found| referenced_object(self.reader, found, pointer));
        let prefix = format!("{}-{}-", name(self.cluster), text(self.topology, "/name"));
        let labels = string_map(&json!({self.kind.label: self.topology["name"]}), "");
        if self.kind.kind == "MachineDeployment" {
            return TemplateRotation { prefix: &prefix, labels }.of(
                self.reader,
                self.cluster,
                template,
                current,
                plan,
            );
        }
        if current.is_some() {
            return current;
        }
        let new_name = super::super::template::generated_name(&prefix);
        let mut made = instantiate(self.reader, self.cluster, template, &new_name, labels)?;
        set(&mut made, &["metadata", "ownerReferences"], json!([owner_reference(self.cluster, false)]));
        plan.create(made.clone());
        Some(made)
    }

    fn labels(&self) -> Map<String, Value> {
        let own = json!({
            CLUSTER_NAME: name(self.cluster), TOPOLOGY_OWNED: "", self.kind.label: self.topology["name"],
        });
        let labels = merge_maps(self.class.labels.clone(), string_map(self.topology, "/metadata/labels"));
        merge_maps(labels, string_map(&own, ""))
    }

    fn version(&self) -> Value {
        let current = self.existing.map(|found| &found["spec"]["template"]["spec"]["version"]);
        match current {
            Some(current) if !self.upgraded && !current.is_null() => current.clone(),
            _ => self.cluster["spec"]["topology"]["version"].clone(),
        }
    }

    fn desired(&self, bootstrap: &Value, infrastructure: &Value) -> Value {
        let (cluster, contract) = (name(self.cluster), Contract::of(self.cluster));
        let annotations =
            merge_maps(self.class.annotations.clone(), string_map(self.topology, "/metadata/annotations"));
        let fields = [("cluster.name", cluster), (self.kind.own_name, text(self.topology, "/name"))];
        let new_name = match self.existing {
            Some(found) => name(found).to_owned(),
            None => expand_name(&self.class.naming, self.kind.naming, &fields),
        };
        let reference = |pointer: &str, object: &Value| {
            // Keeps an existing reference to the same object as the server stores it.
            let found = self.existing.and_then(|found| found.pointer(pointer));
            let new = contract.reference(object);
            match found {
                Some(found) if super::resolve(found, "") == super::resolve(&new, "") => found.clone(),
                _ => new,
            }
        };
        let selector = json!({
            CLUSTER_NAME: cluster, TOPOLOGY_OWNED: "", self.kind.label: self.topology["name"],
        });
        let mut worker = json!({
            "apiVersion": core_api_version(self.reader, self.kind.kind, self.cluster), "kind": self.kind.kind,
            "metadata": {"name": new_name, "namespace": namespace(self.cluster), "labels": self.labels()},
            "spec": {
                "clusterName": cluster,
                "template": {
                    "metadata": {"labels": self.labels()},
                    "spec": {
                        "clusterName": cluster, "version": self.version(),
                        "bootstrap": {"configRef": reference("/spec/template/spec/bootstrap/configRef", bootstrap)},
                        "infrastructureRef": reference("/spec/template/spec/infrastructureRef", infrastructure),
                    },
                },
            },
        });
        if !annotations.is_empty() {
            set(&mut worker, &["metadata", "annotations"], json!(annotations));
            set(&mut worker, &["spec", "template", "metadata", "annotations"], json!(annotations));
        }
        if let Some(replicas) = number(self.topology, "/replicas") {
            set(&mut worker, &["spec", "replicas"], json!(replicas));
        }
        if self.kind.kind == "MachineDeployment" {
            set(&mut worker, &["spec", "selector", "matchLabels"], selector);
        }
        if self.existing.is_none() {
            set(&mut worker, &["metadata", "ownerReferences"], json!([owner_reference(self.cluster, false)]));
        }
        worker
    }
}
