//! Shared test fixtures: small providers and a server for them.

use std::path::Path;

use api::{Contract, Metadata, ProviderId, ProviderType, labels::Labels, plan::UpgradeOptions};
use apply::{ConnectionOptions, EventSink, Server, ServerOptions};
use inventory::ManagementCluster;
use manifest::provenance::Trace;
use provider::{
    InstalledProvider,
    config::{Config, ConfigFile, ConfigFormat, Environment},
};
use repository::{Overrides, RepositoryContext};
use support::{fixture::Fixture, scripted_connection::ScriptedConnection};
use tempfile::TempDir;

pub(crate) use support::small_providers::{
    NEW_VERSION, OLD_VERSION, bootstrap, cert_manager, components, control_plane, core, docker, metadata,
    namespace_of, objects,
};

use crate::{
    InitRequest, ProvidersRequest, Sources, UnfinishedPolicy, UpgradeRequest, UpgradeTarget, WaitOptions,
};

/// The configured version of cert-manager.
pub(crate) const CERT_MANAGER: &str = "v1.21.1";

/// A local repository of releases and the configuration that points to the repository.
pub(crate) struct Releases {
    folder: TempDir,
    config: String,
    environment: Vec<(String, String)>,
    parsed: Config,
    overrides: Overrides,
    context: RepositoryContext,
}

impl Releases {
    /// Returns a configuration with cert-manager only, whose manifest does not exist.
    pub(crate) fn empty() -> Self {
        let folder = TempDir::new().unwrap();
        let url = folder.path().join(format!("cert-manager/{CERT_MANAGER}/cert-manager.yaml"));
        let config =
            format!("cert-manager:\n  url: {}\n  version: {CERT_MANAGER}\nproviders:\n", url.display());
        let overrides = Overrides::in_folder(folder.path().join("overrides"));
        let parsed = parse(&config, &[]);
        Self {
            folder,
            config,
            environment: Vec::new(),
            parsed,
            overrides,
            context: RepositoryContext::default(),
        }
    }

    /// Returns a text with `RELEASES` in place of the temporary folder.
    pub(crate) fn redact(&self, text: &str) -> String {
        text.replace(&*self.folder.path().to_string_lossy(), "RELEASES")
    }

    /// Returns core, both kubeadm providers and docker, each in [`OLD`] and [`NEW`], and cert-manager.
    pub(crate) fn small() -> Self {
        let mut releases = Self::empty();
        for id in [core(), bootstrap(), control_plane(), docker()] {
            for version in [OLD_VERSION, NEW_VERSION] {
                releases = releases.with(&id, version, &components(&id, version));
            }
        }
        releases.with_cert_manager(CERT_MANAGER)
    }

    /// Adds or replaces a release with contract v1beta2. The URL in the configuration selects the newest
    /// release.
    pub(crate) fn with(self, id: &ProviderId, version: &str, components: &str) -> Self {
        self.with_contract(id, version, "v1beta2", components)
    }

    /// Adds or replaces a release with the given contract in its own series.
    pub(crate) fn with_contract(
        mut self,
        id: &ProviderId,
        version: &str,
        contract: &str,
        components: &str,
    ) -> Self {
        let release = self.folder.path().join(id.label()).join(version);
        let file = id.provider_type.components_file();
        let metadata = metadata(version, contract);
        write(&release.join(file), components);
        write(&release.join(Metadata::FILE), &metadata);
        let latest = self.folder.path().join(id.label()).join("latest").join(file);
        let entry =
            format!("- {{name: {}, type: {}, url: {}}}\n", id.name, id.provider_type, latest.display());
        if !self.config.contains(&entry) {
            self.config.push_str(&entry);
        }
        self.parsed = parse(&self.config, &self.environment);
        self
    }

    pub(crate) fn with_url(mut self, id: &ProviderId, url: &str) -> Self {
        let entry = format!("- {{name: {}, type: {}, url: {url}}}\n", id.name, id.provider_type);
        self.config.push_str(&entry);
        self.parsed = parse(&self.config, &self.environment);
        self
    }

    /// Adds or replaces a file of a release, such as `metadata.yaml`.
    pub(crate) fn with_file(self, id: &ProviderId, version: &str, file: &str, text: &str) -> Self {
        write(&self.folder.path().join(id.label()).join(version).join(file), text);
        self
    }

    /// Adds a small release of cert-manager.
    pub(crate) fn with_cert_manager(self, version: &str) -> Self {
        let path = self.folder.path().join("cert-manager").join(version).join("cert-manager.yaml");
        write(&path, &cert_manager(version));
        self
    }

    pub(crate) fn at_cert_manager(mut self, version: &str) -> Self {
        self.config = self.config.replace(CERT_MANAGER, version);
        self.parsed = parse(&self.config, &self.environment);
        self
    }

    /// Configures an external cert-manager.
    pub(crate) fn with_external_cert_manager(mut self) -> Self {
        self.config = self.config.replacen("cert-manager:\n", "cert-manager:\n  mode: external\n", 1);
        self.parsed = parse(&self.config, &self.environment);
        self
    }

    pub(crate) fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self.parsed = parse(&self.config, &self.environment);
        self
    }

    /// Adds docker releases: the old one brings ConfigMap `dropped`, the new one has these components and
    /// ConfigMap `added`.
    pub(crate) fn with_changing_docker(self, new: &str) -> Self {
        let id = docker();
        let extra = |name: &str| {
            format!(
                "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: {id}-system}}\n"
            )
        };
        let old = components(&id, OLD_VERSION) + &extra("dropped");
        self.with(&id, OLD_VERSION, &old).with(&id, NEW_VERSION, &(new.to_owned() + &extra("added")))
    }

    pub(crate) fn sources(&self) -> Sources<'_> {
        Sources {
            config: &self.parsed,
            overrides: &self.overrides,
            repositories: &self.context,
            overlays: provider::Overlays::none(),
            trace: Trace::Off,
        }
    }
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn parse(config: &str, environment: &[(String, String)]) -> Config {
    let file = ConfigFile {
        origin: "clusterctl.yaml".to_owned(),
        folder: None,
        format: ConfigFormat::Yaml,
        text: config.to_owned(),
    };
    Config::new(Some(file), Environment::new(environment.iter().cloned())).unwrap()
}

pub(crate) fn installed(id: &ProviderId, version: &str) -> InstalledProvider {
    InstalledProvider { id: id.clone(), version: version.to_owned(), namespace: namespace_of(id) }
}

/// Requests providers as flags do: `(id, "v1.2.3")`, or an empty version for none.
pub(crate) fn asked(providers: &[(ProviderId, &str)]) -> ProvidersRequest {
    let one = |(id, version): &(ProviderId, &str)| {
        (id.clone(), (!version.is_empty()).then(|| (*version).to_owned()))
    };
    ProvidersRequest { providers: providers.iter().map(one).collect() }
}

/// Returns an `init` of the given providers with default options.
pub(crate) fn init_of(providers: &[(ProviderId, &str)], wait: WaitOptions) -> InitRequest {
    InitRequest {
        providers: asked(providers),
        declined: Vec::new(),
        target_namespace: None,
        labels: Labels::new(),
        validate: true,
        wait,
        server_dry_run: false,
        unfinished: UnfinishedPolicy::Refuse,
    }
}

/// Returns an `init` of core and docker only: enough to check the order.
pub(crate) fn small_init(version: &str, wait: WaitOptions) -> InitRequest {
    let declined = vec![ProviderType::Bootstrap, ProviderType::ControlPlane];
    InitRequest { declined, ..init_of(&[(core(), version), (docker(), version)], wait) }
}

/// Returns an upgrade to the current contract with default options.
pub(crate) fn upgrade_to_contract(wait: WaitOptions) -> UpgradeRequest {
    UpgradeRequest {
        target: UpgradeTarget::Contract(Contract::new(Contract::CURRENT)),
        options: UpgradeOptions { keep_replicas: true, keep_placement: true, ..UpgradeOptions::default() },
        wait,
        server_dry_run: false,
        unfinished: UnfinishedPolicy::Refuse,
    }
}

/// Returns a management cluster on a sandbox.
pub(crate) async fn cluster(fixture: &Fixture) -> ManagementCluster {
    cluster_through(fixture.client()).await
}

/// Returns a management cluster behind a client, which may contain a service between client and sandbox.
pub(crate) async fn cluster_through(client: kube::Client) -> ManagementCluster {
    let connection = ConnectionOptions::of_client(client, "capstan-test");
    let server = Server::connect(connection, ServerOptions::default()).await.unwrap().without_lease();
    ManagementCluster::new(server, EventSink::none())
}

/// Returns the management cluster behind a wire. Retries take as long as for users.
pub(crate) async fn cluster_behind(wire: &ScriptedConnection) -> ManagementCluster {
    cluster_through(wire.client()).await
}
