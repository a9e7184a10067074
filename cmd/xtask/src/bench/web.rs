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

/// The image that has the layer of interest; that of all others is a single byte.
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

/// A web server on loopback: releases are behind TLS, without which none is read, and images in the clear.
pub(super) struct Web {
    host: FakeHost,
    files: usize,
    /// Requests that are forgotten.
    before: Cell<usize>,
}

impl Web {
    /// Has the releases of an installation, and no index of them.
    ///
    /// # Errors
    /// When one cannot be read.
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

    /// A registry with the images of the corpus, all in one place; one has a layer of so many bytes.
    pub(super) fn of_images(layer_bytes: usize) -> Self {
        let host = FakeHost::start(&[HOST]);
        host.on(format!("{HOST}/v2/"), Reply::json(200, "{}"));
        image(&host, LARGE, vec![b'x'; layer_bytes]);
        for name in OTHERS {
            image(&host, name, vec![b'y']);
        }
        Self { host, files: 0, before: Cell::default() }
    }

    /// Writes a configuration of all providers that reads them here; gives its path.
    ///
    /// # Errors
    /// When it cannot be written.
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

    /// How many files it has.
    pub(super) fn files(&self) -> usize {
        self.files
    }

    /// How often it was asked for files since that was last forgotten.
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
