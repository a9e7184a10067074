//! What the tests share: providers that are small enough to read, and a server to put them on.

use std::path::Path;

use api::{Contract, Metadata, ProviderId, ProviderType};
use apply::{Connection, Credentials, EventSink, Server, ServerSettings};
use manifest::{Limits, Object, provenance::Trace, read_stream};
use provider::{
    InstalledProvider,
    config::{Config, ConfigFile, ConfigFormat, Environment},
};
use repository::{Context, Overrides};
use support::fixture::Fixture;
use tempfile::TempDir;

use crate::{
    InitRequest, ManagementCluster, OnUnfinished, ProvidersRequest, Sources, UpgradeRequest, UpgradeTarget,
    WaitFor,
};

/// The two versions every provider of [`Releases::small`] has.
pub(crate) const OLD: &str = "v1.13.5";
pub(crate) const NEW: &str = "v1.14.0";
/// The version of cert-manager they are configured with.
pub(crate) const CERT_MANAGER: &str = "v1.21.1";

/// A local repository of releases, and the configuration that points to it.
pub(crate) struct Releases {
    folder: TempDir,
    config: String,
    environment: Vec<(String, String)>,
    parsed: Config,
    overrides: Overrides,
    context: Context,
}

impl Releases {
    /// Nothing but the configuration of cert-manager, whose manifest is not there.
    pub(crate) fn empty() -> Self {
        let folder = TempDir::new().unwrap();
        let url = folder.path().join(format!("cert-manager/{CERT_MANAGER}/cert-manager.yaml"));
        let config =
            format!("cert-manager:\n  url: {}\n  version: {CERT_MANAGER}\nproviders:\n", url.display());
        let overrides = Overrides::in_folder(folder.path().join("overrides"));
        let parsed = parse(&config, &[]);
        Self { folder, config, environment: Vec::new(), parsed, overrides, context: Context::default() }
    }

    /// Core, kubeadm twice and docker, each in [`OLD`] and [`NEW`], and cert-manager.
    pub(crate) fn small() -> Self {
        let mut releases = Self::empty();
        for id in [core(), bootstrap(), control_plane(), docker()] {
            for version in [OLD, NEW] {
                releases = releases.with(&id, version, &components(&id, version));
            }
        }
        releases.with_cert_manager(CERT_MANAGER)
    }

    /// Adds or replaces a release, with the contract v1beta2. The newest one added is what the url asks for.
    pub(crate) fn with(self, id: &ProviderId, version: &str, components: &str) -> Self {
        self.with_contract(id, version, "v1beta2", components)
    }

    /// The same, with another contract of its own series.
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

    /// Lets a provider come from somewhere else.
    pub(crate) fn with_url(mut self, id: &ProviderId, url: &str) -> Self {
        let entry = format!("- {{name: {}, type: {}, url: {url}}}\n", id.name, id.provider_type);
        self.config.push_str(&entry);
        self.parsed = parse(&self.config, &self.environment);
        self
    }

    /// Adds a file beside the others, such as `metadata.yaml`, or replaces it.
    pub(crate) fn with_file(self, id: &ProviderId, version: &str, file: &str, text: &str) -> Self {
        write(&self.folder.path().join(id.label()).join(version).join(file), text);
        self
    }

    /// Adds a release of cert-manager in a few objects.
    pub(crate) fn with_cert_manager(self, version: &str) -> Self {
        let path = self.folder.path().join("cert-manager").join(version).join("cert-manager.yaml");
        write(&path, &cert_manager(version));
        self
    }

    /// Configures another version of cert-manager.
    pub(crate) fn at_cert_manager(mut self, version: &str) -> Self {
        self.config = self.config.replace(CERT_MANAGER, version);
        self.parsed = parse(&self.config, &self.environment);
        self
    }

    /// Lets somebody else take care of cert-manager.
    pub(crate) fn with_external_cert_manager(mut self) -> Self {
        self.config = self.config.replacen("cert-manager:\n", "cert-manager:\n  mode: external\n", 1);
        self.parsed = parse(&self.config, &self.environment);
        self
    }

    /// Sets an environment variable.
    pub(crate) fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self.parsed = parse(&self.config, &self.environment);
        self
    }

    /// Has docker bring ConfigMap `dropped` with its old version, and `added` with its new one, of these components.
    pub(crate) fn with_changing_docker(self, new: &str) -> Self {
        let id = docker();
        let extra = |name: &str| {
            format!(
                "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: {id}-system}}\n"
            )
        };
        let old = components(&id, OLD) + &extra("dropped");
        self.with(&id, OLD, &old).with(&id, NEW, &(new.to_owned() + &extra("added")))
    }

    pub(crate) fn sources(&self) -> Sources<'_> {
        Sources {
            config: &self.parsed,
            overrides: &self.overrides,
            repositories: &self.context,
            layers: provider::Layers::none(),
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

pub(crate) fn core() -> ProviderId {
    ProviderId::new(ProviderType::Core, "cluster-api")
}

pub(crate) fn bootstrap() -> ProviderId {
    ProviderId::new(ProviderType::Bootstrap, "kubeadm")
}

pub(crate) fn control_plane() -> ProviderId {
    ProviderId::new(ProviderType::ControlPlane, "kubeadm")
}

pub(crate) fn docker() -> ProviderId {
    ProviderId::new(ProviderType::Infrastructure, "docker")
}

/// The namespace [`components`] puts a provider into.
pub(crate) fn namespace_of(id: &ProviderId) -> String {
    format!("{}-system", id.label())
}

pub(crate) fn installed(id: &ProviderId, version: &str) -> InstalledProvider {
    InstalledProvider { id: id.clone(), version: version.to_owned(), namespace: namespace_of(id) }
}

/// Asks for providers as flags do: `(id, "v1.2.3")`, or an empty version for none.
pub(crate) fn asked(providers: &[(ProviderId, &str)]) -> ProvidersRequest {
    let one = |(id, version): &(ProviderId, &str)| {
        (id.clone(), (!version.is_empty()).then(|| (*version).to_owned()))
    };
    ProvidersRequest { providers: providers.iter().map(one).collect() }
}

/// An `init` of these providers that says no more.
pub(crate) fn init_of(providers: &[(ProviderId, &str)], wait: WaitFor) -> InitRequest {
    InitRequest {
        providers: asked(providers),
        declined: Vec::new(),
        target_namespace: None,
        validate: true,
        wait,
        thorough: false,
        unfinished: OnUnfinished::Refuse,
    }
}

/// An `init` of core and docker alone: enough to see an order.
pub(crate) fn small_init(version: &str, wait: WaitFor) -> InitRequest {
    let declined = vec![ProviderType::Bootstrap, ProviderType::ControlPlane];
    InitRequest { declined, ..init_of(&[(core(), version), (docker(), version)], wait) }
}

/// An upgrade to the current contract that says no more.
pub(crate) fn upgrade_to_contract(wait: WaitFor) -> UpgradeRequest {
    UpgradeRequest {
        target: UpgradeTarget::Contract(Contract::new(Contract::CURRENT)),
        allow_downgrade: false,
        allow_skip: false,
        keep_replicas: true,
        keep_placement: true,
        skip_cert_manager: false,
        wait,
        thorough: false,
        unfinished: OnUnfinished::Refuse,
    }
}

/// Metadata with the series of one version.
pub(crate) fn metadata(version: &str, contract: &str) -> String {
    let numbers: Vec<&str> = version.trim_start_matches('v').split('.').collect();
    format!(
        "apiVersion: {}\nkind: Metadata\nreleaseSeries:\n- {{major: {}, minor: {}, contract: {contract}}}\n",
        Metadata::API_VERSION,
        numbers[0],
        numbers[1]
    )
}

/// The components of a provider in little: a definition, RBAC, a Service, a controller and a certificate.
/// The core provider defines Cluster.
pub(crate) fn components(id: &ProviderId, version: &str) -> String {
    let group = match id.provider_type {
        ProviderType::Core => "cluster.x-k8s.io",
        ProviderType::Bootstrap => "bootstrap.cluster.x-k8s.io",
        ProviderType::ControlPlane => "controlplane.cluster.x-k8s.io",
        _ => "infrastructure.cluster.x-k8s.io",
    };
    let kind = match id.provider_type {
        ProviderType::Core => "Cluster",
        ProviderType::Bootstrap => "KubeadmConfig",
        ProviderType::ControlPlane => "KubeadmControlPlane",
        _ => "DockerMachine",
    };
    COMPONENTS
        .replace("PLURAL", &format!("{}s", kind.to_lowercase()))
        .replace("SINGULAR", &kind.to_lowercase())
        .replace("KIND", kind)
        .replace("GROUP", group)
        .replace("LABEL", &id.label())
        .replace("VERSION", version)
}

const COMPONENTS: &str = "apiVersion: v1
kind: Namespace
metadata: {name: LABEL-system}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: PLURAL.GROUP, labels: {cluster.x-k8s.io/v1beta2: v1beta2}}
spec:
  group: GROUP
  names: {kind: KIND, listKind: KINDList, plural: PLURAL, singular: SINGULAR}
  scope: Namespaced
  versions:
  - name: v1beta2
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: manager, namespace: LABEL-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: LABEL-manager}
rules: [{apiGroups: [GROUP], resources: ['*'], verbs: ['*']}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: LABEL-manager}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: LABEL-manager}
subjects: [{kind: ServiceAccount, name: manager, namespace: LABEL-system}]
---
apiVersion: v1
kind: Service
metadata: {name: webhook, namespace: LABEL-system}
spec: {ports: [{port: 443, targetPort: 9443}], selector: {provider: LABEL}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager, namespace: LABEL-system}
spec:
  replicas: 1
  selector: {matchLabels: {provider: LABEL}}
  template:
    metadata: {labels: {provider: LABEL}}
    spec:
      serviceAccountName: manager
      containers: [{name: manager, image: 'example.org/LABEL:VERSION', args: [--leader-elect]}]
---
apiVersion: cert-manager.io/v1
kind: Issuer
metadata: {name: selfsigned, namespace: LABEL-system}
spec: {selfSigned: {}}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: serving, namespace: LABEL-system}
spec:
  dnsNames: [webhook.LABEL-system.svc]
  issuerRef: {kind: Issuer, name: selfsigned}
  secretName: webhook-tls
";

/// cert-manager in little: the kinds providers use, and its three Deployments.
pub(crate) fn cert_manager(version: &str) -> String {
    let mut text = "apiVersion: v1\nkind: Namespace\nmetadata: {name: cert-manager}\n".to_owned();
    for (kind, plural, scope) in [
        ("Issuer", "issuers", "Namespaced"),
        ("ClusterIssuer", "clusterissuers", "Cluster"),
        ("Certificate", "certificates", "Namespaced"),
    ] {
        text.push_str(
            &CERT_MANAGER_KIND
                .replace("PLURAL", plural)
                .replace("SINGULAR", &kind.to_lowercase())
                .replace("KIND", kind)
                .replace("SCOPE", scope),
        );
    }
    for name in ["cert-manager", "cert-manager-cainjector", "cert-manager-webhook"] {
        text.push_str(&CERT_MANAGER_DEPLOYMENT.replace("NAME", name).replace("VERSION", version));
    }
    text
}

const CERT_MANAGER_KIND: &str = "---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: PLURAL.cert-manager.io}
spec:
  group: cert-manager.io
  names: {kind: KIND, listKind: KINDList, plural: PLURAL, singular: SINGULAR}
  scope: SCOPE
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
";

const CERT_MANAGER_DEPLOYMENT: &str = "---
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME, namespace: cert-manager}
spec:
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec: {containers: [{name: NAME, image: 'quay.io/jetstack/NAME:VERSION'}]}
";

/// The objects of a YAML text.
pub(crate) fn objects(yaml: &str) -> Vec<Object> {
    read_stream(yaml.as_bytes(), &Limits::default()).unwrap().objects
}

/// A management cluster on a sandbox.
pub(crate) async fn cluster(fixture: &Fixture) -> ManagementCluster {
    cluster_through(fixture.client()).await
}

/// A management cluster at the end of a client, which may be a service between it and a sandbox.
pub(crate) async fn cluster_through(client: kube::Client) -> ManagementCluster {
    let connection = Connection {
        credentials: Credentials::Client(client),
        impersonation: None,
        user_agent: "capstan-test".to_owned(),
    };
    let server = Server::connect(connection, ServerSettings::default()).await.unwrap().unguarded();
    ManagementCluster::new(server, EventSink::none())
}
