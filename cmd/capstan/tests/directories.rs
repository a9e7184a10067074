//! Tests of Clusters in files: saved to folders and archives, and restored, between two sandboxes.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use support::{
    binary::RunOutput,
    fixture::Fixture,
    kind::{CLUSTER, MACHINE, SECRET},
};

use crate::cluster_pair::ClusterPair;

impl ClusterPair {
    /// Runs a command line on the source.
    pub(crate) async fn here(&self, arguments: &str) -> RunOutput {
        let [kubeconfig, _] = self.kubeconfigs().await;
        self.alone(&format!("{arguments} --kubeconfig {kubeconfig}"))
    }

    /// Runs a restoring command line on the target.
    pub(crate) async fn there(&self, arguments: &str) -> RunOutput {
        let [_, kubeconfig] = self.kubeconfigs().await;
        self.alone(&format!("{arguments} {kubeconfig}"))
    }

    pub(crate) fn alone(&self, arguments: &str) -> RunOutput {
        tokio::task::block_in_place(|| self.world.run(arguments.split_whitespace()))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.world.current_dir().join(name)
    }

    /// True if the Cluster exists and is not paused.
    pub(crate) async fn works_on(&self, side: &Fixture) -> bool {
        side.get(CLUSTER, "default/demo").await.is_some_and(|cluster| cluster["spec"]["paused"].is_null())
    }
}

fn listed(folder: &Path) -> String {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names.join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn clusters_go_to_a_folder_and_come_back_on_another_cluster() {
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
    let plan = two.there("move --from-directory saved --dry-run --to-kubeconfig").await;
    assert!(plan.stdout.contains("create    Cluster default/demo "), "{plan}");
    assert!(plan.stdout.ends_with("objects: 8 to create; 0 stay\n"), "{plan}");
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
    let again = two.there("move --from-directory saved -o json --to-kubeconfig").await;
    assert!(!again.stderr.contains("created") && !again.stderr.contains("resumed"), "{again}");
    assert!(again.stderr.ends_with(": restored no object from `saved`; 8 objects existed\n"), "{again}");
    assert!(again.stdout.contains("was there, and stays as it is"), "{again}");
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
error: `saved` holds other files: `Cluster_default_old.yaml`
hint: they would be restored along with it; empty the folder, or name another

"#]]
    );
    let plan = two.here("move --to-directory other --dry-run").await;
    assert!(plan.stdout.contains("save      Cluster default/demo "), "{plan}");
    assert!(!two.path("other").exists());
    // The run acquired and released the lease, and wrote nothing else.
    assert_eq!(two.source.sandbox().revision(), before + 2);
}

// Row: D-161
#[tokio::test(flavor = "multi_thread")]
async fn a_save_that_was_cut_off_is_undone_by_abort_and_its_folder_is_no_save() {
    let two = ClusterPair::start().await;
    let mark =
        json!({"metadata": {"annotations": {"capstan.dev/move": "save-1--2"}}, "spec": {"paused": true}});
    two.world.write("saved/.capstan-save/Cluster_default_demo.yaml", "{}");
    let unfinished = two.there("move --from-directory saved --to-kubeconfig").await;
    assert!(unfinished.stderr.contains("was not written to its end"), "{unfinished}");
    two.source.merge(CLUSTER, "default/demo", &mark).await;
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

// Row: D-163
#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_file_of_objects_is_refused_or_left_out_with_a_word() {
    let two = ClusterPair::start().await;
    two.here("move --to-directory saved").await;
    two.world.write("saved/notes.txt", "mine");
    two.world.write("saved/.hidden", "");
    two.world.write("saved/more/a.yaml", "");
    let refused = two.there("move --from-directory saved --to-kubeconfig").await;
    assert!(refused.stderr.contains("error: `saved/more` is no file\n"), "{refused}");
    fs::remove_dir_all(two.path("saved/more")).unwrap();
    let plan = two.there("move --from-directory saved --dry-run --to-kubeconfig").await;
    assert!(plan.stderr.contains("`.hidden` is left out: it is hidden"), "{plan}");
    assert!(plan.stderr.contains("`notes.txt` is left out: it ends in none of json, yaml, yml"), "{plan}");
    two.world.write("saved/broken.yaml", "a: [");
    let broken = two.there("move --from-directory saved --to-kubeconfig").await;
    assert!(broken.stderr.contains("cannot read `broken.yaml`: document 1"), "{broken}");
}

// Row: D-169
#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_one_private_file_that_is_restored_when_every_sum_is_right() {
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
error: `half.tar.gz` is no backup that can be restored
  cause: it is cut off
hint: nothing was restored; use another backup

"#]]
    );
    let plan = two.there("restore saved.tar.gz --dry-run --kubeconfig").await;
    assert!(plan.stdout.ends_with("objects: 8 to create; 0 stay\n"), "{plan}");
    let restored = two.there("restore saved.tar.gz --kubeconfig").await;
    assert!(restored.stderr.contains(": restored 8 objects from `saved.tar.gz`\n"), "{restored}");
    assert!(two.works_on(&two.target).await);
    assert!(two.target.get(SECRET, "default/demo-ca").await.is_some());
    assert_eq!(two.target.list(MACHINE).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_at_rest_pauses_and_resumes_and_restores_into_another_namespace() {
    let two = ClusterPair::start().await;
    let saved = two.here("backup saved.tar.gz --pause --cluster demo").await;
    assert!(saved.stderr.contains("resumed 1 Cluster or ClusterClass\n"), "{saved}");
    assert!(two.works_on(&two.source).await);
    let arguments = "restore saved.tar.gz --cluster demo --map-namespace default=tests --kubeconfig";
    let restored = two.there(arguments).await;
    assert_eq!(restored.status, 0, "{restored}");
    assert!(two.target.get(CLUSTER, "tests/demo").await.unwrap()["spec"]["paused"].is_null());
    let unknown = two.there("restore saved.tar.gz --cluster dmeo --kubeconfig").await;
    assert!(unknown.stderr.contains("did you mean `demo`?"), "{unknown}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_resumes_what_was_paused_to_be_saved() {
    let two = ClusterPair::start().await;
    let annotation = json!({"metadata": {"annotations": {"clusterctl.cluster.x-k8s.io/block-move": ""}}});
    two.source.merge(MACHINE, "default/demo-machine-0", &annotation).await;
    let [kubeconfig, _] = two.kubeconfigs().await;
    let arguments = ["move", "--to-directory", "saved", "--kubeconfig", &kubeconfig];
    let child = two.world.command(arguments).stderr(Stdio::piped()).spawn().unwrap();
    // The command waits for the provider of the machine.
    while two.works_on(&two.source).await {
        tokio::task::yield_now().await;
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = tokio::task::block_in_place(|| child.wait_with_output()).unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(
        stderr.ends_with(
            "error: interrupted while it saved objects\nhint: nothing was saved; resumed 1 Cluster or ClusterClass\n"
        ),
        "{stderr}"
    );
    assert!(two.works_on(&two.source).await);
    assert_eq!(listed(&two.path("saved")), ".capstan-save");
}
