//! Conversion tables of Machines, the kinds that create Machines, and MachineHealthChecks.

use super::common::{
    CONTRACT_REF, LABEL_SELECTOR, MAPPINGS, METADATA, NODE_REF, NODE_TIMEOUTS, READINESS_GATE,
    STATUS as ANY_STATUS, TAINT, TEMPLATE_REF, TEXTS, UNHEALTHY_CONDITION, VERSION_COUNT,
};
use crate::convert::shape::Shape::{
    Boolean, Dropped, Flatten, Integer, IntegerOrText, List, Mapping, Seconds, Struct, StructOrEmpty, Text,
    TextOrEmpty,
};
use crate::convert::shape::{ConversionTable, moved, same, table};

pub(super) static SPEC: ConversionTable = ConversionTable {
    fields: &[
        same("clusterName", Text),
        same("bootstrap", Struct(&BOOTSTRAP)),
        same("infrastructureRef", Struct(&CONTRACT_REF)),
        same("version", Text),
        same("providerID", Text),
        same("failureDomain", Text),
        same("readinessGates", List(&Struct(&READINESS_GATE))),
        same("taints", List(&Struct(&TAINT))),
    ],
    included: &[&NODE_TIMEOUTS],
};

/// An empty secret name means that there is no bootstrap secret to wait for.
static BOOTSTRAP: ConversionTable =
    table(&[same("configRef", Struct(&CONTRACT_REF)), same("dataSecretName", TextOrEmpty)]);

static TEMPLATE: ConversionTable = table(&[same("metadata", Struct(&METADATA)), same("spec", Struct(&SPEC))]);

static NAMING: ConversionTable = table(&[moved("template", Text, &["machineNaming", "template"])]);

/// The terminal failure of Machines and of the kinds that create Machines.
static FAILURE: ConversionTable = table(&[
    moved("failureReason", TextOrEmpty, &["deprecated", "v1beta1", "failureReason"]),
    moved("failureMessage", TextOrEmpty, &["deprecated", "v1beta1", "failureMessage"]),
]);

static INITIALIZATION: ConversionTable = table(&[
    moved("bootstrapReady", Boolean, &["initialization", "bootstrapDataSecretCreated"]),
    moved("infrastructureReady", Boolean, &["initialization", "infrastructureProvisioned"]),
]);

pub(super) static STATUS: ConversionTable = ConversionTable {
    fields: &[
        same("nodeRef", Struct(&NODE_REF)),
        same("nodeInfo", Mapping),
        same("lastUpdated", Text),
        same("addresses", List(&Struct(&ADDRESS))),
        same("phase", Text),
        same("certificatesExpiryDate", Text),
        same("deletion", StructOrEmpty(&DELETION)),
        same("v1beta2", Flatten(&V1BETA2_CONDITIONS)),
    ],
    included: &[&ANY_STATUS, &FAILURE, &INITIALIZATION],
};

static ADDRESS: ConversionTable = table(&[same("type", Text), same("address", Text)]);

static DELETION: ConversionTable = table(&[
    same("nodeDrainStartTime", Text),
    same("waitForNodeVolumeDetachStartTime", Text),
    same("waitForPreDrainHookStartTime", Text),
    same("waitForPreTerminateHookStartTime", Text),
]);

static V1BETA2_CONDITIONS: ConversionTable = table(&[moved("conditions", MAPPINGS, &["conditions"])]);

/// Replica counts in the v1beta2 definition.
static V1BETA2_COUNTS: ConversionTable = ConversionTable {
    fields: &[
        moved("readyReplicas", Integer, &["readyReplicas"]),
        moved("availableReplicas", Integer, &["availableReplicas"]),
        moved("upToDateReplicas", Integer, &["upToDateReplicas"]),
    ],
    included: &[&V1BETA2_CONDITIONS],
};

/// Replica counts whose definition changed in v1beta2.
static V1BETA1_COUNTS: ConversionTable = table(&[
    moved("readyReplicas", Integer, &["deprecated", "v1beta1", "readyReplicas"]),
    moved("availableReplicas", Integer, &["deprecated", "v1beta1", "availableReplicas"]),
]);

static REPLICA_STATUS: ConversionTable = ConversionTable {
    fields: &[
        same("replicas", Integer),
        same("versions", List(&Struct(&VERSION_COUNT))),
        same("v1beta2", Flatten(&V1BETA2_COUNTS)),
    ],
    included: &[&ANY_STATUS, &V1BETA1_COUNTS],
};

pub(super) static SET_SPEC: ConversionTable = table(&[
    same("clusterName", Text),
    same("replicas", Integer),
    moved("minReadySeconds", Integer, &["template", "spec", "minReadySeconds"]),
    moved("deletePolicy", Text, &["deletion", "order"]),
    same("selector", StructOrEmpty(&LABEL_SELECTOR)),
    same("template", Struct(&TEMPLATE)),
    same("machineNamingStrategy", Flatten(&NAMING)),
]);

pub(super) static SET_STATUS: ConversionTable = ConversionTable {
    fields: &[
        same("selector", Text),
        moved("fullyLabeledReplicas", Integer, &["deprecated", "v1beta1", "fullyLabeledReplicas"]),
    ],
    included: &[&REPLICA_STATUS, &FAILURE],
};

pub(super) static DEPLOYMENT_SPEC: ConversionTable = table(&[
    same("clusterName", Text),
    same("replicas", Integer),
    moved("rolloutAfter", Text, &["rollout", "after"]),
    same("selector", StructOrEmpty(&LABEL_SELECTOR)),
    same("template", Struct(&TEMPLATE)),
    same("strategy", Flatten(&DEPLOYMENT_STRATEGY)),
    same("machineNamingStrategy", Flatten(&NAMING)),
    moved("minReadySeconds", Integer, &["template", "spec", "minReadySeconds"]),
    same("revisionHistoryLimit", Dropped),
    same("paused", Boolean),
    same("progressDeadlineSeconds", Dropped),
]);

static DEPLOYMENT_STRATEGY: ConversionTable = table(&[
    moved("type", Text, &["rollout", "strategy", "type"]),
    same("rollingUpdate", Flatten(&super::common::ROLLING_UPDATE)),
    same("remediation", Flatten(&DEPLOYMENT_REMEDIATION)),
]);

static DEPLOYMENT_REMEDIATION: ConversionTable =
    table(&[moved("maxInFlight", IntegerOrText, &["remediation", "maxInFlight"])]);

pub(super) static DEPLOYMENT_STATUS: ConversionTable = ConversionTable {
    fields: &[
        same("selector", Text),
        same("phase", Text),
        moved("updatedReplicas", Integer, &["deprecated", "v1beta1", "updatedReplicas"]),
        moved("unavailableReplicas", Integer, &["deprecated", "v1beta1", "unavailableReplicas"]),
    ],
    included: &[&REPLICA_STATUS],
};

pub(super) static POOL_SPEC: ConversionTable = table(&[
    same("clusterName", Text),
    same("replicas", Integer),
    same("template", Struct(&TEMPLATE)),
    moved("minReadySeconds", Integer, &["template", "spec", "minReadySeconds"]),
    same("providerIDList", TEXTS),
    same("failureDomains", TEXTS),
]);

pub(super) static POOL_STATUS: ConversionTable = ConversionTable {
    fields: &[
        same("nodeRefs", MAPPINGS),
        same("phase", Text),
        moved("unavailableReplicas", Integer, &["deprecated", "v1beta1", "unavailableReplicas"]),
    ],
    included: &[&REPLICA_STATUS, &FAILURE, &INITIALIZATION],
};

pub(super) static HEALTH_CHECK_SPEC: ConversionTable = table(&[
    same("clusterName", Text),
    same("selector", StructOrEmpty(&LABEL_SELECTOR)),
    moved("unhealthyConditions", List(&Struct(&UNHEALTHY_CONDITION)), &["checks", "unhealthyNodeConditions"]),
    moved(
        "unhealthyMachineConditions",
        List(&Struct(&UNHEALTHY_CONDITION)),
        &["checks", "unhealthyMachineConditions"],
    ),
    moved("nodeStartupTimeout", Seconds, &["checks", "nodeStartupTimeoutSeconds"]),
    moved("maxUnhealthy", IntegerOrText, &["remediation", "triggerIf", "unhealthyLessThanOrEqualTo"]),
    moved("unhealthyRange", Text, &["remediation", "triggerIf", "unhealthyInRange"]),
    moved("remediationTemplate", Struct(&TEMPLATE_REF), &["remediation", "templateRef"]),
]);

pub(super) static HEALTH_CHECK_STATUS: ConversionTable = ConversionTable {
    fields: &[
        same("expectedMachines", Integer),
        same("currentHealthy", Integer),
        same("remediationsAllowed", Integer),
        same("targets", TEXTS),
        same("v1beta2", Flatten(&V1BETA2_CONDITIONS)),
    ],
    included: &[&ANY_STATUS],
};

pub(super) static DRAIN_RULE_SPEC: ConversionTable = table(&[
    same("drain", Struct(&DRAIN)),
    same("machines", List(&Struct(&DRAIN_MACHINES))),
    same("pods", List(&Struct(&DRAIN_PODS))),
]);

static DRAIN: ConversionTable = table(&[same("behavior", Text), same("order", Integer)]);

static DRAIN_MACHINES: ConversionTable = table(&[
    same("selector", StructOrEmpty(&LABEL_SELECTOR)),
    same("clusterSelector", StructOrEmpty(&LABEL_SELECTOR)),
]);

static DRAIN_PODS: ConversionTable = table(&[
    same("selector", StructOrEmpty(&LABEL_SELECTOR)),
    same("namespaceSelector", StructOrEmpty(&LABEL_SELECTOR)),
]);
