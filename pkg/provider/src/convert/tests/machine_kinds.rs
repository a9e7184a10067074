//! The conversion of the kinds of Machines.

use super::converted;
use snapbox::{assert_data_eq, str};

// Row: D-88
#[test]
fn a_machine_deployment_moves_strategy_naming_and_readiness() {
    let text = r#"
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata:
  name: blue
  namespace: team
spec:
  clusterName: blue
  minReadySeconds: 5
  paused: true
  progressDeadlineSeconds: 600
  revisionHistoryLimit: 1
  rolloutAfter: "2024-01-01T00:00:00Z"
  machineNamingStrategy: {template: "{{ .random }}"}
  selector:
    matchLabels: null
  strategy:
    rollingUpdate: {deletePolicy: Newest, maxSurge: 0}
    remediation: {maxInFlight: 1}
  template:
    spec:
      clusterName: blue
      version: v1.34.0
      nodeVolumeDetachTimeout: 1m30.9s
      bootstrap:
        configRef: {apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: KubeadmConfigTemplate, name: md}
      infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: DockerMachineTemplate, name: md}
status:
  readyReplicas: 1
  updatedReplicas: 2
  replicas: 3
  v1beta2: {readyReplicas: 3, upToDateReplicas: 2}
"#;
    assert_data_eq!(
        converted(text),
        str![[r#"
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata:
  name: blue
  namespace: team
spec:
  clusterName: blue
  deletion:
    order: Newest
  machineNaming:
    template: '{{ .random }}'
  paused: true
  remediation:
    maxInFlight: 1
  rollout:
    after: "2024-01-01T00:00:00Z"
    strategy:
      rollingUpdate:
        maxSurge: 0
  selector: {}
  template:
    spec:
      bootstrap:
        configRef:
          apiGroup: bootstrap.cluster.x-k8s.io
          kind: KubeadmConfigTemplate
          name: md
      clusterName: blue
      deletion:
        nodeVolumeDetachTimeoutSeconds: 90
      infrastructureRef:
        apiGroup: infrastructure.cluster.x-k8s.io
        kind: DockerMachineTemplate
        name: md
      minReadySeconds: 5
      version: v1.34.0
status:
  deprecated:
    v1beta1:
      readyReplicas: 1
      updatedReplicas: 2
  readyReplicas: 3
  replicas: 3
  upToDateReplicas: 2
# `spec.progressDeadlineSeconds` of `MachineDeployment team/blue` has no equivalent in v1beta2 and is dropped
# `spec.revisionHistoryLimit` of `MachineDeployment team/blue` has no equivalent in v1beta2 and is dropped

"#]]
    );
}

#[test]
fn a_machine_set_moves_its_delete_policy() {
    let text = r#"
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineSet
metadata:
  name: blue
  namespace: team
spec:
  clusterName: blue
  deletePolicy: Random
  minReadySeconds: 0
  selector: {matchLabels: {a: b}}
  template:
    spec: {clusterName: blue, bootstrap: {dataSecretName: ""}, infrastructureRef: {apiVersion: i/v1, kind: I, name: i}}
status: {fullyLabeledReplicas: 1, availableReplicas: 1, failureReason: ""}
"#;
    assert_data_eq!(
        converted(text),
        str![[r#"
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineSet
metadata:
  name: blue
  namespace: team
spec:
  clusterName: blue
  deletion:
    order: Random
  selector:
    matchLabels:
      a: b
  template:
    spec:
      bootstrap:
        dataSecretName: ""
      clusterName: blue
      infrastructureRef:
        apiGroup: i
        kind: I
        name: i
      minReadySeconds: 0
status:
  deprecated:
    v1beta1:
      availableReplicas: 1
      failureReason: ""
      fullyLabeledReplicas: 1

"#]]
    );
}

#[test]
fn a_machine_pool_keeps_its_node_references_whole() {
    let text = r#"
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachinePool
metadata:
  name: blue
  namespace: team
spec:
  clusterName: blue
  failureDomains: []
  minReadySeconds: 10
  template:
    spec: {clusterName: blue, bootstrap: {dataSecretName: ""}, infrastructureRef: {apiVersion: i/v1, kind: I, name: i}}
status:
  bootstrapReady: true
  nodeRefs:
  - {kind: Node, name: node-1, uid: 1-2}
  unavailableReplicas: 1
"#;
    assert_data_eq!(
        converted(text),
        str![[r#"
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachinePool
metadata:
  name: blue
  namespace: team
spec:
  clusterName: blue
  template:
    spec:
      bootstrap:
        dataSecretName: ""
      clusterName: blue
      infrastructureRef:
        apiGroup: i
        kind: I
        name: i
      minReadySeconds: 10
status:
  deprecated:
    v1beta1:
      unavailableReplicas: 1
  initialization:
    bootstrapDataSecretCreated: true
  nodeRefs:
  - kind: Node
    name: node-1
    uid: 1-2

"#]]
    );
}

#[test]
fn a_machine_refers_to_its_node_by_name() {
    let text = r#"
apiVersion: cluster.x-k8s.io/v1beta1
kind: Machine
metadata:
  name: blue
  namespace: team
spec:
  clusterName: blue
  bootstrap: {dataSecretName: secret}
  infrastructureRef: {kind: I, name: i}
  providerID: ""
status:
  addresses:
  - {type: InternalIP, address: 10.0.0.1}
  bootstrapReady: true
  infrastructureReady: true
  nodeRef: {apiVersion: v1, kind: Node, name: node-1, uid: 1-2}
  deletion: {nodeDrainStartTime: "2024-01-01T00:00:00Z"}
"#;
    assert_data_eq!(
        converted(text),
        str![[r#"
apiVersion: cluster.x-k8s.io/v1beta2
kind: Machine
metadata:
  name: blue
  namespace: team
spec:
  bootstrap:
    dataSecretName: secret
  clusterName: blue
  infrastructureRef:
    kind: I
    name: i
status:
  addresses:
  - address: 10.0.0.1
    type: InternalIP
  deletion:
    nodeDrainStartTime: "2024-01-01T00:00:00Z"
  initialization:
    bootstrapDataSecretCreated: true
    infrastructureProvisioned: true
  nodeRef:
    name: node-1

"#]]
    );
}

#[test]
fn a_machine_health_check_has_checks_and_remediation() {
    let text = r#"
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineHealthCheck
metadata:
  name: blue
  namespace: team
spec:
  clusterName: blue
  maxUnhealthy: 40%
  nodeStartupTimeout: 10m
  selector: {}
  unhealthyConditions:
  - {type: Ready, status: "False", timeout: 5m}
  unhealthyMachineConditions:
  - {type: Healthy, status: "False", timeout: 0s}
  remediationTemplate: {apiVersion: x.io/v1, kind: Fix, name: fix, namespace: team}
status:
  currentHealthy: 0
  expectedMachines: 1
"#;
    assert_data_eq!(
        converted(text),
        str![[r#"
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineHealthCheck
metadata:
  name: blue
  namespace: team
spec:
  checks:
    nodeStartupTimeoutSeconds: 600
    unhealthyMachineConditions:
    - status: "False"
      timeoutSeconds: 0
      type: Healthy
    unhealthyNodeConditions:
    - status: "False"
      timeoutSeconds: 300
      type: Ready
  clusterName: blue
  remediation:
    templateRef:
      apiVersion: x.io/v1
      kind: Fix
      name: fix
    triggerIf:
      unhealthyLessThanOrEqualTo: 40%
  selector: {}
status:
  currentHealthy: 0
  expectedMachines: 1

"#]]
    );
}

#[test]
fn a_machine_drain_rule_is_unchanged() {
    let text = r"
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDrainRule
metadata:
  name: blue
  namespace: team
spec:
  drain: {behavior: Drain, order: 0}
  machines:
  - selector: {}
  pods:
  - {}
";
    assert_data_eq!(
        converted(text),
        str![[r#"
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDrainRule
metadata:
  name: blue
  namespace: team
spec:
  drain:
    behavior: Drain
    order: 0
  machines:
  - selector: {}
  pods:
  - {}

"#]]
    );
}
