//! Tests of encrypted and verified backups, and of backups during deletions.

use std::{fs, path::PathBuf};

use serde_json::json;
use snapbox::{assert_data_eq, str};
use support::kind::{CLUSTER, MACHINE};

use crate::testing::ClusterPair;

/// The public key of a key pair for these tests. Its secret key and another secret key follow.
pub(crate) const PUBLIC: &str = "age12g0u6mkjfhvlph66l0d5lem3r0xt2ze2m98cycm3fkzej3dtzpaq036rmm";
pub(crate) const SECRET: &str = "AGE-SECRET-KEY-1S8NGYUDQZFKSGKR49WEQ5ZQKPTWFPHLTKP6U36N2UXNCM8ZSD7JS6RLJT4";
const OTHER: &str = "AGE-SECRET-KEY-1QDGGFMYW3G009CAUSKATV2UP2CDY2EDZLH5ZUKR7CDFQKGP5T7WQSRQPRC";

/// Returns clusters with both key files, and a backup encrypted to the first key.
async fn sealed() -> (ClusterPair, PathBuf) {
    let two = ClusterPair::start().await;
    two.world.write("key.txt", format!("# ours\n{SECRET}\n"));
    two.world.write("other.txt", OTHER);
    two.world.write("to.txt", format!("{PUBLIC} \n"));
    let saved = two.here("backup saved.age --encrypt-to-file to.txt").await;
    assert_data_eq!(
        saved.to_string(),
        str![[r#"
exit 0
--- stderr
done in [..]: saved 8 objects of 1 Cluster to `saved.age`, encrypted to public keys

"#]]
    );
    let path = two.path("saved.age");
    (two, path)
}

// Row: D-175
#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_encrypted_to_keys_and_restored_with_one_of_them() {
    let (two, path) = sealed().await;
    let bytes = fs::read(&path).unwrap();
    assert!(bytes.starts_with(b"age-encryption.org/v1\n-> X25519 "));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_data_eq!(
        two.there("restore saved.age --kubeconfig").await.to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot open `saved.age`
  cause: it is encrypted to public keys
hint: pass the file of a matching secret key with `--identity FILE`; nothing was written

"#]]
    );
    two.assert_restored("saved.age", "--identity other.txt,key.txt").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undecryptable_or_modified_backup_restores_nothing() {
    let (two, path) = sealed().await;
    let before = two.target.sandbox().revision();
    assert_data_eq!(
        two.there("restore saved.age --identity other.txt --kubeconfig").await.to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot open `saved.age`
  cause: it is encrypted to other recipients; no given identity can decrypt it
hint: pass the file of another secret key with `--identity FILE`, which can be repeated; nothing was written

"#]]
    );
    let whole = fs::read(&path).unwrap();
    let mut turned = whole.clone();
    turned[whole.len() / 2] ^= 1;
    for bytes in [&turned[..], &whole[..whole.len() - 1]] {
        fs::write(&path, bytes).unwrap();
        assert_data_eq!(
            two.there("restore saved.age --identity key.txt --kubeconfig").await.to_string(),
            str![[r#"
exit 1
--- stderr
error: `saved.age` is not a valid backup
  cause: its encrypted data was changed or truncated
hint: use another backup; nothing was restored

"#]]
        );
    }
    assert_eq!(two.target.sandbox().revision(), before);
}

// Row: D-175
#[tokio::test(flavor = "multi_thread")]
async fn a_passphrase_comes_from_a_variable_a_file_or_the_terminal() {
    let mut two = ClusterPair::start().await;
    assert_data_eq!(
        two.here("backup saved.age --passphrase").await.to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot ask for the passphrase
  cause: there is no terminal
hint: set CAPSTAN_BACKUP_PASSPHRASE, or use `--passphrase-file FILE`

"#]]
    );
    two.world.write("right.txt", "correct horse\n");
    two.world.write("wrong.txt", "correct house\n");
    two.world = two.world.env("CAPSTAN_BACKUP_PASSPHRASE", "correct horse");
    assert_data_eq!(
        two.here("backup saved.age --passphrase").await.to_string(),
        str![[r#"
exit 0
--- stderr
done in [..]: saved 8 objects of 1 Cluster to `saved.age`, encrypted with a passphrase

"#]]
    );
    let wrong = two.alone("backup verify saved.age --passphrase-file wrong.txt").to_string();
    assert!(!wrong.contains("horse") && !wrong.contains("house"), "{wrong}");
    assert_data_eq!(
        wrong,
        str![[r#"
exit 1
--- stderr
error: cannot open `saved.age`
  cause: it is encrypted with another passphrase
hint: check the passphrase: `--passphrase-file` takes precedence over CAPSTAN_BACKUP_PASSPHRASE, and both over the prompt; nothing was written

"#]]
    );
    for arguments in ["backup verify saved.age", "backup verify saved.age --passphrase-file right.txt"] {
        assert_data_eq!(
            two.alone(arguments).to_string(),
            str![[r#"
exit 0
--- stderr
backup of https://127.0.0.1:[..] at [..], without a pause
verified `saved.age`: 8 objects of 1 Cluster

"#]]
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_key_is_refused_and_never_shown() {
    let two = ClusterPair::start().await;
    let secret = two.here(&format!("backup saved.age --encrypt-to {SECRET}")).await;
    assert_data_eq!(
        secret.to_string(),
        str![[r#"
exit 1
--- stderr
error: invalid value for `--encrypt-to`
  cause: it is a secret key; a public key is required
hint: print the public key with `age-keygen -y FILE`; never pass a secret key on the command line

"#]]
    );
    assert_data_eq!(
        two.here("backup saved.age --encrypt-to ssh-ed25519").await.to_string(),
        str![[r#"
exit 1
--- stderr
error: invalid value for `--encrypt-to`
  cause: it is an SSH key; only age keys are supported
hint: generate a key pair (`age1…` and `AGE-SECRET-KEY-1…`) with `age-keygen -o key.txt`

"#]]
    );
    assert!(!two.path("saved.age").exists());
}

// Row: D-177
#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_verified_without_a_cluster() {
    let two = ClusterPair::start().await;
    two.here("backup saved.tar.gz").await;
    assert_data_eq!(
        two.alone("backup verify saved.tar.gz").to_string(),
        str![[r#"
exit 0
--- stderr
backup of https://127.0.0.1:[..] at [..], without a pause
verified `saved.tar.gz`: 8 objects of 1 Cluster

"#]]
    );
    let whole = fs::read(two.path("saved.tar.gz")).unwrap();
    fs::write(two.path("half.tar.gz"), &whole[..whole.len() / 2]).unwrap();
    assert_data_eq!(
        two.alone("backup verify half.tar.gz").to_string(),
        str![[r#"
exit 1
--- stderr
error: `half.tar.gz` is not a valid backup
  cause: it is truncated
hint: use another backup

"#]]
    );
}

// Row: D-176
#[tokio::test(flavor = "multi_thread")]
async fn terminating_objects_are_excluded_from_a_backup_and_reported() {
    let two = ClusterPair::start().await;
    two.source.merge(MACHINE, "default/demo-machine-0", &json!({"metadata": {"finalizers": ["hold"]}})).await;
    two.source.delete(MACHINE, "default/demo-machine-0").await;
    assert_data_eq!(
        two.here("backup saved.tar.gz").await.to_string(),
        str![[r#"
exit 0
--- stderr
warning: objects in deletion are excluded with their dependents: Machine default/demo-machine-0
done in [..]: saved 4 objects of 1 Cluster to `saved.tar.gz`

"#]]
    );
    assert_data_eq!(
        two.there("restore saved.tar.gz --kubeconfig").await.to_string(),
        str![[r#"
exit 0
--- stderr
backup of https://127.0.0.1:[..] at [..], without a pause
warning: not in the backup: DockerMachine default/demo-machine-0 (its owner Machine default/demo-machine-0 stays)
warning: not in the backup: KubeadmConfig default/demo-machine-0 (its owner Machine default/demo-machine-0 stays)
warning: not in the backup: Machine default/demo-machine-0 (it is being deleted)
warning: not in the backup: Secret default/demo-machine-0 (its owner KubeadmConfig default/demo-machine-0 stays)
warning: cannot check whether the Clusters still run on the source cluster `https://127.0.0.1:[..]`
    if the source cluster may still run, set it with `--source-kubeconfig`, or restore with `--paused`
created 4 objects on the target
verified 4 objects on the target
resumed 1 Cluster or ClusterClass
done in [..]: restored 4 objects from `saved.tar.gz`

"#]]
    );
    assert!(two.works_on(&two.target).await && two.target.list(MACHINE).await.is_empty());
    assert!(two.source.get(CLUSTER, "default/demo").await.is_some());
}

// Row: D-176
#[tokio::test(flavor = "multi_thread")]
async fn unready_objects_are_included_in_a_backup_and_reported() {
    let two = ClusterPair::start().await;
    let machine = "default/demo-machine-0";
    two.source.merge_status(MACHINE, machine, &json!({"status": {"nodeRef": null}})).await;
    assert_data_eq!(
        two.here("move --to-directory .").await.to_string(),
        str![[r#"
exit 1
--- stderr
error: Machines have no node yet: Machine default/demo-machine-0
hint: check its progress with `capstan describe cluster demo -n default --kubeconfig [SOURCE]`, and move when it is ready

"#]]
    );
    assert_data_eq!(
        two.here("backup saved.tar.gz").await.to_string(),
        str![[r#"
exit 0
--- stderr
warning: Machines have no node yet: Machine default/demo-machine-0
done in [..]: saved 8 objects of 1 Cluster to `saved.tar.gz`

"#]]
    );
    assert_data_eq!(
        two.there("restore saved.tar.gz --kubeconfig").await.to_string(),
        str![[r#"
exit 0
--- stderr
backup of https://127.0.0.1:[..] at [..], without a pause
warning: not ready at the time of the backup: Machines have no node yet: Machine default/demo-machine-0
warning: cannot check whether the Clusters still run on the source cluster `https://127.0.0.1:[..]`
    if the source cluster may still run, set it with `--source-kubeconfig`, or restore with `--paused`
created 8 objects on the target
verified 8 objects on the target
resumed 1 Cluster or ClusterClass
done in [..]: restored 8 objects from `saved.tar.gz`

"#]]
    );
    assert!(two.target.get(MACHINE, machine).await.is_some());
}
