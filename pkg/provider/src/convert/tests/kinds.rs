//! Conversion of a small object of each kind.

use super::converted;
use snapbox::{assert_data_eq, str};

// Row: D-64
#[test]
fn a_cluster_keeps_its_references_as_groups() {
    let text = r#"
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata:
  name: blue
  namespace: team
spec:
  clusterNetwork:
    apiServerPort: 6443
    pods:
      cidrBlocks: [192.168.0.0/16]
  controlPlaneEndpoint:
    host: ""
    port: 0
  controlPlaneRef:
    apiVersion: controlplane.cluster.x-k8s.io/v1beta1
    kind: KubeadmControlPlane
    name: blue-cp
    namespace: team
  infrastructureRef:
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
    kind: DockerCluster
    name: blue
    namespace: elsewhere
    uid: 1-2
  paused: false
"#;
    assert_data_eq!(
        converted(text),
        str![[r#"
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata:
  name: blue
  namespace: team
spec:
  clusterNetwork:
    apiServerPort: 6443
    pods:
      cidrBlocks:
      - 192.168.0.0/16
  controlPlaneRef:
    apiGroup: controlplane.cluster.x-k8s.io
    kind: KubeadmControlPlane
    name: blue-cp
  infrastructureRef:
    apiGroup: infrastructure.cluster.x-k8s.io
    kind: DockerCluster
    name: blue
  paused: false
# `spec.infrastructureRef.namespace` of `Cluster team/blue` has no equivalent in v1beta2 and is dropped
# `spec.infrastructureRef.uid` of `Cluster team/blue` has no equivalent in v1beta2 and is dropped

"#]]
    );
}

#[test]
fn a_topology_has_a_class_reference_health_checks_and_seconds() {
    let text = r#"
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata:
  name: blue
  namespace: team
spec:
  topology:
    class: quick-start
    classNamespace: classes
    version: v1.34.0
    rolloutAfter: "2024-01-01T00:00:00Z"
    controlPlane:
      replicas: 3
      nodeDrainTimeout: 10m
      machineHealthCheck:
        enable: false
        maxUnhealthy: 33%
        nodeStartupTimeout: 1h30m
        unhealthyConditions:
        - {type: Ready, status: Unknown, timeout: 300s}
        remediationTemplate: {apiVersion: x.io/v1, kind: Fix, name: fix}
    workers:
      machineDeployments:
      - class: default
        name: md-0
        failureDomain: ""
        strategy:
          type: RollingUpdate
          rollingUpdate: {maxSurge: 1, maxUnavailable: 10%, deletePolicy: Oldest}
          remediation: {maxInFlight: 2}
        variables:
          overrides:
          - {name: size, value: {disk: [1, null]}, definitionFrom: inline}
    variables:
    - {name: zone, value: "", definitionFrom: ""}
"#;
    assert_data_eq!(
        converted(text),
        str![[r#"
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata:
  name: blue
  namespace: team
spec:
  topology:
    classRef:
      name: quick-start
      namespace: classes
    controlPlane:
      deletion:
        nodeDrainTimeoutSeconds: 600
      healthCheck:
        checks:
          nodeStartupTimeoutSeconds: 5400
          unhealthyNodeConditions:
          - status: Unknown
            timeoutSeconds: 300
            type: Ready
        enabled: false
        remediation:
          templateRef:
            apiVersion: x.io/v1
            kind: Fix
            name: fix
          triggerIf:
            unhealthyLessThanOrEqualTo: 33%
      replicas: 3
    variables:
    - name: zone
      value: ""
    version: v1.34.0
    workers:
      machineDeployments:
      - class: default
        deletion:
          order: Oldest
        healthCheck:
          remediation:
            maxInFlight: 2
        name: md-0
        rollout:
          strategy:
            rollingUpdate:
              maxSurge: 1
              maxUnavailable: 10%
            type: RollingUpdate
        variables:
          overrides:
          - name: size
            value:
              disk:
              - 1
              - null
# `spec.topology.rolloutAfter` of `Cluster team/blue` has no equivalent in v1beta2 and is dropped
# `spec.topology.workers.machineDeployments[0].variables.overrides[0].definitionFrom` of `Cluster team/blue` has no equivalent in v1beta2 and is dropped

"#]]
    );
}

// Row: D-88
#[test]
fn the_status_of_a_cluster_separates_old_from_new() {
    let text = r#"
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata:
  name: blue
  namespace: team
status:
  conditions:
  - {type: Ready, status: "True", lastTransitionTime: "2024-01-01T00:00:00Z"}
  controlPlaneReady: true
  infrastructureReady: false
  failureMessage: broken
  failureDomains:
    zone-b: {controlPlane: true, attributes: {room: "2"}}
    zone-a: {}
  observedGeneration: 3
  phase: Provisioned
  v1beta2:
    conditions:
    - {type: Available, status: "True"}
    workers: {replicas: 0, readyReplicas: 2}
"#;
    assert_data_eq!(
        converted(text),
        str![[r#"
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata:
  name: blue
  namespace: team
status:
  conditions:
  - status: "True"
    type: Available
  deprecated:
    v1beta1:
      conditions:
      - lastTransitionTime: "2024-01-01T00:00:00Z"
        status: "True"
        type: Ready
      failureMessage: broken
  failureDomains:
  - name: zone-a
  - attributes:
      room: "2"
    controlPlane: true
    name: zone-b
  initialization:
    controlPlaneInitialized: true
    infrastructureProvisioned: false
  observedGeneration: 3
  phase: Provisioned
  workers:
    readyReplicas: 2
    replicas: 0

"#]]
    );
}

#[test]
fn a_class_names_its_templates_with_versions() {
    let text = r#"
apiVersion: cluster.x-k8s.io/v1beta1
kind: ClusterClass
metadata:
  name: blue
  namespace: team
spec:
  infrastructure:
    ref: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: DockerClusterTemplate, name: infra, namespace: team}
  infrastructureNamingStrategy: {template: "{{ .cluster.name }}"}
  controlPlane:
    metadata: {labels: {a: b}}
    ref: {apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: KubeadmControlPlaneTemplate, name: cp}
    machineInfrastructure:
      ref: {kind: DockerMachineTemplate, apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, name: cp}
    namingStrategy: {template: cp}
  workers:
    machineDeployments:
    - class: default
      template:
        metadata: {}
        bootstrap: {ref: {apiVersion: b/v1, kind: B, name: b}}
        infrastructure: {ref: {apiVersion: i/v1, kind: I, name: i}}
      nodeDeletionTimeout: 500ms
      machineHealthCheck: {unhealthyRange: "[3-5]"}
  patches:
  - name: external
    external: {generateExtension: gen.x, validateExtension: val.x}
  variables:
  - name: size
    required: false
    metadata: {labels: {shown: "yes"}}
    schema:
      openAPIV3Schema:
        type: object
        additionalProperties: {}
        properties:
          disk: {type: integer, default: 0, minimum: 0}
"#;
    assert_data_eq!(
        converted(text),
        str![[r#"
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata:
  name: blue
  namespace: team
spec:
  controlPlane:
    machineInfrastructure:
      templateRef:
        apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
        kind: DockerMachineTemplate
        name: cp
    metadata:
      labels:
        a: b
    naming:
      template: cp
    templateRef:
      apiVersion: controlplane.cluster.x-k8s.io/v1beta1
      kind: KubeadmControlPlaneTemplate
      name: cp
  infrastructure:
    naming:
      template: '{{ .cluster.name }}'
    templateRef:
      apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
      kind: DockerClusterTemplate
      name: infra
  patches:
  - external:
      generatePatchesExtension: gen.x
      validateTopologyExtension: val.x
    name: external
  variables:
  - deprecatedV1Beta1Metadata:
      labels:
        shown: "yes"
    name: size
    required: false
    schema:
      openAPIV3Schema:
        additionalProperties: {}
        properties:
          disk:
            default: 0
            minimum: 0
            type: integer
        type: object
  workers:
    machineDeployments:
    - bootstrap:
        templateRef:
          apiVersion: b/v1
          kind: B
          name: b
      class: default
      deletion:
        nodeDeletionTimeoutSeconds: 0
      healthCheck:
        remediation:
          triggerIf:
            unhealthyInRange: '[3-5]'
      infrastructure:
        templateRef:
          apiVersion: i/v1
          kind: I
          name: i

"#]]
    );
}
