//! Conversion tables of types shared by several kinds.

use crate::convert::shape::Shape::{
    self, Dropped, DroppedSilently, Flatten, GroupOfApiVersion, Integer, IntegerOrText, List, Map, Mapping,
    NonZeroInteger, OwnNamespace, Seconds, Struct, Text,
};
use crate::convert::shape::{ConversionTable, moved, same, table};

pub(super) const TEXTS: Shape = List(&Text);
pub(super) const MAPPINGS: Shape = List(&Mapping);

/// Labels and annotations of objects created from a template.
pub(super) static METADATA: ConversionTable =
    table(&[same("labels", Map(&Text)), same("annotations", Map(&Text))]);

/// A label selector. An empty selector matches all objects and is kept. `matchLabels: null`, common in templates, is
/// dropped, because servers reject null in a server-side apply.
pub(super) static LABEL_SELECTOR: ConversionTable =
    table(&[same("matchLabels", Map(&Text)), same("matchExpressions", MAPPINGS)]);

pub(super) static AVAILABILITY_GATE: ConversionTable =
    table(&[same("conditionType", Text), same("polarity", Text)]);

pub(super) static READINESS_GATE: ConversionTable =
    table(&[same("conditionType", Text), same("polarity", Text)]);

pub(super) static TAINT: ConversionTable =
    table(&[same("key", Text), same("value", Text), same("effect", Text), same("propagation", Text)]);

/// A reference whose version is determined by the contract.
pub(super) static CONTRACT_REF: ConversionTable = ConversionTable {
    fields: &[moved("apiVersion", GroupOfApiVersion, &["apiGroup"]), same("kind", Text), same("name", Text)],
    included: &[&REF_REMAINDER],
};

/// A reference with an explicit version.
pub(super) static TEMPLATE_REF: ConversionTable = ConversionTable {
    fields: &[same("apiVersion", Text), same("kind", Text), same("name", Text)],
    included: &[&REF_REMAINDER],
};

pub(super) static NODE_REF: ConversionTable = table(&[
    same("name", Text),
    same("kind", DroppedSilently),
    same("apiVersion", DroppedSilently),
    same("namespace", DroppedSilently),
    same("uid", DroppedSilently),
    same("resourceVersion", DroppedSilently),
    same("fieldPath", DroppedSilently),
]);

static REF_REMAINDER: ConversionTable = table(&[
    same("namespace", OwnNamespace),
    same("uid", Dropped),
    same("resourceVersion", Dropped),
    same("fieldPath", Dropped),
]);

/// Timeouts for the Node during the deletion of a Machine.
pub(super) static NODE_TIMEOUTS: ConversionTable = table(&[
    moved("nodeDrainTimeout", Seconds, &["deletion", "nodeDrainTimeoutSeconds"]),
    moved("nodeVolumeDetachTimeout", Seconds, &["deletion", "nodeVolumeDetachTimeoutSeconds"]),
    moved("nodeDeletionTimeout", Seconds, &["deletion", "nodeDeletionTimeoutSeconds"]),
]);

/// Fields shared by the statuses of all kinds except the topology.
pub(super) static STATUS: ConversionTable = table(&[
    same("observedGeneration", NonZeroInteger),
    moved("conditions", MAPPINGS, &["deprecated", "v1beta1", "conditions"]),
]);

pub(super) static UNHEALTHY_CONDITION: ConversionTable =
    table(&[same("type", Text), same("status", Text), moved("timeout", Seconds, &["timeoutSeconds"])]);

/// The strategy of MachineDeployments in a class or a topology.
pub(super) static STRATEGY: ConversionTable = table(&[
    moved("type", Text, &["rollout", "strategy", "type"]),
    same("rollingUpdate", Flatten(&ROLLING_UPDATE)),
    same("remediation", Flatten(&REMEDIATION)),
]);

pub(super) static ROLLING_UPDATE: ConversionTable = table(&[
    moved("maxUnavailable", IntegerOrText, &["rollout", "strategy", "rollingUpdate", "maxUnavailable"]),
    moved("maxSurge", IntegerOrText, &["rollout", "strategy", "rollingUpdate", "maxSurge"]),
    moved("deletePolicy", Text, &["deletion", "order"]),
]);

static REMEDIATION: ConversionTable =
    table(&[moved("maxInFlight", IntegerOrText, &["healthCheck", "remediation", "maxInFlight"])]);

/// The health check of a class.
pub(super) static HEALTH_CHECK: ConversionTable = table(&[
    moved(
        "unhealthyConditions",
        List(&Struct(&UNHEALTHY_CONDITION)),
        &["healthCheck", "checks", "unhealthyNodeConditions"],
    ),
    moved(
        "unhealthyMachineConditions",
        List(&Struct(&UNHEALTHY_CONDITION)),
        &["healthCheck", "checks", "unhealthyMachineConditions"],
    ),
    moved("nodeStartupTimeout", Seconds, &["healthCheck", "checks", "nodeStartupTimeoutSeconds"]),
    moved(
        "maxUnhealthy",
        IntegerOrText,
        &["healthCheck", "remediation", "triggerIf", "unhealthyLessThanOrEqualTo"],
    ),
    moved("unhealthyRange", Text, &["healthCheck", "remediation", "triggerIf", "unhealthyInRange"]),
    moved("remediationTemplate", Struct(&TEMPLATE_REF), &["healthCheck", "remediation", "templateRef"]),
]);

pub(super) static VERSION_COUNT: ConversionTable = table(&[same("version", Text), same("replicas", Integer)]);
