use apply::ObjectKey;
use std::{
    fmt::Write as _,
    io::{Read as _, Write as _},
};

use flate2::{Compression, bufread::GzDecoder, write::GzEncoder};

use serde_json::json;
use snapbox::{IntoData as _, assert_data_eq, str};

use super::*;
use crate::SavedObject;

fn saved(kind: &str, name: &str) -> SavedObject {
    let key = ObjectKey {
        group: "cluster.x-k8s.io".to_owned(),
        kind: kind.to_owned(),
        namespace: "team".to_owned(),
        name: name.to_owned(),
    };
    let object = json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": kind,
        "metadata": {"name": name, "namespace": "team", "uid": format!("{kind}-{name}")},
    });
    SavedObject {
        uid: format!("{kind}-{name}"),
        owners: Vec::new(),
        was_paused: kind == "Cluster",
        file: format!("{kind}_team_{name}.yaml"),
        content: format!("{object}\n").into_bytes(),
        key,
    }
}

fn about() -> BackupOrigin {
    BackupOrigin {
        created: "2026-01-02T03:04:05Z".to_owned(),
        made_by: Some("0.1.0".to_owned()),
        source: ClusterIdentity { uid: "u".to_owned(), address: "https://one".to_owned() },
        namespaces: BTreeSet::from(["team".to_owned()]),
        at_rest: true,
        providers: vec![BackupProvider {
            provider: ProviderId::new(api::ProviderType::Core, "cluster-api"),
            version: "v1.14.0".to_owned(),
            namespace: "capi-system".to_owned(),
            kinds: BTreeSet::from(["Cluster.cluster.x-k8s.io".to_owned()]),
        }],
        notes: vec!["there is no node yet: Machine team/a".to_owned()],
    }
}

pub(super) fn archive() -> Vec<u8> {
    let mut writer = ArchiveWriter::new(Vec::new());
    let long = "x".repeat(200);
    for one in [saved("Cluster", "a"), saved("Machine", "a"), saved("Machine", &long)] {
        writer.add(&one).unwrap();
    }
    writer.finish(about(), vec![left_out()]).unwrap().0
}

fn left_out() -> LeftOutObject {
    LeftOutObject { object: saved("Machine", "going").key, why: "it is being deleted".to_owned() }
}

/// Returns an archive of these entries: names, types and contents.
fn packed(entries: &[(&str, u8, &[u8])]) -> Vec<u8> {
    let mut plain = Vec::new();
    for (name, kind, content) in entries {
        plain.extend(tar::tests::entry(name, *kind, content));
    }
    plain.extend([0; 1024]);
    gzip(&plain)
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn gunzip(archive: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    GzDecoder::new(archive).read_to_end(&mut plain).unwrap();
    plain
}

/// Returns the error of a rejected archive, which is the same for a restore and a verification.
fn refused(archive: &[u8]) -> String {
    let error = api::with_causes(&read_archive(archive).unwrap_err());
    assert_eq!(api::with_causes(&verify_archive(archive).unwrap_err()), error);
    error
}

#[test]
fn a_backup_round_trips_with_its_metadata() {
    let backup = read_archive(&*archive()).unwrap();
    assert_eq!((&backup.manifest.origin, &backup.manifest.left_out), (&about(), &vec![left_out()]));
    assert_eq!((backup.objects.len(), backup.objects.providers.len()), (3, 1));
    let cluster = backup.objects.by_uid("Cluster-a").unwrap();
    assert!(cluster.stays_paused && !backup.objects.by_uid("Machine-a").unwrap().stays_paused);
    assert_eq!(cluster.object().unwrap().name(), "a");
}

#[test]
fn writing_and_verifying_a_backup_give_the_same_index() {
    let object = |kind: &str, group: &str, spec: serde_json::Value| {
        let mut object = saved(kind, kind);
        object.key.group = group.to_owned();
        object.content = json!({
            "apiVersion": format!("{group}/v1"), "kind": kind, "spec": spec,
            "metadata": {"name": kind, "namespace": "team", "uid": kind},
        })
        .to_string()
        .into_bytes();
        object
    };
    let control_plane =
        json!({"controlPlaneRef": {"kind": "KubeadmControlPlane", "name": "KubeadmControlPlane"}});
    let mut writer = ArchiveWriter::new(Vec::new());
    for one in [
        object("Cluster", "cluster.x-k8s.io", control_plane),
        object("KubeadmControlPlane", "controlplane.cluster.x-k8s.io", json!({"version": "v1.35.0"})),
        object("Machine", "cluster.x-k8s.io", json!({"clusterName": "Cluster"})),
    ] {
        writer.add(&one).unwrap();
    }
    let (bytes, written) = writer.finish(about(), vec![left_out()]).unwrap();
    let verified = verify_archive(&*bytes).unwrap();
    let report = |index: &BackupIndex| index.report("a.tar.gz", RequiredKey::None);
    assert_eq!(report(&written), report(&verified));
    let report = report(&verified);
    let expected = api::output::BackupCluster {
        namespace: "team".to_owned(),
        name: "Cluster".to_owned(),
        version: Some("v1.35.0".to_owned()),
        machines: 1,
        paused: true,
    };
    assert_eq!((report.clusters, report.objects), (vec![expected], 3));
    assert_eq!(report.kinds.iter().map(|one| one.objects).sum::<usize>(), 3);
    assert_data_eq!(report.left_out[0].why.as_str(), str!["it is being deleted"]);
}

#[test]
fn objects_of_two_groups_with_one_name_get_separate_files() {
    let (one, mut two) = (saved("Cluster", "a"), saved("Cluster", "a"));
    two.key.group = "other.io".to_owned();
    (two.uid, two.content) = (
        "other".to_owned(),
        br#"{"apiVersion":"other.io/v1","kind":"Cluster","metadata":{"name":"a","namespace":"team","uid":"other"}}"#.to_vec(),
    );
    let mut writer = ArchiveWriter::new(Vec::new());
    writer.add(&one).unwrap();
    writer.add(&two).unwrap();
    let backup = read_archive(&*writer.finish(about(), Vec::new()).unwrap().0).unwrap();
    let files: Vec<&str> = backup.manifest.objects.iter().map(|one| &*one.file).collect();
    assert_eq!(files, ["Cluster_team_a.yaml", "Cluster.other.io_team_a.yaml"]);
}

// Row: D-169
#[test]
fn a_truncated_archive_is_rejected() {
    let archive = archive();
    for end in 0..archive.len() {
        assert!(read_archive(&archive[..end]).is_err(), "{end} of {}", archive.len());
        assert!(verify_archive(&archive[..end]).is_err(), "{end} of {}", archive.len());
    }
    let plain = gunzip(&archive);
    for end in (0..plain.len()).step_by(256) {
        assert!(read_archive(&*gzip(&plain[..end])).is_err(), "{end} of {}", plain.len());
    }
    assert_data_eq!(refused(&gzip(&plain[..plain.len() - 1024])), str!["it is truncated"]);
}

// Row: D-169
#[test]
fn a_flipped_bit_is_detected() {
    let plain = gunzip(&archive());
    let at = |text: &str| plain.windows(text.len()).position(|window| window == text.as_bytes()).unwrap();
    let mut changed = plain.clone();
    changed[at("\"uid\":\"Machine-a\"") + 8] ^= 1;
    assert_data_eq!(
        refused(&gzip(&changed)),
        str!["its file `Machine_team_a.yaml` was changed: the SHA-256 checksum does not match"]
    );
    let mut renamed = plain.clone();
    renamed[at("objects/Machine_team_a")] ^= 1;
    assert_data_eq!(refused(&gzip(&renamed)), str!["it is not a tar archive, or it is damaged"]);
    let mut behind = plain;
    behind.extend([1; 512]);
    assert_data_eq!(refused(&gzip(&behind)), str!["it contains data after the end of the archive"]);
    assert_data_eq!(
        refused(&[archive(), vec![0]].concat()),
        str!["it contains data after the end of the archive"]
    );
}

#[test]
fn foreign_archive_entries_are_rejected_first() {
    let mut reported = String::new();
    for (name, kind) in [
        ("../evil", b'0'),
        ("objects/../evil", b'0'),
        ("/etc/passwd", b'0'),
        ("objects/a\\b", b'0'),
        ("objects/", b'0'),
        ("objects/a", b'2'),
        ("objects/a", b'1'),
        ("objects/a", b'3'),
        ("elsewhere/", b'5'),
        ("objects/a", b'L'),
        ("objects/a", b'x'),
    ] {
        let _ = writeln!(
            reported,
            "{} {name}: {}",
            char::from(kind),
            refused(&packed(&[(name, kind, b"a b=c\n")]))
        );
    }
    assert_data_eq!(
        reported,
        str![[r#"
0 ../evil: it contains `../evil`, which is not part of a backup
0 objects/../evil: it contains `objects/../evil`, which is not part of a backup
0 /etc/passwd: it contains `/etc/passwd`, which is not part of a backup
0 objects/a\b: it contains `objects/a\\b`, which is not part of a backup
0 objects/: it contains `objects/`, which is not part of a backup
2 objects/a: its entry `objects/a` is not a regular file
1 objects/a: its entry `objects/a` is not a regular file
3 objects/a: its entry `objects/a` is not a regular file
5 elsewhere/: its entry `elsewhere/` is not a regular file
L objects/a: its entry `objects/a` is not a regular file
x objects/a: it has an invalid extended header

"#]]
        .raw()
    );
    let size = packed(&[("PaxHeader", b'x', b"10 size=1\n")]);
    assert_data_eq!(refused(&size), str!["it has an extended header with unsupported key `size`"]);
    let twice = packed(&[("objects/a", b'0', b"1"), ("objects/a", b'0', b"2")]);
    assert_data_eq!(refused(&twice), str!["it contains `objects/a` twice"]);
    assert_data_eq!(refused(b"no archive"), str!["it is not a gzip file: invalid gzip header"]);
    assert_data_eq!(refused(&packed(&[])), str!["it has no manifest"]);
}

#[test]
fn a_huge_entry_size_allocates_no_memory() {
    let mut header = tar::tests::entry("objects/a", b'0', b"");
    tar::tests::set_size(&mut header, 0o77_777_777_777);
    assert_data_eq!(refused(&gzip(&header)), str!["its entry `objects/a` is too large for a backup"]);
    let mut large = tar::tests::entry("objects/a", b'0', b"");
    tar::tests::set_size(&mut large, 2 << 20);
    assert_data_eq!(refused(&gzip(&large)), str!["it is truncated"]);
}

#[test]
fn a_backup_of_objects_that_compress_well_can_be_read() {
    let mut archive = ArchiveWriter::new(Vec::new());
    for number in 0..40 {
        let mut object = saved("Cluster", &format!("c{number}"));
        object.content.extend(format!("# {}\n", "x".repeat(1 << 20)).into_bytes());
        archive.add(&object).unwrap();
    }
    let (bytes, _) = archive.finish(about(), Vec::new()).unwrap();
    // A four-hundredth of the objects.
    assert!(bytes.len() < 100 << 10, "{}", bytes.len());
    assert_eq!(verify_archive(&*bytes).unwrap().manifest.objects.len(), 40);
    assert_eq!(read_archive(&*bytes).unwrap().objects.iter().count(), 40);
}

#[test]
fn headers_without_objects_are_refused() {
    let folders = packed(&[("objects/", b'5', b""), ("objects/", b'5', b"")]);
    assert_data_eq!(refused(&folders), str!["its entry `objects/` is not a regular file"]);
    let record: &[u8] = b"18 path=objects/a\n";
    let names = packed(&[("PaxHeader", b'x', record), ("PaxHeader", b'x', record)]);
    assert_data_eq!(refused(&names), str!["its entry `objects/a` is not a regular file"]);
    let large = packed(&[("objects/a", b'0', &vec![b'a'; 9 << 20])]);
    assert!(matches!(read_archive(&*large), Err(ArchiveError::Malformed { .. })));
}

#[test]
fn the_manifest_must_match_the_files() {
    let manifest = |objects: serde_json::Value, format: u64| {
        let about = serde_json::to_value(about()).unwrap();
        json!({"format": format, "of": about, "objects": objects}).to_string()
    };
    let with = |manifest: &str, file: Option<&[u8]>| {
        let mut entries: Vec<(&str, u8, &[u8])> = Vec::new();
        entries.extend(file.map(|content| ("objects/a.yaml", b'0', content)));
        entries.push((MANIFEST_FILE, b'0', manifest.as_bytes()));
        refused(&packed(&entries))
    };
    let content = &saved("Cluster", "a").content;
    let entry = |name: &str| {
        let object = ObjectKey { name: name.to_owned(), ..saved("Cluster", "a").key };
        json!([{"file": "a.yaml", "sha256": sha256_hex(content), "object": object, "uid": "u"}])
    };
    assert_data_eq!(
        with(&manifest(entry("a"), 1), None),
        str!["its manifest lists `a.yaml`, but the file is missing"]
    );
    assert_data_eq!(
        with(&manifest(json!([]), 1), Some(content)),
        str!["it contains `a.yaml`, but its manifest does not list the file"]
    );
    assert_data_eq!(
        with(&manifest(entry("b"), 1), Some(content)),
        str!["it contains Cluster team/a, but its manifest does not list the object"]
    );
    assert_data_eq!(
        with(&manifest(entry("a"), 2), Some(content)),
        str!["it has format 2; this version supports format 1"]
    );
    assert_data_eq!(with("{}", None), str!["its manifest has no field `format`"]);
    assert_data_eq!(
        with("[", None),
        str!["its manifest is invalid: EOF while parsing a list at line 1 column 1"]
    );
    let late = packed(&[(MANIFEST_FILE, b'0', manifest(json!([]), 1).as_bytes()), ("objects/a", b'0', b"")]);
    assert_data_eq!(refused(&late), str!["its file `objects/a` comes after the manifest"]);
}
