//! The provider releases of the corpus, as configurations, command lines and web servers.

use std::{
    fmt::{Display, Write as _},
    fs,
    path::{Path, PathBuf},
    rc::Rc,
};

use anyhow::{Context as _, Result};
use api::{Metadata, ProviderId, ProviderType};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use support::host::{FakeHost, Reply};

use super::servers::Server;
use crate::workspace::shared_folder;

/// A provider of the corpus: the version to install, and the newest.
struct Provider {
    kind: ProviderType,
    name: &'static str,
    first: &'static str,
    newest: &'static str,
}

const CERT_MANAGER: &str = "cert-manager/v1.21.1/cert-manager.yaml";

const PROVIDERS: [Provider; 5] = [
    cluster_api_provider(ProviderType::Core, "cluster-api"),
    cluster_api_provider(ProviderType::Bootstrap, "kubeadm"),
    cluster_api_provider(ProviderType::ControlPlane, "kubeadm"),
    cluster_api_provider(ProviderType::Infrastructure, "docker"),
    Provider { kind: ProviderType::Infrastructure, name: "aws", first: "v2.11.1", newest: "v2.11.1" },
];

const HOST: &str = "127.0.0.1";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// The image with the measured layer; those of the others have a single byte.
const LARGE_IMAGE: &str = "cluster-api-controller";
const SMALL_IMAGES: [&str; 8] = [
    "kubeadm-bootstrap-controller",
    "kubeadm-control-plane-controller",
    "capd-manager",
    "cluster-api-aws-controller",
    "cert-manager-cainjector",
    "cert-manager-controller",
    "cert-manager-webhook",
    "cert-manager-acmesolver",
];

/// The number of copies of each CRD of the core provider in the large file.
const CRD_COPIES: usize = 10;

const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n\
                        - major: 9\n  minor: 0\n  contract: v1beta2\n";

const fn cluster_api_provider(kind: ProviderType, name: &'static str) -> Provider {
    Provider { kind, name, first: "v1.13.5", newest: "v1.14.0" }
}

impl Provider {
    /// The path of a file of a release in the corpus.
    fn path(&self, version: &str, file: &str) -> String {
        format!("{}/{version}/{file}", ProviderId::new(self.kind, self.name).label())
    }
}

/// The folder of the releases; none if this machine has no corpus.
pub(super) fn corpus() -> Option<PathBuf> {
    shared_folder("CAPSTAN_CORPUS", "corpus").join("providers").canonicalize().ok()
}

/// The flags that select the first `count` providers.
pub(super) fn flags(count: usize) -> String {
    let flags = PROVIDERS[..count]
        .iter()
        .map(|Provider { kind, name, first, .. }| format!("--{} {name}:{first}", kind.flag()));
    flags.collect::<Vec<_>>().join(" ")
}

/// Writes a configuration of all providers in a folder or on a web server, and returns its path.
///
/// # Errors
/// If the file cannot be written.
pub(super) fn configuration(corpus: impl Display, path: &Path, more: &str) -> Result<String> {
    let mut text = format!(
        "cert-manager: {{url: \"{corpus}/{CERT_MANAGER}\"}}\nAWS_B64ENCODED_CREDENTIALS: bm9uZQ==\n{more}providers:\n"
    );
    for provider in &PROVIDERS {
        let (kind, name) = (provider.kind.as_str(), provider.name);
        let file = provider.path(provider.newest, provider.kind.components_file());
        writeln!(text, "- {{name: {name}, type: {kind}, url: \"{corpus}/{file}\"}}")?;
    }
    fs::write(path, text)?;
    Ok(path.display().to_string())
}

/// Writes a core provider with a second release that is ten times as large, and returns the path of a configuration.
///
/// # Errors
/// If a file cannot be read or written.
pub(super) fn large_release(corpus: &Path, folder: &Path) -> Result<String> {
    let core = corpus.join("cluster-api/v1.14.0");
    let repository = folder.join("repository/cluster-api");
    let read = |name: &str| {
        let path = core.join(name);
        fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))
    };
    let (components, metadata) = (read("core-components.yaml")?, read(Metadata::FILE)?);
    for (version, components, metadata) in
        [("v1.14.0", components.clone(), metadata), ("v9.0.0", enlarge(&components), METADATA.to_owned())]
    {
        fs::create_dir_all(repository.join(version))?;
        fs::write(repository.join(version).join("core-components.yaml"), components)?;
        fs::write(repository.join(version).join(Metadata::FILE), metadata)?;
    }
    let config = folder.join("large.yaml");
    let text = format!(
        "providers:\n- name: cluster-api\n  type: CoreProvider\n  url: {}/v1.14.0/core-components.yaml\n\
         - name: docker\n  type: InfrastructureProvider\n  url: {}/infrastructure-docker/v1.14.0/infrastructure-components.yaml\n",
        repository.display(),
        corpus.display()
    );
    fs::write(&config, text)?;
    Ok(config.display().to_string())
}

/// The same file with several copies of each CRD, under other names.
fn enlarge(components: &str) -> String {
    let documents = components.split("\n---\n");
    let definitions: Vec<&str> =
        documents.filter(|text| text.contains("\nkind: CustomResourceDefinition\n")).collect();
    let mut large = components.trim_end().to_owned();
    for copy in 1..CRD_COPIES {
        for definition in &definitions {
            let definition = definition
                .trim_start_matches("---\n")
                .replace(".cluster.x-k8s.io\n", &format!(".copy-{copy}.x-k8s.io\n"));
            large.push_str("\n---\n");
            large.push_str(definition.trim_end());
        }
    }
    large.push('\n');
    large
}

/// A web server on loopback.
pub(super) struct ReleaseHost {
    host: FakeHost,
}

impl ReleaseHost {
    /// Serves the releases of an installation over TLS, without an index; returns the number of files too.
    ///
    /// # Errors
    /// If a release cannot be read.
    pub(super) fn serving_releases(corpus: &Path) -> Result<(Rc<Self>, usize)> {
        let host = FakeHost::start(&[HOST]);
        let of_provider = |provider: &Provider| {
            [provider.kind.components_file(), Metadata::FILE].map(|file| provider.path(provider.first, file))
        };
        let files: Vec<String> =
            PROVIDERS.iter().flat_map(of_provider).chain([CERT_MANAGER.to_owned()]).collect();
        for file in &files {
            let path = corpus.join(file);
            let content = fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
            host.on(format!("{HOST}/{file}"), Reply::file(content));
        }
        Ok((Rc::new(Self { host }), files.len()))
    }

    /// A registry with the images of the corpus in one repository; one image has a layer of so many bytes.
    pub(super) fn serving_images(layer_bytes: usize) -> Self {
        let host = FakeHost::start(&[HOST]);
        host.on(format!("{HOST}/v2/"), Reply::json(200, "{}"));
        add_image(&host, LARGE_IMAGE, vec![b'x'; layer_bytes]);
        for name in SMALL_IMAGES {
            add_image(&host, name, vec![b'y']);
        }
        Self { host }
    }

    /// Writes a configuration of all providers on this server, and returns its path.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(super) fn configuration(&self, folder: &Path) -> Result<String> {
        let (authority, ca) = (self.authority(), folder.join("web.pem"));
        fs::write(&ca, self.host.ca_pem())?;
        let hosts = format!("hosts: {{\"{authority}\": {{caBundle: {}}}}}\n", ca.display());
        configuration(format!("https://{authority}"), &folder.join("web.yaml"), &hosts)
    }

    pub(super) fn authority(&self) -> String {
        self.host.address().to_string()
    }
}

impl Server for ReleaseHost {
    /// The number of requests for files.
    fn requests(&self) -> Result<usize> {
        Ok(self.host.addresses().iter().filter(|address| !address.ends_with("/index.json")).count())
    }
}

fn add_image(host: &FakeHost, name: &str, layer: Vec<u8>) {
    let repository = format!("{HOST}/v2/{name}");
    let blob = |content: Vec<u8>, media_type: &str| {
        let (digest, size) = (format!("sha256:{:x}", Sha256::digest(&content)), content.len());
        host.on(format!("{repository}/blobs/{digest}"), Reply::file(content));
        json!({"mediaType": format!("application/vnd.oci.image.{media_type}"), "digest": digest, "size": size})
    };
    let config = json!({"architecture": "amd64", "os": "linux", "name": name}).to_string();
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": blob(config.into(), "config.v1+json"),
        "layers": [blob(layer, "layer.v1.tar+gzip")],
    });
    let reply = Reply::file(manifest.to_string()).header("content-type", MANIFEST);
    host.on(format!("{repository}/manifests/v1"), reply);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installation_names_each_of_its_providers_with_a_version() {
        let four = "--core cluster-api:v1.13.5 --bootstrap kubeadm:v1.13.5 \
                    --control-plane kubeadm:v1.13.5 --infrastructure docker:v1.13.5";
        assert_eq!(flags(4), four);
        assert_eq!(flags(5), format!("{four} --infrastructure aws:v2.11.1"));
    }

    #[test]
    fn a_large_file_contains_every_crd_under_unique_names() {
        let one = "kind: Namespace\n---\napiVersion: v1\nkind: CustomResourceDefinition\nmetadata:\n  name: a.cluster.x-k8s.io\n";
        let large = enlarge(one);
        assert_eq!(large.matches("kind: CustomResourceDefinition").count(), CRD_COPIES);
        assert_eq!(large.matches("kind: Namespace").count(), 1);
        assert!(large.contains("name: a.copy-9.x-k8s.io\n"));
    }
}
