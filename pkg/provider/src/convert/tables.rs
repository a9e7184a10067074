//! Conversion rules of all v1beta1 fields, by type.
//!
//! Source: api/core/v1beta1 and api/core/v1beta2 of Cluster API v1.14 for the encoding of types, and
//! api/core/v1beta1/conversion.go for moved fields.

mod class;
mod common;
mod machine;
mod topology;

use super::shape::Shape::{
    Any, Boolean, Dropped, Flatten, Integer, List, Map, Mapping, NamedList, NonZeroInteger, Struct,
    StructOrEmpty, Text, TextOrEmpty,
};
use super::shape::{ConversionTable, Field, moved, same, table};
use common::{AVAILABILITY_GATE, CONTRACT_REF, MAPPINGS, TEXTS};

/// The kinds of the group.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|(kind, _)| *kind)
}

/// The conversion table of a kind.
pub(super) fn find(kind: &str) -> Option<&'static ConversionTable> {
    KINDS.iter().find(|(name, _)| *name == kind).map(|(_, table)| table)
}

static KINDS: [(&str, ConversionTable); 8] = [
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

const fn object(fields: &'static [Field]) -> ConversionTable {
    ConversionTable { fields, included: &OBJECT_INCLUDED }
}

static OBJECT_INCLUDED: [&ConversionTable; 1] = [&OBJECT];

static OBJECT: ConversionTable =
    table(&[same("apiVersion", Text), same("kind", Text), same("metadata", Mapping)]);

static CLUSTER_SPEC: ConversionTable = table(&[
    same("paused", Boolean),
    same("clusterNetwork", Struct(&CLUSTER_NETWORK)),
    same("controlPlaneEndpoint", Struct(&ENDPOINT)),
    same("controlPlaneRef", Struct(&CONTRACT_REF)),
    same("infrastructureRef", Struct(&CONTRACT_REF)),
    same("topology", Struct(&topology::TOPOLOGY)),
    same("availabilityGates", List(&Struct(&AVAILABILITY_GATE))),
]);

static CLUSTER_NETWORK: ConversionTable = table(&[
    same("apiServerPort", NonZeroInteger),
    same("services", Struct(&NETWORK_RANGES)),
    same("pods", Struct(&NETWORK_RANGES)),
    same("serviceDomain", Text),
]);

static NETWORK_RANGES: ConversionTable = table(&[same("cidrBlocks", TEXTS)]);

static ENDPOINT: ConversionTable = table(&[same("host", Text), same("port", NonZeroInteger)]);

static CLUSTER_STATUS: ConversionTable = ConversionTable {
    fields: &[
        same("failureDomains", NamedList(&FAILURE_DOMAIN)),
        same("phase", Text),
        moved("infrastructureReady", Boolean, &["initialization", "infrastructureProvisioned"]),
        moved("controlPlaneReady", Boolean, &["initialization", "controlPlaneInitialized"]),
        moved("failureReason", TextOrEmpty, &["deprecated", "v1beta1", "failureReason"]),
        moved("failureMessage", TextOrEmpty, &["deprecated", "v1beta1", "failureMessage"]),
        same("v1beta2", Flatten(&CLUSTER_V1BETA2_STATUS)),
    ],
    included: &[&common::STATUS],
};

static CLUSTER_V1BETA2_STATUS: ConversionTable = table(&[
    moved("conditions", MAPPINGS, &["conditions"]),
    moved("controlPlane", StructOrEmpty(&REPLICA_COUNTS), &["controlPlane"]),
    moved("workers", StructOrEmpty(&REPLICA_COUNTS), &["workers"]),
]);

static REPLICA_COUNTS: ConversionTable = table(&[
    same("desiredReplicas", Integer),
    same("replicas", Integer),
    same("upToDateReplicas", Integer),
    same("readyReplicas", Integer),
    same("availableReplicas", Integer),
    same("versions", MAPPINGS),
    same("upgradePlan", MAPPINGS),
]);

static FAILURE_DOMAIN: ConversionTable =
    table(&[same("controlPlane", Boolean), same("attributes", Map(&Text))]);

static VARIABLE: ConversionTable =
    table(&[same("name", Text), same("value", Any), same("definitionFrom", Dropped)]);
