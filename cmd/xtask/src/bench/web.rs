use std::{cell::Cell, fs, path::Path};

use anyhow::{Context as _, Result};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use support::host::{FakeHost, Reply};

use super::providers;

const HOST: &str = "127.0.0.1";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// The image with the layer of variable size. The layers of all other images have one byte.
const LARGE: &str = "cluster-api-controller";
const OTHERS: [&str; 8] = [
    "kubeadm-bootstrap-controller",
    "kubeadm-control-plane-controller",
    "capd-manager",
    "cluster-api-aws-controller",
    "cert-manager-cainjector",
    "cert-manager-controller",
    "cert-manager-webhook",
    "cert-manager-acmesolver",
];

/// A web server on loopback. Releases use TLS, which capstan requires for releases. Images use plain HTTP.
pub(super) struct Web {
    host: FakeHost,
    files: usize,
    /// The number of requests before the last call of [`Web::forget`].
    before: Cell<usize>,
}

impl Web {
    /// Serves the releases of an installation, without an index.
    ///
    /// # Errors
    /// Fails if a file cannot be read.
    pub(super) fn of_releases(corpus: &Path) -> Result<Self> {
        let host = FakeHost::start(&[HOST]);
        let mut files = 0;
        for file in providers::files() {
            let path = corpus.join(&file);
            let content = fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
            host.on(format!("{HOST}/{file}"), Reply::file(content));
            files += 1;
        }
        Ok(Self { host, files, before: Cell::default() })
    }

    /// A registry with the images of the corpus. One image has a layer of this size.
    pub(super) fn of_images(layer_bytes: usize) -> Self {
        let host = FakeHost::start(&[HOST]);
        host.on(format!("{HOST}/v2/"), Reply::json(200, "{}"));
        image(&host, LARGE, vec![b'x'; layer_bytes]);
        for name in OTHERS {
            image(&host, name, vec![b'y']);
        }
        Self { host, files: 0, before: Cell::default() }
    }

    /// Writes a configuration of all providers that uses this server. Returns its path.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub(super) fn configuration(&self, folder: &Path) -> Result<String> {
        let authority = self.authority();
        let path = providers::configuration(format!("https://{authority}"), &folder.join("web.yaml"))?;
        let ca = folder.join("web.pem");
        fs::write(&ca, self.host.ca_pem())?;
        let text = fs::read_to_string(&path)?;
        fs::write(&path, format!("{text}hosts: {{\"{authority}\": {{caBundle: {}}}}}\n", ca.display()))?;
        Ok(path)
    }

    pub(super) fn authority(&self) -> String {
        self.host.address().to_string()
    }

    /// The number of release files.
    pub(super) fn files(&self) -> usize {
        self.files
    }

    /// The number of requests for files since the last call of [`Web::forget`].
    pub(super) fn asked(&self) -> usize {
        self.count() - self.before.get()
    }

    pub(super) fn forget(&self) {
        self.before.set(self.count());
    }

    fn count(&self) -> usize {
        self.host.addresses().iter().filter(|address| !address.ends_with("/index.json")).count()
    }
}

fn image(host: &FakeHost, name: &str, layer: Vec<u8>) {
    let repository = format!("{HOST}/v2/{name}");
    let blob = |content: Vec<u8>, media_type: &str| {
        let (digest, size) = (digest_of(&content), content.len());
        host.on(format!("{repository}/blobs/{digest}"), Reply::file(content));
        json!({"mediaType": media_type, "digest": digest, "size": size})
    };
    let config = json!({"architecture": "amd64", "os": "linux", "name": name}).to_string();
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": blob(config.into(), CONFIG),
        "layers": [blob(layer, LAYER)],
    });
    let reply = Reply::file(manifest.to_string()).header("content-type", MANIFEST);
    host.on(format!("{repository}/manifests/v1"), reply);
}

fn digest_of(content: &[u8]) -> String {
    format!("sha256:{:x}", Sha256::digest(content))
}
