//! Infrastructure of all providers, selected by the suffix of the kind: `…Cluster`, `…Machine`, `…MachinePool`.
//!
//! Source: the contracts for infrastructure providers in the Cluster API book, and the Docker provider v1.14, run.

use serde_json::{Value, json};

use super::{
    conditions::{self, Condition, legacy},
    contract::{Contract, has_infrastructure},
    object::{
        INFRASTRUCTURE, add_finalizer, desired_replicas, flag, group, is_deleting, kind, name, namespace,
        non_null, owner_of_kind, set, text,
    },
    plan::{ObjectReader, WritePlan},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InfrastructureRole {
    Cluster,
    Machine,
    Pool,
}

impl InfrastructureRole {
    /// Returns the role for the name of a kind: `None` for templates, identities and other provider kinds.
    pub(super) fn of(kind: &str) -> Option<Self> {
        [("MachinePool", Self::Pool), ("Machine", Self::Machine), ("Cluster", Self::Cluster)]
            .into_iter()
            .find_map(|(end, role)| kind.ends_with(end).then_some(role))
    }
}

pub(super) fn plan(
    reader: &ObjectReader<'_>,
    live: &Value,
    cluster: &Value,
    role: InfrastructureRole,
) -> WritePlan {
    let mut plan = WritePlan::default();
    let mut object = live.clone();
    let finalizer = finalizer(kind(live));
    if is_deleting(live) {
        return WritePlan::deletion(live, &finalizer, []);
    }
    let owner = match role {
        InfrastructureRole::Cluster => "Cluster",
        InfrastructureRole::Machine => "Machine",
        InfrastructureRole::Pool => "MachinePool",
    };
    // Provisioning starts only after the owner has set its owner reference.
    let Some(owner) = owner_of_kind(live, owner).and_then(|owner| reader.get(&owner)) else { return plan };
    add_finalizer(&mut object, &finalizer);
    let done = match role {
        InfrastructureRole::Cluster => provision_cluster(&mut object),
        InfrastructureRole::Machine => has_bootstrap(cluster, &owner) && provision_machine(&mut object),
        InfrastructureRole::Pool => {
            has_bootstrap(cluster, &json!({"spec": owner["spec"]["template"]["spec"]}))
                && provision_pool(&mut object, &owner)
        }
    };
    let contract = reader.contract(group(live), kind(live));
    if done {
        mark_provisioned(&mut object, contract, role);
    }
    let waiting = if role == InfrastructureRole::Cluster {
        "LoadBalancerProvisioningFailed"
    } else {
        "WaitingForBootstrapData"
    };
    let new = [Condition::positive("Ready", "Ready", done), Condition::activity("Paused", false)];
    let new: &[Condition] = if contract == Contract::V1Beta2 { &new } else { &[] };
    let old = [legacy("Ready", done, waiting)];
    let old: &[_] = if has_legacy_conditions(live, contract) { &old } else { &[] };
    conditions::write(&mut object, contract, new, old, &reader.now());
    plan.update(live, object);
    plan
}

/// True if a kind has the older conditions. Under contract v1beta2, only kinds that existed in v1beta1 keep the
/// conditions.
fn has_legacy_conditions(object: &Value, contract: Contract) -> bool {
    contract == Contract::V1Beta1
        || non_null(object, "/status/deprecated").is_some()
        || ["DockerCluster", "DockerMachine", "DevCluster", "DevMachine"].contains(&kind(object))
}

/// The finalizer of a kind. The `Dev` kinds use the finalizers of the `Docker` kinds that they replace.
fn finalizer(kind: &str) -> String {
    let kind = kind.to_lowercase();
    let kind = kind.strip_prefix("dev").map_or_else(|| kind.clone(), |rest| format!("docker{rest}"));
    format!("{kind}.{INFRASTRUCTURE}")
}

fn has_bootstrap(cluster: &Value, machine: &Value) -> bool {
    has_infrastructure(cluster) && non_null(machine, "/spec/bootstrap/dataSecretName").is_some()
}

/// Gives a Cluster a local address, derived from its namespace and name.
fn provision_cluster(object: &mut Value) -> bool {
    if text(object, "/spec/controlPlaneEndpoint/host").is_empty() {
        let place = crc32fast::hash(format!("{}/{}", namespace(object), name(object)).as_bytes());
        let endpoint = json!({"host": "127.0.0.1", "port": 20_000 + place % 10_000});
        set(object, &["spec", "controlPlaneEndpoint"], endpoint);
    }
    if let Some(domains) = non_null(object, "/spec/failureDomains").cloned() {
        set(object, &["status", "failureDomains"], domains);
    }
    true
}

fn provision_machine(object: &mut Value) -> bool {
    let id = provider_id(kind(object), name(object));
    if text(object, "/spec/providerID").is_empty() {
        set(object, &["spec", "providerID"], json!(id));
    }
    let [_, a, b, c] = crc32fast::hash(id.as_bytes()).to_be_bytes();
    let address = format!("10.{a}.{b}.{c}");
    let addresses = json!([
        {"type": "Hostname", "address": name(object)},
        {"type": "InternalIP", "address": address},
        {"type": "ExternalIP", "address": address},
    ]);
    set(object, &["status", "addresses"], addresses);
    true
}

fn provision_pool(object: &mut Value, pool: &Value) -> bool {
    let wanted = desired_replicas(pool);
    let ids: Vec<_> =
        (0..wanted).map(|number| provider_id(kind(object), &format!("{}-{number}", name(object)))).collect();
    set(object, &["spec", "providerIDList"], json!(ids));
    set(object, &["status", "replicas"], json!(wanted));
    true
}

/// A provider ID such as `docker:////worker-x7k2p`.
fn provider_id(kind: &str, name: &str) -> String {
    let kind = kind.to_lowercase();
    let provider = kind.trim_end_matches("pool").trim_end_matches("machine");
    let provider = if provider == "dev" { "docker" } else { provider };
    format!("{provider}:////{name}")
}

fn mark_provisioned(object: &mut Value, contract: Contract, role: InfrastructureRole) {
    // The pools of the Docker provider keep the `v1beta1` field under contract v1beta2.
    if role == InfrastructureRole::Pool {
        set(object, &["status", "ready"], json!(true));
    } else {
        contract.set_provisioned(object);
    }
}

/// True if the infrastructure of a MachinePool is provisioned, in either contract.
pub(super) fn is_pool_ready(pool: &Value) -> bool {
    flag(pool, "/status/ready") || flag(pool, "/status/initialization/provisioned")
}
