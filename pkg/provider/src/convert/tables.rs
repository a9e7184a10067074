//! Conversion rules of all v1beta1 fields, by type.
//!
//! Source: api/core/v1beta1 and api/core/v1beta2 of Cluster API v1.14 for the encoding of types, and
//! api/core/v1beta1/conversion.go for moved fields.

mod class;
mod common;
mod machine;
mod topology;

use super::shape::Shape::{
    Any, AnyText, Boolean, Dropped, Flatten, Integer, Kept, List, Map, Mapping, NamedList, Positive, Struct,
    Text,
};
use super::shape::{Field, Table, moved, same, table};
use common::{AVAILABILITY_GATE, CONTRACT_REF, MAPPINGS, TEXTS};

/// The kinds of the group.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|(kind, _)| *kind)
}

/// The conversion table of a kind.
pub(super) fn of(kind: &str) -> Option<&'static Table> {
    KINDS.iter().find(|(name, _)| *name == kind).map(|(_, table)| table)
}

static KINDS: [(&str, Table); 8] = [
    ("Cluster", object(&[same("spec", Struct(&CLUSTER_SPEC)), same("status", Struct(&CLUSTER_STATUS))])),
    ("ClusterClass", object(&[same("spec", Struct(&class::SPEC)), same("status", Struct(&class::STATUS))])),
    ("Machine", object(&[same("spec", Struct(&machine::SPEC)), same("status", Struct(&machine::STATUS))])),
    (
        "MachineSet",
        object(&[same("spec", Struct(&machine::SET_SPEC)), same("status", Struct(&machine::SET_STATUS))]),
    ),
    (
        "MachineDeployment",
        object(&[
            same("spec", Struct(&machine::DEPLOYMENT_SPEC)),
            same("status", Struct(&machine::DEPLOYMENT_STATUS)),
        ]),
    ),
    (
        "MachinePool",
        object(&[same("spec", Struct(&machine::POOL_SPEC)), same("status", Struct(&machine::POOL_STATUS))]),
    ),
    (
        "MachineHealthCheck",
        object(&[
            same("spec", Struct(&machine::HEALTH_CHECK_SPEC)),
            same("status", Struct(&machine::HEALTH_CHECK_STATUS)),
        ]),
    ),
    ("MachineDrainRule", object(&[same("spec", Struct(&machine::DRAIN_RULE_SPEC))])),
];

const fn object(fields: &'static [Field]) -> Table {
    Table { fields, more: &OF_OBJECT }
}

static OF_OBJECT: [&Table; 1] = [&OBJECT];

static OBJECT: Table = table(&[same("apiVersion", Text), same("kind", Text), same("metadata", Mapping)]);

static CLUSTER_SPEC: Table = table(&[
    same("paused", Boolean),
    same("clusterNetwork", Struct(&CLUSTER_NETWORK)),
    same("controlPlaneEndpoint", Struct(&ENDPOINT)),
    same("controlPlaneRef", Struct(&CONTRACT_REF)),
    same("infrastructureRef", Struct(&CONTRACT_REF)),
    same("topology", Struct(&topology::TOPOLOGY)),
    same("availabilityGates", List(&Struct(&AVAILABILITY_GATE))),
]);

static CLUSTER_NETWORK: Table = table(&[
    same("apiServerPort", Positive),
    same("services", Struct(&NETWORK_RANGES)),
    same("pods", Struct(&NETWORK_RANGES)),
    same("serviceDomain", Text),
]);

static NETWORK_RANGES: Table = table(&[same("cidrBlocks", TEXTS)]);

static ENDPOINT: Table = table(&[same("host", Text), same("port", Positive)]);

static CLUSTER_STATUS: Table = Table {
    fields: &[
        same("failureDomains", NamedList(&FAILURE_DOMAIN)),
        same("phase", Text),
        moved("infrastructureReady", Boolean, &["initialization", "infrastructureProvisioned"]),
        moved("controlPlaneReady", Boolean, &["initialization", "controlPlaneInitialized"]),
        moved("failureReason", AnyText, &["deprecated", "v1beta1", "failureReason"]),
        moved("failureMessage", AnyText, &["deprecated", "v1beta1", "failureMessage"]),
        same("v1beta2", Flatten(&CLUSTER_V1BETA2_STATUS)),
    ],
    more: &[&common::STATUS],
};

static CLUSTER_V1BETA2_STATUS: Table = table(&[
    moved("conditions", MAPPINGS, &["conditions"]),
    moved("controlPlane", Kept(&REPLICA_COUNTS), &["controlPlane"]),
    moved("workers", Kept(&REPLICA_COUNTS), &["workers"]),
]);

static REPLICA_COUNTS: Table = table(&[
    same("desiredReplicas", Integer),
    same("replicas", Integer),
    same("upToDateReplicas", Integer),
    same("readyReplicas", Integer),
    same("availableReplicas", Integer),
    same("versions", MAPPINGS),
    same("upgradePlan", MAPPINGS),
]);

static FAILURE_DOMAIN: Table = table(&[same("controlPlane", Boolean), same("attributes", Map(&Text))]);

static VARIABLE: Table = table(&[same("name", Text), same("value", Any), same("definitionFrom", Dropped)]);
