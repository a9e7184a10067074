mod kinds;
mod machine_kinds;

use manifest::{YamlLimits, read_stream, write_stream};
use snapbox::{assert_data_eq, str};

use super::duration::whole_seconds;
use super::{ConversionFault, ConversionOutcome, ConversionProblem, convert};

/// Converts a file. Returns the result, with notes as lines starting with `#` and faults as lines starting with `!`.
fn converted(text: &str) -> String {
    let objects = read_stream(text.as_bytes(), &YamlLimits::default()).unwrap().objects;
    match convert(objects) {
        Ok(converted) => {
            let notes: Vec<_> = converted.notes.iter().map(|note| format!("# {note}\n")).collect();
            format!("{}\n{}", write_stream(&converted.objects).trim_end(), notes.concat())
        }
        Err(error) => {
            let faults: Vec<_> = error.faults.iter().map(|fault| format!("! {fault}\n")).collect();
            faults.concat()
        }
    }
}

#[test]
fn other_groups_and_versions_pass_through() {
    let text = "\
apiVersion: addons.cluster.x-k8s.io/v1beta1
kind: ClusterResourceSet
metadata: {name: a}
spec: {strategy: ApplyOnce}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Machine
metadata: {name: b}
spec: {nodeDrainTimeout: 1m}
---
apiVersion: v1
kind: List
items: []
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Secret}
- {apiVersion: cluster.x-k8s.io/v1beta1, kind: MachineSet}
";
    let objects = read_stream(text.as_bytes(), &YamlLimits::default()).unwrap().objects;
    let result = convert(objects.clone()).unwrap();
    assert_eq!(result.objects[..3], objects[..3]);
    assert_eq!(result.count(ConversionOutcome::PassedThrough), 4);
    assert_eq!(result.outcomes.last(), Some(&ConversionOutcome::Converted));
}

#[test]
fn an_unknown_kind_lists_the_kinds_of_its_group() {
    let text = "{apiVersion: cluster.x-k8s.io/v1beta1, kind: Spaceship, metadata: {name: red}}";
    let error = convert(read_stream(text.as_bytes(), &YamlLimits::default()).unwrap().objects).unwrap_err();
    let ConversionProblem::UnknownKind { known } = &error.faults[0].problem else { panic!("{error}") };
    assert_eq!(known.len(), 8);
}

// Row: D-89
#[test]
fn field_recursion_is_limited() {
    let depth = 250;
    let schema = format!("{}{{type: string}}{}", "{items: ".repeat(depth), "}".repeat(depth));
    let text = format!(
        "{{apiVersion: cluster.x-k8s.io/v1beta1, kind: ClusterClass, metadata: {{name: deep}}, \
         spec: {{variables: [{{name: a, schema: {{openAPIV3Schema: {schema}}}}}]}}}}"
    );
    let error = convert(read_stream(text.as_bytes(), &YamlLimits::default()).unwrap().objects).unwrap_err();
    assert!(
        matches!(error.faults[..], [ConversionFault { problem: ConversionProblem::TooDeep, .. }]),
        "{error}"
    );
}

#[test]
fn durations_become_whole_seconds() {
    for (text, seconds) in [
        ("0", Some(0)),
        ("10s", Some(10)),
        ("1h30m", Some(5400)),
        ("1.5h", Some(5400)),
        (".5m", Some(30)),
        ("1.s", Some(1)),
        ("500ms", Some(0)),
        ("1999ms", Some(1)),
        ("-1.9s", Some(-1)),
        ("+2s", Some(2)),
        ("2500000µs", Some(2)),
        ("2000000000ns", Some(2)),
        ("999ms1ms", Some(1)),
        ("0.9999999999999999999999s", Some(0)),
        ("1000000h", Some(i32::MAX)),
        ("-1000000h", Some(i32::MIN)),
        ("3000000h", None),
        ("99999999999999999999s", None),
        ("", None),
        ("-", None),
        ("10", None),
        ("s", None),
        (".s", None),
        ("1d", None),
        ("1 s", None),
        ("1s ", None),
        ("é", None),
    ] {
        assert_eq!(whole_seconds(text), seconds, "{text}");
    }
}

#[test]
fn fields_unknown_to_v1beta1_are_restored_from_the_annotation() {
    let text = r#"
apiVersion: cluster.x-k8s.io/v1beta1
kind: Machine
metadata:
  name: blue
  annotations:
    cluster.x-k8s.io/conversion-data: '{"spec":{"minReadySeconds":7},"status":{"failureDomain":"zone-a"}}'
spec: {clusterName: blue}
status: {phase: Running}
"#;
    assert_data_eq!(
        converted(text),
        str![[r#"
apiVersion: cluster.x-k8s.io/v1beta2
kind: Machine
metadata:
  name: blue
spec:
  clusterName: blue
  minReadySeconds: 7
status:
  failureDomain: zone-a

"#]]
    );
}

// Row: D-66
#[test]
fn unknown_fields_are_kept_and_reported() {
    let text = r"
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata:
  name: blue
  namespace: team
more: 1
spec:
  clusterName: blue
  colour: blue
  strategy:
    pace: slow
    rollingUpdate: {maxSurge: 1, steps: [1]}
  template:
    spec: {infrastructureRef: {apiVersion: i/v1, kind: I, name: i, extra: x}}
";
    assert_data_eq!(
        converted(text),
        str![[r#"
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata:
  name: blue
  namespace: team
more: 1
spec:
  clusterName: blue
  colour: blue
  rollout:
    strategy:
      rollingUpdate:
        maxSurge: 1
  strategy:
    pace: slow
    rollingUpdate:
      steps:
      - 1
  template:
    spec:
      infrastructureRef:
        apiGroup: i
        extra: x
        kind: I
        name: i
# `more` of `MachineDeployment team/blue` is unknown in v1beta1 and is kept unchanged
# `spec.colour` of `MachineDeployment team/blue` is unknown in v1beta1 and is kept unchanged
# `spec.strategy.pace` of `MachineDeployment team/blue` is unknown in v1beta1 and is kept unchanged
# `spec.strategy.rollingUpdate.steps` of `MachineDeployment team/blue` is unknown in v1beta1 and is kept unchanged
# `spec.template.spec.infrastructureRef.extra` of `MachineDeployment team/blue` is unknown in v1beta1 and is kept unchanged

"#]]
    );
}

// Row: D-67
#[test]
fn lists_are_converted_item_by_item() {
    let text = r#"
apiVersion: v1
kind: List
items:
- apiVersion: cluster.x-k8s.io/v1beta1
  kind: Cluster
  metadata: {name: a}
  spec: {infrastructureRef: {apiVersion: i/v1, kind: I, name: i}}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: b}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineSetList
metadata: {resourceVersion: "1"}
items:
- metadata: {name: c}
  spec: {deletePolicy: Oldest}
"#;
    assert_data_eq!(
        converted(text),
        str![[r#"
apiVersion: v1
items:
- apiVersion: cluster.x-k8s.io/v1beta2
  kind: Cluster
  metadata:
    name: a
  spec:
    infrastructureRef:
      apiGroup: i
      kind: I
      name: i
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: b
kind: List
---
apiVersion: cluster.x-k8s.io/v1beta2
items:
- metadata:
    name: c
  spec:
    deletion:
      order: Oldest
kind: MachineSetList
metadata:
  resourceVersion: "1"

"#]]
    );
}

// Row: D-68
#[test]
fn all_conversion_faults_are_reported_at_once() {
    let text = r"
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {name: blue}
spec:
  topology:
    class: 3
    workers: {machineDeployments: {}}
    controlPlane: {nodeDrainTimeout: soon, replicas: three}
  infrastructureRef: {apiVersion: a/b/c}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {name: green}
spec:
  template: {spec: {minReadySeconds: 1, taints: [null]}}
  minReadySeconds: 2
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: Spaceship
metadata: {name: red}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: Machine
metadata:
  name: grey
  annotations: {cluster.x-k8s.io/conversion-data: nonsense}
";
    assert_data_eq!(
        converted(text),
        str![[r#"
! `spec.infrastructureRef.apiVersion` of `Cluster blue` is `a/b/c`, expected `group/version`
! `spec.topology.class` of `Cluster blue` is a number, expected a string
! `spec.topology.controlPlane.nodeDrainTimeout` of `Cluster blue` is `soon`, expected a duration such as `1h30m`
! `spec.topology.controlPlane.replicas` of `Cluster blue` is a string, expected an integer
! `spec.topology.workers.machineDeployments` of `Cluster blue` is a mapping, expected a list
! `spec.template.spec.taints[0]` of `MachineDeployment green` is null, expected a mapping
! `spec.template` of `MachineDeployment green` would set `template.spec.minReadySeconds` of v1beta2 a second time
! `kind` of `Spaceship red` is not a kind of `cluster.x-k8s.io/v1beta1`
! `metadata.annotations[cluster.x-k8s.io/conversion-data]` of `Machine grey` is not a JSON object

"#]]
    );
}
