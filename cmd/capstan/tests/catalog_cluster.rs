//! Tests of the example of the guide: its catalog, and the plan of a push.
#![cfg(unix)]

use std::path::Path;

use snapbox::{assert_data_eq, str};
use support::{binary::TestEnvironment, folder};

pub(crate) const GREEN: &str = "c-green --local --cluster-file clusters/c-green.yml";
const BLUE: &str = "c-blue --local --cluster-file clusters/c-blue.yml";

/// Copies the example of the guide.
pub(crate) fn copy_example(world: &TestEnvironment) {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/catalog");
    for (path, content) in folder::files(&example) {
        world.write(&path[1..], content);
    }
}

pub(crate) fn example() -> TestEnvironment {
    let world = crate::world();
    copy_example(&world);
    world
}

/// Returns the manifests and references of the compiled catalog, each with its content.
fn catalog(world: &TestEnvironment) -> String {
    let files = folder::files(&world.current_dir().join("catalog"));
    let show =
        |(path, content): (String, Vec<u8>)| format!("==> {path}\n{}", String::from_utf8(content).unwrap());
    files.into_iter().map(show).collect()
}

/// Changes a file of the example.
pub(crate) fn edit(world: &TestEnvironment, file: &str, from: &str, to: &str) {
    let text = world.read(file);
    assert!(text.contains(from), "{text}");
    world.write(file, text.replacen(from, to, 1));
}

// Row: D-480
#[test]
fn the_example_is_compiled_without_connections() {
    let world = example();
    assert_data_eq!(
        world.screens([format!("catalog compile {GREEN}")]),
        str![[r#"
$ capstan catalog compile c-green --local --cluster-file clusters/c-green.yml
exit 0
--- stdout
Running in local mode
 > Will use existing inventory, components, and catalog
 > Assert current working dir state matches requested compilation
Registering config...
Resetting targets...
Resetting component symlinks in inventory...
Creating bootstrap target...
Updating Kapitan target for cluster...
Discovering config packages...
Discovering included components...
Registering components and aliases...
Updating Kapitan target for monitoring...
Updating Kapitan target for storage...
Updating Kapitan target for storage-fast...
Updating Kapitan target for web...
Updating Kapitan target for cluster...
Configuring catalog repo...
Installing component library aliases
Updating Kapitan secret references...
Cleaning catalog repository...
 > Skipping cleaning, catalog directory [CWD]/catalog/manifests doesn't exist
Compiling catalog...
Postprocessing...
   > [CWD]/compiled/monitoring/monitoring/monitoring/templates/00_namespace.yaml doesn't exist, creating...
Updating catalog repository...
 > Skipping diff: '[CWD]/catalog' is no checkout of the catalog
 > Skipping commit+push to catalog in local mode...
Catalog compiled! 🎉

"#]]
    );
    assert_data_eq!(
        catalog(&world),
        str![[r#"
==> /manifests/monitoring/monitoring/templates/00_namespace.yaml
apiVersion: v1
kind: Namespace
metadata:
  annotations: {}
  labels:
    name: monitoring
  name: monitoring
==> /manifests/monitoring/monitoring/templates/config.yaml
apiVersion: v1
data:
  retention: 30d
kind: ConfigMap
metadata:
  name: monitoring
  namespace: monitoring
==> /manifests/storage/class.yaml
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  annotations: {}
  labels:
    name: storage
  name: storage
parameters:
  type: standard
provisioner: disks.example.org
reclaimPolicy: Retain
==> /manifests/storage/namespace.yaml
apiVersion: v1
kind: Namespace
metadata:
  annotations: {}
  labels:
    name: storage
  name: storage
==> /manifests/storage-fast/class.yaml
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  annotations: {}
  labels:
    name: storage-fast
  name: storage-fast
parameters:
  type: nvme
provisioner: disks.example.org
reclaimPolicy: Retain
==> /manifests/storage-fast/namespace.yaml
apiVersion: v1
kind: Namespace
metadata:
  annotations: {}
  labels:
    name: storage
  name: storage
==> /manifests/web/00_namespace.yaml
apiVersion: v1
kind: Namespace
metadata:
  annotations: {}
  labels:
    name: web
  name: web
==> /manifests/web/10_secret.yaml
apiVersion: v1
data: {}
kind: Secret
metadata:
  annotations: {}
  labels:
    name: web
  name: web
  namespace: web
stringData:
  password: ?{vaultkv:t-acme/c-green/web/password:6fd570e9}
type: Opaque
==> /manifests/web/20_deployment.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  annotations: {}
  labels:
    name: web
  name: web
  namespace: web
spec:
  minReadySeconds: 30
  replicas: 1
  revisionHistoryLimit: 10
  selector:
    matchLabels:
      name: web
  strategy:
    rollingUpdate:
      maxSurge: 25%
      maxUnavailable: 25%
    type: RollingUpdate
  template:
    metadata:
      annotations: {}
      labels:
        name: web
    spec:
      containers:
        - args: []
          env: []
          image: registry.example.org/web:v1.0.0
          imagePullPolicy: IfNotPresent
          name: web
          ports:
            - containerPort: 8080
              name: http
          stdin: false
          tty: false
          volumeMounts: []
      imagePullSecrets: []
      initContainers: []
      terminationGracePeriodSeconds: 30
      volumes: []
==> /manifests/web/30_alerts.yaml
apiVersion: v1
data:
  alerts: WebDown
kind: ConfigMap
metadata:
  name: web-alerts
  namespace: web
==> /refs/t-acme/c-green/web/password
data: dC1hY21lL2MtZ3JlZW4vd2ViOnBhc3N3b3Jk
encoding: original
type: vaultkv
vault_params:
  VAULT_ADDR: https://vault.example.org
  auth: token
  engine: kv-v2
  mount: clusters/kv

"#]]
    );
    world.run_expecting_success(&format!("catalog compile {BLUE}"));
    let blue = catalog(&world);
    assert!(blue.contains("replicas: 3") && !blue.contains("storage-fast"), "{blue}");
}

// Row: D-481
#[test]
fn the_parameters_of_another_cluster_are_selected_by_a_file() {
    let world = example();
    world.write("empty.yml", "");
    assert_data_eq!(
        world.screens([
            "catalog compile c-green --local",
            "catalog compile c-green --cluster-file clusters/c-green.yml",
            "catalog compile c-green --local --cluster-file clusters/c-blue.yml",
            "catalog compile c-green --local --cluster-file empty.yml",
            "catalog compile c-green --local --cluster-file none.yml",
        ]),
        str![[r#"
$ capstan catalog compile c-green --local
exit 1
--- stdout
Running in local mode
 > Will use existing inventory, components, and catalog
--- stderr
error: Invalid working dir state: '[CWD]/inventory/targets/cluster.yml' is missing
hint: compile the catalog once without `--local`, or name the parameters of the cluster with `--cluster-file`

$ capstan catalog compile c-green --cluster-file clusters/c-green.yml
exit 1
--- stderr
error: `--cluster-file` needs `--local`
hint: without `--local`, the API describes the cluster

$ capstan catalog compile c-green --local --cluster-file clusters/c-blue.yml
exit 1
--- stdout
Running in local mode
 > Will use existing inventory, components, and catalog
 > Assert current working dir state matches requested compilation
--- stderr
error: [Local mode] Cluster ID mismatch: local state targets c-blue, compilation was requested for c-green
hint: name the parameters of another cluster with `--cluster-file`

$ capstan catalog compile c-green --local --cluster-file empty.yml
exit 1
--- stdout
Running in local mode
 > Will use existing inventory, components, and catalog
 > Assert current working dir state matches requested compilation
--- stderr
error: params file for cluster does not exist or is not valid: '[CWD]/empty.yml'
hint: the file needs `parameters.cluster` with `name` and `tenant`, such as `inventory/classes/params/cluster.yml`

$ capstan catalog compile c-green --local --cluster-file none.yml
exit 1
--- stdout
Running in local mode
 > Will use existing inventory, components, and catalog
 > Assert current working dir state matches requested compilation
--- stderr
error: params file for cluster does not exist or is not valid: '[CWD]/none.yml'
hint: the file needs `parameters.cluster` with `name` and `tenant`, such as `inventory/classes/params/cluster.yml`

"#]]
    );
}

// Row: D-482
#[test]
fn an_instance_without_a_checkout_uses_that_of_its_component() {
    let world = example();
    edit(
        &world,
        "inventory/classes/t-acme/c-green.yml",
        "parameters:\n",
        "parameters:\n  components:\n    storage-fast: {version: v9}\n",
    );
    assert_data_eq!(
        world.run_line(&format!("catalog compile {GREEN}")).stderr,
        str![[r#"
error: Missing alias checkout for 'storage-fast as storage'
hint: compile the catalog once without `--local`

"#]]
    );
}

#[test]
fn a_plan_lists_objects_fields_and_other_files() {
    let world = example();
    world.run_expecting_success(&format!("catalog compile {GREEN}"));
    std::fs::rename(world.current_dir().join("catalog"), world.current_dir().join("released")).unwrap();
    world.write("released/manifests/note.txt", "one");
    world.write(
        "released/manifests/web/40_old.yaml",
        "apiVersion: v1\nkind: Service\nmetadata: {name: old, namespace: web}\n",
    );
    edit(&world, "dependencies/web/class/defaults.yml", "replicas: 1", "replicas: 2");
    edit(&world, "dependencies/web/component/main.jsonnet", "containerPort: 8080", "containerPort: 8081");
    edit(&world, "released/manifests/web/10_secret.yaml", "password: ", "password: old-");
    assert_data_eq!(
        world.screens([
            format!("catalog plan {GREEN} --against released"),
            format!("catalog plan {GREEN} --against released --diff"),
            format!("catalog plan {GREEN}"),
            "catalog plan --manifests released --against released --exit-status".to_owned(),
            "catalog plan --manifests catalog --against released --exit-status -o json".to_owned(),
            "catalog plan".to_owned(),
            "catalog plan --manifests nowhere --against released".to_owned(),
        ]),
        str![[r#"
$ capstan catalog plan c-green --local --cluster-file clusters/c-green.yml --against released
exit 0
--- stdout
ACTION    KIND         OBJECT     FIELDS
update    Secret       web/web    .stringData.password
delete    Service      web/old
update    Deployment   web/web    .spec.replicas, .spec.template.spec.containers[name="web"].ports[name="http"].containerPort
delete    (file)       note.txt
--- stderr
done in [..]: 2 to update, 1 to delete; 7 objects unchanged

$ capstan catalog plan c-green --local --cluster-file clusters/c-green.yml --against released --diff
exit 0
--- stdout
ACTION    KIND         OBJECT     FIELDS
update    Secret       web/web    .stringData.password
    @@ -8,5 +8,5 @@
       name: web
       namespace: web
     stringData:
    -  password: (51 bytes)
    +  password: (47 bytes)
     type: Opaque
delete    Service      web/old
    @@ -1,5 +0,0 @@
    -apiVersion: v1
    -kind: Service
    -metadata:
    -  name: old
    -  namespace: web
update    Deployment   web/web    .spec.replicas, .spec.template.spec.containers[name="web"].ports[name="http"].containerPort
    @@ -8,7 +8,7 @@
       namespace: web
     spec:
       minReadySeconds: 30
    -  replicas: 1
    +  replicas: 2
       revisionHistoryLimit: 10
       selector:
         matchLabels:
    @@ -31,7 +31,7 @@
             imagePullPolicy: IfNotPresent
             name: web
             ports:
    -        - containerPort: 8080
    +        - containerPort: 8081
               name: http
             stdin: false
             tty: false
delete    (file)       note.txt
--- stderr
done in [..]: 2 to update, 1 to delete; 7 objects unchanged

$ capstan catalog plan c-green --local --cluster-file clusters/c-green.yml
exit 1
--- stderr
error: cannot compare the catalog: `[CWD]/catalog` is no checkout of its repository
hint: name a compiled folder with `--against`, or compile the catalog once without `--local`

$ capstan catalog plan --manifests released --against released --exit-status
exit 0
--- stdout
nothing would change
--- stderr
done in [..]: 10 objects unchanged

$ capstan catalog plan --manifests catalog --against released --exit-status -o json
exit 3
--- stdout
{
  "changes": true,
  "objects": [
    {
      "action": "update",
      "object": {
        "group": "",
        "kind": "Secret",
        "namespace": "web",
        "name": "web"
      },
      "fields": [
        ".stringData.password"
      ],
      "diff": "@@ -8,5 +8,5 @@/n   name: web/n   namespace: web/n stringData:/n-  password: (51 bytes)/n+  password: (47 bytes)/n type: Opaque/n"
    },
    {
      "action": "delete",
      "object": {
        "group": "",
        "kind": "Service",
        "namespace": "web",
        "name": "old"
      },
      "diff": "@@ -1,5 +0,0 @@/n-apiVersion: v1/n-kind: Service/n-metadata:/n-  name: old/n-  namespace: web/n"
    },
    {
      "action": "update",
      "object": {
        "group": "apps",
        "kind": "Deployment",
        "namespace": "web",
        "name": "web"
      },
      "fields": [
        ".spec.replicas",
        ".spec.template.spec.containers[name=/"web/"].ports[name=/"http/"].containerPort"
      ],
      "diff": "@@ -8,7 +8,7 @@/n   namespace: web/n spec:/n   minReadySeconds: 30/n-  replicas: 1/n+  replicas: 2/n   revisionHistoryLimit: 10/n   selector:/n     matchLabels:/n@@ -31,7 +31,7 @@/n         imagePullPolicy: IfNotPresent/n         name: web/n         ports:/n-        - containerPort: 8080/n+        - containerPort: 8081/n           name: http/n         stdin: false/n         tty: false/n"
    }
  ],
  "files": [
    {
      "action": "delete",
      "path": "note.txt"
    }
  ],
  "unchanged": 7
}
--- stderr
{"kind":"unhealthy","exitCode":3,"message":"the catalog differs from its last version","causes":[],"hints":[]}

$ capstan catalog plan
exit 1
--- stderr
error: no catalog is given
hint: name a cluster, or a compiled folder with `--manifests`

$ capstan catalog plan --manifests nowhere --against released
exit 1
--- stderr
error: cannot read `[CWD]/nowhere`
  cause: No such file or directory (os error 2)

"#]]
    );
}

#[test]
fn a_plan_ignores_the_format_of_manifests() {
    let world = crate::world();
    world.write("a/x.yaml", "kind: A\napiVersion: v1\nmetadata: {name: x, labels: {heritage: Tiller}}\n---\nkind: B\napiVersion: v1\nmetadata: {name: two}\n");
    world.write("b/y.yaml", "apiVersion: v1\nkind: B\nmetadata:\n  name: \"two\"\n");
    world.write("b/z.yml", "apiVersion: v1\nkind: A\nmetadata:\n  name: x\n  labels:\n    heritage: Helm\n");
    world.write("bad/a.yaml", "a: [\n");
    assert_data_eq!(
        world.screens([
            "catalog plan --manifests b --against a",
            "catalog plan --manifests b --against a -m kapitan-0.29-to-0.30",
            "catalog plan --manifests bad --against a",
        ]),
        str![[r#"
$ capstan catalog plan --manifests b --against a
exit 0
--- stdout
ACTION    KIND      OBJECT    FIELDS
update    A         x         .metadata.labels.heritage
--- stderr
done in [..]: 1 to update; 1 object unchanged

$ capstan catalog plan --manifests b --against a -m kapitan-0.29-to-0.30
exit 0
--- stdout
nothing would change
--- stderr
done in [..]: 2 objects unchanged

$ capstan catalog plan --manifests bad --against a
exit 1
--- stderr
error: cannot use the manifests of the catalog
  cause: a.yaml: document 1, line 1, column 4: did not find expected `,` or `]`

"#]]
    );
}

// Row: D-532
#[cfg(target_os = "linux")]
#[test]
fn endless_files_are_refused() {
    use std::os::unix::fs::symlink;

    let world = example();
    let class = "inventory/classes/t-acme/common.yml";
    edit(&world, class, "  - observability.alerts\n", "  - observability.alerts\n  - t-acme.endless\n");
    std::fs::create_dir(world.current_dir().join("folder")).unwrap();
    for file in ["inventory/classes/t-acme/endless.yml", "folder/a.yaml"] {
        symlink("/dev/zero", world.current_dir().join(file)).unwrap();
    }
    let runs = [
        format!("catalog compile {GREEN}"),
        "catalog compile c-green --local --cluster-file /dev/zero".to_owned(),
        "catalog plan --manifests folder --against folder".to_owned(),
        "catalog lint inventory/classes/t-acme".to_owned(),
    ]
    .map(|line| world.run_in_memory(&line, 512).to_string());
    assert_data_eq!(
        runs.join("\n"),
        str![[r#"
exit 1
--- stdout
Running in local mode
 > Will use existing inventory, components, and catalog
 > Assert current working dir state matches requested compilation
Registering config...
Resetting targets...
Resetting component symlinks in inventory...
Creating bootstrap target...
Updating Kapitan target for cluster...
Discovering config packages...
--- stderr
error: While rendering inventory: Error while rendering inventory: Error rendering node cluster
  cause: cannot render target `cluster`
  cause: cannot read class `t-acme.endless` in `[CWD]/inventory/classes/t-acme/endless.yml`: it is not a regular file

exit 1
--- stdout
Running in local mode
 > Will use existing inventory, components, and catalog
 > Assert current working dir state matches requested compilation
--- stderr
error: params file for cluster does not exist or is not valid: '/dev/zero'
hint: the file needs `parameters.cluster` with `name` and `tenant`, such as `inventory/classes/params/cluster.yml`

exit 1
--- stderr
error: cannot read `[CWD]/folder/a.yaml`
  cause: it is not a regular file

exit 0
--- stdout
No errors 🎉 ✨

"#]]
    );
}

#[test]
fn a_linked_folder_of_manifests_is_not_emptied() {
    let world = example();
    world.write("elsewhere/precious.yaml", "a: 1\n");
    std::fs::create_dir(world.current_dir().join("catalog")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", world.current_dir().join("catalog/manifests")).unwrap();
    assert_data_eq!(
        world.run_line(&format!("catalog compile {GREEN}")).stderr,
        str![[r#"
error: cannot change `[CWD]/catalog/manifests`
  cause: it is a link to another folder

"#]]
    );
    assert_eq!(world.read("elsewhere/precious.yaml"), "a: 1\n");
}
