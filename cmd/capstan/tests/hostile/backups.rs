//! Tests of hostile backups.

use std::{fmt::Write as _, fs, io::Write as _};

use ::transport::Digest;
use mover::{ArchiveOutput, Encryption};
use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use support::{
    binary::RunOutput,
    kind::{self, CLUSTER},
    tar::{TarEntry, gunzip, gzip, gzip_bomb, tar, tar_entries, untar},
};

use super::{ESCAPE, HUGE, MEMORY_MEBIBYTES, causes, ends_quietly};
use crate::{
    backups::{PUBLIC, SECRET},
    testing::ClusterPair,
};

const MANIFEST: &str = "manifest.json";
/// The size of a large manifest that is still below the size limit.
const LARGE_MANIFEST: usize = 15 << 20;

/// Returns two clusters, and the entries of a backup of the first.
async fn with_backup() -> (ClusterPair, Vec<TarEntry>) {
    let two = ClusterPair::start().await;
    let saved = two.here("backup saved.tar.gz").await;
    assert_eq!(saved.status, 0, "{saved}");
    two.world.write("key.txt", SECRET);
    let entries = untar(&gunzip(&fs::read(two.path("saved.tar.gz")).unwrap()));
    (two, entries)
}

/// Encrypts a file to the key of `with_backup`.
fn encrypted(content: &[u8]) -> Vec<u8> {
    let seal = Encryption::Recipients(vec![PUBLIC.parse().unwrap()]);
    let mut output = ArchiveOutput::new(Vec::new(), Some(&seal)).unwrap();
    output.write_all(content).unwrap();
    output.finish().unwrap()
}

/// Returns the backup with a changed manifest.
fn with_manifest(backup: &[TarEntry], change: impl Fn(&mut Value)) -> Vec<u8> {
    let mut entries = backup.to_vec();
    let manifest = entries.iter_mut().find(|entry| entry.name == MANIFEST).unwrap();
    let mut json = serde_json::from_slice(&manifest.content).unwrap();
    change(&mut json);
    manifest.content = json.to_string().into_bytes();
    gzip(&tar(&entries))
}

/// Returns the backup with one more object, which the manifest lists.
fn and_object(backup: &[TarEntry], object: &Value) -> Vec<u8> {
    let content = object.to_string();
    let mut entries = backup.to_vec();
    entries.insert(0, TarEntry::file("objects/more.yaml", content.as_str()));
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let group = text("/apiVersion").split_once('/').map_or("", |(group, _)| group);
    with_manifest(&entries, |manifest| {
        manifest["objects"].as_array_mut().unwrap().push(json!({
            "file": "more.yaml",
            "sha256": Digest::of(content.as_bytes()).to_string().trim_start_matches("sha256:"),
            "object": {
                "group": group, "kind": text("/kind"),
                "namespace": text("/metadata/namespace"), "name": text("/metadata/name"),
            },
            "uid": text("/metadata/uid"),
        }));
    })
}

impl ClusterPair {
    fn in_memory(&self, line: &str) -> RunOutput {
        tokio::task::block_in_place(|| self.world.run_in_memory(line, MEMORY_MEBIBYTES))
    }

    /// Verifies and restores every backup, unencrypted and encrypted. Each must fail before any request to the
    /// target.
    /// Returns the causes.
    async fn refuses(&self, backups: Vec<(&str, Vec<u8>)>) -> String {
        let [_, target] = self.kubeconfigs().await;
        let (files, revision) = (self.world.files(), self.target.sandbox().revision());
        let mut reported = String::new();
        for (name, bytes) in backups {
            let paths = [
                self.world.write("hostile.age", encrypted(&bytes)),
                self.world.write("hostile.tar.gz", bytes),
            ];
            let mut refusals = Vec::new();
            for file in ["hostile.tar.gz", "hostile.age --identity key.txt"] {
                for line in [format!("backup verify {file}"), format!("restore {file} --kubeconfig {target}")]
                {
                    let run = self.in_memory(&line);
                    ends_quietly(&run, 1, name);
                    assert_eq!(run.stdout, "", "{name}");
                    refusals.push(causes(&run));
                }
            }
            refusals.dedup();
            assert_eq!(refusals.len(), 1, "{name}: {refusals:?}");
            let _ = writeln!(reported, "{name}: {}", refusals[0]);
            for path in paths {
                fs::remove_file(path).unwrap();
            }
        }
        assert_eq!((self.world.files(), self.target.sandbox().revision()), (files, revision));
        reported
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_entries_of_a_backup_are_refused_and_nothing_is_written() {
    let (two, good) = with_backup().await;
    let and = |more: TarEntry| gzip(&tar(&[&[more], &good[..]].concat()));
    let large = |name: &str, start: &str| {
        let entry = TarEntry::file(name, "").of_size(LARGE_MANIFEST as u64);
        [tar_entries(&[entry]), start.as_bytes().to_vec()].concat()
    };
    let fill = |text: &str| text.repeat((1 << 20) / text.len());
    let pieces = LARGE_MANIFEST >> 20;
    let whole = gzip(&tar(&good));
    let long_name = format!("1048590 path={}\n", "x".repeat(1 << 20));
    let long_name = TarEntry { kind: b'x', ..TarEntry::file("PaxHeader", long_name) };
    let object = tar_entries(&[TarEntry::file("objects/a.yaml", vec![0; 6 << 20])]);
    let folders = tar_entries(&vec![TarEntry::special("objects/", b'5', ""); 2048]);
    let reported = two
        .refuses(vec![
            ("bomb of an object", gzip_bomb(&large("objects/a.yaml", ""), &vec![0; 1 << 20], 4096)),
            ("bomb of objects", gzip_bomb(&[], &object, 600)),
            ("bomb of folders", gzip_bomb(&[], &folders, 4096)),
            (
                "manifest of numbers",
                gzip_bomb(&large(MANIFEST, "{\"format\":1,\"x\":["), fill("0,").as_bytes(), pieces),
            ),
            (
                "manifest of texts",
                gzip_bomb(
                    &large(MANIFEST, "{\"format\":1,\"of\":{\"notes\":["),
                    fill("\"\",").as_bytes(),
                    pieces,
                ),
            ),
            ("climbs", and(TarEntry::file("objects/../../x", "x"))),
            ("absolute", and(TarEntry::file("/etc/passwd", "x"))),
            ("symbolic link", and(TarEntry::special("objects", b'2', "/etc"))),
            ("hard link", and(TarEntry::special("objects/a.yaml", b'1', "/etc/passwd"))),
            ("device", and(TarEntry::special("objects/a.yaml", b'3', ""))),
            ("twice", and(good[0].clone())),
            ("long name", and(long_name)),
            ("escapes", and(TarEntry::file(format!("{ESCAPE}\r\n"), "x"))),
            ("huge", and(TarEntry::file("objects/a.yaml", "").of_size(HUGE))),
            ("cut off", whole[..whole.len() / 2].to_vec()),
        ])
        .await;
    assert_data_eq!(
        reported,
        str![[r#"
bomb of an object: its entry `objects/a.yaml` is too large for a backup
bomb of objects: it contains `objects/a.yaml` twice
bomb of folders: its entry `objects/` is not a regular file
manifest of numbers: its manifest is invalid: EOF while parsing a list at line 1 column 15728640
manifest of texts: its manifest is invalid: EOF while parsing a value at line 1 column 15728640
climbs: it contains `objects/../../x`, which is not part of a backup
absolute: it contains `/etc/passwd`, which is not part of a backup
symbolic link: its entry `objects` is not a regular file
hard link: its entry `objects/a.yaml` is not a regular file
device: its entry `objects/a.yaml` is not a regular file
twice: it contains `objects/Cluster_default_demo.yaml` twice
long name: its entry `PaxHeader` is too large for a backup
escapes: it contains `/u{1b}[2J/u{202e}/r/n`, which is not part of a backup
huge: its entry `objects/a.yaml` is too large for a backup
cut off: it is truncated

"#]]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_inconsistent_backup_manifest_is_refused_before_any_write() {
    let (two, good) = with_backup().await;
    let with = |pointer: &str, value: Value| {
        with_manifest(&good, |manifest| *manifest.pointer_mut(pointer).unwrap() = value.clone())
    };
    let aliases = format!("kind: A\na: &a {}\nb:\n{}", "x".repeat(1_000_000), "- *a\n".repeat(4_000));
    let aliases = [&[TarEntry::file("objects/Cluster_default_demo.yaml", aliases)], &good[1..]].concat();
    let sum = Digest::of(&aliases[0].content).to_string();
    let named = |name: &str, namespace: &str| {
        json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine",
            "metadata": {"name": name, "namespace": namespace, "uid": "more"},
        })
    };
    let reported = two
        .refuses(vec![
            ("sum", with("/objects/0/sha256", json!(ESCAPE))),
            ("file", with("/objects/0/file", json!(ESCAPE))),
            ("file of a folder", with("/objects/0/file", json!("../manifest.json"))),
            ("other object", with("/objects/0/object/name", json!(ESCAPE))),
            ("other namespace", with("/objects/0/object/namespace", json!("kube-system"))),
            ("less", with("/objects", json!([]))),
            (
                "more",
                with_manifest(&good, |manifest| {
                    let first = manifest["objects"][0].clone();
                    manifest["objects"].as_array_mut().unwrap().push(first);
                }),
            ),
            ("shape", with("/of/source", json!(ESCAPE))),
            ("name of an object", and_object(&good, &named(&format!("{ESCAPE}\nforged"), "default"))),
            ("namespace of an object", and_object(&good, &named("more", &format!("{ESCAPE}\nforged")))),
            ("format", with("/format", json!(u64::MAX))),
            (
                "aliases",
                with_manifest(&aliases, |manifest| {
                    manifest["objects"][0]["sha256"] = json!(sum.trim_start_matches("sha256:"));
                }),
            ),
        ])
        .await;
    assert_data_eq!(
        reported,
        str![[r#"
sum: its file `Cluster_default_demo.yaml` was changed: the SHA-256 checksum does not match
file: its manifest lists `/u{1b}[2J/u{202e}`, but the file is missing
file of a folder: its manifest lists `../manifest.json`, but the file is missing
other object: it contains Cluster default/demo, but its manifest does not list the object
other namespace: it contains Cluster default/demo, but its manifest does not list the object
less: it contains `Cluster_default_demo.yaml`, but its manifest does not list the file
more: its manifest lists `Cluster_default_demo.yaml`, but the file is missing
shape: its manifest is invalid: invalid type: string "/u{1b}[2J/u{202e}", expected struct ClusterIdentity at line 1 column [..]
name of an object: an object in `more.yaml` has a control character in its name
namespace of an object: an object in `more.yaml` has a control character in its namespace
format: it has format 18446744073709551615; this version supports format 1
aliases: cannot read `Cluster_default_demo.yaml`: document 1, line 2, column 7: the text with expanded aliases exceeds the limit of 268435456 bytes

"#]]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_of_a_backup_cannot_forge_output_lines() {
    let (two, good) = with_backup().await;
    let forged = format!("{ESCAPE}\nforged");
    two.world.write(
        "words.tar.gz",
        with_manifest(&good, |manifest| {
            let about = &mut manifest["of"];
            about["created"] = json!(forged);
            about["source"]["address"] = json!(forged);
            about["notes"] = json!([forged]);
            let object = json!({"group": "", "kind": forged, "namespace": forged, "name": forged});
            manifest["leftOut"] = json!([{"object": object, "why": forged}]);
        }),
    );
    let verified = two.alone("backup verify words.tar.gz");
    ends_quietly(&verified, 0, "words");
    let forged = verified.stderr.lines().filter(|line| line.trim_start().starts_with("forged"));
    assert_eq!(forged.count(), 0, "{verified}");
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_that_belong_to_no_cluster_are_not_restored() {
    let (two, good) = with_backup().await;
    let object = |version: &str, kind: &str, namespace: Value, name: &str| {
        json!({
            "apiVersion": version, "kind": kind,
            "metadata": {
                "name": name, "namespace": namespace, "uid": "more", "finalizers": ["example.org/hold"],
                "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "x", "uid": "foreign"}],
            },
        })
    };
    let [_, target] = two.kubeconfigs().await;
    let rows = [
        ("Deployment default/more", object("apps/v1", "Deployment", json!("default"), "more")),
        (
            "ClusterRoleBinding more",
            object("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", Value::Null, "more"),
        ),
        ("Secret kube-system/more", object("v1", "Secret", json!("kube-system"), "more")),
    ];
    let mut plans = String::new();
    for (shown, object) in rows {
        two.world.write("more.tar.gz", and_object(&good, &object));
        let plan = two.alone(&format!("restore more.tar.gz --dry-run --kubeconfig {target}"));
        ends_quietly(&plan, 0, shown);
        plans += plan.stdout.split_once("\n\n").unwrap().1;
    }
    assert_data_eq!(
        plans,
        str![[r#"
stays
  it is not linked to a moving object: Deployment default/more

objects: 8 to create; 1 stay
stays
  it is not linked to a moving object: ClusterRoleBinding more

objects: 8 to create; 1 stay
stays
  it is not linked to a moving object: Secret kube-system/more

objects: 8 to create; 1 stay

"#]]
    );
    let restored = two.alone(&format!("restore more.tar.gz --kubeconfig {target}"));
    ends_quietly(&restored, 0, "restore");
    assert!(two.target.get(CLUSTER, "default/demo").await.is_some());
    assert!(two.target.get(kind::SECRET, "kube-system/more").await.is_none());
}
