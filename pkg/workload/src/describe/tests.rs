//! Trees and tables of objects without a server.

mod server;

use std::collections::{BTreeMap, BTreeSet};

use api::{Contract, output::PartRole};
use apply::ObjectKey;
use manifest::{Object, YamlLimits, read_stream};
use snapbox::{assert_data_eq, str};

use super::{
    extract::{self, Extractor, LinkedSummary, v1beta2_reference},
    snapshot::{ClusterSnapshot, ControlPlaneSnapshot, ReferencedObjects},
    *,
};

/// A cluster `c` in namespace `ns` with the objects of a text. Missing referenced objects are unreadable.
pub(super) struct Given {
    objects: BTreeMap<String, Vec<Object>>,
    contract: &'static str,
}

impl Given {
    pub(super) fn new(yaml: &str) -> Self {
        let mut objects: BTreeMap<String, Vec<Object>> = BTreeMap::new();
        for mut object in read_stream(yaml.as_bytes(), &YamlLimits::default()).unwrap().objects {
            object.set_namespace("ns");
            objects.entry(object.kind().to_owned()).or_default().push(object);
        }
        Self { objects, contract: Contract::CURRENT }
    }

    fn of_older_contract(self) -> Self {
        Self { contract: "v1beta1", ..self }
    }

    fn of(&self, kind: &str) -> Vec<Object> {
        self.objects.get(kind).cloned().unwrap_or_default()
    }

    fn taken(&self, kind: &str, role: PartRole, conditions: ConditionSet) -> Vec<LinkedSummary> {
        let mut taker = Extractor::new(conditions);
        self.of(kind).iter().map(|object| taker.extract(object, role)).collect()
    }

    fn object(&self, key: ObjectKey) -> Result<Object, UnreadableObject> {
        let found = self.of(&key.kind).into_iter().find(|object| object.name() == key.name);
        found.ok_or_else(|| UnreadableObject::missing(key))
    }

    fn referred(&self, key: ObjectKey, conditions: ConditionSet) -> snapshot::ReferenceResult {
        let seen =
            |object| Extractor::new(conditions).summarize(&object, PartRole::MachineInfrastructure).into();
        self.object(key).map(seen)
    }

    fn found(&self, conditions: ConditionSet) -> ClusterSnapshot {
        let cluster = self.of("Cluster").remove(0);
        let to = |field: &str| v1beta2_reference(&cluster, &["spec", field]);
        let taken = |kind, role| Ok(self.taken(kind, role, conditions));
        let contract = Contract::new(self.contract);
        let control_plane = |key| match self.object(key) {
            Ok(object) => Extractor::new(conditions).extract_control_plane(&object, &contract),
            Err(why) => ControlPlaneSnapshot { object: Err(why), template: None },
        };
        ClusterSnapshot {
            infrastructure: to("infrastructureRef").map(|key| self.referred(key, conditions)),
            control_plane: to("controlPlaneRef").map(control_plane),
            machines: taken("Machine", PartRole::Machine),
            machine_sets: taken("MachineSet", PartRole::MachineSet),
            deployments: taken("MachineDeployment", PartRole::MachineDeployment),
            pools: taken("MachinePool", PartRole::MachinePool),
            resource_sets: self
                .of("ClusterResourceSetBinding")
                .pop()
                .map(|of| Ok(extract::resource_set_keys(&of))),
            health_checks: Some(taken("MachineHealthCheck", PartRole::MachineHealthCheck)),
            cluster: Extractor::new(conditions).summarize(&cluster, PartRole::Cluster).into(),
        }
    }

    pub(super) fn tree(&self, request: &DescribeRequest) -> ClusterTree {
        self.tree_of(&self.found(request.conditions), request)
    }

    fn tree_of(&self, found: &ClusterSnapshot, request: &DescribeRequest) -> ClusterTree {
        let with_sets = request.parts.contains(&OptionalPart::MachineSets);
        let arranging =
            ArrangeOptions { grouping: request.grouping, with_sets, conditions: request.conditions };
        let arrangement = arranging.arrange(found);
        let wanted = arrangement.references().into_iter();
        let references: ReferencedObjects =
            wanted.map(|key| (key.clone(), self.referred(key, request.conditions))).collect();
        let root = TreeBuilder { request, snapshot: found, references: &references }.build(arrangement);
        ClusterTree { root, conditions: request.conditions }
    }
}

/// Returns the first column, followed by status and reason.
fn outline(tree: &ClusterTree) -> String {
    let table = tree.table(&ShownConditions::default(), "2026-01-01T00:00:00Z".parse().unwrap());
    let line = |cells: &Vec<Cell>| {
        let text = |at: usize| cells[at].text();
        format!("{} {} {}", text(0), text(5), text(6)).trim_end().to_owned()
    };
    table.lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

const CLUSTER: &str = "
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: c}
spec:
  infrastructureRef: {apiGroup: i.io, kind: ICluster, name: c}
  controlPlaneRef: {apiGroup: p.io, kind: Plane, name: p}
---
apiVersion: i.io/v1
kind: ICluster
metadata: {name: c}
---
apiVersion: p.io/v1
kind: Plane
metadata: {name: p}
spec:
  machineTemplate:
    infrastructureRef: {apiVersion: i.io/v1, kind: IOldTemplate, name: t, namespace: other}
    spec: {infrastructureRef: {apiGroup: i.io, kind: ITemplate, name: t}}
";

/// Returns a machine with the condition `Ready`, controlled by a Cluster API object.
fn machine(name: &str, controller: &str, ready: &str) -> String {
    let (kind, owner) = controller.split_once('/').unwrap_or(("", ""));
    let labels = if controller == "plane" { "{cluster.x-k8s.io/control-plane: ''}" } else { "{}" };
    let owners = if kind.is_empty() {
        "[]".to_owned()
    } else {
        format!("[{{apiVersion: cluster.x-k8s.io/v1beta2, kind: {kind}, name: {owner}, controller: true}}]")
    };
    format!(
        "
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Machine
metadata: {{name: {name}, labels: {labels}, ownerReferences: {owners}}}
spec:
  version: v1
  infrastructureRef: {{apiGroup: i.io, kind: IMachine, name: {name}}}
  bootstrap: {{configRef: {{apiGroup: b.io, kind: Boot, name: {name}}}}}
status: {{conditions: [{{type: Ready, {ready}}}]}}
"
    )
}

/// Returns an object with the condition `Ready`, or without conditions if `ready` is empty.
fn provided(api_version: &str, kind: &str, name: &str, ready: &str) -> String {
    let conditions = if ready.is_empty() { String::new() } else { format!("{{type: Ready, {ready}}}") };
    format!(
        "\n---\napiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: {name}}}\nstatus: {{conditions: [{conditions}]}}\n"
    )
}

/// Returns a MachineDeployment or MachinePool with templates, or a MachineSet of a MachineDeployment.
fn owner(kind: &str, name: &str, deployment: &str) -> String {
    let owners = if deployment.is_empty() {
        "[]".to_owned()
    } else {
        format!(
            "[{{apiVersion: cluster.x-k8s.io/v1beta2, kind: MachineDeployment, name: {deployment}, controller: true}}]"
        )
    };
    format!(
        "
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: {kind}
metadata: {{name: {name}, ownerReferences: {owners}}}
spec:
  template:
    spec:
      version: v1
      infrastructureRef: {{apiGroup: i.io, kind: I{kind}, name: {name}}}
      bootstrap: {{configRef: {{apiGroup: b.io, kind: B{kind}, name: {name}}}}}
"
    )
}

const WELL: &str = "status: 'True', reason: Fine";
const ILL: &str = "status: 'False', reason: Broken";

fn workers() -> Given {
    let parts = [
        CLUSTER,
        &owner("MachineDeployment", "md", ""),
        &owner("MachineDeployment", "none", ""),
        &owner("MachineSet", "ms-1", "md"),
        &owner("MachineSet", "ms-2", "md"),
        &owner("MachineSet", "alone", ""),
        &owner("MachinePool", "mp", ""),
        &machine("p-0", "plane", WELL),
        &machine("p-1", "plane", WELL),
        &machine("m-1", "MachineSet/ms-1", WELL),
        &machine("m-2", "MachineSet/ms-2", WELL),
        &machine("m-3", "MachineSet/ms-2", ILL),
        &machine("m-4", "MachineSet/alone", WELL),
        &machine("m-5", "MachinePool/mp", ILL),
        &machine("m-6", "", WELL),
        &provided("b.io/v1", "Boot", "m-3", WELL),
        &provided("i.io/v1", "IMachine", "m-3", ILL),
        &provided("b.io/v1", "Boot", "m-5", "status: 'False', reason: Other"),
        &provided("i.io/v1", "IMachinePool", "mp", ""),
        &provided("b.io/v1", "BMachinePool", "mp", ILL),
    ];
    Given::new(&parts.concat())
}

// Row: PRV-55, D-132
#[test]
fn every_machine_is_shown_below_its_controller() {
    assert_data_eq!(
        outline(&workers().tree(&DescribeRequest::default())),
        str![[r#"
Cluster ns/c
├─ICluster ns/c
├─Plane ns/p
│ └─2 Machines... True Fine
└─Workers
  ├─MachineDeployment ns/md, v1
  │ ├─2 Machines... True Fine
  │ └─Machine ns/m-3, v1 False Broken
  ├─MachineDeployment ns/none, v1
  ├─MachinePool ns/mp, v1
  │ ├─BMachinePool ns/mp False Broken
  │ └─Machine ns/m-5, v1 False Broken
  │   ├─Boot ns/m-5 False Other
  │   └─IMachine ns/m-5 Unknown NotFound
  └─Other
    ├─Machine ns/m-4, v1 True Fine
    │ ├─Boot ns/m-4 Unknown NotFound
    │ └─IMachine ns/m-4 Unknown NotFound
    └─Machine ns/m-6, v1 True Fine
      ├─Boot ns/m-6 Unknown NotFound
      └─IMachine ns/m-6 Unknown NotFound
"#]]
    );
}

#[test]
fn machine_sets_are_shown_on_request() {
    let request = DescribeRequest { parts: [OptionalPart::MachineSets].into(), ..DescribeRequest::default() };
    let tree = outline(&workers().tree(&request));
    let deployment = &tree[tree.find("MachineDeployment ns/md").unwrap()
        ..tree.find("\n  ├─MachineDeployment ns/none").unwrap()];
    assert_data_eq!(
        deployment,
        str![[r#"
MachineDeployment ns/md, v1
  │ ├─MachineSet ns/ms-1, v1
  │ │ └─Machine ns/m-1, v1 True Fine
  │ │   ├─Boot ns/m-1 Unknown NotFound
  │ │   └─IMachine ns/m-1 Unknown NotFound
  │ └─MachineSet ns/ms-2, v1
  │   ├─Machine ns/m-2, v1 True Fine
  │   │ ├─Boot ns/m-2 Unknown NotFound
  │   │ └─IMachine ns/m-2 Unknown NotFound
  │   └─Machine ns/m-3, v1 False Broken
"#]]
    );
}

#[test]
fn infrastructure_is_ready_or_repeats_its_machine_condition() {
    for (machine_ready, own, is_hidden) in [
        (WELL, WELL, true),
        (ILL, WELL, true),
        (ILL, ILL, true),
        (WELL, ILL, false),
        (ILL, "status: 'False', reason: Other", false),
        (ILL, "status: 'Unknown', reason: Broken", false),
        (ILL, "", false),
    ] {
        let boot = provided("b.io/v1", "Boot", "m", WELL);
        let own = provided("i.io/v1", "IMachine", "m", own);
        let given = Given::new(&[CLUSTER, &machine("m", "", machine_ready), &own, &boot].concat());
        let outlined = |echo| outline(&given.tree(&DescribeRequest { echo, ..DescribeRequest::default() }));
        assert_eq!(!outlined(Echo::Hidden).contains("IMachine ns/m"), is_hidden, "{machine_ready} / {own}");
        assert!(outlined(Echo::Shown).contains("IMachine ns/m"));
        assert!(outlined(Echo::Shown).contains("Boot ns/m"));
    }
}

#[test]
fn unreadable_objects_stay_in_the_tree_with_a_reason() {
    let given = Given::new(&[CLUSTER, &machine("p-0", "plane", WELL)].concat());
    let mut found = given.found(ConditionSet::default());
    let forbidden = |kind: &str, name: &str| {
        let key =
            ObjectKey { kind: kind.into(), namespace: "ns".into(), name: name.into(), group: String::new() };
        UnreadableObject { key: Box::new(key), reason: "Forbidden".into(), message: "no".into() }
    };
    found.control_plane.as_mut().unwrap().object = Err(forbidden("Plane", "p"));
    found.machine_sets = Err(forbidden("MachineSet", ""));
    found.health_checks = Some(Err(forbidden("MachineHealthCheck", "")));
    assert_data_eq!(
        outline(&given.tree_of(&found, &DescribeRequest::default())),
        str![[r#"
Cluster ns/c
├─ICluster ns/c
├─MachineHealthChecks Unknown Forbidden
├─Plane ns/p Unknown Forbidden
│ └─Machine ns/p-0, v1 True Fine
│   ├─Boot ns/p-0 Unknown NotFound
│   └─IMachine ns/p-0 Unknown NotFound
└─Workers
  └─MachineSets Unknown Forbidden
"#]]
    );
}

// Row: D-132
#[test]
fn machines_of_an_unreferenced_control_plane_are_listed_as_other() {
    let cluster = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: c}\n";
    let ready = provided("i.io/v1", "IMachine", "p-0", WELL) + &provided("b.io/v1", "Boot", "p-0", WELL);
    let given = Given::new(&[cluster, &machine("p-0", "plane", WELL), &ready].concat());
    assert_data_eq!(
        outline(&given.tree(&DescribeRequest::default())),
        str![[r#"
Cluster ns/c
└─Workers
  └─Other
    └─Machine ns/p-0, v1 True Fine
"#]]
    );
}

#[test]
fn templates_come_first_and_follow_the_contract_of_the_control_plane() {
    let request = DescribeRequest { parts: [OptionalPart::Templates].into(), ..DescribeRequest::default() };
    let given = || Given::new(&[CLUSTER, &owner("MachineDeployment", "md", "")].concat());
    assert_data_eq!(
        outline(&given().tree(&request)),
        str![[r#"
Cluster ns/c
├─ICluster ns/c
├─Plane ns/p
│ └─Templates
│   └─ITemplate ns/t
└─Workers
  └─MachineDeployment ns/md, v1
    └─Templates
      ├─BMachineDeployment ns/md
      └─IMachineDeployment ns/md
"#]]
    );
    let older = outline(&given().of_older_contract().tree(&request));
    assert!(older.contains("└─IOldTemplate other/t"), "{older}");
}

// Row: D-139
#[test]
fn resource_sets_and_health_checks_have_their_own_headings() {
    let binding = "
---
apiVersion: addons.cluster.x-k8s.io/v1beta2
kind: ClusterResourceSetBinding
metadata: {name: c}
spec: {bindings: [{clusterResourceSetName: z}, {clusterResourceSetName: a}]}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineHealthCheck
metadata: {name: check}
status: {conditions: [{type: RemediationAllowed, status: 'True', reason: Allowed}]}
";
    assert_data_eq!(
        outline(&Given::new(&[CLUSTER, binding].concat()).tree(&DescribeRequest::default())),
        str![[r#"
Cluster ns/c
├─ClusterResourceSets
│ ├─ClusterResourceSet ns/a
│ └─ClusterResourceSet ns/z
├─ICluster ns/c
├─MachineHealthChecks
│ └─MachineHealthCheck ns/check True Allowed
└─Plane ns/p
"#]]
    );
}

#[test]
fn full_output_groups_and_omits_nothing() {
    fn machines(node: &TreeNode, names: &mut BTreeSet<String>) {
        if let (PartRole::Machine, Subject::Object(seen)) = (node.role, &node.subject) {
            assert_eq!(node.children.len(), 2, "{}", seen.key);
            assert!(names.insert(seen.key.name.clone()), "{} is there twice", seen.key);
        }
        node.children.iter().for_each(|child| machines(child, names));
    }
    let mut names = BTreeSet::new();
    machines(&workers().tree(&DescribeRequest::full("ns", "c")).root, &mut names);
    assert_eq!(names.len(), 8);
}
