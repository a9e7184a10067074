use api::{ProviderId, ProviderType, output::ProviderSource};
use manifest::{Object, provenance::Trace};
use repository::{Overrides, RepositoryContext, RepositoryWithOverrides, memory::MemoryRepository};
use snapbox::{assert_data_eq, str};
use transport::Settings;

use super::{ClusterTemplate, ClusterTemplateError, ClusterTemplateInput, render_cluster_template};
use crate::{
    ClusterRequest, ManagementCluster, ProviderReleases, ReleaseError,
    config::{Config, Environment, ProviderConfig, Variables},
    template_text::RenderTextError,
    testing::{FakeManagementCluster, block_on},
};

const TEMPLATE: &str = r#"
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: "${CLUSTER_NAME}", namespace: from-the-template}
spec:
  topology:
    classRef: {name: quick-start}
    version: "${KUBERNETES_VERSION}"
    controlPlane: {replicas: ${CONTROL_PLANE_MACHINE_COUNT}}
    workers: {machineDeployments: [{class: default, name: md-0, replicas: ${WORKER_MACHINE_COUNT}}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: "${ CLUSTER_NAME }-info"}
data: {namespace: "${NAMESPACE}", region: "${REGION:=eu}"}
"#;

const CLASS: &str = r"
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: {name: quick-start}
spec: {infrastructure: {templateRef: {apiVersion: x/v1, kind: T, name: t}}}
---
apiVersion: x/v1
kind: T
metadata: {name: t}
";

const OTHER_CLASS: &str =
    "apiVersion: cluster.x-k8s.io/v1beta2\nkind: ClusterClass\nmetadata: {name: other}\n";

struct World {
    files: Vec<(&'static str, String)>,
    environment: Vec<(&'static str, &'static str)>,
    flavor: Option<&'static str>,
    cluster: Option<FakeManagementCluster>,
}

impl World {
    fn new() -> Self {
        World {
            files: vec![
                ("cluster-template.yaml", TEMPLATE.to_owned()),
                ("clusterclass-quick-start.yaml", CLASS.to_owned()),
                ("clusterclass-other.yaml", OTHER_CLASS.to_owned()),
            ],
            environment: Vec::new(),
            flavor: None,
            cluster: None,
        }
    }

    fn with(mut self, name: &'static str, text: &str) -> Self {
        self.files.retain(|(known, _)| *known != name);
        self.files.push((name, text.to_owned()));
        self
    }

    fn releases(&self) -> ProviderReleases {
        let mut repository = MemoryRepository::new("infrastructure-components.yaml");
        for (name, text) in &self.files {
            repository = repository.with_file("v1.0.0", name, text.clone());
        }
        let id = ProviderId::new(ProviderType::Infrastructure, "own");
        let files = RepositoryWithOverrides::new(
            Box::new(repository),
            Overrides::default(),
            id.label(),
            RepositoryContext::new(Settings::default()),
        );
        let url = "memory".to_owned();
        ProviderReleases::with_files(
            ProviderConfig { id, url, kind: None, source: ProviderSource::Config },
            files,
        )
    }

    fn render(&self) -> Result<ClusterTemplate, ClusterTemplateError> {
        let config = Config::new(None, Environment::new(self.environment.iter().copied())).unwrap();
        let mut variables = Variables::new(&config);
        let request = ClusterRequest {
            name: "demo".to_owned(),
            target_namespace: "team".to_owned(),
            kubernetes_version: Some("v1.35.0".to_owned()),
            control_plane_machine_count: Some(3),
            worker_machine_count: Some(2),
        };
        request.set_variables(&mut variables).unwrap();
        let releases = self.releases();
        let release = releases.release("v1.0.0");
        block_on(async {
            let template = release.cluster_template(self.flavor).await.unwrap();
            render_cluster_template(&ClusterTemplateInput {
                template: &template,
                variables: &variables,
                target_namespace: "team",
                release: Some(&release),
                overlay: None,
                cluster: self.cluster.as_ref().map(|cluster| cluster as &dyn ManagementCluster),
                trace: Trace::Off,
            })
            .await
        })
    }
}

fn kinds(rendered: &ClusterTemplate) -> Vec<&str> {
    rendered.objects.iter().map(Object::kind).collect()
}

// Row: PRV-43
// Row: PRV-44
// Row: PRV-45
// Row: PRV-46
// Row: PRV-47
#[test]
fn command_line_values_appear_in_the_objects() {
    let rendered = World::new().render().unwrap();
    let [.., cluster, info] = rendered.objects.as_slice() else { panic!() };
    assert_eq!((cluster.name(), info.name()), ("demo", "demo-info"));
    let topology = &cluster.as_map()["spec"]["topology"];
    assert_eq!(topology["version"], "v1.35.0");
    assert_eq!(topology["controlPlane"]["replicas"], 3);
    assert_eq!(topology["workers"]["machineDeployments"][0]["replicas"], 2);
    assert_eq!(info.as_map()["data"]["namespace"], "team");
}

// Row: PRV-48
#[test]
fn the_command_line_wins_over_the_environment() {
    let world = World {
        environment: vec![
            ("CLUSTER_NAME", "x"),
            ("NAMESPACE", "x"),
            ("KUBERNETES_VERSION", "x"),
            ("REGION", "us"),
        ],
        ..World::new()
    };
    let rendered = world.render().unwrap();
    let info = rendered.objects.last().unwrap();
    assert_eq!(info.name(), "demo-info");
    assert_eq!(info.as_map()["data"]["region"], "us", "what no flag gives is still the environment's");
}

// Row: PRV-40
// Row: PRV-41
// Row: PRV-60
#[test]
fn objects_are_in_the_target_namespace_without_a_namespace_object() {
    let rendered = World::new().render().unwrap();
    for object in &rendered.objects {
        assert_eq!(object.namespace(), "team", "{}", object.kind());
        assert_eq!(object.labels().count(), 0, "{}", object.kind());
    }
    assert!(!kinds(&rendered).contains(&"Namespace"));
}

// Row: PRV-03
// Row: PRV-39
// Row: PRV-49
// Row: PRV-52
// Row: PRV-53
#[test]
fn the_cluster_class_of_a_managed_topology_comes_before_it() {
    let rendered = World::new().render().unwrap();
    assert_eq!(kinds(&rendered), ["ClusterClass", "T", "Cluster", "ConfigMap"]);
    let reference = &rendered.objects[0].as_map()["spec"]["infrastructure"]["templateRef"];
    assert!(reference.get("namespace").is_none(), "references carry no namespace");
}

// Row: PRV-50
// Row: PRV-84
#[test]
fn another_class_name_selects_another_file() {
    let other = TEMPLATE.replace("quick-start", "other");
    let rendered = World::new().with("cluster-template.yaml", &other).render().unwrap();
    assert_eq!(kinds(&rendered), ["ClusterClass", "Cluster", "ConfigMap"]);
    assert_eq!(rendered.objects[0].name(), "other");
}

// Row: PRV-51
#[test]
fn a_class_on_the_cluster_is_omitted() {
    let with = |things: &[&'static str]| World {
        cluster: Some(FakeManagementCluster {
            objects: things.iter().copied().collect(),
            ..FakeManagementCluster::default()
        }),
        ..World::new()
    };
    assert_eq!(kinds(&with(&["ClusterClass/quick-start"]).render().unwrap()), ["Cluster", "ConfigMap"]);
    assert_eq!(kinds(&with(&[]).render().unwrap()), ["ClusterClass", "T", "Cluster", "ConfigMap"]);
    let error = with(&["T/t"]).render().unwrap_err();
    assert_data_eq!(
        error.to_string(),
        str!["T team/t of ClusterClass `quick-start` already exists in the cluster, but the class does not"]
    );
}

// Row: PRV-49
#[test]
fn a_class_without_a_file_is_refused_with_the_file_name() {
    let lost = TEMPLATE.replace("quick-start", "lost");
    let error = World::new().with("cluster-template.yaml", &lost).render().unwrap_err();
    let ClusterTemplateError::ClusterClass { class, source } = error else { panic!("{error}") };
    assert_eq!((class.namespace.as_str(), class.name.as_str()), ("team", "lost"));
    let ReleaseError::Read { file, .. } = *source else { panic!("{source}") };
    assert_eq!(file, "clusterclass-lost.yaml");
}

// Row: PRV-54
#[test]
fn a_class_without_variables_needs_none_set() {
    let world = World::new().with("cluster-template.yaml", "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: a}\nspec: {topology: {classRef: {name: other}}}\n");
    assert_eq!(kinds(&world.render().unwrap()), ["ClusterClass", "Cluster"]);
}

// Row: D-43
#[test]
fn missing_variables_of_template_and_class_are_in_one_error() {
    let world = World::new()
        .with("cluster-template.yaml", &TEMPLATE.replace("${REGION:=eu}", "${REGION}"))
        .with("clusterclass-quick-start.yaml", &CLASS.replace("name: t}", "name: \"${ZONE}-${REGION}\"}"));
    let error = world.render().unwrap_err();
    let ClusterTemplateError::Text(RenderTextError::Missing(missing)) = error else { panic!("{error}") };
    let reported: Vec<(&str, usize)> =
        missing.values.iter().map(|value| (value.name.as_str(), value.places.len())).collect();
    assert_eq!(reported, [("REGION", 3), ("ZONE", 2)]);
}

// Row: PRV-36
// Row: PRV-37
// Row: PRV-38
#[test]
fn a_missing_flavor_is_refused_with_the_available_ones() {
    let world = World::new()
        .with("cluster-template-small.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: small}\n");
    assert_eq!(kinds(&World { flavor: Some("small"), ..world }.render().unwrap()), ["ConfigMap"]);
    let releases = World::new().releases();
    let error =
        block_on(async { releases.release("v1.0.0").cluster_template(Some("huge")).await }).unwrap_err();
    let ReleaseError::Read { file, source, .. } = error else { panic!("{error}") };
    assert_eq!(file, "cluster-template-huge.yaml");
    let repository::Error::UnknownFile { available, .. } = *source else { panic!("{source}") };
    assert!(available.contains(&"cluster-template.yaml".to_owned()), "{available:?}");
}

// Row: D-79
#[test]
fn a_cluster_without_metadata_is_rendered_with_its_class() {
    let template = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: null\nspec: {topology: {classRef: {name: other}}}\n";
    let rendered = World::new().with("cluster-template.yaml", template).render().unwrap();
    assert_eq!(kinds(&rendered), ["ClusterClass", "Cluster"]);
}

#[test]
fn a_cluster_with_wrong_types_is_refused_before_its_class_is_read() {
    let template = TEMPLATE.replace("{replicas: ${CONTROL_PLANE_MACHINE_COUNT}}", "{replicas: three}");
    let error = World::new().with("cluster-template.yaml", &template).render().unwrap_err().to_string();
    assert_data_eq!(
        error,
        str![
            "invalid objects in `v1.0.0/cluster-template.yaml`: `spec.topology.controlPlane.replicas` of `Cluster team/demo` must be a 32-bit integer, not a string"
        ]
    );
}

#[test]
fn a_role_binding_moves_before_it_is_decoded() {
    let world = World::new().with("cluster-template.yaml", crate::testing::ROLE_BINDINGS);
    let objects = world.render().unwrap().objects;
    let names: Vec<_> = objects.iter().map(|binding| (binding.name(), binding.namespace())).collect();
    assert_eq!(names, [("a", "team"), ("", "")]);
}
