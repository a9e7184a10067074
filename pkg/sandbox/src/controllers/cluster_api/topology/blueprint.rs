//! The contents of a ClusterClass, independent of the contract.

use serde_json::{Map, Value};

use crate::controllers::{
    ObjectRef,
    cluster_api::{
        contract::resolve,
        object::{namespace, string_map, text},
    },
};

pub(crate) struct Blueprint {
    pub(super) infrastructure: Option<ObjectRef>,
    pub(super) infrastructure_naming: String,
    pub(super) control_plane: Option<ObjectRef>,
    pub(super) control_plane_machines: Option<ObjectRef>,
    pub(super) control_plane_naming: String,
    pub(super) control_plane_labels: Map<String, Value>,
    pub(super) deployments: Vec<WorkerClass>,
    pub(super) pools: Vec<WorkerClass>,
}

pub(super) struct WorkerClass {
    pub(super) class: String,
    pub(super) bootstrap: Option<ObjectRef>,
    pub(super) infrastructure: Option<ObjectRef>,
    pub(super) naming: String,
    pub(super) labels: Map<String, Value>,
    pub(super) annotations: Map<String, Value>,
}

impl Blueprint {
    pub(crate) fn of(class: &Value) -> Self {
        let spec = &class["spec"];
        let control_plane = &spec["controlPlane"];
        let workers = |field: &str| {
            let all = spec["workers"][field].as_array().into_iter().flatten();
            all.map(|worker| WorkerClass::of(worker, namespace(class))).collect()
        };
        Self {
            infrastructure: template(&spec["infrastructure"], namespace(class)),
            infrastructure_naming: naming(&spec["infrastructure"]),
            control_plane: template(control_plane, namespace(class)),
            control_plane_machines: template(&control_plane["machineInfrastructure"], namespace(class)),
            control_plane_naming: naming(control_plane),
            control_plane_labels: string_map(control_plane, "/metadata/labels"),
            deployments: workers("machineDeployments"),
            pools: workers("machinePools"),
        }
    }

    /// Every template of the class.
    pub(crate) fn templates(&self) -> Vec<&ObjectRef> {
        let workers = self.deployments.iter().chain(&self.pools);
        let workers = workers.flat_map(|worker| [&worker.bootstrap, &worker.infrastructure]);
        [&self.infrastructure, &self.control_plane, &self.control_plane_machines]
            .into_iter()
            .chain(workers)
            .flatten()
            .collect()
    }
}

impl WorkerClass {
    fn of(worker: &Value, namespace: &str) -> Self {
        // Contract v1beta1 nests the parts one level deeper.
        let parts = if worker["template"].is_object() { &worker["template"] } else { worker };
        Self {
            class: text(worker, "/class").to_owned(),
            bootstrap: template(&parts["bootstrap"], namespace),
            infrastructure: template(&parts["infrastructure"], namespace),
            naming: naming(worker),
            labels: string_map(parts, "/metadata/labels"),
            annotations: string_map(parts, "/metadata/annotations"),
        }
    }
}

/// Reads the reference to a template: `templateRef`, or `ref` under contract v1beta1.
fn template(holder: &Value, namespace: &str) -> Option<ObjectRef> {
    let reference = holder.get("templateRef").or_else(|| holder.get("ref"))?;
    let place = text(reference, "/namespace");
    resolve(reference, if place.is_empty() { namespace } else { place })
}

fn naming(holder: &Value) -> String {
    let strategy = ["/naming/template", "/namingStrategy/template"].map(|pointer| text(holder, pointer));
    strategy.into_iter().find(|it| !it.is_empty()).unwrap_or_default().to_owned()
}
