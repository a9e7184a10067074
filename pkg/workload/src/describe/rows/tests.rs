use snapbox::{assert_data_eq, str};

use crate::describe::{ConditionSet, DescribeRequest, Grouping, ShownConditions, tests::Given};

/// Renders a table with bars between cells, without empty cells at the end of a line.
fn table(yaml: &str, conditions: ConditionSet, shown: &str) -> String {
    let request = DescribeRequest { conditions, grouping: Grouping::Alike, ..DescribeRequest::default() };
    let tree = Given::new(yaml).tree(&request);
    let shown: ShownConditions = shown.parse().unwrap();
    let table = tree.table(&shown, "2026-01-02T00:00:00Z".parse().unwrap());
    let line = |cells: &Vec<_>| {
        let cells: Vec<String> = cells.iter().map(super::Cell::text).collect();
        cells.join("|").trim_end_matches('|').to_owned()
    };
    table.lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn current(yaml: &str, shown: &str) -> String {
    table(yaml, ConditionSet::V1Beta2, shown)
}

const ALL_KINDS: &str = "
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: c}
spec:
  topology: {version: v1.36.0}
  controlPlaneRef: {apiGroup: p.io, kind: Plane, name: p}
status:
  controlPlane: {desiredReplicas: 3, replicas: 3, readyReplicas: 2}
  workers: {desiredReplicas: 2, availableReplicas: 1}
  conditions:
  - {type: Available, status: 'False', reason: Sad, message: \"one\\n  * two\", lastTransitionTime: '2026-01-01T00:00:00Z'}
  - {type: Ready, status: 'True', reason: NotThisOne}
---
apiVersion: p.io/v1
kind: Plane
metadata: {name: p}
spec: {replicas: 3, version: v1.36.0}
status:
  replicas: 2
  upToDateReplicas: 1
  conditions:
  - {type: Ready, status: 'True', reason: Instead, lastTransitionTime: '2026-01-01T23:59:00Z'}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: md, deletionTimestamp: '2026-01-01T00:00:00Z'}
spec: {replicas: 2}
status: {readyReplicas: 0}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: unsaid}
status: {replicas: 2}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachinePool
metadata: {name: mp}
spec: {replicas: 2, template: {spec: {version: v1.35.0}}}
status:
  replicas: 2
  availableReplicas: 2
  conditions: [{type: Available, status: 'True', reason: Pooled, lastTransitionTime: '2026-01-01T00:00:00Z'}]
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Machine
metadata: {name: m}
status:
  conditions:
  - {type: UpToDate, status: 'True', reason: New}
  - {type: Ready, status: 'Unknown', reason: Hm, message: unclear, lastTransitionTime: '2026-01-01T23:00:00Z'}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineHealthCheck
metadata: {name: h}
status: {expectedMachines: 5, currentHealthy: 4}
";

// Row: D-133
#[test]
fn each_kind_has_its_own_counts_and_condition() {
    assert_data_eq!(
        current(ALL_KINDS, ""),
        str![[r#"
Cluster ns/c, v1.36.0|3/5|1|2||False|Sad|24h|one
│ ||||||||  * two
├─MachineHealthChecks
│ └─MachineHealthCheck ns/h|4/5
├─Plane ns/p, v1.36.0|2/3|||1|True|Instead|60s
└─Workers
  ├─!! DELETED !! MachineDeployment ns/md, |0/2||0
  ├─MachineDeployment ns/unsaid, 
  ├─MachinePool ns/mp, v1.35.0|2/2|2|||True|Pooled|24h
  └─Other
    └─Machine ns/m, |1|0|0|1|Unknown|Hm|60m|unclear
"#]]
    );
}

const TALKATIVE: &str = "
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: c}
status:
  conditions:
  - {type: Available, status: 'True', reason: A}
  - {type: InfrastructureReady, status: 'True', reason: B}
  - {type: Noted, status: 'True', reason: C, message: \"one\\ntwo\"}
  - {type: Paused, status: 'False', reason: D}
  - {type: ScalingUp, status: 'True', reason: E}
  - {type: RemoteConnectionProbe, status: 'Unknown', reason: F, message: \"three\\nfour\"}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: md}
status:
  conditions:
  - {type: Available, status: 'False', reason: G, message: \"five\\nsix\"}
";

#[test]
fn requested_conditions_are_listed_below_their_object() {
    assert_data_eq!(
        current(TALKATIVE, "cluster"),
        str![[r#"
Cluster ns/c
│           ├─Available|||||True|A|292y
│           ├─InfrastructureReady|||||True|B|292y
│           ├─Noted|||||True|C|292y|one
│           │ ||||||||two
│           ├─Paused|||||False|D|292y
│           ├─ScalingUp|||||True|E|292y
│           └─RemoteConnectionProbe|||||Unknown|F|292y|three
│           ||||||||four
└─Workers
  └─MachineDeployment ns/md, |||||False|G|292y|five
||||||||six
"#]]
    );
    assert_data_eq!(
        current(TALKATIVE, "all+"),
        str![[r#"
Cluster ns/c
│           ├─Available|||||True|A|292y
│           ├─Noted|||||True|C|292y|one
│           │ ||||||||two
│           ├─ScalingUp|||||True|E|292y
│           └─RemoteConnectionProbe|||||Unknown|F|292y|three
│           ||||||||four
└─Workers
  └─MachineDeployment ns/md, 
                └─Available|||||False|G|292y|five
                ||||||||six
"#]]
    );
}

// Row: D-136
#[test]
fn the_v1beta1_table_shows_severities_and_sorts_conditions() {
    let long = format!("{}\u{e9}more", "m".repeat(99));
    let yaml = format!(
        "
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {{name: c}}
status:
  conditions: [{{type: Ready, status: 'True', reason: NotThese}}]
  deprecated:
    v1beta1:
      conditions:
      - {{type: Ready, status: 'False', severity: Error, reason: Sad, message: {long}, lastTransitionTime: '2026-01-01T00:00:00Z'}}
      - {{type: B, status: 'True', message: \"one\\n\\n\\ttwo\\n\"}}
      - {{type: A, status: 'Unknown', severity: Info, reason: Dull}}
"
    );
    assert_data_eq!(
        table(&yaml, ConditionSet::V1Beta1, "all"),
        str![[r#"
Cluster ns/c|False|Error|Sad|24h|mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm ...
            ├─A|Unknown|Info|Dull|292y
            └─B|True|||292y|one
|||||    two
"#]]
    );
}
