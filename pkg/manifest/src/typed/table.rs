//! Fields of the Go types of Kubernetes 1.36, as encoding them shows.
//!
//! One entry a struct: its fields by JSON name, sorted. `required` fields are written whatever they hold, `optional`
//! ones only when they hold something; embedded structs are merged into the struct around them. A name ends in
//! `_V1BETA1` where the type of that version differs from the one of `v1`.

use super::kind::Kind::{
    Bool, Bytes, Float, Int32, Int64, IntOrText, List, Map, Ptr, Quantity, Raw, SchemaOrBool, SchemaOrList,
    SchemaOrTexts, Struct, Text, Time,
};
use super::kind::{Field, Fields, is_required, structs};

structs! {
    DEPLOYMENT {
        "apiVersion" optional Text,
        "kind" optional Text,
        "metadata" required Struct(&OBJECT_META),
        "spec" required Struct(&DEPLOYMENT_SPEC),
        "status" required Struct(&DEPLOYMENT_STATUS),
    }

    DAEMON_SET {
        "apiVersion" optional Text,
        "kind" optional Text,
        "metadata" required Struct(&OBJECT_META),
        "spec" required Struct(&DAEMON_SET_SPEC),
        "status" required Struct(&DAEMON_SET_STATUS),
    }

    CLUSTER_ROLE_BINDING {
        "apiVersion" optional Text,
        "kind" optional Text,
        "metadata" required Struct(&OBJECT_META),
        "roleRef" required Struct(&ROLE_REF),
        "subjects" optional List(&Struct(&SUBJECT)),
    }

    ROLE_BINDING {
        "apiVersion" optional Text,
        "kind" optional Text,
        "metadata" required Struct(&OBJECT_META),
        "roleRef" required Struct(&ROLE_REF),
        "subjects" optional List(&Struct(&SUBJECT)),
    }

    MUTATING_WEBHOOK_CONFIGURATION {
        "apiVersion" optional Text,
        "kind" optional Text,
        "metadata" required Struct(&OBJECT_META),
        "webhooks" optional List(&Struct(&MUTATING_WEBHOOK)),
    }

    MUTATING_WEBHOOK_CONFIGURATION_V1BETA1 {
        "apiVersion" optional Text,
        "kind" optional Text,
        "metadata" required Struct(&OBJECT_META),
        "webhooks" optional List(&Struct(&MUTATING_WEBHOOK_V1BETA1)),
    }

    VALIDATING_WEBHOOK_CONFIGURATION {
        "apiVersion" optional Text,
        "kind" optional Text,
        "metadata" required Struct(&OBJECT_META),
        "webhooks" optional List(&Struct(&VALIDATING_WEBHOOK)),
    }

    VALIDATING_WEBHOOK_CONFIGURATION_V1BETA1 {
        "apiVersion" optional Text,
        "kind" optional Text,
        "metadata" required Struct(&OBJECT_META),
        "webhooks" optional List(&Struct(&VALIDATING_WEBHOOK_V1BETA1)),
    }

    CUSTOM_RESOURCE_DEFINITION {
        "apiVersion" optional Text,
        "kind" optional Text,
        "metadata" required Struct(&OBJECT_META),
        "spec" required Struct(&CUSTOM_RESOURCE_DEFINITION_SPEC),
        "status" required Struct(&CUSTOM_RESOURCE_DEFINITION_STATUS),
    }

    CUSTOM_RESOURCE_DEFINITION_V1BETA1 {
        "apiVersion" optional Text,
        "kind" optional Text,
        "metadata" required Struct(&OBJECT_META),
        "spec" required Struct(&CUSTOM_RESOURCE_DEFINITION_SPEC_V1BETA1),
        "status" required Struct(&CUSTOM_RESOURCE_DEFINITION_STATUS),
    }

    OBJECT_META {
        "annotations" optional Map(&Text),
        "creationTimestamp" optional Time,
        "deletionGracePeriodSeconds" optional Ptr(&Int64),
        "deletionTimestamp" optional Ptr(&Time),
        "finalizers" optional List(&Text),
        "generateName" optional Text,
        "generation" optional Int64,
        "labels" optional Map(&Text),
        "managedFields" optional List(&Struct(&MANAGED_FIELDS_ENTRY)),
        "name" optional Text,
        "namespace" optional Text,
        "ownerReferences" optional List(&Struct(&OWNER_REFERENCE)),
        "resourceVersion" optional Text,
        "selfLink" optional Text,
        "uid" optional Text,
    }

    DEPLOYMENT_SPEC {
        "minReadySeconds" optional Int32,
        "paused" optional Bool,
        "progressDeadlineSeconds" optional Ptr(&Int32),
        "replicas" optional Ptr(&Int32),
        "revisionHistoryLimit" optional Ptr(&Int32),
        "selector" required Ptr(&Struct(&LABEL_SELECTOR)),
        "strategy" required Struct(&DEPLOYMENT_STRATEGY),
        "template" required Struct(&POD_TEMPLATE_SPEC),
    }

    DEPLOYMENT_STATUS {
        "availableReplicas" optional Int32,
        "collisionCount" optional Ptr(&Int32),
        "conditions" optional List(&Struct(&DEPLOYMENT_CONDITION)),
        "observedGeneration" optional Int64,
        "readyReplicas" optional Int32,
        "replicas" optional Int32,
        "terminatingReplicas" optional Ptr(&Int32),
        "unavailableReplicas" optional Int32,
        "updatedReplicas" optional Int32,
    }

    DAEMON_SET_SPEC {
        "minReadySeconds" optional Int32,
        "revisionHistoryLimit" optional Ptr(&Int32),
        "selector" required Ptr(&Struct(&LABEL_SELECTOR)),
        "template" required Struct(&POD_TEMPLATE_SPEC),
        "updateStrategy" required Struct(&DAEMON_SET_UPDATE_STRATEGY),
    }

    DAEMON_SET_STATUS {
        "collisionCount" optional Ptr(&Int32),
        "conditions" optional List(&Struct(&DAEMON_SET_CONDITION)),
        "currentNumberScheduled" required Int32,
        "desiredNumberScheduled" required Int32,
        "numberAvailable" optional Int32,
        "numberMisscheduled" required Int32,
        "numberReady" required Int32,
        "numberUnavailable" optional Int32,
        "observedGeneration" optional Int64,
        "updatedNumberScheduled" optional Int32,
    }

    SUBJECT {
        "apiGroup" optional Text,
        "kind" required Text,
        "name" required Text,
        "namespace" optional Text,
    }

    ROLE_REF {
        "apiGroup" required Text,
        "kind" required Text,
        "name" required Text,
    }

    MUTATING_WEBHOOK {
        "admissionReviewVersions" required List(&Text),
        "clientConfig" required Struct(&WEBHOOK_CLIENT_CONFIG),
        "failurePolicy" optional Ptr(&Text),
        "matchConditions" optional List(&Struct(&MATCH_CONDITION)),
        "matchPolicy" optional Ptr(&Text),
        "name" required Text,
        "namespaceSelector" optional Ptr(&Struct(&LABEL_SELECTOR)),
        "objectSelector" optional Ptr(&Struct(&LABEL_SELECTOR)),
        "reinvocationPolicy" optional Ptr(&Text),
        "rules" optional List(&Struct(&RULE_WITH_OPERATIONS)),
        "sideEffects" required Ptr(&Text),
        "timeoutSeconds" optional Ptr(&Int32),
    }

    MUTATING_WEBHOOK_V1BETA1 {
        "admissionReviewVersions" optional List(&Text),
        "clientConfig" required Struct(&WEBHOOK_CLIENT_CONFIG),
        "failurePolicy" optional Ptr(&Text),
        "matchConditions" optional List(&Struct(&MATCH_CONDITION)),
        "matchPolicy" optional Ptr(&Text),
        "name" required Text,
        "namespaceSelector" optional Ptr(&Struct(&LABEL_SELECTOR)),
        "objectSelector" optional Ptr(&Struct(&LABEL_SELECTOR)),
        "reinvocationPolicy" optional Ptr(&Text),
        "rules" optional List(&Struct(&RULE_WITH_OPERATIONS)),
        "sideEffects" optional Ptr(&Text),
        "timeoutSeconds" optional Ptr(&Int32),
    }

    VALIDATING_WEBHOOK {
        "admissionReviewVersions" required List(&Text),
        "clientConfig" required Struct(&WEBHOOK_CLIENT_CONFIG),
        "failurePolicy" optional Ptr(&Text),
        "matchConditions" optional List(&Struct(&MATCH_CONDITION)),
        "matchPolicy" optional Ptr(&Text),
        "name" required Text,
        "namespaceSelector" optional Ptr(&Struct(&LABEL_SELECTOR)),
        "objectSelector" optional Ptr(&Struct(&LABEL_SELECTOR)),
        "rules" optional List(&Struct(&RULE_WITH_OPERATIONS)),
        "sideEffects" required Ptr(&Text),
        "timeoutSeconds" optional Ptr(&Int32),
    }

    VALIDATING_WEBHOOK_V1BETA1 {
        "admissionReviewVersions" optional List(&Text),
        "clientConfig" required Struct(&WEBHOOK_CLIENT_CONFIG),
        "failurePolicy" optional Ptr(&Text),
        "matchConditions" optional List(&Struct(&MATCH_CONDITION)),
        "matchPolicy" optional Ptr(&Text),
        "name" required Text,
        "namespaceSelector" optional Ptr(&Struct(&LABEL_SELECTOR)),
        "objectSelector" optional Ptr(&Struct(&LABEL_SELECTOR)),
        "rules" optional List(&Struct(&RULE_WITH_OPERATIONS)),
        "sideEffects" optional Ptr(&Text),
        "timeoutSeconds" optional Ptr(&Int32),
    }

    CUSTOM_RESOURCE_DEFINITION_SPEC {
        "conversion" optional Ptr(&Struct(&CUSTOM_RESOURCE_CONVERSION)),
        "group" required Text,
        "names" required Struct(&CUSTOM_RESOURCE_DEFINITION_NAMES),
        "preserveUnknownFields" optional Bool,
        "scope" required Text,
        "versions" required List(&Struct(&CUSTOM_RESOURCE_DEFINITION_VERSION)),
    }

    CUSTOM_RESOURCE_DEFINITION_STATUS {
        "acceptedNames" required Struct(&CUSTOM_RESOURCE_DEFINITION_NAMES),
        "conditions" required List(&Struct(&CUSTOM_RESOURCE_DEFINITION_CONDITION)),
        "observedGeneration" optional Int64,
        "storedVersions" required List(&Text),
    }

    CUSTOM_RESOURCE_DEFINITION_SPEC_V1BETA1 {
        "additionalPrinterColumns" optional List(&Struct(&CUSTOM_RESOURCE_COLUMN_DEFINITION_V1BETA1)),
        "conversion" optional Ptr(&Struct(&CUSTOM_RESOURCE_CONVERSION_V1BETA1)),
        "group" required Text,
        "names" required Struct(&CUSTOM_RESOURCE_DEFINITION_NAMES),
        "preserveUnknownFields" optional Ptr(&Bool),
        "scope" required Text,
        "selectableFields" optional List(&Struct(&SELECTABLE_FIELD)),
        "subresources" optional Ptr(&Struct(&CUSTOM_RESOURCE_SUBRESOURCES)),
        "validation" optional Ptr(&Struct(&CUSTOM_RESOURCE_VALIDATION)),
        "version" optional Text,
        "versions" optional List(&Struct(&CUSTOM_RESOURCE_DEFINITION_VERSION_V1BETA1)),
    }

    OWNER_REFERENCE {
        "apiVersion" required Text,
        "blockOwnerDeletion" optional Ptr(&Bool),
        "controller" optional Ptr(&Bool),
        "kind" required Text,
        "name" required Text,
        "uid" required Text,
    }

    MANAGED_FIELDS_ENTRY {
        "apiVersion" optional Text,
        "fieldsType" optional Text,
        "fieldsV1" optional Ptr(&Raw),
        "manager" optional Text,
        "operation" optional Text,
        "subresource" optional Text,
        "time" optional Ptr(&Time),
    }

    LABEL_SELECTOR {
        "matchExpressions" optional List(&Struct(&LABEL_SELECTOR_REQUIREMENT)),
        "matchLabels" optional Map(&Text),
    }

    POD_TEMPLATE_SPEC {
        "metadata" required Struct(&OBJECT_META),
        "spec" required Struct(&POD_SPEC),
    }

    DEPLOYMENT_STRATEGY {
        "rollingUpdate" optional Ptr(&Struct(&ROLLING_UPDATE_DEPLOYMENT)),
        "type" optional Text,
    }

    DEPLOYMENT_CONDITION {
        "lastTransitionTime" required Time,
        "lastUpdateTime" required Time,
        "message" optional Text,
        "reason" optional Text,
        "status" required Text,
        "type" required Text,
    }

    DAEMON_SET_UPDATE_STRATEGY {
        "rollingUpdate" optional Ptr(&Struct(&ROLLING_UPDATE_DAEMON_SET)),
        "type" optional Text,
    }

    DAEMON_SET_CONDITION {
        "lastTransitionTime" required Time,
        "message" optional Text,
        "reason" optional Text,
        "status" required Text,
        "type" required Text,
    }

    WEBHOOK_CLIENT_CONFIG {
        "caBundle" optional Bytes,
        "service" optional Ptr(&Struct(&SERVICE_REFERENCE)),
        "url" optional Ptr(&Text),
    }

    RULE_WITH_OPERATIONS {
        "apiGroups" optional List(&Text),
        "apiVersions" optional List(&Text),
        "operations" optional List(&Text),
        "resources" optional List(&Text),
        "scope" optional Ptr(&Text),
    }

    MATCH_CONDITION {
        "expression" required Text,
        "name" required Text,
    }

    CUSTOM_RESOURCE_DEFINITION_NAMES {
        "categories" optional List(&Text),
        "kind" required Text,
        "listKind" optional Text,
        "plural" required Text,
        "shortNames" optional List(&Text),
        "singular" optional Text,
    }

    CUSTOM_RESOURCE_DEFINITION_VERSION {
        "additionalPrinterColumns" optional List(&Struct(&CUSTOM_RESOURCE_COLUMN_DEFINITION)),
        "deprecated" optional Bool,
        "deprecationWarning" optional Ptr(&Text),
        "name" required Text,
        "schema" optional Ptr(&Struct(&CUSTOM_RESOURCE_VALIDATION)),
        "selectableFields" optional List(&Struct(&SELECTABLE_FIELD)),
        "served" required Bool,
        "storage" required Bool,
        "subresources" optional Ptr(&Struct(&CUSTOM_RESOURCE_SUBRESOURCES)),
    }

    CUSTOM_RESOURCE_CONVERSION {
        "strategy" required Text,
        "webhook" optional Ptr(&Struct(&WEBHOOK_CONVERSION)),
    }

    CUSTOM_RESOURCE_DEFINITION_CONDITION {
        "lastTransitionTime" required Time,
        "message" optional Text,
        "observedGeneration" optional Int64,
        "reason" optional Text,
        "status" required Text,
        "type" required Text,
    }

    CUSTOM_RESOURCE_DEFINITION_VERSION_V1BETA1 {
        "additionalPrinterColumns" optional List(&Struct(&CUSTOM_RESOURCE_COLUMN_DEFINITION_V1BETA1)),
        "deprecated" optional Bool,
        "deprecationWarning" optional Ptr(&Text),
        "name" required Text,
        "schema" optional Ptr(&Struct(&CUSTOM_RESOURCE_VALIDATION)),
        "selectableFields" optional List(&Struct(&SELECTABLE_FIELD)),
        "served" required Bool,
        "storage" required Bool,
        "subresources" optional Ptr(&Struct(&CUSTOM_RESOURCE_SUBRESOURCES)),
    }

    CUSTOM_RESOURCE_COLUMN_DEFINITION_V1BETA1 {
        "JSONPath" required Text,
        "description" optional Text,
        "format" optional Text,
        "name" required Text,
        "priority" optional Int32,
        "type" required Text,
    }

    CUSTOM_RESOURCE_CONVERSION_V1BETA1 {
        "conversionReviewVersions" optional List(&Text),
        "strategy" required Text,
        "webhookClientConfig" optional Ptr(&Struct(&WEBHOOK_CLIENT_CONFIG)),
    }

    LABEL_SELECTOR_REQUIREMENT {
        "key" required Text,
        "operator" required Text,
        "values" optional List(&Text),
    }

    POD_SPEC {
        "activeDeadlineSeconds" optional Ptr(&Int64),
        "affinity" optional Ptr(&Struct(&AFFINITY)),
        "automountServiceAccountToken" optional Ptr(&Bool),
        "containers" required List(&Struct(&CONTAINER)),
        "dnsConfig" optional Ptr(&Struct(&POD_DNS_CONFIG)),
        "dnsPolicy" optional Text,
        "enableServiceLinks" optional Ptr(&Bool),
        "ephemeralContainers" optional List(&Struct(&EPHEMERAL_CONTAINER)),
        "hostAliases" optional List(&Struct(&HOST_ALIAS)),
        "hostIPC" optional Bool,
        "hostNetwork" optional Bool,
        "hostPID" optional Bool,
        "hostUsers" optional Ptr(&Bool),
        "hostname" optional Text,
        "hostnameOverride" optional Ptr(&Text),
        "imagePullSecrets" optional List(&Struct(&LOCAL_OBJECT_REFERENCE)),
        "initContainers" optional List(&Struct(&CONTAINER)),
        "nodeName" optional Text,
        "nodeSelector" optional Map(&Text),
        "os" optional Ptr(&Struct(&POD_OS)),
        "overhead" optional Map(&Quantity),
        "preemptionPolicy" optional Ptr(&Text),
        "priority" optional Ptr(&Int32),
        "priorityClassName" optional Text,
        "readinessGates" optional List(&Struct(&POD_READINESS_GATE)),
        "resourceClaims" optional List(&Struct(&POD_RESOURCE_CLAIM)),
        "resources" optional Ptr(&Struct(&RESOURCE_REQUIREMENTS)),
        "restartPolicy" optional Text,
        "runtimeClassName" optional Ptr(&Text),
        "schedulerName" optional Text,
        "schedulingGates" optional List(&Struct(&POD_SCHEDULING_GATE)),
        "schedulingGroup" optional Ptr(&Struct(&POD_SCHEDULING_GROUP)),
        "securityContext" optional Ptr(&Struct(&POD_SECURITY_CONTEXT)),
        "serviceAccount" optional Text,
        "serviceAccountName" optional Text,
        "setHostnameAsFQDN" optional Ptr(&Bool),
        "shareProcessNamespace" optional Ptr(&Bool),
        "subdomain" optional Text,
        "terminationGracePeriodSeconds" optional Ptr(&Int64),
        "tolerations" optional List(&Struct(&TOLERATION)),
        "topologySpreadConstraints" optional List(&Struct(&TOPOLOGY_SPREAD_CONSTRAINT)),
        "volumes" optional List(&Struct(&VOLUME)),
    }

    ROLLING_UPDATE_DEPLOYMENT {
        "maxSurge" optional Ptr(&IntOrText),
        "maxUnavailable" optional Ptr(&IntOrText),
    }

    ROLLING_UPDATE_DAEMON_SET {
        "maxSurge" optional Ptr(&IntOrText),
        "maxUnavailable" optional Ptr(&IntOrText),
    }

    SERVICE_REFERENCE {
        "name" required Text,
        "namespace" required Text,
        "path" optional Ptr(&Text),
        "port" optional Ptr(&Int32),
    }

    CUSTOM_RESOURCE_VALIDATION {
        "openAPIV3Schema" optional Ptr(&Struct(&JSON_SCHEMA_PROPS)),
    }

    CUSTOM_RESOURCE_SUBRESOURCES {
        "scale" optional Ptr(&Struct(&CUSTOM_RESOURCE_SUBRESOURCE_SCALE)),
        "status" optional Ptr(&Struct(&CUSTOM_RESOURCE_SUBRESOURCE_STATUS)),
    }

    CUSTOM_RESOURCE_COLUMN_DEFINITION {
        "description" optional Text,
        "format" optional Text,
        "jsonPath" required Text,
        "name" required Text,
        "priority" optional Int32,
        "type" required Text,
    }

    SELECTABLE_FIELD {
        "jsonPath" required Text,
    }

    WEBHOOK_CONVERSION {
        "clientConfig" optional Ptr(&Struct(&WEBHOOK_CLIENT_CONFIG)),
        "conversionReviewVersions" required List(&Text),
    }

    VOLUME {
        "awsElasticBlockStore" optional Ptr(&Struct(&AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE)),
        "azureDisk" optional Ptr(&Struct(&AZURE_DISK_VOLUME_SOURCE)),
        "azureFile" optional Ptr(&Struct(&AZURE_FILE_VOLUME_SOURCE)),
        "cephfs" optional Ptr(&Struct(&CEPH_FS_VOLUME_SOURCE)),
        "cinder" optional Ptr(&Struct(&CINDER_VOLUME_SOURCE)),
        "configMap" optional Ptr(&Struct(&CONFIG_MAP_VOLUME_SOURCE)),
        "csi" optional Ptr(&Struct(&CSI_VOLUME_SOURCE)),
        "downwardAPI" optional Ptr(&Struct(&DOWNWARD_API_VOLUME_SOURCE)),
        "emptyDir" optional Ptr(&Struct(&EMPTY_DIR_VOLUME_SOURCE)),
        "ephemeral" optional Ptr(&Struct(&EPHEMERAL_VOLUME_SOURCE)),
        "fc" optional Ptr(&Struct(&FC_VOLUME_SOURCE)),
        "flexVolume" optional Ptr(&Struct(&FLEX_VOLUME_SOURCE)),
        "flocker" optional Ptr(&Struct(&FLOCKER_VOLUME_SOURCE)),
        "gcePersistentDisk" optional Ptr(&Struct(&GCE_PERSISTENT_DISK_VOLUME_SOURCE)),
        "gitRepo" optional Ptr(&Struct(&GIT_REPO_VOLUME_SOURCE)),
        "glusterfs" optional Ptr(&Struct(&GLUSTERFS_VOLUME_SOURCE)),
        "hostPath" optional Ptr(&Struct(&HOST_PATH_VOLUME_SOURCE)),
        "image" optional Ptr(&Struct(&IMAGE_VOLUME_SOURCE)),
        "iscsi" optional Ptr(&Struct(&ISCSI_VOLUME_SOURCE)),
        "name" required Text,
        "nfs" optional Ptr(&Struct(&NFS_VOLUME_SOURCE)),
        "persistentVolumeClaim" optional Ptr(&Struct(&PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE)),
        "photonPersistentDisk" optional Ptr(&Struct(&PHOTON_PERSISTENT_DISK_VOLUME_SOURCE)),
        "portworxVolume" optional Ptr(&Struct(&PORTWORX_VOLUME_SOURCE)),
        "projected" optional Ptr(&Struct(&PROJECTED_VOLUME_SOURCE)),
        "quobyte" optional Ptr(&Struct(&QUOBYTE_VOLUME_SOURCE)),
        "rbd" optional Ptr(&Struct(&RBD_VOLUME_SOURCE)),
        "scaleIO" optional Ptr(&Struct(&SCALE_IO_VOLUME_SOURCE)),
        "secret" optional Ptr(&Struct(&SECRET_VOLUME_SOURCE)),
        "storageos" optional Ptr(&Struct(&STORAGE_OS_VOLUME_SOURCE)),
        "vsphereVolume" optional Ptr(&Struct(&VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE)),
    }

    CONTAINER {
        "args" optional List(&Text),
        "command" optional List(&Text),
        "env" optional List(&Struct(&ENV_VAR)),
        "envFrom" optional List(&Struct(&ENV_FROM_SOURCE)),
        "image" optional Text,
        "imagePullPolicy" optional Text,
        "lifecycle" optional Ptr(&Struct(&LIFECYCLE)),
        "livenessProbe" optional Ptr(&Struct(&PROBE)),
        "name" required Text,
        "ports" optional List(&Struct(&CONTAINER_PORT)),
        "readinessProbe" optional Ptr(&Struct(&PROBE)),
        "resizePolicy" optional List(&Struct(&CONTAINER_RESIZE_POLICY)),
        "resources" required Struct(&RESOURCE_REQUIREMENTS),
        "restartPolicy" optional Ptr(&Text),
        "restartPolicyRules" optional List(&Struct(&CONTAINER_RESTART_RULE)),
        "securityContext" optional Ptr(&Struct(&SECURITY_CONTEXT)),
        "startupProbe" optional Ptr(&Struct(&PROBE)),
        "stdin" optional Bool,
        "stdinOnce" optional Bool,
        "terminationMessagePath" optional Text,
        "terminationMessagePolicy" optional Text,
        "tty" optional Bool,
        "volumeDevices" optional List(&Struct(&VOLUME_DEVICE)),
        "volumeMounts" optional List(&Struct(&VOLUME_MOUNT)),
        "workingDir" optional Text,
    }

    EPHEMERAL_CONTAINER {
        "args" optional List(&Text),
        "command" optional List(&Text),
        "env" optional List(&Struct(&ENV_VAR)),
        "envFrom" optional List(&Struct(&ENV_FROM_SOURCE)),
        "image" optional Text,
        "imagePullPolicy" optional Text,
        "lifecycle" optional Ptr(&Struct(&LIFECYCLE)),
        "livenessProbe" optional Ptr(&Struct(&PROBE)),
        "name" required Text,
        "ports" optional List(&Struct(&CONTAINER_PORT)),
        "readinessProbe" optional Ptr(&Struct(&PROBE)),
        "resizePolicy" optional List(&Struct(&CONTAINER_RESIZE_POLICY)),
        "resources" required Struct(&RESOURCE_REQUIREMENTS),
        "restartPolicy" optional Ptr(&Text),
        "restartPolicyRules" optional List(&Struct(&CONTAINER_RESTART_RULE)),
        "securityContext" optional Ptr(&Struct(&SECURITY_CONTEXT)),
        "startupProbe" optional Ptr(&Struct(&PROBE)),
        "stdin" optional Bool,
        "stdinOnce" optional Bool,
        "targetContainerName" optional Text,
        "terminationMessagePath" optional Text,
        "terminationMessagePolicy" optional Text,
        "tty" optional Bool,
        "volumeDevices" optional List(&Struct(&VOLUME_DEVICE)),
        "volumeMounts" optional List(&Struct(&VOLUME_MOUNT)),
        "workingDir" optional Text,
    }

    POD_SECURITY_CONTEXT {
        "appArmorProfile" optional Ptr(&Struct(&APP_ARMOR_PROFILE)),
        "fsGroup" optional Ptr(&Int64),
        "fsGroupChangePolicy" optional Ptr(&Text),
        "runAsGroup" optional Ptr(&Int64),
        "runAsNonRoot" optional Ptr(&Bool),
        "runAsUser" optional Ptr(&Int64),
        "seLinuxChangePolicy" optional Ptr(&Text),
        "seLinuxOptions" optional Ptr(&Struct(&SE_LINUX_OPTIONS)),
        "seccompProfile" optional Ptr(&Struct(&SECCOMP_PROFILE)),
        "supplementalGroups" optional List(&Int64),
        "supplementalGroupsPolicy" optional Ptr(&Text),
        "sysctls" optional List(&Struct(&SYSCTL)),
        "windowsOptions" optional Ptr(&Struct(&WINDOWS_SECURITY_CONTEXT_OPTIONS)),
    }

    LOCAL_OBJECT_REFERENCE {
        "name" optional Text,
    }

    AFFINITY {
        "nodeAffinity" optional Ptr(&Struct(&NODE_AFFINITY)),
        "podAffinity" optional Ptr(&Struct(&POD_AFFINITY)),
        "podAntiAffinity" optional Ptr(&Struct(&POD_ANTI_AFFINITY)),
    }

    TOLERATION {
        "effect" optional Text,
        "key" optional Text,
        "operator" optional Text,
        "tolerationSeconds" optional Ptr(&Int64),
        "value" optional Text,
    }

    HOST_ALIAS {
        "hostnames" optional List(&Text),
        "ip" required Text,
    }

    POD_DNS_CONFIG {
        "nameservers" optional List(&Text),
        "options" optional List(&Struct(&POD_DNS_CONFIG_OPTION)),
        "searches" optional List(&Text),
    }

    POD_READINESS_GATE {
        "conditionType" required Text,
    }

    TOPOLOGY_SPREAD_CONSTRAINT {
        "labelSelector" optional Ptr(&Struct(&LABEL_SELECTOR)),
        "matchLabelKeys" optional List(&Text),
        "maxSkew" required Int32,
        "minDomains" optional Ptr(&Int32),
        "nodeAffinityPolicy" optional Ptr(&Text),
        "nodeTaintsPolicy" optional Ptr(&Text),
        "topologyKey" required Text,
        "whenUnsatisfiable" required Text,
    }

    POD_OS {
        "name" required Text,
    }

    POD_SCHEDULING_GATE {
        "name" required Text,
    }

    POD_RESOURCE_CLAIM {
        "name" required Text,
        "resourceClaimName" optional Ptr(&Text),
        "resourceClaimTemplateName" optional Ptr(&Text),
    }

    RESOURCE_REQUIREMENTS {
        "claims" optional List(&Struct(&RESOURCE_CLAIM)),
        "limits" optional Map(&Quantity),
        "requests" optional Map(&Quantity),
    }

    POD_SCHEDULING_GROUP {
        "podGroupName" optional Ptr(&Text),
    }

    JSON_SCHEMA_PROPS {
        "$ref" optional Ptr(&Text),
        "$schema" optional Text,
        "additionalItems" optional Ptr(&SchemaOrBool),
        "additionalProperties" optional Ptr(&SchemaOrBool),
        "allOf" optional List(&Struct(&JSON_SCHEMA_PROPS)),
        "anyOf" optional List(&Struct(&JSON_SCHEMA_PROPS)),
        "default" optional Ptr(&Raw),
        "definitions" optional Map(&Struct(&JSON_SCHEMA_PROPS)),
        "dependencies" optional Map(&SchemaOrTexts),
        "description" optional Text,
        "enum" optional List(&Raw),
        "example" optional Ptr(&Raw),
        "exclusiveMaximum" optional Bool,
        "exclusiveMinimum" optional Bool,
        "externalDocs" optional Ptr(&Struct(&EXTERNAL_DOCUMENTATION)),
        "format" optional Text,
        "id" optional Text,
        "items" optional Ptr(&SchemaOrList),
        "maxItems" optional Ptr(&Int64),
        "maxLength" optional Ptr(&Int64),
        "maxProperties" optional Ptr(&Int64),
        "maximum" optional Ptr(&Float),
        "minItems" optional Ptr(&Int64),
        "minLength" optional Ptr(&Int64),
        "minProperties" optional Ptr(&Int64),
        "minimum" optional Ptr(&Float),
        "multipleOf" optional Ptr(&Float),
        "not" optional Ptr(&Struct(&JSON_SCHEMA_PROPS)),
        "nullable" optional Bool,
        "oneOf" optional List(&Struct(&JSON_SCHEMA_PROPS)),
        "pattern" optional Text,
        "patternProperties" optional Map(&Struct(&JSON_SCHEMA_PROPS)),
        "properties" optional Map(&Struct(&JSON_SCHEMA_PROPS)),
        "required" optional List(&Text),
        "title" optional Text,
        "type" optional Text,
        "uniqueItems" optional Bool,
        "x-kubernetes-embedded-resource" optional Bool,
        "x-kubernetes-int-or-string" optional Bool,
        "x-kubernetes-list-map-keys" optional List(&Text),
        "x-kubernetes-list-type" optional Ptr(&Text),
        "x-kubernetes-map-type" optional Ptr(&Text),
        "x-kubernetes-preserve-unknown-fields" optional Ptr(&Bool),
        "x-kubernetes-validations" optional List(&Struct(&VALIDATION_RULE)),
    }

    CUSTOM_RESOURCE_SUBRESOURCE_STATUS {
    }

    CUSTOM_RESOURCE_SUBRESOURCE_SCALE {
        "labelSelectorPath" optional Ptr(&Text),
        "specReplicasPath" required Text,
        "statusReplicasPath" required Text,
    }

    HOST_PATH_VOLUME_SOURCE {
        "path" required Text,
        "type" optional Ptr(&Text),
    }

    EMPTY_DIR_VOLUME_SOURCE {
        "medium" optional Text,
        "sizeLimit" optional Ptr(&Quantity),
    }

    GCE_PERSISTENT_DISK_VOLUME_SOURCE {
        "fsType" optional Text,
        "partition" optional Int32,
        "pdName" required Text,
        "readOnly" optional Bool,
    }

    AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE {
        "fsType" optional Text,
        "partition" optional Int32,
        "readOnly" optional Bool,
        "volumeID" required Text,
    }

    GIT_REPO_VOLUME_SOURCE {
        "directory" optional Text,
        "repository" required Text,
        "revision" optional Text,
    }

    SECRET_VOLUME_SOURCE {
        "defaultMode" optional Ptr(&Int32),
        "items" optional List(&Struct(&KEY_TO_PATH)),
        "optional" optional Ptr(&Bool),
        "secretName" optional Text,
    }

    NFS_VOLUME_SOURCE {
        "path" required Text,
        "readOnly" optional Bool,
        "server" required Text,
    }

    ISCSI_VOLUME_SOURCE {
        "chapAuthDiscovery" optional Bool,
        "chapAuthSession" optional Bool,
        "fsType" optional Text,
        "initiatorName" optional Ptr(&Text),
        "iqn" required Text,
        "iscsiInterface" optional Text,
        "lun" required Int32,
        "portals" optional List(&Text),
        "readOnly" optional Bool,
        "secretRef" optional Ptr(&Struct(&LOCAL_OBJECT_REFERENCE)),
        "targetPortal" required Text,
    }

    GLUSTERFS_VOLUME_SOURCE {
        "endpoints" required Text,
        "path" required Text,
        "readOnly" optional Bool,
    }

    PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE {
        "claimName" required Text,
        "readOnly" optional Bool,
    }

    RBD_VOLUME_SOURCE {
        "fsType" optional Text,
        "image" required Text,
        "keyring" optional Text,
        "monitors" required List(&Text),
        "pool" optional Text,
        "readOnly" optional Bool,
        "secretRef" optional Ptr(&Struct(&LOCAL_OBJECT_REFERENCE)),
        "user" optional Text,
    }

    FLEX_VOLUME_SOURCE {
        "driver" required Text,
        "fsType" optional Text,
        "options" optional Map(&Text),
        "readOnly" optional Bool,
        "secretRef" optional Ptr(&Struct(&LOCAL_OBJECT_REFERENCE)),
    }

    CINDER_VOLUME_SOURCE {
        "fsType" optional Text,
        "readOnly" optional Bool,
        "secretRef" optional Ptr(&Struct(&LOCAL_OBJECT_REFERENCE)),
        "volumeID" required Text,
    }

    CEPH_FS_VOLUME_SOURCE {
        "monitors" required List(&Text),
        "path" optional Text,
        "readOnly" optional Bool,
        "secretFile" optional Text,
        "secretRef" optional Ptr(&Struct(&LOCAL_OBJECT_REFERENCE)),
        "user" optional Text,
    }

    FLOCKER_VOLUME_SOURCE {
        "datasetName" optional Text,
        "datasetUUID" optional Text,
    }

    DOWNWARD_API_VOLUME_SOURCE {
        "defaultMode" optional Ptr(&Int32),
        "items" optional List(&Struct(&DOWNWARD_API_VOLUME_FILE)),
    }

    FC_VOLUME_SOURCE {
        "fsType" optional Text,
        "lun" optional Ptr(&Int32),
        "readOnly" optional Bool,
        "targetWWNs" optional List(&Text),
        "wwids" optional List(&Text),
    }

    AZURE_FILE_VOLUME_SOURCE {
        "readOnly" optional Bool,
        "secretName" required Text,
        "shareName" required Text,
    }

    CONFIG_MAP_VOLUME_SOURCE {
        "defaultMode" optional Ptr(&Int32),
        "items" optional List(&Struct(&KEY_TO_PATH)),
        "name" optional Text,
        "optional" optional Ptr(&Bool),
    }

    VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE {
        "fsType" optional Text,
        "storagePolicyID" optional Text,
        "storagePolicyName" optional Text,
        "volumePath" required Text,
    }

    QUOBYTE_VOLUME_SOURCE {
        "group" optional Text,
        "readOnly" optional Bool,
        "registry" required Text,
        "tenant" optional Text,
        "user" optional Text,
        "volume" required Text,
    }

    AZURE_DISK_VOLUME_SOURCE {
        "cachingMode" optional Ptr(&Text),
        "diskName" required Text,
        "diskURI" required Text,
        "fsType" optional Ptr(&Text),
        "kind" optional Ptr(&Text),
        "readOnly" optional Ptr(&Bool),
    }

    PHOTON_PERSISTENT_DISK_VOLUME_SOURCE {
        "fsType" optional Text,
        "pdID" required Text,
    }

    PROJECTED_VOLUME_SOURCE {
        "defaultMode" optional Ptr(&Int32),
        "sources" required List(&Struct(&VOLUME_PROJECTION)),
    }

    PORTWORX_VOLUME_SOURCE {
        "fsType" optional Text,
        "readOnly" optional Bool,
        "volumeID" required Text,
    }

    SCALE_IO_VOLUME_SOURCE {
        "fsType" optional Text,
        "gateway" required Text,
        "protectionDomain" optional Text,
        "readOnly" optional Bool,
        "secretRef" required Ptr(&Struct(&LOCAL_OBJECT_REFERENCE)),
        "sslEnabled" optional Bool,
        "storageMode" optional Text,
        "storagePool" optional Text,
        "system" required Text,
        "volumeName" optional Text,
    }

    STORAGE_OS_VOLUME_SOURCE {
        "fsType" optional Text,
        "readOnly" optional Bool,
        "secretRef" optional Ptr(&Struct(&LOCAL_OBJECT_REFERENCE)),
        "volumeName" optional Text,
        "volumeNamespace" optional Text,
    }

    CSI_VOLUME_SOURCE {
        "driver" required Text,
        "fsType" optional Ptr(&Text),
        "nodePublishSecretRef" optional Ptr(&Struct(&LOCAL_OBJECT_REFERENCE)),
        "readOnly" optional Ptr(&Bool),
        "volumeAttributes" optional Map(&Text),
    }

    EPHEMERAL_VOLUME_SOURCE {
        "volumeClaimTemplate" optional Ptr(&Struct(&PERSISTENT_VOLUME_CLAIM_TEMPLATE)),
    }

    IMAGE_VOLUME_SOURCE {
        "pullPolicy" optional Text,
        "reference" optional Text,
    }

    CONTAINER_PORT {
        "containerPort" required Int32,
        "hostIP" optional Text,
        "hostPort" optional Int32,
        "name" optional Text,
        "protocol" optional Text,
    }

    ENV_FROM_SOURCE {
        "configMapRef" optional Ptr(&Struct(&CONFIG_MAP_ENV_SOURCE)),
        "prefix" optional Text,
        "secretRef" optional Ptr(&Struct(&SECRET_ENV_SOURCE)),
    }

    ENV_VAR {
        "name" required Text,
        "value" optional Text,
        "valueFrom" optional Ptr(&Struct(&ENV_VAR_SOURCE)),
    }

    CONTAINER_RESIZE_POLICY {
        "resourceName" required Text,
        "restartPolicy" required Text,
    }

    CONTAINER_RESTART_RULE {
        "action" optional Text,
        "exitCodes" optional Ptr(&Struct(&CONTAINER_RESTART_RULE_ON_EXIT_CODES)),
    }

    VOLUME_MOUNT {
        "mountPath" required Text,
        "mountPropagation" optional Ptr(&Text),
        "name" required Text,
        "readOnly" optional Bool,
        "recursiveReadOnly" optional Ptr(&Text),
        "subPath" optional Text,
        "subPathExpr" optional Text,
    }

    VOLUME_DEVICE {
        "devicePath" required Text,
        "name" required Text,
    }

    PROBE {
        "exec" optional Ptr(&Struct(&EXEC_ACTION)),
        "failureThreshold" optional Int32,
        "grpc" optional Ptr(&Struct(&GRPC_ACTION)),
        "httpGet" optional Ptr(&Struct(&HTTP_GET_ACTION)),
        "initialDelaySeconds" optional Int32,
        "periodSeconds" optional Int32,
        "successThreshold" optional Int32,
        "tcpSocket" optional Ptr(&Struct(&TCP_SOCKET_ACTION)),
        "terminationGracePeriodSeconds" optional Ptr(&Int64),
        "timeoutSeconds" optional Int32,
    }

    LIFECYCLE {
        "postStart" optional Ptr(&Struct(&LIFECYCLE_HANDLER)),
        "preStop" optional Ptr(&Struct(&LIFECYCLE_HANDLER)),
        "stopSignal" optional Ptr(&Text),
    }

    SECURITY_CONTEXT {
        "allowPrivilegeEscalation" optional Ptr(&Bool),
        "appArmorProfile" optional Ptr(&Struct(&APP_ARMOR_PROFILE)),
        "capabilities" optional Ptr(&Struct(&CAPABILITIES)),
        "privileged" optional Ptr(&Bool),
        "procMount" optional Ptr(&Text),
        "readOnlyRootFilesystem" optional Ptr(&Bool),
        "runAsGroup" optional Ptr(&Int64),
        "runAsNonRoot" optional Ptr(&Bool),
        "runAsUser" optional Ptr(&Int64),
        "seLinuxOptions" optional Ptr(&Struct(&SE_LINUX_OPTIONS)),
        "seccompProfile" optional Ptr(&Struct(&SECCOMP_PROFILE)),
        "windowsOptions" optional Ptr(&Struct(&WINDOWS_SECURITY_CONTEXT_OPTIONS)),
    }

    SE_LINUX_OPTIONS {
        "level" optional Text,
        "role" optional Text,
        "type" optional Text,
        "user" optional Text,
    }

    WINDOWS_SECURITY_CONTEXT_OPTIONS {
        "gmsaCredentialSpec" optional Ptr(&Text),
        "gmsaCredentialSpecName" optional Ptr(&Text),
        "hostProcess" optional Ptr(&Bool),
        "runAsUserName" optional Ptr(&Text),
    }

    SYSCTL {
        "name" required Text,
        "value" required Text,
    }

    SECCOMP_PROFILE {
        "localhostProfile" optional Ptr(&Text),
        "type" required Text,
    }

    APP_ARMOR_PROFILE {
        "localhostProfile" optional Ptr(&Text),
        "type" required Text,
    }

    NODE_AFFINITY {
        "preferredDuringSchedulingIgnoredDuringExecution" optional List(&Struct(&PREFERRED_SCHEDULING_TERM)),
        "requiredDuringSchedulingIgnoredDuringExecution" optional Ptr(&Struct(&NODE_SELECTOR)),
    }

    POD_AFFINITY {
        "preferredDuringSchedulingIgnoredDuringExecution" optional List(&Struct(&WEIGHTED_POD_AFFINITY_TERM)),
        "requiredDuringSchedulingIgnoredDuringExecution" optional List(&Struct(&POD_AFFINITY_TERM)),
    }

    POD_ANTI_AFFINITY {
        "preferredDuringSchedulingIgnoredDuringExecution" optional List(&Struct(&WEIGHTED_POD_AFFINITY_TERM)),
        "requiredDuringSchedulingIgnoredDuringExecution" optional List(&Struct(&POD_AFFINITY_TERM)),
    }

    POD_DNS_CONFIG_OPTION {
        "name" optional Text,
        "value" optional Ptr(&Text),
    }

    RESOURCE_CLAIM {
        "name" required Text,
        "request" optional Text,
    }

    EXTERNAL_DOCUMENTATION {
        "description" optional Text,
        "url" optional Text,
    }

    VALIDATION_RULE {
        "fieldPath" optional Text,
        "message" optional Text,
        "messageExpression" optional Text,
        "optionalOldSelf" optional Ptr(&Bool),
        "reason" optional Ptr(&Text),
        "rule" required Text,
    }

    KEY_TO_PATH {
        "key" required Text,
        "mode" optional Ptr(&Int32),
        "path" required Text,
    }

    DOWNWARD_API_VOLUME_FILE {
        "fieldRef" optional Ptr(&Struct(&OBJECT_FIELD_SELECTOR)),
        "mode" optional Ptr(&Int32),
        "path" required Text,
        "resourceFieldRef" optional Ptr(&Struct(&RESOURCE_FIELD_SELECTOR)),
    }

    VOLUME_PROJECTION {
        "clusterTrustBundle" optional Ptr(&Struct(&CLUSTER_TRUST_BUNDLE_PROJECTION)),
        "configMap" optional Ptr(&Struct(&CONFIG_MAP_PROJECTION)),
        "downwardAPI" optional Ptr(&Struct(&DOWNWARD_API_PROJECTION)),
        "podCertificate" optional Ptr(&Struct(&POD_CERTIFICATE_PROJECTION)),
        "secret" optional Ptr(&Struct(&SECRET_PROJECTION)),
        "serviceAccountToken" optional Ptr(&Struct(&SERVICE_ACCOUNT_TOKEN_PROJECTION)),
    }

    PERSISTENT_VOLUME_CLAIM_TEMPLATE {
        "metadata" required Struct(&OBJECT_META),
        "spec" required Struct(&PERSISTENT_VOLUME_CLAIM_SPEC),
    }

    CONFIG_MAP_ENV_SOURCE {
        "name" optional Text,
        "optional" optional Ptr(&Bool),
    }

    SECRET_ENV_SOURCE {
        "name" optional Text,
        "optional" optional Ptr(&Bool),
    }

    ENV_VAR_SOURCE {
        "configMapKeyRef" optional Ptr(&Struct(&CONFIG_MAP_KEY_SELECTOR)),
        "fieldRef" optional Ptr(&Struct(&OBJECT_FIELD_SELECTOR)),
        "fileKeyRef" optional Ptr(&Struct(&FILE_KEY_SELECTOR)),
        "resourceFieldRef" optional Ptr(&Struct(&RESOURCE_FIELD_SELECTOR)),
        "secretKeyRef" optional Ptr(&Struct(&SECRET_KEY_SELECTOR)),
    }

    CONTAINER_RESTART_RULE_ON_EXIT_CODES {
        "operator" optional Text,
        "values" optional List(&Int32),
    }

    EXEC_ACTION {
        "command" optional List(&Text),
    }

    HTTP_GET_ACTION {
        "host" optional Text,
        "httpHeaders" optional List(&Struct(&HTTP_HEADER)),
        "path" optional Text,
        "port" required IntOrText,
        "scheme" optional Text,
    }

    TCP_SOCKET_ACTION {
        "host" optional Text,
        "port" required IntOrText,
    }

    GRPC_ACTION {
        "port" required Int32,
        "service" required Ptr(&Text),
    }

    LIFECYCLE_HANDLER {
        "exec" optional Ptr(&Struct(&EXEC_ACTION)),
        "httpGet" optional Ptr(&Struct(&HTTP_GET_ACTION)),
        "sleep" optional Ptr(&Struct(&SLEEP_ACTION)),
        "tcpSocket" optional Ptr(&Struct(&TCP_SOCKET_ACTION)),
    }

    CAPABILITIES {
        "add" optional List(&Text),
        "drop" optional List(&Text),
    }

    NODE_SELECTOR {
        "nodeSelectorTerms" required List(&Struct(&NODE_SELECTOR_TERM)),
    }

    PREFERRED_SCHEDULING_TERM {
        "preference" required Struct(&NODE_SELECTOR_TERM),
        "weight" required Int32,
    }

    POD_AFFINITY_TERM {
        "labelSelector" optional Ptr(&Struct(&LABEL_SELECTOR)),
        "matchLabelKeys" optional List(&Text),
        "mismatchLabelKeys" optional List(&Text),
        "namespaceSelector" optional Ptr(&Struct(&LABEL_SELECTOR)),
        "namespaces" optional List(&Text),
        "topologyKey" required Text,
    }

    WEIGHTED_POD_AFFINITY_TERM {
        "podAffinityTerm" required Struct(&POD_AFFINITY_TERM),
        "weight" required Int32,
    }

    OBJECT_FIELD_SELECTOR {
        "apiVersion" optional Text,
        "fieldPath" required Text,
    }

    RESOURCE_FIELD_SELECTOR {
        "containerName" optional Text,
        "divisor" required Quantity,
        "resource" required Text,
    }

    SECRET_PROJECTION {
        "items" optional List(&Struct(&KEY_TO_PATH)),
        "name" optional Text,
        "optional" optional Ptr(&Bool),
    }

    DOWNWARD_API_PROJECTION {
        "items" optional List(&Struct(&DOWNWARD_API_VOLUME_FILE)),
    }

    CONFIG_MAP_PROJECTION {
        "items" optional List(&Struct(&KEY_TO_PATH)),
        "name" optional Text,
        "optional" optional Ptr(&Bool),
    }

    SERVICE_ACCOUNT_TOKEN_PROJECTION {
        "audience" optional Text,
        "expirationSeconds" optional Ptr(&Int64),
        "path" required Text,
    }

    CLUSTER_TRUST_BUNDLE_PROJECTION {
        "labelSelector" optional Ptr(&Struct(&LABEL_SELECTOR)),
        "name" optional Ptr(&Text),
        "optional" optional Ptr(&Bool),
        "path" required Text,
        "signerName" optional Ptr(&Text),
    }

    POD_CERTIFICATE_PROJECTION {
        "certificateChainPath" optional Text,
        "credentialBundlePath" optional Text,
        "keyPath" optional Text,
        "keyType" optional Text,
        "maxExpirationSeconds" optional Ptr(&Int32),
        "signerName" optional Text,
        "userAnnotations" optional Map(&Text),
    }

    PERSISTENT_VOLUME_CLAIM_SPEC {
        "accessModes" optional List(&Text),
        "dataSource" optional Ptr(&Struct(&TYPED_LOCAL_OBJECT_REFERENCE)),
        "dataSourceRef" optional Ptr(&Struct(&TYPED_OBJECT_REFERENCE)),
        "resources" required Struct(&VOLUME_RESOURCE_REQUIREMENTS),
        "selector" optional Ptr(&Struct(&LABEL_SELECTOR)),
        "storageClassName" optional Ptr(&Text),
        "volumeAttributesClassName" optional Ptr(&Text),
        "volumeMode" optional Ptr(&Text),
        "volumeName" optional Text,
    }

    CONFIG_MAP_KEY_SELECTOR {
        "key" required Text,
        "name" optional Text,
        "optional" optional Ptr(&Bool),
    }

    SECRET_KEY_SELECTOR {
        "key" required Text,
        "name" optional Text,
        "optional" optional Ptr(&Bool),
    }

    FILE_KEY_SELECTOR {
        "key" required Text,
        "optional" optional Ptr(&Bool),
        "path" required Text,
        "volumeName" required Text,
    }

    HTTP_HEADER {
        "name" required Text,
        "value" required Text,
    }

    SLEEP_ACTION {
        "seconds" required Int64,
    }

    NODE_SELECTOR_TERM {
        "matchExpressions" optional List(&Struct(&NODE_SELECTOR_REQUIREMENT)),
        "matchFields" optional List(&Struct(&NODE_SELECTOR_REQUIREMENT)),
    }

    VOLUME_RESOURCE_REQUIREMENTS {
        "limits" optional Map(&Quantity),
        "requests" optional Map(&Quantity),
    }

    TYPED_LOCAL_OBJECT_REFERENCE {
        "apiGroup" required Ptr(&Text),
        "kind" required Text,
        "name" required Text,
    }

    TYPED_OBJECT_REFERENCE {
        "apiGroup" required Ptr(&Text),
        "kind" required Text,
        "name" required Text,
        "namespace" optional Ptr(&Text),
    }

    NODE_SELECTOR_REQUIREMENT {
        "key" required Text,
        "operator" required Text,
        "values" optional List(&Text),
    }
}
