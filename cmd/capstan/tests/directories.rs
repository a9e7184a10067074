//! Tests of Clusters in files: saved to folders and archives, and restored, between two sandboxes.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use support::{
    cluster_api::object,
    kind::{CLUSTER, Kind, MACHINE, SECRET},
};

use crate::testing::ClusterPair;

const LEASE: Kind = Kind::new("coordination.k8s.io", "v1", "Lease", "leases");

fn listed(folder: &Path) -> String {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names.join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn clusters_are_saved_to_a_folder_and_restored_elsewhere() {
    let two = ClusterPair::start().await;
    assert_data_eq!(
        two.here("move --to-directory saved").await.to_string(),
        str![[r#"
exit 0
--- stderr
paused 1 Cluster or ClusterClass
resumed 1 Cluster or ClusterClass
done in [..]: saved 8 objects to `saved`

"#]]
    );
    assert_data_eq!(
        listed(&two.path("saved")),
        str![[r#"
Cluster_default_demo.yaml
DockerCluster_default_demo.yaml
DockerMachine_default_demo-machine-0.yaml
KubeadmConfig_default_demo-machine-0.yaml
Machine_default_demo-machine-0.yaml
Secret_default_demo-ca.yaml
Secret_default_demo-kubeconfig.yaml
Secret_default_demo-machine-0.yaml
"#]]
    );
    assert!(two.works_on(&two.source).await);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let file = fs::metadata(two.path("saved/Secret_default_demo-ca.yaml")).unwrap();
        assert_eq!(file.permissions().mode() & 0o777, 0o600);
    }
    assert_data_eq!(
        two.there("move --from-directory saved --dry-run --to-kubeconfig").await.to_string(),
        str![[r#"
exit 0
--- stdout
ACTION    OBJECT                                 WHY
create    Cluster default/demo                   is a root object
create    DockerCluster default/demo             belongs to Cluster default/demo
create    Machine default/demo-machine-0         belongs to Cluster default/demo
create    Secret default/demo-ca                 belongs to Cluster default/demo
create    Secret default/demo-kubeconfig         belongs to Cluster default/demo
create    DockerMachine default/demo-machine-0   belongs to Cluster default/demo
create    KubeadmConfig default/demo-machine-0   belongs to Cluster default/demo
create    Secret default/demo-machine-0          belongs to Cluster default/demo

objects: 8 to create; 0 stay

"#]]
    );
    assert!(two.target.get(CLUSTER, "default/demo").await.is_none());
    assert_data_eq!(
        two.there("move --from-directory saved --to-kubeconfig").await.to_string(),
        str![[r#"
exit 0
--- stderr
created 8 objects on the target
verified 8 objects on the target
resumed 1 Cluster or ClusterClass
done in [..]: restored 8 objects from `saved`

"#]]
    );
    assert!(two.works_on(&two.target).await);
    assert_data_eq!(
        two.there("move --from-directory saved -o json --to-kubeconfig").await.to_string(),
        str![[r#"
exit 0
--- stdout
{
  "run": "restore",
  "objects": [
    {
      "object": {
        "group": "cluster.x-k8s.io",
        "kind": "Cluster",
        "namespace": "default",
        "name": "demo"
      },
      "outcome": "existed, unchanged"
    },
    {
      "object": {
        "group": "infrastructure.cluster.x-k8s.io",
        "kind": "DockerCluster",
        "namespace": "default",
        "name": "demo"
      },
      "outcome": "existed, unchanged"
    },
    {
      "object": {
        "group": "cluster.x-k8s.io",
        "kind": "Machine",
        "namespace": "default",
        "name": "demo-machine-0"
      },
      "outcome": "existed, unchanged"
    },
    {
      "object": {
        "group": "",
        "kind": "Secret",
        "namespace": "default",
        "name": "demo-ca"
      },
      "outcome": "existed, unchanged"
    },
    {
      "object": {
        "group": "",
        "kind": "Secret",
        "namespace": "default",
        "name": "demo-kubeconfig"
      },
      "outcome": "existed, unchanged"
    },
    {
      "object": {
        "group": "infrastructure.cluster.x-k8s.io",
        "kind": "DockerMachine",
        "namespace": "default",
        "name": "demo-machine-0"
      },
      "outcome": "existed, unchanged"
    },
    {
      "object": {
        "group": "bootstrap.cluster.x-k8s.io",
        "kind": "KubeadmConfig",
        "namespace": "default",
        "name": "demo-machine-0"
      },
      "outcome": "existed, unchanged"
    },
    {
      "object": {
        "group": "",
        "kind": "Secret",
        "namespace": "default",
        "name": "demo-machine-0"
      },
      "outcome": "existed, unchanged"
    }
  ],
  "differences": []
}
--- stderr
verified 8 objects on the target
done in [..]: restored no object from `saved`; 8 objects already existed

"#]]
    );
}

// Row: D-160
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_with_other_files_is_refused_before_anything_is_paused() {
    let two = ClusterPair::start().await;
    two.world.write("saved/Cluster_default_old.yaml", "{}");
    let before = two.source.sandbox().revision();
    assert_data_eq!(
        two.here("move --to-directory saved").await.to_string(),
        str![[r#"
exit 1
--- stderr
error: `saved` contains other files: `Cluster_default_old.yaml`
hint: use an empty folder; a restore would include these files

"#]]
    );
    assert_data_eq!(
        two.here("move --to-directory other --dry-run").await.to_string(),
        str![[r#"
exit 0
--- stdout
ACTION    OBJECT                                 WHY
save      Cluster default/demo                   is a root object
save      DockerCluster default/demo             belongs to Cluster default/demo
save      Machine default/demo-machine-0         belongs to Cluster default/demo
save      Secret default/demo-ca                 belongs to Cluster default/demo
save      Secret default/demo-kubeconfig         belongs to Cluster default/demo
save      DockerMachine default/demo-machine-0   belongs to Cluster default/demo
save      KubeadmConfig default/demo-machine-0   belongs to Cluster default/demo
save      Secret default/demo-machine-0          belongs to Cluster default/demo

stays
  it is not linked to a moving object: ConfigMap default/kube-root-ca.crt

objects: 8 to save; 1 stay

"#]]
    );
    assert!(!two.path("other").exists());
    // The run acquired and released the lease, and wrote nothing else.
    assert_eq!(two.source.sandbox().revision(), before + 2);
}

// Row: D-161
#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_save_is_aborted_and_cannot_be_restored() {
    let two = ClusterPair::start().await;
    let mark =
        json!({"metadata": {"annotations": {"capstan.dev/move": "save-1--2"}}, "spec": {"paused": true}});
    two.world.write("saved/.capstan-save/Cluster_default_demo.yaml", "{}");
    assert_data_eq!(
        two.there("move --from-directory saved --to-kubeconfig").await.to_string(),
        str![[r#"
exit 1
--- stderr
error: the save in `saved/.capstan-save` is incomplete
hint: re-run the command that writes the save

"#]]
    );
    two.source.merge(CLUSTER, "default/demo", &mark).await;
    let status = two.here("status --exit-status").await;
    let (_, saves) = status.stdout.split_once("\n\n").unwrap();
    assert_data_eq!(
        saves,
        str![[r#"
save of process 1--2: interrupted

paused by this run
  Cluster default/demo

the save was interrupted; re-run it to complete it, or run the command below to resume the paused Clusters
  capstan move --namespace default --to-directory DIR --abort --kubeconfig [SOURCE]

"#]]
    );
    assert_data_eq!(status.stderr.lines().next().unwrap(), str!["error: a save is unfinished"]);
    // This also covers a process on another machine, because no other run holds the lease of the cluster.
    let undone = two.here("move --abort --to-directory saved").await;
    assert_data_eq!(
        undone.to_string(),
        str![[r#"
exit 0
--- stderr
done in [..]: resumed 1 Cluster or ClusterClass

"#]]
    );
    let cluster = two.source.get(CLUSTER, "default/demo").await.unwrap();
    assert_eq!(
        (&cluster["spec"]["paused"], &cluster["metadata"]["annotations"]),
        (&Value::Null, &Value::Null)
    );
    assert!(!two.path("saved/.capstan-save").exists());
}

// Row: D-335
#[tokio::test(flavor = "multi_thread")]
async fn status_shows_an_interrupted_restore_unless_a_run_is_writing() {
    let two = ClusterPair::start().await;
    let mark =
        json!({"metadata": {"annotations": {"capstan.dev/move": "restore"}}, "spec": {"paused": true}});
    two.source.merge(CLUSTER, "default/demo", &mark).await;
    let status = two.here("status").await;
    let (_, restore) = status.stdout.split_once("\n\n").unwrap();
    assert_data_eq!(
        restore,
        str![[r#"
a restore was interrupted

paused by this run
  Cluster default/demo

re-run the same command to complete the restore

"#]]
    );
    let unfinished = async || {
        let status: Value = serde_json::from_str(&two.here("status -o json").await.stdout).unwrap();
        status.get("unfinishedRestore").map(|paused| paused[0]["name"].clone())
    };
    assert_eq!(unfinished().await, Some(json!("demo")));
    let spec = json!({
        "holderIdentity": "another-run", "leaseDurationSeconds": 3600,
        "acquireTime": "2126-01-01T00:00:00.000000Z", "renewTime": "2126-01-01T00:00:00.000000Z",
    });
    two.source.create([object(LEASE, "kube-system/capstan").field("spec", spec)]).await;
    assert_eq!(unfinished().await, None);
}

// Row: D-163
#[tokio::test(flavor = "multi_thread")]
async fn files_without_objects_are_refused_or_skipped_with_a_warning() {
    let two = ClusterPair::start().await;
    two.here("move --to-directory saved").await;
    two.world.write("saved/notes.txt", "mine");
    two.world.write("saved/.hidden", "");
    two.world.write("saved/more/a.yaml", "");
    assert_data_eq!(
        two.there("move --from-directory saved --to-kubeconfig").await.to_string(),
        str![[r#"
exit 1
--- stderr
warning: skipped the hidden file `.hidden`
error: `saved/more` is not a file
hint: use the folder that directly contains the files of the save

"#]]
    );
    fs::remove_dir_all(two.path("saved/more")).unwrap();
    assert_data_eq!(
        two.there("move --from-directory saved --dry-run --to-kubeconfig").await.to_string(),
        str![[r#"
exit 0
--- stdout
ACTION    OBJECT                                 WHY
create    Cluster default/demo                   is a root object
create    DockerCluster default/demo             belongs to Cluster default/demo
create    Machine default/demo-machine-0         belongs to Cluster default/demo
create    Secret default/demo-ca                 belongs to Cluster default/demo
create    Secret default/demo-kubeconfig         belongs to Cluster default/demo
create    DockerMachine default/demo-machine-0   belongs to Cluster default/demo
create    KubeadmConfig default/demo-machine-0   belongs to Cluster default/demo
create    Secret default/demo-machine-0          belongs to Cluster default/demo

objects: 8 to create; 0 stay
--- stderr
warning: skipped the hidden file `.hidden`
warning: skipped `notes.txt`: the extension is none of json, yaml, yml

"#]]
    );
    two.world.write("saved/broken.yaml", "a: [");
    assert_data_eq!(
        two.there("move --from-directory saved --to-kubeconfig").await.to_string(),
        str![[r#"
exit 1
--- stderr
warning: skipped the hidden file `.hidden`
warning: skipped `notes.txt`: the extension is none of json, yaml, yml
error: cannot read `broken.yaml`: document 1, line 1, column 4: did not find expected `,` or `]`

"#]]
    );
}

// Row: D-169
#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_one_private_file_with_verified_checksums() {
    let two = ClusterPair::start().await;
    let before = two.source.sandbox().revision();
    assert_data_eq!(
        two.here("backup saved.tar.gz").await.to_string(),
        str![[r#"
exit 0
--- stderr
done in [..]: saved 8 objects of 1 Cluster to `saved.tar.gz`

"#]]
    );
    assert_eq!(two.source.sandbox().revision(), before);
    let path = two.path("saved.tar.gz");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let whole = fs::read(&path).unwrap();
    fs::write(two.path("half.tar.gz"), &whole[..whole.len() / 2]).unwrap();
    assert_data_eq!(
        two.there("restore half.tar.gz --kubeconfig").await.to_string(),
        str![[r#"
exit 1
--- stderr
error: `half.tar.gz` is not a valid backup
  cause: it is truncated
hint: use another backup; nothing was restored

"#]]
    );
    assert_data_eq!(
        two.there("restore saved.tar.gz --dry-run --kubeconfig").await.to_string(),
        str![[r#"
exit 0
--- stdout
ACTION    OBJECT                                 WHY
create    Cluster default/demo                   is a root object
create    DockerCluster default/demo             belongs to Cluster default/demo
create    Machine default/demo-machine-0         belongs to Cluster default/demo
create    Secret default/demo-ca                 belongs to Cluster default/demo
create    Secret default/demo-kubeconfig         belongs to Cluster default/demo
create    DockerMachine default/demo-machine-0   belongs to Cluster default/demo
create    KubeadmConfig default/demo-machine-0   belongs to Cluster default/demo
create    Secret default/demo-machine-0          belongs to Cluster default/demo

objects: 8 to create; 0 stay
--- stderr
backup of https://127.0.0.1:[..] at [..], without a pause
warning: cannot check whether the Clusters still run on the source cluster `https://127.0.0.1:[..]`
    if the source cluster may still run, set it with `--source-kubeconfig`, or restore with `--paused`

"#]]
    );
    two.assert_restored("saved.tar.gz", "").await;
    assert!(two.target.get(SECRET, "default/demo-ca").await.is_some());
    assert_eq!(two.target.list(MACHINE).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_backup_restores_into_another_namespace() {
    let two = ClusterPair::start().await;
    assert_data_eq!(
        two.here("backup saved.tar.gz --pause --cluster demo").await.to_string(),
        str![[r#"
exit 0
--- stderr
paused 1 Cluster or ClusterClass
resumed 1 Cluster or ClusterClass
done in [..]: saved 8 objects of 1 Cluster to `saved.tar.gz`

"#]]
    );
    assert!(two.works_on(&two.source).await);
    let arguments = "restore saved.tar.gz --cluster demo --map-namespace default=tests --kubeconfig";
    let restored = two.there(arguments).await;
    assert_eq!(restored.status, 0, "{restored}");
    assert!(two.target.get(CLUSTER, "tests/demo").await.unwrap()["spec"]["paused"].is_null());
    assert_data_eq!(
        two.there("restore saved.tar.gz --cluster dmeo --kubeconfig").await.to_string(),
        str![[r#"
exit 1
--- stderr
backup of https://127.0.0.1:[..] at [..], with Clusters paused
error: Cluster `dmeo` does not exist in the selected namespaces
hint: did you mean `demo`?

"#]]
    );
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_signal_during_a_save_resumes_paused_clusters() {
    let two = ClusterPair::start().await;
    let annotation = json!({"metadata": {"annotations": {"clusterctl.cluster.x-k8s.io/block-move": ""}}});
    two.source.merge(MACHINE, "default/demo-machine-0", &annotation).await;
    let [kubeconfig, _] = two.kubeconfigs().await;
    for (signal, status) in [("-INT", 130), ("-TERM", 143)] {
        let arguments = ["move", "--to-directory", "saved", "--kubeconfig", &kubeconfig];
        let child = two.world.command(arguments).stderr(Stdio::piped()).spawn().unwrap();
        // The command waits for the provider of the machine.
        while two.works_on(&two.source).await {
            tokio::task::yield_now().await;
        }
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let output = tokio::task::block_in_place(|| child.wait_with_output()).unwrap();
        assert_eq!(output.status.code(), Some(status));
        assert_data_eq!(
            String::from_utf8(output.stderr).unwrap(),
            str![[r#"
...
error: interrupted while saving objects
hint: nothing was saved; resumed 1 Cluster or ClusterClass

"#]]
        );
        assert!(two.works_on(&two.source).await);
        assert_eq!(listed(&two.path("saved")), "");
        let report: Value = serde_json::from_str(
            &two.world.run(["status", "-o", "json", "--kubeconfig", &kubeconfig]).stdout,
        )
        .unwrap();
        assert_eq!(report["lease"], Value::Null, "{report}");
    }
}

// Row: D-162
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_failed_save_leaves_no_staged_files() {
    let two = ClusterPair::start().await;
    let block =
        |value| json!({"metadata": {"annotations": {"clusterctl.cluster.x-k8s.io/block-move": value}}});
    two.source.merge(MACHINE, "default/demo-machine-0", &block(json!(""))).await;
    let [kubeconfig, _] = two.kubeconfigs().await;
    let arguments = ["move", "--to-directory", "saved", "--kubeconfig", &kubeconfig];
    let child = two.world.command(arguments).stderr(Stdio::piped()).spawn().unwrap();
    while two.works_on(&two.source).await {
        tokio::task::yield_now().await;
    }
    // A folder in the place of a file makes its write fail.
    two.world.write("saved/.capstan-save/Machine_default_demo-machine-0.yaml/x", "");
    two.source.merge(MACHINE, "default/demo-machine-0", &block(json!(null))).await;
    let output = tokio::task::block_in_place(|| child.wait_with_output()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(listed(&two.path("saved")), "");
    assert!(two.works_on(&two.source).await);
}
