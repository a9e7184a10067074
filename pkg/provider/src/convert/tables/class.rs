//! The conversion table of ClusterClass.

use super::common::{
    AVAILABILITY_GATE, HEALTH_CHECK, MAPPINGS, METADATA, NODE_TIMEOUTS, READINESS_GATE, STATUS as ANY_STATUS,
    STRATEGY, TAINT, TEMPLATE_REF, TEXTS,
};
use crate::convert::shape::Shape::{Any, Boolean, Flatten, Integer, Kept, List, Map, Struct, Text};
use crate::convert::shape::{Table, moved, same, table};

pub(super) static SPEC: Table = table(&[
    same("availabilityGates", List(&Struct(&AVAILABILITY_GATE))),
    same("infrastructure", Struct(&TEMPLATE)),
    same("infrastructureNamingStrategy", Flatten(&INFRASTRUCTURE_NAMING)),
    same("controlPlane", Struct(&CONTROL_PLANE)),
    same("workers", Struct(&WORKERS)),
    same("variables", List(&Struct(&VARIABLE))),
    same("patches", List(&Struct(&PATCH))),
    same("upgrade", Struct(&UPGRADE)),
    same("kubernetesVersions", TEXTS),
]);

static TEMPLATE: Table = table(&[moved("ref", Struct(&TEMPLATE_REF), &["templateRef"])]);

static INFRASTRUCTURE_NAMING: Table =
    table(&[moved("template", Text, &["infrastructure", "naming", "template"])]);

static NAMING: Table = table(&[moved("template", Text, &["naming", "template"])]);

static CONTROL_PLANE: Table = Table {
    fields: &[
        same("metadata", Struct(&METADATA)),
        moved("ref", Struct(&TEMPLATE_REF), &["templateRef"]),
        same("machineInfrastructure", Struct(&TEMPLATE)),
        same("machineHealthCheck", Flatten(&HEALTH_CHECK)),
        same("namingStrategy", Flatten(&NAMING)),
        same("taints", List(&Struct(&TAINT))),
        same("readinessGates", List(&Struct(&READINESS_GATE))),
    ],
    more: &[&NODE_TIMEOUTS],
};

static WORKERS: Table = table(&[
    same("machineDeployments", List(&Struct(&MACHINE_DEPLOYMENT))),
    same("machinePools", List(&Struct(&MACHINE_POOL))),
]);

static MACHINE_DEPLOYMENT: Table = Table {
    fields: &[
        same("class", Text),
        same("template", Flatten(&WORKER_TEMPLATE)),
        same("machineHealthCheck", Flatten(&HEALTH_CHECK)),
        same("failureDomain", Text),
        same("namingStrategy", Flatten(&NAMING)),
        same("taints", List(&Struct(&TAINT))),
        same("minReadySeconds", Integer),
        same("readinessGates", List(&Struct(&READINESS_GATE))),
        same("strategy", Flatten(&STRATEGY)),
    ],
    more: &[&NODE_TIMEOUTS],
};

static MACHINE_POOL: Table = Table {
    fields: &[
        same("class", Text),
        same("template", Flatten(&WORKER_TEMPLATE)),
        same("failureDomains", TEXTS),
        same("namingStrategy", Flatten(&NAMING)),
        same("taints", List(&Struct(&TAINT))),
        same("minReadySeconds", Integer),
    ],
    more: &[&NODE_TIMEOUTS],
};

static WORKER_TEMPLATE: Table = table(&[
    moved("metadata", Struct(&METADATA), &["metadata"]),
    moved("bootstrap", Struct(&TEMPLATE), &["bootstrap"]),
    moved("infrastructure", Struct(&TEMPLATE), &["infrastructure"]),
]);

static VARIABLE: Table = table(&[
    same("name", Text),
    same("required", Boolean),
    moved("metadata", Struct(&METADATA), &["deprecatedV1Beta1Metadata"]),
    same("schema", Struct(&VARIABLE_SCHEMA)),
]);

static VARIABLE_SCHEMA: Table = table(&[same("openAPIV3Schema", Struct(&SCHEMA))]);

static SCHEMA: Table = table(&[
    same("description", Text),
    same("example", Any),
    same("type", Text),
    same("properties", Map(&Struct(&SCHEMA))),
    same("additionalProperties", Kept(&SCHEMA)),
    same("maxProperties", Integer),
    same("minProperties", Integer),
    same("required", TEXTS),
    same("items", Kept(&SCHEMA)),
    same("maxItems", Integer),
    same("minItems", Integer),
    same("uniqueItems", Boolean),
    same("format", Text),
    same("maxLength", Integer),
    same("minLength", Integer),
    same("pattern", Text),
    same("maximum", Integer),
    same("exclusiveMaximum", Boolean),
    same("minimum", Integer),
    same("exclusiveMinimum", Boolean),
    same("x-kubernetes-preserve-unknown-fields", Boolean),
    same("enum", List(&Any)),
    same("default", Any),
    same("x-kubernetes-validations", List(&Struct(&VALIDATION))),
    same("x-metadata", Struct(&METADATA)),
    same("x-kubernetes-int-or-string", Boolean),
    same("allOf", List(&Struct(&SCHEMA))),
    same("oneOf", List(&Struct(&SCHEMA))),
    same("anyOf", List(&Struct(&SCHEMA))),
    same("not", Kept(&SCHEMA)),
]);

static VALIDATION: Table = table(&[
    same("rule", Text),
    same("message", Text),
    same("messageExpression", Text),
    same("reason", Text),
    same("fieldPath", Text),
]);

static PATCH: Table = table(&[
    same("name", Text),
    same("description", Text),
    same("enabledIf", Text),
    same("definitions", List(&Struct(&PATCH_DEFINITION))),
    same("external", Kept(&EXTERNAL_PATCH)),
]);

static PATCH_DEFINITION: Table =
    table(&[same("selector", Struct(&PATCH_SELECTOR)), same("jsonPatches", List(&Struct(&JSON_PATCH)))]);

static PATCH_SELECTOR: Table =
    table(&[same("apiVersion", Text), same("kind", Text), same("matchResources", Struct(&MATCH_RESOURCES))]);

static MATCH_RESOURCES: Table = table(&[
    same("controlPlane", Boolean),
    same("infrastructureCluster", Boolean),
    same("machineDeploymentClass", Kept(&CLASS_NAMES)),
    same("machinePoolClass", Kept(&CLASS_NAMES)),
]);

static CLASS_NAMES: Table = table(&[same("names", TEXTS)]);

static JSON_PATCH: Table = table(&[
    same("op", Text),
    same("path", Text),
    same("value", Any),
    same("valueFrom", Kept(&JSON_PATCH_VALUE)),
]);

static JSON_PATCH_VALUE: Table = table(&[same("variable", Text), same("template", Text)]);

static EXTERNAL_PATCH: Table = table(&[
    moved("generateExtension", Text, &["generatePatchesExtension"]),
    moved("validateExtension", Text, &["validateTopologyExtension"]),
    same("discoverVariablesExtension", Text),
    same("settings", Map(&Text)),
]);

static UPGRADE: Table = table(&[same("external", Struct(&UPGRADE_EXTERNAL))]);

static UPGRADE_EXTERNAL: Table = table(&[same("generateUpgradePlanExtension", Text)]);

pub(super) static STATUS: Table = Table {
    fields: &[same("variables", List(&Struct(&STATUS_VARIABLE))), same("v1beta2", Flatten(&V1BETA2_STATUS))],
    more: &[&ANY_STATUS],
};

static V1BETA2_STATUS: Table = table(&[moved("conditions", MAPPINGS, &["conditions"])]);

static STATUS_VARIABLE: Table = table(&[
    same("name", Text),
    same("definitionsConflict", Boolean),
    same("definitions", List(&Struct(&STATUS_VARIABLE_DEFINITION))),
]);

static STATUS_VARIABLE_DEFINITION: Table = table(&[
    same("from", Text),
    same("required", Boolean),
    moved("metadata", Struct(&METADATA), &["deprecatedV1Beta1Metadata"]),
    same("schema", Struct(&VARIABLE_SCHEMA)),
]);
