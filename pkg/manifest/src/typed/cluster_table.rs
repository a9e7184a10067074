//! Fields of the Cluster types of Cluster API 1.14, as decoding sees them; see [`super::table`] for the form.
//!
//! What a Cluster prints is what its author wrote, so only the types matter here. A name ends in `_V1BETA1` where it is of
//! that version.

use super::kind::Kind::{Bool, Duration, Int32, Int64, IntOrText, List, Map, Ptr, Raw, Struct, Text, Time};
use super::kind::{Field, Fields, is_required, structs};
use super::table::OBJECT_META;

structs! {
    CLUSTER {
        "apiVersion" optional Text,
        "kind" optional Text,
        "metadata" optional Struct(&OBJECT_META),
        "spec" optional Struct(&CLUSTER_SPEC),
        "status" optional Struct(&CLUSTER_STATUS),
    }

    CLUSTER_V1BETA1 {
        "apiVersion" optional Text,
        "kind" optional Text,
        "metadata" optional Struct(&OBJECT_META),
        "spec" optional Struct(&CLUSTER_SPEC_V1BETA1),
        "status" optional Struct(&CLUSTER_STATUS_V1BETA1),
    }

    CLUSTER_SPEC {
        "availabilityGates" optional List(&Struct(&CLUSTER_AVAILABILITY_GATE)),
        "clusterNetwork" optional Struct(&CLUSTER_NETWORK),
        "controlPlaneEndpoint" optional Struct(&API_ENDPOINT),
        "controlPlaneRef" optional Struct(&CONTRACT_VERSIONED_OBJECT_REFERENCE),
        "infrastructureRef" optional Struct(&CONTRACT_VERSIONED_OBJECT_REFERENCE),
        "paused" optional Ptr(&Bool),
        "topology" optional Struct(&TOPOLOGY),
    }

    CLUSTER_STATUS {
        "conditions" optional List(&Struct(&CONDITION)),
        "controlPlane" optional Ptr(&Struct(&CLUSTER_CONTROL_PLANE_STATUS)),
        "deprecated" optional Ptr(&Struct(&CLUSTER_DEPRECATED_STATUS)),
        "failureDomains" optional List(&Struct(&FAILURE_DOMAIN)),
        "initialization" optional Struct(&CLUSTER_INITIALIZATION_STATUS),
        "observedGeneration" optional Int64,
        "phase" optional Text,
        "workers" optional Ptr(&Struct(&WORKERS_STATUS)),
    }

    CLUSTER_SPEC_V1BETA1 {
        "availabilityGates" optional List(&Struct(&CLUSTER_AVAILABILITY_GATE_V1BETA1)),
        "clusterNetwork" optional Ptr(&Struct(&CLUSTER_NETWORK_V1BETA1)),
        "controlPlaneEndpoint" optional Struct(&API_ENDPOINT_V1BETA1),
        "controlPlaneRef" optional Ptr(&Struct(&OBJECT_REFERENCE)),
        "infrastructureRef" optional Ptr(&Struct(&OBJECT_REFERENCE)),
        "paused" optional Bool,
        "topology" optional Ptr(&Struct(&TOPOLOGY_V1BETA1)),
    }

    CLUSTER_STATUS_V1BETA1 {
        "conditions" optional List(&Struct(&CONDITION_V1BETA1)),
        "controlPlaneReady" required Bool,
        "failureDomains" optional Map(&Struct(&FAILURE_DOMAIN_SPEC_V1BETA1)),
        "failureMessage" optional Ptr(&Text),
        "failureReason" optional Ptr(&Text),
        "infrastructureReady" required Bool,
        "observedGeneration" optional Int64,
        "phase" optional Text,
        "v1beta2" optional Ptr(&Struct(&CLUSTER_NEXT_STATUS_V1BETA1)),
    }

    CLUSTER_NETWORK {
        "apiServerPort" optional Int32,
        "pods" optional Struct(&NETWORK_RANGES),
        "serviceDomain" optional Text,
        "services" optional Struct(&NETWORK_RANGES),
    }

    API_ENDPOINT {
        "host" optional Text,
        "port" optional Int32,
    }

    CONTRACT_VERSIONED_OBJECT_REFERENCE {
        "apiGroup" optional Text,
        "kind" optional Text,
        "name" optional Text,
    }

    TOPOLOGY {
        "classRef" optional Struct(&CLUSTER_CLASS_REF),
        "controlPlane" optional Struct(&CONTROL_PLANE_TOPOLOGY),
        "variables" optional List(&Struct(&CLUSTER_VARIABLE)),
        "version" optional Text,
        "workers" optional Struct(&WORKERS_TOPOLOGY),
    }

    CLUSTER_AVAILABILITY_GATE {
        "conditionType" optional Text,
        "polarity" optional Text,
    }

    CONDITION {
        "lastTransitionTime" required Time,
        "message" required Text,
        "observedGeneration" optional Int64,
        "reason" required Text,
        "status" required Text,
        "type" required Text,
    }

    CLUSTER_INITIALIZATION_STATUS {
        "controlPlaneInitialized" optional Ptr(&Bool),
        "infrastructureProvisioned" optional Ptr(&Bool),
    }

    CLUSTER_CONTROL_PLANE_STATUS {
        "availableReplicas" optional Ptr(&Int32),
        "desiredReplicas" optional Ptr(&Int32),
        "readyReplicas" optional Ptr(&Int32),
        "replicas" optional Ptr(&Int32),
        "upToDateReplicas" optional Ptr(&Int32),
        "upgradePlan" optional List(&Struct(&STATUS_UPGRADE_PLAN_VERSION)),
        "versions" optional List(&Struct(&STATUS_VERSION)),
    }

    WORKERS_STATUS {
        "availableReplicas" optional Ptr(&Int32),
        "desiredReplicas" optional Ptr(&Int32),
        "readyReplicas" optional Ptr(&Int32),
        "replicas" optional Ptr(&Int32),
        "upToDateReplicas" optional Ptr(&Int32),
        "upgradePlan" optional List(&Struct(&STATUS_UPGRADE_PLAN_VERSION)),
        "versions" optional List(&Struct(&STATUS_VERSION)),
    }

    FAILURE_DOMAIN {
        "attributes" optional Map(&Text),
        "controlPlane" optional Ptr(&Bool),
        "name" optional Text,
    }

    CLUSTER_DEPRECATED_STATUS {
        "v1beta1" optional Ptr(&Struct(&CLUSTER_LAST_STATUS)),
    }

    CLUSTER_NETWORK_V1BETA1 {
        "apiServerPort" optional Ptr(&Int32),
        "pods" optional Ptr(&Struct(&NETWORK_RANGES_V1BETA1)),
        "serviceDomain" optional Text,
        "services" optional Ptr(&Struct(&NETWORK_RANGES_V1BETA1)),
    }

    API_ENDPOINT_V1BETA1 {
        "host" required Text,
        "port" required Int32,
    }

    OBJECT_REFERENCE {
        "apiVersion" optional Text,
        "fieldPath" optional Text,
        "kind" optional Text,
        "name" optional Text,
        "namespace" optional Text,
        "resourceVersion" optional Text,
        "uid" optional Text,
    }

    TOPOLOGY_V1BETA1 {
        "class" required Text,
        "classNamespace" optional Text,
        "controlPlane" optional Struct(&CONTROL_PLANE_TOPOLOGY_V1BETA1),
        "rolloutAfter" optional Ptr(&Time),
        "variables" optional List(&Struct(&CLUSTER_VARIABLE_V1BETA1)),
        "version" required Text,
        "workers" optional Ptr(&Struct(&WORKERS_TOPOLOGY_V1BETA1)),
    }

    CLUSTER_AVAILABILITY_GATE_V1BETA1 {
        "conditionType" required Text,
        "polarity" optional Text,
    }

    FAILURE_DOMAIN_SPEC_V1BETA1 {
        "attributes" optional Map(&Text),
        "controlPlane" optional Bool,
    }

    CONDITION_V1BETA1 {
        "lastTransitionTime" required Time,
        "message" optional Text,
        "reason" optional Text,
        "severity" optional Text,
        "status" required Text,
        "type" required Text,
    }

    CLUSTER_NEXT_STATUS_V1BETA1 {
        "conditions" optional List(&Struct(&CONDITION)),
        "controlPlane" optional Ptr(&Struct(&CLUSTER_CONTROL_PLANE_STATUS_V1BETA1)),
        "workers" optional Ptr(&Struct(&WORKERS_STATUS_V1BETA1)),
    }

    NETWORK_RANGES {
        "cidrBlocks" optional List(&Text),
    }

    CLUSTER_CLASS_REF {
        "name" optional Text,
        "namespace" optional Text,
    }

    CONTROL_PLANE_TOPOLOGY {
        "deletion" optional Struct(&CONTROL_PLANE_TOPOLOGY_MACHINE_DELETION_SPEC),
        "healthCheck" optional Struct(&CONTROL_PLANE_TOPOLOGY_HEALTH_CHECK),
        "metadata" optional Struct(&TOPOLOGY_META),
        "readinessGates" optional List(&Struct(&MACHINE_READINESS_GATE)),
        "replicas" optional Ptr(&Int32),
        "rollout" optional Struct(&CONTROL_PLANE_TOPOLOGY_ROLLOUT_SPEC),
        "taints" optional List(&Struct(&MACHINE_TAINT)),
        "variables" optional Struct(&CONTROL_PLANE_VARIABLES),
    }

    WORKERS_TOPOLOGY {
        "machineDeployments" optional List(&Struct(&MACHINE_DEPLOYMENT_TOPOLOGY)),
        "machinePools" optional List(&Struct(&MACHINE_POOL_TOPOLOGY)),
    }

    CLUSTER_VARIABLE {
        "name" optional Text,
        "value" optional Raw,
    }

    STATUS_VERSION {
        "replicas" optional Int32,
        "version" optional Text,
    }

    STATUS_UPGRADE_PLAN_VERSION {
        "version" optional Text,
    }

    CLUSTER_LAST_STATUS {
        "conditions" optional List(&Struct(&DEPRECATED_CONDITION)),
        "failureMessage" optional Ptr(&Text),
        "failureReason" optional Ptr(&Text),
    }

    NETWORK_RANGES_V1BETA1 {
        "cidrBlocks" required List(&Text),
    }

    CONTROL_PLANE_TOPOLOGY_V1BETA1 {
        "machineHealthCheck" optional Ptr(&Struct(&MACHINE_HEALTH_CHECK_TOPOLOGY_V1BETA1)),
        "metadata" optional Struct(&TOPOLOGY_META_V1BETA1),
        "nodeDeletionTimeout" optional Ptr(&Duration),
        "nodeDrainTimeout" optional Ptr(&Duration),
        "nodeVolumeDetachTimeout" optional Ptr(&Duration),
        "readinessGates" optional List(&Struct(&MACHINE_READINESS_GATE_V1BETA1)),
        "replicas" optional Ptr(&Int32),
        "rollout" optional Struct(&CONTROL_PLANE_TOPOLOGY_ROLLOUT_SPEC_V1BETA1),
        "taints" optional List(&Struct(&MACHINE_TAINT_V1BETA1)),
        "variables" optional Ptr(&Struct(&CONTROL_PLANE_VARIABLES_V1BETA1)),
    }

    WORKERS_TOPOLOGY_V1BETA1 {
        "machineDeployments" optional List(&Struct(&MACHINE_DEPLOYMENT_TOPOLOGY_V1BETA1)),
        "machinePools" optional List(&Struct(&MACHINE_POOL_TOPOLOGY_V1BETA1)),
    }

    CLUSTER_VARIABLE_V1BETA1 {
        "definitionFrom" optional Text,
        "name" required Text,
        "value" required Raw,
    }

    CLUSTER_CONTROL_PLANE_STATUS_V1BETA1 {
        "availableReplicas" optional Ptr(&Int32),
        "desiredReplicas" optional Ptr(&Int32),
        "readyReplicas" optional Ptr(&Int32),
        "replicas" optional Ptr(&Int32),
        "upToDateReplicas" optional Ptr(&Int32),
        "upgradePlan" optional List(&Struct(&STATUS_UPGRADE_PLAN_VERSION_V1BETA1)),
        "versions" optional List(&Struct(&STATUS_VERSION_V1BETA1)),
    }

    WORKERS_STATUS_V1BETA1 {
        "availableReplicas" optional Ptr(&Int32),
        "desiredReplicas" optional Ptr(&Int32),
        "readyReplicas" optional Ptr(&Int32),
        "replicas" optional Ptr(&Int32),
        "upToDateReplicas" optional Ptr(&Int32),
        "upgradePlan" optional List(&Struct(&STATUS_UPGRADE_PLAN_VERSION_V1BETA1)),
        "versions" optional List(&Struct(&STATUS_VERSION_V1BETA1)),
    }

    TOPOLOGY_META {
        "annotations" optional Map(&Text),
        "labels" optional Map(&Text),
    }

    CONTROL_PLANE_TOPOLOGY_ROLLOUT_SPEC {
        "after" optional Time,
    }

    CONTROL_PLANE_TOPOLOGY_HEALTH_CHECK {
        "checks" optional Struct(&CONTROL_PLANE_TOPOLOGY_HEALTH_CHECK_CHECKS),
        "enabled" optional Ptr(&Bool),
        "remediation" optional Struct(&CONTROL_PLANE_TOPOLOGY_HEALTH_CHECK_REMEDIATION),
    }

    CONTROL_PLANE_TOPOLOGY_MACHINE_DELETION_SPEC {
        "nodeDeletionTimeoutSeconds" optional Ptr(&Int32),
        "nodeDrainTimeoutSeconds" optional Ptr(&Int32),
        "nodeVolumeDetachTimeoutSeconds" optional Ptr(&Int32),
    }

    MACHINE_TAINT {
        "effect" optional Text,
        "key" optional Text,
        "propagation" optional Text,
        "value" optional Text,
    }

    MACHINE_READINESS_GATE {
        "conditionType" optional Text,
        "polarity" optional Text,
    }

    CONTROL_PLANE_VARIABLES {
        "overrides" optional List(&Struct(&CLUSTER_VARIABLE)),
    }

    MACHINE_DEPLOYMENT_TOPOLOGY {
        "class" optional Text,
        "deletion" optional Struct(&MACHINE_DEPLOYMENT_TOPOLOGY_MACHINE_DELETION_SPEC),
        "failureDomain" optional Text,
        "healthCheck" optional Struct(&MACHINE_DEPLOYMENT_TOPOLOGY_HEALTH_CHECK),
        "metadata" optional Struct(&TOPOLOGY_META),
        "minReadySeconds" optional Ptr(&Int32),
        "name" optional Text,
        "readinessGates" optional List(&Struct(&MACHINE_READINESS_GATE)),
        "replicas" optional Ptr(&Int32),
        "rollout" optional Struct(&MACHINE_DEPLOYMENT_TOPOLOGY_ROLLOUT_SPEC),
        "taints" optional List(&Struct(&MACHINE_TAINT)),
        "variables" optional Struct(&MACHINE_DEPLOYMENT_VARIABLES),
    }

    MACHINE_POOL_TOPOLOGY {
        "class" optional Text,
        "deletion" optional Struct(&MACHINE_POOL_TOPOLOGY_MACHINE_DELETION_SPEC),
        "failureDomains" optional List(&Text),
        "metadata" optional Struct(&TOPOLOGY_META),
        "minReadySeconds" optional Ptr(&Int32),
        "name" optional Text,
        "replicas" optional Ptr(&Int32),
        "taints" optional List(&Struct(&MACHINE_TAINT)),
        "variables" optional Struct(&MACHINE_POOL_VARIABLES),
    }

    DEPRECATED_CONDITION {
        "lastTransitionTime" required Time,
        "message" optional Text,
        "reason" optional Text,
        "severity" optional Text,
        "status" required Text,
        "type" required Text,
    }

    TOPOLOGY_META_V1BETA1 {
        "annotations" optional Map(&Text),
        "labels" optional Map(&Text),
    }

    CONTROL_PLANE_TOPOLOGY_ROLLOUT_SPEC_V1BETA1 {
        "after" optional Time,
    }

    MACHINE_HEALTH_CHECK_TOPOLOGY_V1BETA1 {
        "enable" optional Ptr(&Bool),
        "maxUnhealthy" optional Ptr(&IntOrText),
        "nodeStartupTimeout" optional Ptr(&Duration),
        "remediationTemplate" optional Ptr(&Struct(&OBJECT_REFERENCE)),
        "unhealthyConditions" optional List(&Struct(&UNHEALTHY_CONDITION_V1BETA1)),
        "unhealthyMachineConditions" optional List(&Struct(&UNHEALTHY_MACHINE_CONDITION_V1BETA1)),
        "unhealthyRange" optional Ptr(&Text),
    }

    MACHINE_TAINT_V1BETA1 {
        "effect" optional Text,
        "key" optional Text,
        "propagation" optional Text,
        "value" optional Text,
    }

    MACHINE_READINESS_GATE_V1BETA1 {
        "conditionType" required Text,
        "polarity" optional Text,
    }

    CONTROL_PLANE_VARIABLES_V1BETA1 {
        "overrides" optional List(&Struct(&CLUSTER_VARIABLE_V1BETA1)),
    }

    MACHINE_DEPLOYMENT_TOPOLOGY_V1BETA1 {
        "class" required Text,
        "failureDomain" optional Ptr(&Text),
        "machineHealthCheck" optional Ptr(&Struct(&MACHINE_HEALTH_CHECK_TOPOLOGY_V1BETA1)),
        "metadata" optional Struct(&TOPOLOGY_META_V1BETA1),
        "minReadySeconds" optional Ptr(&Int32),
        "name" required Text,
        "nodeDeletionTimeout" optional Ptr(&Duration),
        "nodeDrainTimeout" optional Ptr(&Duration),
        "nodeVolumeDetachTimeout" optional Ptr(&Duration),
        "readinessGates" optional List(&Struct(&MACHINE_READINESS_GATE_V1BETA1)),
        "replicas" optional Ptr(&Int32),
        "rollout" optional Struct(&MACHINE_DEPLOYMENT_TOPOLOGY_ROLLOUT_SPEC_V1BETA1),
        "strategy" optional Ptr(&Struct(&MACHINE_DEPLOYMENT_STRATEGY_V1BETA1)),
        "taints" optional List(&Struct(&MACHINE_TAINT_V1BETA1)),
        "variables" optional Ptr(&Struct(&MACHINE_DEPLOYMENT_VARIABLES_V1BETA1)),
    }

    MACHINE_POOL_TOPOLOGY_V1BETA1 {
        "class" required Text,
        "failureDomains" optional List(&Text),
        "metadata" optional Struct(&TOPOLOGY_META_V1BETA1),
        "minReadySeconds" optional Ptr(&Int32),
        "name" required Text,
        "nodeDeletionTimeout" optional Ptr(&Duration),
        "nodeDrainTimeout" optional Ptr(&Duration),
        "nodeVolumeDetachTimeout" optional Ptr(&Duration),
        "replicas" optional Ptr(&Int32),
        "taints" optional List(&Struct(&MACHINE_TAINT_V1BETA1)),
        "variables" optional Ptr(&Struct(&MACHINE_POOL_VARIABLES_V1BETA1)),
    }

    STATUS_VERSION_V1BETA1 {
        "replicas" optional Int32,
        "version" optional Text,
    }

    STATUS_UPGRADE_PLAN_VERSION_V1BETA1 {
        "version" optional Text,
    }

    CONTROL_PLANE_TOPOLOGY_HEALTH_CHECK_CHECKS {
        "nodeStartupTimeoutSeconds" optional Ptr(&Int32),
        "unhealthyMachineConditions" optional List(&Struct(&UNHEALTHY_MACHINE_CONDITION)),
        "unhealthyNodeConditions" optional List(&Struct(&UNHEALTHY_NODE_CONDITION)),
    }

    CONTROL_PLANE_TOPOLOGY_HEALTH_CHECK_REMEDIATION {
        "templateRef" optional Struct(&MACHINE_HEALTH_CHECK_REMEDIATION_TEMPLATE_REFERENCE),
        "triggerIf" optional Struct(&CONTROL_PLANE_TOPOLOGY_HEALTH_CHECK_REMEDIATION_TRIGGER_IF),
    }

    MACHINE_DEPLOYMENT_TOPOLOGY_HEALTH_CHECK {
        "checks" optional Struct(&MACHINE_DEPLOYMENT_TOPOLOGY_HEALTH_CHECK_CHECKS),
        "enabled" optional Ptr(&Bool),
        "remediation" optional Struct(&MACHINE_DEPLOYMENT_TOPOLOGY_HEALTH_CHECK_REMEDIATION),
    }

    MACHINE_DEPLOYMENT_TOPOLOGY_MACHINE_DELETION_SPEC {
        "nodeDeletionTimeoutSeconds" optional Ptr(&Int32),
        "nodeDrainTimeoutSeconds" optional Ptr(&Int32),
        "nodeVolumeDetachTimeoutSeconds" optional Ptr(&Int32),
        "order" optional Text,
    }

    MACHINE_DEPLOYMENT_TOPOLOGY_ROLLOUT_SPEC {
        "after" optional Time,
        "strategy" optional Struct(&MACHINE_DEPLOYMENT_TOPOLOGY_ROLLOUT_STRATEGY),
    }

    MACHINE_DEPLOYMENT_VARIABLES {
        "overrides" optional List(&Struct(&CLUSTER_VARIABLE)),
    }

    MACHINE_POOL_TOPOLOGY_MACHINE_DELETION_SPEC {
        "nodeDeletionTimeoutSeconds" optional Ptr(&Int32),
        "nodeDrainTimeoutSeconds" optional Ptr(&Int32),
        "nodeVolumeDetachTimeoutSeconds" optional Ptr(&Int32),
    }

    MACHINE_POOL_VARIABLES {
        "overrides" optional List(&Struct(&CLUSTER_VARIABLE)),
    }

    UNHEALTHY_CONDITION_V1BETA1 {
        "status" required Text,
        "timeout" required Duration,
        "type" required Text,
    }

    UNHEALTHY_MACHINE_CONDITION_V1BETA1 {
        "status" optional Text,
        "timeout" required Duration,
        "type" optional Text,
    }

    MACHINE_DEPLOYMENT_TOPOLOGY_ROLLOUT_SPEC_V1BETA1 {
        "after" optional Time,
    }

    MACHINE_DEPLOYMENT_STRATEGY_V1BETA1 {
        "remediation" optional Ptr(&Struct(&REMEDIATION_STRATEGY_V1BETA1)),
        "rollingUpdate" optional Ptr(&Struct(&MACHINE_ROLLING_UPDATE_DEPLOYMENT_V1BETA1)),
        "type" optional Text,
    }

    MACHINE_DEPLOYMENT_VARIABLES_V1BETA1 {
        "overrides" optional List(&Struct(&CLUSTER_VARIABLE_V1BETA1)),
    }

    MACHINE_POOL_VARIABLES_V1BETA1 {
        "overrides" optional List(&Struct(&CLUSTER_VARIABLE_V1BETA1)),
    }

    UNHEALTHY_NODE_CONDITION {
        "status" optional Text,
        "timeoutSeconds" optional Ptr(&Int32),
        "type" optional Text,
    }

    UNHEALTHY_MACHINE_CONDITION {
        "status" optional Text,
        "timeoutSeconds" optional Ptr(&Int32),
        "type" optional Text,
    }

    CONTROL_PLANE_TOPOLOGY_HEALTH_CHECK_REMEDIATION_TRIGGER_IF {
        "unhealthyInRange" optional Text,
        "unhealthyLessThanOrEqualTo" optional Ptr(&IntOrText),
    }

    MACHINE_HEALTH_CHECK_REMEDIATION_TEMPLATE_REFERENCE {
        "apiVersion" optional Text,
        "kind" optional Text,
        "name" optional Text,
    }

    MACHINE_DEPLOYMENT_TOPOLOGY_HEALTH_CHECK_CHECKS {
        "nodeStartupTimeoutSeconds" optional Ptr(&Int32),
        "unhealthyMachineConditions" optional List(&Struct(&UNHEALTHY_MACHINE_CONDITION)),
        "unhealthyNodeConditions" optional List(&Struct(&UNHEALTHY_NODE_CONDITION)),
    }

    MACHINE_DEPLOYMENT_TOPOLOGY_HEALTH_CHECK_REMEDIATION {
        "maxInFlight" optional Ptr(&IntOrText),
        "templateRef" optional Struct(&MACHINE_HEALTH_CHECK_REMEDIATION_TEMPLATE_REFERENCE),
        "triggerIf" optional Struct(&MACHINE_DEPLOYMENT_TOPOLOGY_HEALTH_CHECK_REMEDIATION_TRIGGER_IF),
    }

    MACHINE_DEPLOYMENT_TOPOLOGY_ROLLOUT_STRATEGY {
        "rollingUpdate" optional Struct(&MACHINE_DEPLOYMENT_TOPOLOGY_ROLLOUT_STRATEGY_ROLLING_UPDATE),
        "type" optional Text,
    }

    MACHINE_ROLLING_UPDATE_DEPLOYMENT_V1BETA1 {
        "deletePolicy" optional Ptr(&Text),
        "maxSurge" optional Ptr(&IntOrText),
        "maxUnavailable" optional Ptr(&IntOrText),
    }

    REMEDIATION_STRATEGY_V1BETA1 {
        "maxInFlight" optional Ptr(&IntOrText),
    }

    MACHINE_DEPLOYMENT_TOPOLOGY_HEALTH_CHECK_REMEDIATION_TRIGGER_IF {
        "unhealthyInRange" optional Text,
        "unhealthyLessThanOrEqualTo" optional Ptr(&IntOrText),
    }

    MACHINE_DEPLOYMENT_TOPOLOGY_ROLLOUT_STRATEGY_ROLLING_UPDATE {
        "maxSurge" optional Ptr(&IntOrText),
        "maxUnavailable" optional Ptr(&IntOrText),
    }
}
