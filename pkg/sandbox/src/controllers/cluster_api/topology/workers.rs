//! The workers of a managed topology: MachineDeployments and MachinePools.

use serde_json::{Map, Value, json};

use super::{
    Outcome, Renewal,
    blueprint::{Blueprint, WorkerClass},
    clone, lay_over,
};
use crate::controllers::cluster_api::{
    contract::{Contract, referred},
    object::{
        CLUSTER_NAME, CORE, TOPOLOGY_OWNED, is_deleting, label, merged, name, namespace, number,
        owner_reference, set, string_map, text,
    },
    plan::Plan,
    template::named_by,
    world::{World, core_version, of_cluster},
};

/// The properties of a kind of workers.
struct Sort {
    kind: &'static str,
    field: &'static str,
    label: &'static str,
    naming: &'static str,
    own_name: &'static str,
}

const DEPLOYMENTS: Sort = Sort {
    kind: "MachineDeployment",
    field: "machineDeployments",
    label: "topology.cluster.x-k8s.io/deployment-name",
    naming: "{{ .cluster.name }}-{{ .machineDeployment.topologyName }}-{{ .random }}",
    own_name: "machineDeployment.topologyName",
};
const POOLS: Sort = Sort {
    kind: "MachinePool",
    field: "machinePools",
    label: "topology.cluster.x-k8s.io/pool-name",
    naming: "{{ .cluster.name }}-{{ .machinePool.topologyName }}-{{ .random }}",
    own_name: "machinePool.topologyName",
};

/// Plans the workers of the topology. Workers get a new version only after the control plane has reached the version.
pub(super) fn build(
    world: &World<'_>,
    cluster: &Value,
    blueprint: &Blueprint,
    upgraded: bool,
    plan: &mut Plan,
) -> Outcome {
    let mut outcome = Outcome::Done;
    for (sort, classes) in [(&DEPLOYMENTS, &blueprint.deployments), (&POOLS, &blueprint.pools)] {
        let there = of_cluster(world, CORE, sort.kind, cluster);
        let there: Vec<Value> =
            there.into_iter().filter(|worker| label(worker, TOPOLOGY_OWNED).is_some()).collect();
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
                outcome = Outcome::Waiting("ReconcileFailed", message);
                continue;
            };
            let found = there.iter().find(|worker| label(worker, sort.label) == topology["name"].as_str());
            let worker = Worker { world, cluster, topology, class, sort, found, upgraded };
            if worker.build(plan).is_none() {
                let message = format!("failed to read the templates of worker class {}", class.class);
                outcome = Outcome::Waiting("ReconcileFailed", message);
            }
        }
    }
    outcome
}

/// A worker entry of the topology and its existing object.
struct Worker<'a> {
    world: &'a World<'a>,
    cluster: &'a Value,
    topology: &'a Value,
    class: &'a WorkerClass,
    sort: &'a Sort,
    found: Option<&'a Value>,
    upgraded: bool,
}

impl Worker<'_> {
    /// Plans the worker: `None` if a template is missing.
    fn build(&self, plan: &mut Plan) -> Option<()> {
        if self.found.is_some_and(is_deleting) {
            return Some(());
        }
        let bootstrap =
            self.part(self.class.bootstrap.as_ref(), "/spec/template/spec/bootstrap/configRef", plan)?;
        let infrastructure =
            self.part(self.class.infrastructure.as_ref(), "/spec/template/spec/infrastructureRef", plan)?;
        let wanted = self.wanted(&bootstrap, &infrastructure);
        match self.found {
            Some(found) => {
                let mut changed = found.clone();
                lay_over(&mut changed, &wanted);
                plan.change(found, changed);
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
        plan: &mut Plan,
    ) -> Option<Value> {
        let template = template?;
        let current = self.found.and_then(|found| referred(self.world, found, pointer));
        let prefix = format!("{}-{}-", name(self.cluster), text(self.topology, "/name"));
        let labels = string_map(&json!({self.sort.label: self.topology["name"]}), "");
        if self.sort.kind == "MachineDeployment" {
            return Renewal { prefix: &prefix, labels }.of(self.world, self.cluster, template, current, plan);
        }
        if current.is_some() {
            return current;
        }
        let new_name = super::super::template::generated_name(&prefix);
        let mut made = clone(self.world, self.cluster, template, &new_name, labels)?;
        set(&mut made, &["metadata", "ownerReferences"], json!([owner_reference(self.cluster, false)]));
        plan.create(made.clone());
        Some(made)
    }

    fn labels(&self) -> Map<String, Value> {
        let own = json!({
            CLUSTER_NAME: name(self.cluster), TOPOLOGY_OWNED: "", self.sort.label: self.topology["name"],
        });
        let asked = merged(self.class.labels.clone(), string_map(self.topology, "/metadata/labels"));
        merged(asked, string_map(&own, ""))
    }

    fn version(&self) -> Value {
        let current = self.found.map(|found| &found["spec"]["template"]["spec"]["version"]);
        match current {
            Some(current) if !self.upgraded && !current.is_null() => current.clone(),
            _ => self.cluster["spec"]["topology"]["version"].clone(),
        }
    }

    fn wanted(&self, bootstrap: &Value, infrastructure: &Value) -> Value {
        let (cluster, contract) = (name(self.cluster), Contract::of(self.cluster));
        let annotations =
            merged(self.class.annotations.clone(), string_map(self.topology, "/metadata/annotations"));
        let fields = [("cluster.name", cluster), (self.sort.own_name, text(self.topology, "/name"))];
        let new_name = match self.found {
            Some(found) => name(found).to_owned(),
            None => named_by(&self.class.naming, self.sort.naming, &fields),
        };
        let reference = |pointer: &str, object: &Value| {
            // Keeps an existing reference to the same object as the server stores it.
            let found = self.found.and_then(|found| found.pointer(pointer));
            let new = contract.reference(object);
            match found {
                Some(found) if super::resolve(found, "") == super::resolve(&new, "") => found.clone(),
                _ => new,
            }
        };
        let selector = json!({
            CLUSTER_NAME: cluster, TOPOLOGY_OWNED: "", self.sort.label: self.topology["name"],
        });
        let mut worker = json!({
            "apiVersion": core_version(self.world, self.sort.kind, self.cluster), "kind": self.sort.kind,
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
        if self.sort.kind == "MachineDeployment" {
            set(&mut worker, &["spec", "selector", "matchLabels"], selector);
        }
        if self.found.is_none() {
            set(&mut worker, &["metadata", "ownerReferences"], json!([owner_reference(self.cluster, false)]));
        }
        worker
    }
}
