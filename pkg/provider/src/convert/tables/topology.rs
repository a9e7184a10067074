//! The conversion table of the managed topology of a Cluster.

use super::VARIABLE;
use super::common::{HEALTH_CHECK, METADATA, NODE_TIMEOUTS, READINESS_GATE, STRATEGY, TAINT, TEXTS};
use crate::convert::shape::Shape::{Boolean, Dropped, Flatten, Integer, List, Struct, Text};
use crate::convert::shape::{ConversionTable, moved, same, table};

pub(super) static TOPOLOGY: ConversionTable = table(&[
    moved("class", Text, &["classRef", "name"]),
    moved("classNamespace", Text, &["classRef", "namespace"]),
    same("version", Text),
    same("rolloutAfter", Dropped),
    same("controlPlane", Struct(&CONTROL_PLANE)),
    same("workers", Struct(&WORKERS)),
    same("variables", List(&Struct(&VARIABLE))),
]);

static CONTROL_PLANE: ConversionTable = ConversionTable {
    fields: &[
        same("metadata", Struct(&METADATA)),
        same("replicas", Integer),
        same("rollout", Struct(&ROLLOUT)),
        same("machineHealthCheck", Flatten(&TOPOLOGY_HEALTH_CHECK)),
        same("taints", List(&Struct(&TAINT))),
        same("readinessGates", List(&Struct(&READINESS_GATE))),
        same("variables", Struct(&OVERRIDES)),
    ],
    included: &[&NODE_TIMEOUTS],
};

static WORKERS: ConversionTable = table(&[
    same("machineDeployments", List(&Struct(&MACHINE_DEPLOYMENT))),
    same("machinePools", List(&Struct(&MACHINE_POOL))),
]);

static MACHINE_DEPLOYMENT: ConversionTable = ConversionTable {
    fields: &[
        same("metadata", Struct(&METADATA)),
        same("class", Text),
        same("name", Text),
        same("failureDomain", Text),
        same("replicas", Integer),
        same("machineHealthCheck", Flatten(&TOPOLOGY_HEALTH_CHECK)),
        same("taints", List(&Struct(&TAINT))),
        same("minReadySeconds", Integer),
        same("readinessGates", List(&Struct(&READINESS_GATE))),
        same("rollout", Struct(&ROLLOUT)),
        same("strategy", Flatten(&STRATEGY)),
        same("variables", Struct(&OVERRIDES)),
    ],
    included: &[&NODE_TIMEOUTS],
};

static MACHINE_POOL: ConversionTable = ConversionTable {
    fields: &[
        same("metadata", Struct(&METADATA)),
        same("class", Text),
        same("name", Text),
        same("failureDomains", TEXTS),
        same("taints", List(&Struct(&TAINT))),
        same("minReadySeconds", Integer),
        same("replicas", Integer),
        same("variables", Struct(&OVERRIDES)),
    ],
    included: &[&NODE_TIMEOUTS],
};

static ROLLOUT: ConversionTable = table(&[same("after", Text)]);

static OVERRIDES: ConversionTable = table(&[same("overrides", List(&Struct(&VARIABLE)))]);

static TOPOLOGY_HEALTH_CHECK: ConversionTable = ConversionTable {
    fields: &[moved("enable", Boolean, &["healthCheck", "enabled"])],
    included: &[&HEALTH_CHECK],
};
