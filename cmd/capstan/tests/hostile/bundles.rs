//! Tests of hostile bundles.

use std::{fmt::Write as _, fs};

use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use support::{
    binary::TestEnvironment,
    tar::{TarEntry, gzip_bomb, tar, untar},
};

use super::{ESCAPE, HUGE, MEMORY_MEBIBYTES, causes, ends_quietly};
use crate::repository::with_repository;

/// The blob of a release file.
const BLOB: &str = "blobs/sha256/0111c73ce857d92ec0f2ca3ff6502640b42048648c60b400d3fc3cf435de6484";

/// Returns a world with a bundle, and the entries of the bundle.
fn with_bundle() -> (TestEnvironment, Vec<TarEntry>) {
    let world = with_repository();
    world.run_expecting_success("bundle create -i own:v1.0.0 --file lab.tar");
    let bundle = fs::read(world.current_dir().join("lab.tar")).unwrap();
    (world, untar(&bundle))
}

/// Returns the bundle with a changed value in the index entry of a release.
fn with_release(bundle: &[TarEntry], key: &str, value: Value) -> Vec<u8> {
    let mut entries = bundle.to_vec();
    let index = entries.iter_mut().find(|entry| entry.name == "index.json").unwrap();
    let mut json: Value = serde_json::from_slice(&index.content).unwrap();
    let releases = json["manifests"].as_array_mut().unwrap();
    let release = releases.iter_mut().find(|it| it["annotations"]["dev.capstan.bundle.kind"] == "release");
    *release.unwrap().pointer_mut(key).unwrap() = value;
    index.content = json.to_string().into_bytes();
    tar(&entries)
}

/// Returns all files but those of the cache, which has the lock of a folder.
fn files_outside_the_cache(world: &TestEnvironment) -> Vec<String> {
    world.files().into_iter().filter(|file| !file.starts_with("[HOME]/.cache/capstan/")).collect()
}

/// Loads every bundle, which must fail without writes. Returns the causes.
fn refused(world: &TestEnvironment, bundles: Vec<(&str, Vec<u8>)>) -> String {
    let mut reported = String::new();
    for (name, bytes) in bundles {
        let file = format!("{}.tar", name.replace(' ', "-"));
        world.write(&file, bytes);
        let before = files_outside_the_cache(world);
        for line in [format!("verify {file}"), format!("load {file} --to-folder site")] {
            let run = world.run_in_memory(&format!("bundle {line}"), MEMORY_MEBIBYTES);
            ends_quietly(&run, 1, &line);
            assert!(run.stdout.is_empty() && files_outside_the_cache(world) == before, "{line}: {run}");
            if line.starts_with("load") {
                let _ = writeln!(reported, "{name}: {}", causes(&run));
            }
        }
        fs::remove_file(world.current_dir().join(file)).unwrap();
    }
    reported
}

#[test]
fn a_missing_target_is_an_error_before_the_bundle_is_read() {
    let run = crate::world().run(["bundle", "load", "missing.tar"]);
    assert_data_eq!(
        run.to_string(),
        str![[r#"
exit 1
--- stderr
error: the target is missing: use `--to-folder` or `--to-registry`

"#]]
    );
}

#[test]
fn hostile_entries_of_a_bundle_are_refused_and_nothing_is_written() {
    let (world, good) = with_bundle();
    let and = |more: TarEntry| tar(&[&good[..], &[more]].concat());
    let whole = tar(&good);
    let mut damaged = good.clone();
    damaged.iter_mut().find(|entry| entry.name == BLOB).unwrap().content[0] ^= 1;
    let long_name = TarEntry { kind: b'L', ..TarEntry::file("././@LongLink", "x".repeat(1 << 20)) };
    let reported = refused(
        &world,
        vec![
            ("bomb", gzip_bomb(&[], &vec![0; 1 << 20], 4096)),
            ("climbs", and(TarEntry::file("../x", "x"))),
            ("climbs from a folder", and(TarEntry::file("blobs/sha256/../../../x", "x"))),
            ("absolute", and(TarEntry::file("/etc/passwd", "x"))),
            ("symbolic link", and(TarEntry::special("blobs/sha256", b'2', "/etc"))),
            ("hard link", and(TarEntry::special(BLOB, b'1', "/etc/passwd"))),
            ("device", and(TarEntry::special("blobs/zero", b'3', ""))),
            ("pipe", and(TarEntry::special("index.json", b'6', ""))),
            ("twice", and(good.iter().find(|entry| entry.name == BLOB).unwrap().clone())),
            ("many", tar(&vec![TarEntry::special("blobs/", b'5', ""); 100_001])),
            ("long name", and(long_name)),
            ("huge name", and(TarEntry::special("PaxHeader", b'x', "").of_size(HUGE))),
            ("escapes", and(TarEntry::file(format!("{ESCAPE}\r\n"), "x"))),
            ("huge", and(TarEntry::file("oci-layout", "").of_size(HUGE))),
            ("cut off", whole[..whole.len() / 2].to_vec()),
            ("changed", tar(&damaged)),
        ],
    );
    assert_data_eq!(
        reported,
        str![[r#"
bomb: it is not a tar archive, or it is damaged: the header of an entry is invalid
climbs: its entry `../x` is not part of a bundle
climbs from a folder: its entry `blobs/sha256/../../../x` is not part of a bundle
absolute: its entry `/etc/passwd` is not part of a bundle
symbolic link: its entry `blobs/sha256` is not a regular file
hard link: its entry `blobs/sha256/0111c73ce857d92ec0f2ca3ff6502640b42048648c60b400d3fc3cf435de6484` is not a regular file
device: its entry `blobs/zero` is not a regular file
pipe: its entry `index.json` is not a regular file
twice: its entry `blobs/sha256/0111c73ce857d92ec0f2ca3ff6502640b42048648c60b400d3fc3cf435de6484` occurs twice
many: it has more than 100000 entries
long name: its entry `././@LongLink` is not a regular file
huge name: its entry `PaxHeader` is not a regular file
escapes: its entry `/u{1b}[2J/u{202e}/r/n` is not part of a bundle
huge: it is truncated in `oci-layout`
cut off: it is truncated in `[..]`
changed: cannot use `[CWD]/changed.tar` as a bundle: the content of sha256:0111c73ce857d92ec0f2ca3ff6502640b42048648c60b400d3fc3cf435de6484 has digest sha256:0f5830e99c31f95d29ce6ca46894c097de15d03b1fb3e6cdb2810cc985f097cf

"#]]
    );
}

#[test]
fn a_hostile_index_of_a_bundle_is_refused_and_nothing_is_written() {
    let (world, good) = with_bundle();
    let with = |key: &str, value: Value| with_release(&good, key, value);
    let annotation = |name: &str, value: &str| with(&format!("/annotations/{name}"), json!(value));
    let image = |name: &str| {
        with(
            "/annotations",
            json!({"dev.capstan.bundle.kind": "image", "org.opencontainers.image.ref.name": name}),
        )
    };
    let reported = refused(
        &world,
        vec![
            ("size", with("/size", json!(u64::MAX))),
            ("negative size", with("/size", json!(-1))),
            ("digest", with("/digest", json!(ESCAPE))),
            ("media type", with("/mediaType", json!(ESCAPE))),
            ("kind", annotation("dev.capstan.bundle.kind", ESCAPE)),
            ("label with escapes", annotation("dev.capstan.bundle.provider", ESCAPE)),
            ("label that climbs", annotation("dev.capstan.bundle.provider", "../../x")),
            ("label of the images", annotation("dev.capstan.bundle.provider", "images")),
            ("version that climbs", annotation("dev.capstan.bundle.version", "v1.0.0/../../x")),
            ("image with escapes", image(&format!("{ESCAPE}\nloaded release own:v9.9.9"))),
        ],
    );
    assert_data_eq!(
        reported,
        str![[r#"
size: sha256:1f989fb4025bc1561d0f0cbf81a1c5ffbe190206cf19bd17570fb95d857513b6 has 711 bytes, expected 18446744073709551615
negative size: cannot parse its `index.json`: invalid value: integer `-1`, expected u64 at line 1 column [..]
digest: cannot parse its `index.json`: `/u{1b}[2J/u{202e}` is not a digest; write `sha256:` and 64 hexadecimal digits at line 1 column [..]
media type: its manifest sha256:1f989fb4025bc1561d0f0cbf81a1c5ffbe190206cf19bd17570fb95d857513b6 has another media type than its descriptor
kind: its manifest sha256:1f989fb4025bc1561d0f0cbf81a1c5ffbe190206cf19bd17570fb95d857513b6 has an unknown kind
label with escapes: the provider `/u{1b}[2J/u{202e}` is not a plain name
label that climbs: the provider `../../x` is not a plain name
label of the images: the provider `images` is a reserved name
version that climbs: the version `v1.0.0/../../x` is not a plain name
image with escapes: the image `/u{1b}[2J/u{202e}/nloaded release own:v9.9.9` is not an image reference

"#]]
    );
}
