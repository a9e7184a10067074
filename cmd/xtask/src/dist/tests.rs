//! A release of a small program instead of the binary.

use std::sync::LazyLock;

use serde_json::Value;
use snapbox::{assert_data_eq, str};

use super::{
    archive::Archive,
    elf,
    file_tree::FileTree,
    product::{DEB_ALTERNATIVES, Placement, RPM_ALTERNATIVES},
    release::{CHECKSUMS, complete},
    source::Source,
    target::Target,
};
use crate::{dist::package_tree::package_tree, workspace::Workspace};

fn source() -> Source {
    Source { version: "1.2.3".to_owned(), commit: Some("c0ffee".to_owned()), time: 1_700_000_000 }
}

/// Makes the archives of these targets, with a program that only has a header.
fn archives(triples: &[&str]) -> (FileTree, Vec<Archive>) {
    let mut files = FileTree::default();
    let archive = |triple: &&str| {
        let target = Target::parse(triple).unwrap();
        let program = elf::tests::program(target.architecture.elf_machine, 1);
        let (archive, bytes) = Archive::create(&program, target, &source()).unwrap();
        files.add(archive.name.clone(), bytes);
        archive
    };
    let archives = triples.iter().map(archive).collect();
    (files, archives)
}

/// The release for the target of this machine, whose crates are downloaded. All tests share one.
fn release() -> &'static FileTree {
    static RELEASE: LazyLock<FileTree> = LazyLock::new(new_release);
    &RELEASE
}

fn new_release() -> FileTree {
    let host = super::build::host().unwrap();
    let (files, archives) = archives(&[host.triple()]);
    complete(files, &archives, &source()).unwrap()
}

#[test]
fn two_releases_of_one_source_have_equal_bytes() {
    assert!(*release() == new_release());
}

#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
#[test]
fn a_release_consists_of_these_files() {
    let release = release();
    let names: Vec<&str> = release.entries().map(|(name, _)| name).collect();
    assert_data_eq!(
        names.join("\n"),
        str![[r#"
SHA256SUMS
capi.yaml
capstan-1.2.3-1.x86_64.rpm
capstan-1.2.3-controller.yaml
capstan-1.2.3-image.tar
capstan-1.2.3-x86_64-unknown-linux-gnu.cdx.json
capstan-1.2.3-x86_64-unknown-linux-gnu.tar.gz
capstan-1.2.3.intoto.json
capstan.rb
capstan_1.2.3_amd64.deb
flake.nix
"#]]
    );
}

#[cfg(target_os = "linux")]
#[test]
fn an_archive_read_back_completes_to_the_same_release() {
    let host = super::build::host().unwrap();
    let (files, archives) = archives(&[host.triple()]);
    let bytes = files.content(&archives[0].name).unwrap();
    let read = Archive::read(&archives[0].name, bytes, &source()).unwrap().unwrap();
    let again = complete(files.clone(), &[read], &source()).unwrap();
    assert!(complete(files, &archives, &source()).unwrap() == again);
    assert!(
        Archive::read("capstan-9.9.9-x86_64-unknown-linux-gnu.tar.gz", b"", &source()).unwrap().is_none()
    );
    Archive::read(&archives[0].name, b"damaged", &source()).map(drop).unwrap_err();
}

#[cfg(target_os = "linux")]
#[test]
fn checksums_and_provenance_cover_every_file() {
    let release = release();
    let text = |name: &str| String::from_utf8(release.content(name).unwrap().to_vec()).unwrap();
    let statement: Value = serde_json::from_str(&text("capstan-1.2.3.intoto.json")).unwrap();
    let subjects = statement["subject"].as_array().unwrap();
    let sums = text(CHECKSUMS);
    for (name, _) in release.entries().filter(|(name, _)| *name != CHECKSUMS) {
        let digest = transport::Digest::of(release.content(name).unwrap()).hex();
        assert!(sums.contains(&format!("{digest}  {name}\n")), "{name}");
        let is_covered = subjects
            .iter()
            .any(|subject| subject["name"] == name && subject["digest"]["sha256"] == digest.as_str());
        assert_eq!(is_covered, !name.ends_with(".intoto.json"), "{name}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn manifests_of_package_managers_pin_the_archive() {
    let release = release();
    let text = |name: &str| String::from_utf8(release.content(name).unwrap().to_vec()).unwrap();
    let (archive, _) = release.entries().find(|(name, _)| name.ends_with(".tar.gz")).unwrap();
    let digest = transport::Digest::of(release.content(archive).unwrap()).hex();
    for name in ["capstan.rb", "capi.yaml", "flake.nix"] {
        let text = text(name);
        assert!(text.contains(&digest) && text.contains(&format!("/v1.2.3/{archive}")), "{text}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_manifest_of_krew_has_the_fields_that_krew_requires() {
    let release = release();
    let text = release.content("capi.yaml").unwrap();
    let objects = manifest::read_stream(text, &manifest::YamlLimits::default()).unwrap().objects;
    let [plugin] = &objects[..] else { panic!("one object") };
    let text = |path: &[&str]| plugin.get(path).and_then(Value::as_str).unwrap_or_default().to_owned();
    assert_eq!((plugin.kind(), plugin.name()), ("Plugin", "capi"));
    assert_eq!(text(&["spec", "version"]), "v1.2.3");
    assert!(text(&["spec", "shortDescription"]).len() <= 50);
    let platform = &plugin.get(&["spec", "platforms"]).unwrap()[0];
    let labels = platform["selector"]["matchLabels"].as_object().unwrap();
    assert_eq!(labels.keys().collect::<Vec<_>>(), ["arch", "os"]);
    assert_eq!(platform["sha256"].as_str().unwrap().len(), 64);
    let sources: Vec<&str> =
        platform["files"].as_array().unwrap().iter().map(|file| file["from"].as_str().unwrap()).collect();
    let archive = release.entries().find(|(name, _)| name.ends_with(".tar.gz")).unwrap().0;
    let archive = FileTree::read_tar_gz(release.content(archive).unwrap()).unwrap();
    for source in sources {
        assert!(archive.content(source.split_once('/').unwrap().1).is_some(), "{source}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_image_runs_as_a_user_and_its_bill_refers_to_it() {
    let release = release();
    let layout = FileTree::read_tar(&release.content("capstan-1.2.3-image.tar").unwrap()[..]).unwrap();
    let json = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
    let blob = |descriptor: &Value| {
        let digest = descriptor["digest"].as_str().unwrap().replace("sha256:", "");
        let bytes = layout.content(&format!("blobs/sha256/{digest}")).unwrap().clone();
        assert_eq!(transport::Digest::of(&bytes).hex(), digest);
        assert_eq!(bytes.len(), descriptor["size"]);
        bytes
    };
    let top = json(layout.content("index.json").unwrap());
    let manifests = json(&blob(&top["manifests"][0]));
    let image = &manifests["manifests"][0];
    let bill = json(&blob(&top["manifests"][1]));
    assert_eq!(bill["subject"]["digest"], image["digest"]);
    assert_eq!(json(&blob(&bill["layers"][0]))["bomFormat"], "CycloneDX");
    let image = json(&blob(image));
    let config = json(&blob(&image["config"]));
    assert_eq!(config["config"]["User"], "65532:65532");
    assert_eq!(config["config"]["Labels"]["org.opencontainers.image.revision"], "c0ffee");
    let layer = blob(&image["layers"][0]);
    let files = FileTree::read_tar(flate2::read::GzDecoder::new(&layer[..])).unwrap();
    let paths: Vec<String> =
        files.entries().map(|(path, entry)| format!("{:o} {path}", entry.mode())).collect();
    assert_data_eq!(
        paths.join("\n"),
        str![[r#"
644 etc/group
644 etc/passwd
644 etc/ssl/certs/ca-certificates.crt
1777 tmp
755 usr/bin/capstan
644 usr/share/doc/capstan/licenses.txt
"#]]
    );
    let objects =
        String::from_utf8(release.content("capstan-1.2.3-controller.yaml").unwrap().to_vec()).unwrap();
    let digest = top["manifests"][0]["digest"].as_str().unwrap();
    assert!(objects.contains(&format!("capstan@{digest}")), "the manifests name the image");
}

#[test]
fn every_alternative_points_to_a_file_of_its_package() {
    let host = super::build::host().unwrap();
    let (_, archives) = archives(&[host.triple()]);
    let check = |alternatives: &[super::product::Alternative], path_in: fn(&Placement) -> &'static str| {
        let files = package_tree(&archives[0], path_in).unwrap();
        for (_, _, file) in alternatives {
            assert!(files.content(file.trim_start_matches('/')).is_some(), "{file}");
        }
    };
    check(&DEB_ALTERNATIVES, |placement| placement.deb);
    check(&RPM_ALTERNATIVES, |placement| placement.rpm);
}

#[test]
fn binstall_and_the_action_name_archives_as_dist_does() {
    let workspace = Workspace::read().unwrap();
    let manifest: toml::Table = workspace.text("cmd/capstan/Cargo.toml").unwrap().parse().unwrap();
    let binstall = &manifest["package"]["metadata"]["binstall"];
    let filled = |key: &str| {
        let text = binstall[key].as_str().unwrap();
        [
            ("repo", super::product::PRODUCT.repository),
            ("version", "1.2.3"),
            ("target", "T"),
            ("bin", "capstan"),
            ("binary-ext", ""),
        ]
        .iter()
        .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{ {name} }}"), value))
    };
    assert_eq!(filled("pkg-url"), super::product::PRODUCT.download("1.2.3", "capstan-1.2.3-T.tar.gz"));
    assert_eq!(filled("bin-dir"), "capstan-1.2.3-T/bin/capstan");
    let script = workspace.text(".github/actions/install/install.sh").unwrap();
    assert!(script.contains(&format!("{}/releases/download", super::product::PRODUCT.repository)));
    assert!(script.contains("archive=capstan-$version-$target.tar.gz"));
}
