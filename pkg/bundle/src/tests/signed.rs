//! Tests of signatures in bundles.

use std::path::PathBuf;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use repository::{ReleaseSettings, open};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _},
};
use serde_json::{Value, json};
use support::registry::{Registry, RegistryAccess, RegistryTransport};
use transport::registry::{Reference, Registry as Client, TITLE_ANNOTATION};

use super::*;

const HOST: &str = "ghe.example.org";

/// The prefix of the bare key in a `PUBLIC KEY`, see RFC 5480.
const P256: &[u8] = b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00";

/// A key pair for signatures.
struct Signer(EcdsaKeyPair);

impl Signer {
    fn ecdsa() -> Self {
        let (random, of) = (SystemRandom::new(), &ECDSA_P256_SHA256_ASN1_SIGNING);
        let key = EcdsaKeyPair::generate_pkcs8(of, &random).unwrap();
        Self(EcdsaKeyPair::from_pkcs8(of, key.as_ref(), &random).unwrap())
    }

    fn public_key(&self, folder: &Path) -> PathBuf {
        let path = folder.join("cosign.pub");
        let body = STANDARD.encode([P256, self.0.public_key().as_ref()].concat());
        fs::write(&path, format!("-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n")).unwrap();
        path
    }
}

fn at(rest: &str) -> String {
    format!("{HOST}/v2/lab/aws/{rest}")
}

/// Serves content under its digest and returns its descriptor.
fn blob(host: &FakeHost, title: Option<&str>, media_type: &str, content: &[u8]) -> Value {
    let digest = Digest::of(content).to_string();
    host.on(at(&format!("blobs/{digest}")), Reply::status(200).body(content));
    let mut layer = json!({"mediaType": media_type, "digest": digest, "size": content.len()});
    if let Some(title) = title {
        layer["annotations"] = json!({TITLE_ANNOTATION: title});
    }
    layer
}

fn manifest(layers: &[Value], annotations: &Value) -> Value {
    let config =
        json!({"mediaType": "application/vnd.oci.empty.v1+json", "digest": Digest::of(b"{}"), "size": 2});
    json!({"schemaVersion": 2, "mediaType": MANIFEST_MEDIA_TYPE, "config": config, "layers": layers, "annotations": annotations})
}

/// Serves a manifest or an index under a reference and under its digest.
fn put(host: &FakeHost, reference: &str, document: &Value) -> Digest {
    let bytes = serde_json::to_vec(document).unwrap();
    let digest = Digest::of(&bytes);
    let reply = Reply::status(200)
        .header("content-type", document["mediaType"].as_str().unwrap())
        .header("docker-content-digest", &digest.to_string())
        .body(bytes);
    host.on(at(&format!("manifests/{reference}")), reply.clone());
    host.on(at(&format!("manifests/{digest}")), reply);
    digest
}

/// A registry with one release.
struct Lab {
    host: FakeHost,
    digest: Digest,
    folder: TempDir,
}

impl Lab {
    fn new() -> Self {
        let host = FakeHost::internet();
        let metadata = blob(&host, Some("metadata.yaml"), "application/vnd.test.file", b"kind: Metadata\n");
        let digest = put(&host, "v2.9.0", &manifest(&[metadata], &json!({})));
        Self { host, digest, folder: folder() }
    }

    /// Serves a signature of cosign 2 for the release.
    fn sign(&self, signer: &Signer, of: &str) {
        let payload = json!({"critical": {"identity": {"docker-reference": "lab/aws"},
            "image": {"docker-manifest-digest": of}, "type": "cosign container image signature"}, "optional": null});
        let payload = payload.to_string();
        let simple = "application/vnd.dev.cosign.simplesigning.v1+json";
        let mut layer = blob(&self.host, None, simple, payload.as_bytes());
        let signature = signer.0.sign(&SystemRandom::new(), payload.as_bytes()).unwrap();
        layer["annotations"] = json!({"dev.cosignproject.cosign/signature": STANDARD.encode(signature)});
        put(&self.host, &format!("sha256-{}.sig", self.digest.hex()), &manifest(&[layer], &json!({})));
    }
}

#[tokio::test]
async fn signatures_in_a_bundle_are_valid_after_loading() {
    let Some(site) = Registry::start(RegistryTransport::Plain, RegistryAccess::Anonymous) else { return };
    let (lab, signer) = (Lab::new(), Signer::ecdsa());
    lab.sign(&signer, &lab.digest.to_string());
    blob(&lab.host, None, "application/vnd.oci.empty.v1+json", b"{}");
    let outside = Context::new(settings(&lab.host));
    let path = lab.folder.path().join("lab.tar");
    let writer = BundleWriter::create(&path).unwrap();
    let (label, image) = ("infrastructure-aws", format!("{HOST}/lab/aws:v2.9.0"));
    let content = Bytes::from_static(b"kind: Metadata\n");
    let lock = format!(
        "version = 1\n[[provider]]\nlabel = \"{label}\"\nversion = \"v2.9.0\"\nurl = \"x\"\n[[provider.file]]\n\
         name = \"metadata.yaml\"\ndigest = \"{}\"\norigin = \"repository\"\n",
        Digest::of(&content)
    );
    let files = || BTreeMap::from([("metadata.yaml".to_owned(), content.clone())]);
    let url = format!("oci://{HOST}/lab/aws");
    let form = writer.add_release_from(&outside, &url, label, "v2.9.0", files()).await.unwrap();
    assert_eq!(form, ReleaseArtifact::Original);
    writer.add_image(&outside, &image, None, &Platforms::All).await.unwrap();
    writer.add_configuration(BTreeMap::from([(LockFile::FILE.to_owned(), lock.into())])).unwrap();
    writer.finish().unwrap();

    let bundle = Bundle::open(&path).unwrap();
    let names: Vec<String> = bundle.entries().iter().map(|entry| entry.item.name()).collect();
    let [image_signature, release_signature] = [format!("{image}.sig"), format!("{label}:v2.9.0.sig")];
    assert_eq!(names[1..], [format!("{label}:v2.9.0"), image.clone(), image_signature, release_signature]);
    let unpacked = folder();
    let load = || load_into_folder(&bundle, unpacked.path(), ExistingContent::Refuse).unwrap();
    load();
    let place = unpacked.path().join("images/blobs/sha256");
    let damaged = fs::read_dir(&place).unwrap().next().unwrap().unwrap().path();
    let before = fs::read(&damaged).unwrap();
    fs::write(&damaged, vec![b'x'; before.len()]).unwrap();
    assert!(load().iter().any(|it| it.state == LoadedContentState::Replaced));
    assert_eq!(fs::read(&damaged).unwrap(), before);
    assert!(load().iter().all(|it| it.state == LoadedContentState::Unchanged));
    let index = unpacked.path().join("images/index.json");
    let (other, text) = ("0".repeat(64), fs::read_to_string(&index).unwrap());
    let known = bundle.entries().iter().find(|entry| entry.item.name() == image).unwrap().digest;
    fs::write(&index, text.replace(&known.hex(), &other)).unwrap();
    let load = |existing| load_into_folder(&bundle, unpacked.path(), existing);
    let refused = load(ExistingContent::Refuse).unwrap_err();
    assert!(matches!(&refused, BundleError::Exists { paths } if paths.len() == 1), "{refused:?}");
    assert!(fs::read_to_string(&index).unwrap().contains(&other));
    load(ExistingContent::Replace).unwrap();
    assert_eq!(fs::read_to_string(&index).unwrap(), text);

    let target = RegistryTarget::parse(&format!("oci://{}/capi", site.host())).unwrap();
    let inside = Context::new(Settings::default());
    for state in [LoadedContentState::New, LoadedContentState::Unchanged] {
        let loaded = load_into_registry(&bundle, &inside, &target, ExistingContent::Refuse).await.unwrap();
        assert!(loaded.iter().all(|it| it.state == state) && loaded.len() == 4, "{loaded:?}");
    }
    let read = async |signer: &Signer| {
        let key = signer.public_key(lab.folder.path());
        let verify_keys = [(label.to_owned(), key)].into();
        let releases = ReleaseSettings { verify_keys, ..ReleaseSettings::default() };
        let context = repository::RepositoryContext::with_release_settings(Settings::default(), releases);
        let site = open(&target.provider_url(label), label, None, &context).unwrap();
        site.read("v2.9.0", "metadata.yaml").await.map(|file| file.bytes)
    };
    assert_eq!(read(&signer).await.unwrap(), content);
    assert!(read(&Signer::ecdsa()).await.is_err());
    let mirrored = Client::new(&site.host(), &inside);
    let repository = format!("capi/{HOST}/lab/aws");
    assert!(mirrored.manifest(&repository, &Reference::of_signature(&lab.digest)).await.unwrap().is_some());
    let other = BTreeMap::from([("metadata.yaml".to_owned(), Bytes::from_static(b"overridden"))]);
    let writer = BundleWriter::create(&path).unwrap();
    let form = writer.add_release_from(&outside, &url, label, "v2.9.0", other).await.unwrap();
    assert_eq!(form, ReleaseArtifact::Repackaged);
}
