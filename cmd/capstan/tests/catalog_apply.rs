//! Tests of `catalog apply` on a sandbox, with the example of the guide.
#![cfg(unix)]

use std::time::Duration;

use snapbox::{assert_data_eq, str};
use support::{
    fixture::Fixture,
    kind::{self, Kind},
};

use crate::{
    catalog_cluster::{GREEN, copy_example, edit},
    testing::{Management, signal},
};

pub(crate) const STORAGE_CLASS: Kind =
    Kind::new("storage.k8s.io", "v1", "StorageClass", "storageclasses").cluster_scoped();

/// Starts a sandbox with simulated controllers for workloads, and copies the example.
pub(crate) async fn lab() -> Management {
    let controllers = sandbox::ControllerSwitches {
        garbage_collection: true,
        workloads: true,
        ..sandbox::ControllerSwitches::none()
    };
    let lab = Management::start(Fixture::builder().controllers(controllers)).await;
    copy_example(lab.world());
    lab
}

#[tokio::test(flavor = "multi_thread")]
async fn a_catalog_is_applied_changed_and_pruned() {
    let lab = lab().await;
    let apply = format!("catalog apply {GREEN}");
    assert_data_eq!(
        [
            lab.run(&apply).to_string(),
            lab.run(&format!("{apply} --skip-references --dry-run")).to_string(),
            lab.run(&format!("{apply} --skip-references")).to_string(),
            lab.run(&format!("{apply} --skip-references")).to_string(),
        ]
        .join("\n"),
        str![[r#"
exit 1
--- stderr
error: cannot apply the catalog: 1 object with references to secrets
  cause: web/10_secret.yaml: Secret web/web has ?{vaultkv:t-acme/c-green/web/password:6fd570e9}
hint: leave these objects out with `--skip-references`, and create them with their secrets yourself

exit 0
--- stdout
  ACTION    KIND           OBJECT
  create    Namespace      monitoring
  create    Namespace      storage
  create    Namespace      web
  create    StorageClass   storage-fast
  create    StorageClass   storage
  create    ConfigMap      monitoring/monitoring
  create    ConfigMap      web/web-alerts
  create    Deployment     web/web
  left out: Secret web/web in web/10_secret.yaml

exit 0
--- stderr
done in [..]: applied catalog `c-green`; 8 objects created; left out 1 object

exit 0
--- stderr
done in [..]: nothing to change; left out 1 object

"#]]
    );
    assert!(lab.fixture.get(kind::SECRET, "web/web").await.is_none());
    assert!(lab.fixture.get(kind::DEPLOYMENT, "web/web").await.is_some());
    // The instance leaves the catalog, and the Deployment changes.
    edit(lab.world(), "inventory/classes/t-acme/c-green.yml", "  - storage as storage-fast\n", "");
    edit(lab.world(), "inventory/classes/t-acme/c-green.yml", "applications:\n", "");
    edit(lab.world(), "dependencies/web/class/defaults.yml", "replicas: 1", "replicas: 2");
    assert_data_eq!(
        [
            lab.run(&format!("{apply} --skip-references --diff")).to_string(),
            lab.run(&format!("{apply} --skip-references -o json")).to_string(),
        ]
        .join("\n"),
        str![[r#"
exit 0
--- stdout
  update Deployment web/web
       progressDeadlineSeconds: 600
    -  replicas: 1
    +  replicas: 2
       revisionHistoryLimit: 10
  delete StorageClass storage-fast
  6 unchanged
  left out: Secret web/web in web/10_secret.yaml

exit 0
--- stdout
{
  "command": "catalog apply",
  "carriedOut": true,
  "changes": true,
  "name": "c-green",
  "steps": [
    {
      "action": "keep",
      "object": {
        "group": "",
        "kind": "Namespace",
        "name": "monitoring"
      }
    },
    {
      "action": "keep",
      "object": {
        "group": "",
        "kind": "Namespace",
        "name": "storage"
      }
    },
    {
      "action": "keep",
      "object": {
        "group": "",
        "kind": "Namespace",
        "name": "web"
      }
    },
    {
      "action": "keep",
      "object": {
        "group": "storage.k8s.io",
        "kind": "StorageClass",
        "name": "storage"
      }
    },
    {
      "action": "keep",
      "object": {
        "group": "",
        "kind": "ConfigMap",
        "namespace": "monitoring",
        "name": "monitoring"
      }
    },
    {
      "action": "keep",
      "object": {
        "group": "",
        "kind": "ConfigMap",
        "namespace": "web",
        "name": "web-alerts"
      }
    },
    {
      "action": "update",
      "object": {
        "group": "apps",
        "kind": "Deployment",
        "namespace": "web",
        "name": "web"
      }
    },
    {
      "action": "delete",
      "object": {
        "group": "storage.k8s.io",
        "kind": "StorageClass",
        "name": "storage-fast"
      }
    }
  ],
  "leftOut": [
    {
      "object": {
        "group": "",
        "kind": "Secret",
        "namespace": "web",
        "name": "web"
      },
      "file": "web/10_secret.yaml",
      "references": [
        "?{vaultkv:t-acme/c-green/web/password:6fd570e9}"
      ]
    }
  ]
}
--- stderr
done in [..]: applied catalog `c-green`; 1 object changed, 1 deleted; left out 1 object

"#]]
    );
    assert_eq!(lab.fixture.get(kind::DEPLOYMENT, "web/web").await.unwrap()["spec"]["replicas"], 2);
    let classes = lab.fixture.list(STORAGE_CLASS).await;
    let names: Vec<&str> = classes.iter().filter_map(|one| one["metadata"]["name"].as_str()).collect();
    assert_eq!(names, ["storage"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_that_cannot_be_read_is_listed() {
    let lab = lab().await;
    lab.fixture
        .apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: capstan.catalog.odd, namespace: kube-system}\n")
        .await;
    assert_data_eq!(
        lab.run("catalog list --applied").to_string(),
        str![[r#"
exit 0
--- stdout
CATALOG   OBJECTS
odd       unknown
--- stderr
warning: cannot read the record of applied objects: ConfigMap kube-system/capstan.catalog.odd: it has neither the key `applySet` nor `applySet.json.gz`

"#]]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_is_applied_and_unusable_manifests_are_refused() {
    let lab = lab().await;
    let world = lab.world();
    world.write("maps/one.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n");
    world.write("maps/note.txt", "text");
    world.write("odd/a.yaml", "apiVersion: example.org/v1\nkind: Odd\nmetadata: {name: odd}\n");
    world.write("empty/note.txt", "text");
    assert_data_eq!(
        [
            lab.run("catalog apply --manifests maps -n kube-public").to_string(),
            lab.run("catalog apply odd --manifests odd").to_string(),
            lab.run("catalog apply --manifests empty").to_string(),
            lab.run("catalog apply").to_string(),
        ]
        .join("\n"),
        str![[r#"
exit 0
--- stderr
warning: `note.txt` has no objects; it is ignored
done in [..]: applied catalog `catalog`; 1 object created

exit 1
--- stderr
error: cannot apply 1 object
  cause: Odd odd: neither the server nor the set defines kind `Odd.example.org`

exit 1
--- stderr
warning: `note.txt` has no objects; it is ignored
error: cannot apply the catalog: there is no object in `[CWD]/empty`
hint: compile the catalog first, or name a folder with manifests

exit 1
--- stderr
error: no catalog is given
hint: name a cluster, or a compiled folder with `--manifests`

"#]]
    );
    assert!(lab.fixture.get(kind::CONFIG_MAP, "kube-public/one").await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn each_applied_folder_has_a_record_of_its_own() {
    let lab = lab().await;
    let world = lab.world();
    for name in ["a", "b"] {
        let map =
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: default}}\n");
        world.write(format!("{name}/map.yaml"), map);
    }
    assert_data_eq!(
        [
            "catalog apply --manifests a",
            "catalog apply --manifests ./a/../a",
            "catalog apply --manifests b",
            "catalog apply --manifests b --dry-run",
            "catalog apply b --manifests b",
            "catalog apply B_b --manifests b",
            "catalog delete b --yes",
            "catalog apply b --manifests a",
            "catalog apply catalog --manifests b --dry-run",
            "catalog plan b --manifests b --against a",
        ]
        .map(|line| lab.run(line).to_string())
        .join("\n"),
        str![[r#"
exit 0
--- stderr
done in [..]: applied catalog `catalog`; 1 object created

exit 0
--- stderr
done in [..]: nothing to change

exit 1
--- stderr
error: cannot apply `[CWD]/b` as catalog `catalog`: the cluster has a catalog of this name, from `[CWD]/a`
hint: apply it with a name of its own: `capstan catalog apply NAME --manifests [CWD]/b`
hint: replace the objects of catalog `catalog`: `capstan catalog apply catalog --manifests [CWD]/b`

exit 1
--- stderr
error: cannot apply `[CWD]/b` as catalog `catalog`: the cluster has a catalog of this name, from `[CWD]/a`
hint: apply it with a name of its own: `capstan catalog apply NAME --manifests [CWD]/b`
hint: replace the objects of catalog `catalog`: `capstan catalog apply catalog --manifests [CWD]/b`

exit 0
--- stderr
done in [..]: applied catalog `b`; 1 object created

exit 1
--- stderr
error: cannot apply catalog `B_b`
  cause: `B_b` is not a valid DNS-1123 subdomain: lower case letters, digits, `-` and `.`, with a letter or digit at both ends of each part

exit 0
--- stderr
done in [..]: deleted catalog `b`; 1 object deleted

exit 1
--- stderr
error: cannot apply 1 object to this cluster
  cause: ConfigMap default/a belongs to `catalog/catalog`

exit 0
--- stdout
  ACTION    KIND        OBJECT
  create    ConfigMap   default/b
  delete    ConfigMap   default/a

exit 1
--- stderr
error: `CLUSTER` cannot be combined with `--manifests`

"#]]
    );
    assert!(lab.fixture.get(kind::CONFIG_MAP, "default/a").await.is_some());
    assert!(lab.fixture.get(kind::CONFIG_MAP, "default/b").await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_apply_is_completed_by_the_same_command() {
    for skip in [0, 2, 5, 9] {
        let lab = lab().await;
        let faults = lab.fixture.sandbox().faults();
        let fault = format!("403,verb=write,skip={skip},times=2");
        faults.replace([sandbox::Fault::parse(&fault).unwrap()]);
        let apply = format!("catalog apply {GREEN} --skip-references --no-wait");
        assert_ne!(lab.run(&apply).status, 0, "{skip}");
        faults.replace([]);
        assert_eq!(lab.run(&apply).status, 0, "{skip}");
        assert!(lab.fixture.get(kind::DEPLOYMENT, "web/web").await.is_some());
        assert!(lab.run(&apply).stderr.contains("nothing to change"), "{skip}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_ends_an_apply_that_can_be_resumed() {
    let lab = lab().await;
    let faults = lab.fixture.sandbox().faults();
    faults.replace([sandbox::Fault::parse("latency:300s,verb=write,resource=apps/deployments").unwrap()]);
    let apply = format!("catalog apply {GREEN} --skip-references");
    let child = lab.spawn(&apply);
    while lab.fixture.get(kind::CONFIG_MAP, "web/web-alerts").await.is_none() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    signal("INT", child.id().into());
    let output = lab.world().to_output(&child.wait_with_output().unwrap());
    assert_eq!(output.status, 130, "{output}");
    let last = output.stderr.lines().next_back().unwrap_or_default();
    assert_eq!(last, "hint: re-run the same command to resume", "{output}");
    faults.replace([]);
    let resumed = lab.run(&apply);
    assert_eq!(resumed.status, 0, "{resumed}");
    assert!(lab.fixture.get(kind::DEPLOYMENT, "web/web").await.is_some());
    assert!(lab.run(&apply).stderr.contains("nothing to change"));
}
