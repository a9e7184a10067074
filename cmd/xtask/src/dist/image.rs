//! The container image: an OCI image layout in one file.
//! Source: OCI image specification 1.1.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use pem::{EncodeConfig, LineEnding, Pem};
use serde_json::{Value, json};
use transport::{
    Digest,
    registry::{Descriptor, INDEX_MEDIA_TYPE, MANIFEST_MEDIA_TYPE, Manifest, Platform},
};

use super::{
    archive::Archive,
    file_tree::{Entry, FileTree, gzip},
    product::{LICENCES, PRODUCT, SBOM},
    source::Source,
};

const CONFIG_MEDIA_TYPE: &str = "application/vnd.oci.image.config.v1+json";
const LAYER_MEDIA_TYPE: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
const EMPTY_MEDIA_TYPE: &str = "application/vnd.oci.empty.v1+json";
/// The media type of the bill of materials, as an artifact that refers to an image.
const SBOM_MEDIA_TYPE: &str = "application/vnd.cyclonedx+json";
const EMPTY: &[u8] = b"{}";
/// The annotation with the tag of a manifest in a layout.
const TAG: &str = "org.opencontainers.image.ref.name";

/// The user of the image and of the pod of the controller.
pub(super) const USER: u32 = 65532;
/// Paths in the image.
const PROGRAM: &str = "usr/bin/capstan";
const CERTIFICATES: &str = "etc/ssl/certs/ca-certificates.crt";

/// An image for several architectures.
pub(super) struct Image {
    /// The layout.
    pub(super) layout: FileTree,
    /// The digest of the index, which names the image for every architecture.
    pub(super) digest: Digest,
}

/// The blobs of a layout.
#[derive(Default)]
struct Blobs(FileTree);

impl Blobs {
    /// Adds content and returns its descriptor.
    fn add(&mut self, media_type: &str, bytes: Vec<u8>) -> Descriptor {
        let descriptor = Descriptor::of(media_type, &bytes);
        self.0.add(format!("blobs/sha256/{}", descriptor.digest.hex()), bytes);
        descriptor
    }

    fn add_manifest(&mut self, manifest: &Manifest) -> Result<Descriptor> {
        Ok(self.add(MANIFEST_MEDIA_TYPE, serde_json::to_vec(manifest)?))
    }
}

/// Makes the image of the binaries of these archives, one for each architecture.
pub(super) fn image(archives: &[&Archive], source: &Source) -> Result<Image> {
    let mut blobs = Blobs::default();
    let (mut images, mut artifacts) = (Vec::new(), Vec::new());
    for archive in archives {
        let mut descriptor = add_image(&mut blobs, archive, source)?;
        artifacts.push(add_bill(&mut blobs, archive, &descriptor)?);
        descriptor.platform = Some(platform(archive));
        images.push(descriptor);
    }
    let index = index(&images, &annotations(source));
    let mut index = blobs.add(INDEX_MEDIA_TYPE, index.to_string().into_bytes());
    let digest = index.digest;
    index.annotations.insert(TAG.to_owned(), source.version.clone());
    let entries: Vec<Descriptor> = [index].into_iter().chain(artifacts).collect();
    let mut layout = blobs.0;
    layout.add_text("oci-layout", r#"{"imageLayoutVersion":"1.0.0"}"#);
    layout.add_text("index.json", self::index(&entries, &BTreeMap::new()).to_string());
    Ok(Image { layout, digest })
}

fn index(manifests: &[Descriptor], annotations: &BTreeMap<String, String>) -> Value {
    let mut index = json!({"schemaVersion": 2, "mediaType": INDEX_MEDIA_TYPE, "manifests": manifests});
    if !annotations.is_empty() {
        index["annotations"] = json!(annotations);
    }
    index
}

fn add_image(blobs: &mut Blobs, archive: &Archive, source: &Source) -> Result<Descriptor> {
    let layer = files(archive)?.to_tar("", source.time)?;
    let configuration = configuration(archive, Digest::of(&layer), source);
    let layer = blobs.add(LAYER_MEDIA_TYPE, gzip(&layer)?);
    let config = blobs.add(CONFIG_MEDIA_TYPE, configuration.to_string().into_bytes());
    blobs.add_manifest(&Manifest {
        schema_version: 2,
        media_type: Some(MANIFEST_MEDIA_TYPE.to_owned()),
        artifact_type: None,
        config,
        layers: vec![layer],
        subject: None,
        annotations: annotations(source),
    })
}

/// Adds the bill of materials as an artifact that refers to its image.
fn add_bill(blobs: &mut Blobs, archive: &Archive, image: &Descriptor) -> Result<Descriptor> {
    let bill = archive.files.content(SBOM).with_context(|| format!("`{}` lacks `{SBOM}`", archive.name))?;
    let bill = blobs.add(SBOM_MEDIA_TYPE, bill.to_vec());
    let config = blobs.add(EMPTY_MEDIA_TYPE, EMPTY.to_vec());
    let descriptor = blobs.add_manifest(&Manifest {
        schema_version: 2,
        media_type: Some(MANIFEST_MEDIA_TYPE.to_owned()),
        artifact_type: Some(SBOM_MEDIA_TYPE.to_owned()),
        config,
        layers: vec![bill],
        subject: Some(image.clone()),
        annotations: BTreeMap::new(),
    })?;
    Ok(Descriptor { artifact_type: Some(SBOM_MEDIA_TYPE.to_owned()), ..descriptor })
}

/// The files of the image: the binary, the licences, the certificates of hosts, and the names of the user.
fn files(archive: &Archive) -> Result<FileTree> {
    let mut files = FileTree::default();
    files.add_program(PROGRAM, archive.binary()?.clone());
    let licences =
        archive.files.content(LICENCES).with_context(|| format!("`{}` lacks `{LICENCES}`", archive.name))?;
    files.add("usr/share/doc/capstan/licenses.txt", licences.clone());
    files.add_text(CERTIFICATES, certificates());
    files.add_text(
        "etc/passwd",
        format!(
            "root:x:0:0:root:/:/sbin/nologin\ncapstan:x:{USER}:{USER}:capstan:/home/capstan:/sbin/nologin\n"
        ),
    );
    files.add_text("etc/group", format!("root:x:0:\ncapstan:x:{USER}:\n"));
    files.add_entry("tmp", Entry::Folder { mode: 0o1777 });
    Ok(files)
}

/// The root certificates of Mozilla, in the version of the lock file.
fn certificates() -> String {
    let configuration = EncodeConfig::new().set_line_ending(LineEnding::LF);
    let certificates = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter();
    certificates
        .map(|certificate| pem::encode_config(&Pem::new("CERTIFICATE", certificate.as_ref()), configuration))
        .collect()
}

fn platform(archive: &Archive) -> Platform {
    let target = &archive.target;
    Platform { architecture: target.architecture.go.to_owned(), os: target.os.to_owned(), variant: None }
}

fn configuration(archive: &Archive, layer: Digest, source: &Source) -> Value {
    let created = source.timestamp();
    json!({
        "created": created,
        "architecture": archive.target.architecture.go,
        "os": archive.target.os,
        "config": {
            "User": format!("{USER}:{USER}"),
            "Env": ["PATH=/usr/bin"],
            "Entrypoint": [format!("/{PROGRAM}")],
            "WorkingDir": "/",
            "Labels": annotations(source),
        },
        "rootfs": {"type": "layers", "diff_ids": [layer]},
        "history": [{"created": created, "created_by": "cargo xtask dist"}],
    })
}

/// The labels of the image, which are also the annotations of its manifests.
fn annotations(source: &Source) -> BTreeMap<String, String> {
    let mut annotations = BTreeMap::new();
    let mut add = |name: &str, value: &str| {
        annotations.insert(format!("org.opencontainers.image.{name}"), value.to_owned());
    };
    add("title", PRODUCT.name);
    add("description", PRODUCT.summary);
    add("licenses", PRODUCT.licence);
    add("vendor", PRODUCT.vendor);
    add("url", PRODUCT.repository);
    add("source", PRODUCT.repository);
    add("version", &source.version);
    add("created", &source.timestamp());
    if let Some(commit) = &source.commit {
        add("revision", commit);
    }
    annotations
}
