//! The conversion table of ClusterClass.

use super::common::{
    AVAILABILITY_GATE, HEALTH_CHECK, MAPPINGS, METADATA, NODE_TIMEOUTS, READINESS_GATE, STATUS as ANY_STATUS,
    STRATEGY, TAINT, TEMPLATE_REF, TEXTS,
};
use crate::convert::shape::Shape::{Any, Boolean, Flatten, Integer, List, Map, Struct, StructOrEmpty, Text};
use crate::convert::shape::{ConversionTable, moved, same, table};

pub(super) static SPEC: ConversionTable = table(&[
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

static TEMPLATE: ConversionTable = table(&[moved("ref", Struct(&TEMPLATE_REF), &["templateRef"])]);

static INFRASTRUCTURE_NAMING: ConversionTable =
    table(&[moved("template", Text, &["infrastructure", "naming", "template"])]);

static NAMING: ConversionTable = table(&[moved("template", Text, &["naming", "template"])]);

static CONTROL_PLANE: ConversionTable = ConversionTable {
    fields: &[
        same("metadata", Struct(&METADATA)),
        moved("ref", Struct(&TEMPLATE_REF), &["templateRef"]),
        same("machineInfrastructure", Struct(&TEMPLATE)),
        same("machineHealthCheck", Flatten(&HEALTH_CHECK)),
        same("namingStrategy", Flatten(&NAMING)),
        same("taints", List(&Struct(&TAINT))),
        same("readinessGates", List(&Struct(&READINESS_GATE))),
    ],
    included: &[&NODE_TIMEOUTS],
};

static WORKERS: ConversionTable = table(&[
    same("machineDeployments", List(&Struct(&MACHINE_DEPLOYMENT))),
    same("machinePools", List(&Struct(&MACHINE_POOL))),
]);

static MACHINE_DEPLOYMENT: ConversionTable = ConversionTable {
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
    included: &[&NODE_TIMEOUTS],
};

static MACHINE_POOL: ConversionTable = ConversionTable {
    fields: &[
        same("class", Text),
        same("template", Flatten(&WORKER_TEMPLATE)),
        same("failureDomains", TEXTS),
        same("namingStrategy", Flatten(&NAMING)),
        same("taints", List(&Struct(&TAINT))),
        same("minReadySeconds", Integer),
    ],
    included: &[&NODE_TIMEOUTS],
};

static WORKER_TEMPLATE: ConversionTable = table(&[
    moved("metadata", Struct(&METADATA), &["metadata"]),
    moved("bootstrap", Struct(&TEMPLATE), &["bootstrap"]),
    moved("infrastructure", Struct(&TEMPLATE), &["infrastructure"]),
]);

static VARIABLE: ConversionTable = table(&[
    same("name", Text),
    same("required", Boolean),
    moved("metadata", Struct(&METADATA), &["deprecatedV1Beta1Metadata"]),
    same("schema", Struct(&VARIABLE_SCHEMA)),
]);

static VARIABLE_SCHEMA: ConversionTable = table(&[same("openAPIV3Schema", Struct(&SCHEMA))]);

static SCHEMA: ConversionTable = table(&[
    same("description", Text),
    same("example", Any),
    same("type", Text),
    same("properties", Map(&Struct(&SCHEMA))),
    same("additionalProperties", StructOrEmpty(&SCHEMA)),
    same("maxProperties", Integer),
    same("minProperties", Integer),
    same("required", TEXTS),
    same("items", StructOrEmpty(&SCHEMA)),
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
    same("not", StructOrEmpty(&SCHEMA)),
]);

static VALIDATION: ConversionTable = table(&[
    same("rule", Text),
    same("message", Text),
    same("messageExpression", Text),
    same("reason", Text),
    same("fieldPath", Text),
]);

static PATCH: ConversionTable = table(&[
    same("name", Text),
    same("description", Text),
    same("enabledIf", Text),
    same("definitions", List(&Struct(&PATCH_DEFINITION))),
    same("external", StructOrEmpty(&EXTERNAL_PATCH)),
]);

static PATCH_DEFINITION: ConversionTable =
    table(&[same("selector", Struct(&PATCH_SELECTOR)), same("jsonPatches", List(&Struct(&JSON_PATCH)))]);

static PATCH_SELECTOR: ConversionTable =
    table(&[same("apiVersion", Text), same("kind", Text), same("matchResources", Struct(&MATCH_RESOURCES))]);

static MATCH_RESOURCES: ConversionTable = table(&[
    same("controlPlane", Boolean),
    same("infrastructureCluster", Boolean),
    same("machineDeploymentClass", StructOrEmpty(&CLASS_NAMES)),
    same("machinePoolClass", StructOrEmpty(&CLASS_NAMES)),
]);

static CLASS_NAMES: ConversionTable = table(&[same("names", TEXTS)]);

static JSON_PATCH: ConversionTable = table(&[
    same("op", Text),
    same("path", Text),
    same("value", Any),
    same("valueFrom", StructOrEmpty(&JSON_PATCH_VALUE)),
]);

static JSON_PATCH_VALUE: ConversionTable = table(&[same("variable", Text), same("template", Text)]);

static EXTERNAL_PATCH: ConversionTable = table(&[
    moved("generateExtension", Text, &["generatePatchesExtension"]),
    moved("validateExtension", Text, &["validateTopologyExtension"]),
    same("discoverVariablesExtension", Text),
    same("settings", Map(&Text)),
]);

static UPGRADE: ConversionTable = table(&[same("external", Struct(&UPGRADE_EXTERNAL))]);

static UPGRADE_EXTERNAL: ConversionTable = table(&[same("generateUpgradePlanExtension", Text)]);

pub(super) static STATUS: ConversionTable = ConversionTable {
    fields: &[same("variables", List(&Struct(&STATUS_VARIABLE))), same("v1beta2", Flatten(&V1BETA2_STATUS))],
    included: &[&ANY_STATUS],
};

static V1BETA2_STATUS: ConversionTable = table(&[moved("conditions", MAPPINGS, &["conditions"])]);

static STATUS_VARIABLE: ConversionTable = table(&[
    same("name", Text),
    same("definitionsConflict", Boolean),
    same("definitions", List(&Struct(&STATUS_VARIABLE_DEFINITION))),
]);

static STATUS_VARIABLE_DEFINITION: ConversionTable = table(&[
    same("from", Text),
    same("required", Boolean),
    moved("metadata", Struct(&METADATA), &["deprecatedV1Beta1Metadata"]),
    same("schema", Struct(&VARIABLE_SCHEMA)),
]);
