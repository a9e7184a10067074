//! Tests of backup files: their scope, names, replaced files, and leftovers of failed backups.

use std::{
    fs,
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use support::{
    binary::RunOutput,
    cluster_api::cluster,
    kind::{CLUSTER, MACHINE},
};

use crate::testing::ClusterPair;

/// Returns two clusters, with Clusters in `default` and `team` on the source.
async fn two_namespaces() -> ClusterPair {
    let two = ClusterPair::start().await;
    two.source.create(cluster("team/blue").machines(2)).await;
    two
}

fn json_of(outcome: &RunOutput) -> Value {
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {outcome}"))
}

fn clusters(outcome: &RunOutput) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let named = |one: &Value| format!("{}/{}", text(&one["namespace"]), text(&one["name"]));
    json_of(outcome)["clusters"].as_array().unwrap().iter().map(named).collect()
}

/// Returns the files of the folder that a backup is written to.
fn files(two: &ClusterPair, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(two.path(folder)).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

// Row: D-300
#[tokio::test(flavor = "multi_thread")]
async fn a_backup_covers_all_namespaces_by_default() {
    let two = two_namespaces().await;
    let all = two.here("backup all.tar.gz -o json").await;
    assert_eq!(clusters(&all), ["default/demo", "team/blue"]);
    assert_eq!(json_of(&all)["namespaces"], json!(["default", "team"]));
    let also_all = two.here("backup also.tar.gz -A -o json").await;
    assert_eq!(clusters(&also_all), clusters(&all));
    let team = two.here("backup team.tar.gz -n team -o json").await;
    assert_eq!(clusters(&team), ["team/blue"]);
    let plan = two.here("backup plan.tar.gz -o json --dry-run").await;
    assert_eq!(json_of(&plan)["namespaces"], json!(["default", "team"]));
    assert_eq!(json_of(&plan)["staying"], json!([]));
    assert!(!two.path("plan.tar.gz").exists());
}

// Row: D-300
#[tokio::test(flavor = "multi_thread")]
async fn a_mistyped_namespace_is_an_error_and_the_old_backup_stays() {
    let two = two_namespaces().await;
    two.here("backup old.tar.gz").await;
    let old = fs::read(two.path("old.tar.gz")).unwrap();
    assert_data_eq!(
        two.here("backup old.tar.gz --force -n team -n taem").await.to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot back up namespace `taem`: it does not exist
hint: namespace `default` has a Cluster: add `--namespace default`

"#]]
    );
    assert_data_eq!(
        two.there("backup old.tar.gz --force --kubeconfig").await.to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot back up the management cluster: it has no Clusters
hint: create a Cluster first, or select another management cluster with `--kubeconfig`

"#]]
    );
    assert_eq!(fs::read(two.path("old.tar.gz")).unwrap(), old);
}

// Row: D-301
#[tokio::test(flavor = "multi_thread")]
async fn an_existing_backup_is_replaced_only_with_force() {
    let two = ClusterPair::start().await;
    two.world.write("folder/old.tar.gz", "old");
    assert_data_eq!(
        two.here("backup folder/old.tar.gz").await.to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot write `folder/old.tar.gz`: the file exists
hint: use another file or a folder, or add `--force` to replace the file

"#]]
    );
    assert_eq!(two.world.read("folder/old.tar.gz"), "old");
    two.here("backup folder/old.tar.gz --force").await;
    assert_eq!(two.alone("backup verify folder/old.tar.gz").status, 0);
    assert_eq!(files(&two, "folder"), ["old.tar.gz"]);
}

// Row: D-301
#[tokio::test(flavor = "multi_thread")]
async fn a_mistyped_subcommand_is_no_backup_file() {
    let two = ClusterPair::start().await;
    assert_data_eq!(
        two.here("backup verfy").await.to_string(),
        str![[r#"
exit 1
--- stderr
error: unknown subcommand `backup verfy`
hint: did you mean `capstan backup verify`? To write a backup to this file, use `./verfy`

"#]]
    );
    assert!(!two.path("verfy").exists());
    assert_eq!(two.here("backup ./verfy").await.status, 0);
    assert_eq!(two.here("backup clusters").await.status, 0);
}

// Row: D-301
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_collects_dated_backups_and_keeps_the_newest() {
    let two = ClusterPair::start().await;
    two.world.write("backups/notes.txt", "mine");
    let first = json_of(&two.here("backup backups -o json").await);
    let second = json_of(&two.here("backup backups/ --keep 1 -o json").await);
    assert_eq!(second["removed"].as_array().map(Vec::len), Some(1), "{second}");
    assert_ne!(first["file"], second["file"]);
    let name = second["file"].as_str().unwrap().strip_prefix("backups/").unwrap().to_owned();
    assert!(name.starts_with("capstan-") && name.ends_with("Z.tar.gz"), "{name}");
    assert_eq!(files(&two, "backups"), [&*name, "notes.txt"]);
    // A backup of some Clusters is no replacement for a backup of all.
    let some = json_of(&two.here("backup backups/ --keep 1 --cluster demo -o json").await);
    assert!(some.get("removed").is_none_or(|removed| removed == &json!([])), "{some}");
    assert!(files(&two, "backups").contains(&name));
    assert_data_eq!(
        two.here("backup one.tar.gz --keep 3").await.to_string(),
        str![[r#"
exit 1
--- stderr
error: `--keep` requires a folder, and `one.tar.gz` is not a folder
hint: use a folder, such as `backup backups/ --keep 7`

"#]]
    );
}

// Row: D-302
#[tokio::test(flavor = "multi_thread")]
async fn inspect_and_verify_print_the_content_of_a_backup() {
    let two = two_namespaces().await;
    let made = json_of(&two.here("backup all.tar.gz -o json").await);
    let inspected = two.alone("backup inspect all.tar.gz -o json");
    assert_eq!(json_of(&inspected), made);
    assert_eq!(json_of(&two.alone("backup verify all.tar.gz -o json")), made);
    assert_eq!(made["clusters"][1]["machines"], 2);
    assert_eq!(made["providers"].as_array().map(Vec::len), Some(4));
    let machines = made["kinds"].as_array().unwrap().iter().find(|one| one["kind"] == "Machine").unwrap();
    assert_eq!(machines["objects"], 3);
    let text = two.alone("backup inspect all.tar.gz");
    assert!(text.stdout.contains("\nteam/blue "), "{text}");
}

// Row: D-301
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_leaves_the_old_backup_and_no_temporary_file() {
    let two = ClusterPair::start().await;
    two.world.write("folder/old.tar.gz", "old");
    let held = json!({"metadata": {"annotations": {"clusterctl.cluster.x-k8s.io/block-move": ""}}});
    two.source.merge(MACHINE, "default/demo-machine-0", &held).await;
    let [kubeconfig, _] = two.kubeconfigs().await;
    let arguments = ["backup", "folder/old.tar.gz", "--force", "--pause", "--kubeconfig", &kubeconfig];
    let child = two.world.command(arguments).stderr(Stdio::piped()).spawn().unwrap();
    // The backup waits for the provider of the machine.
    while two.works_on(&two.source).await {
        tokio::task::yield_now().await;
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = tokio::task::block_in_place(|| child.wait_with_output()).unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert_eq!(files(&two, "folder"), ["old.tar.gz"]);
    assert_eq!(two.world.read("folder/old.tar.gz"), "old");
    assert!(two.source.get(CLUSTER, "default/demo").await.unwrap()["spec"]["paused"].is_null());
}

// Row: D-301
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_leaves_the_old_backup_and_no_temporary_file() {
    let two = ClusterPair::start().await;
    two.world.write("folder/old.tar.gz", "old");
    let [kubeconfig, _] = two.kubeconfigs().await;
    let arguments = ["backup", "folder/old.tar.gz", "--force", "--kubeconfig", &kubeconfig];
    let plain = two.world.command(arguments);
    // The limit allows no file content at all.
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""]);
    command.arg(plain.get_program()).args(plain.get_args()).env_clear();
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(plain.get_current_dir().unwrap());
    let output = tokio::task::block_in_place(|| command.output()).unwrap();
    let failure = two.world.to_output(&output).to_string();
    // The name of the temporary file is random.
    assert_data_eq!(
        failure.split_once("/.capstan-backup-").unwrap().0,
        str![[r#"
exit 1
--- stderr
error: cannot write `folder/old.tar.gz`
  cause: File too large (os error 27) at path "[CWD]/folder
"#]]
    );
    assert_eq!(files(&two, "folder"), ["old.tar.gz"]);
    assert_eq!(two.world.read("folder/old.tar.gz"), "old");
}
