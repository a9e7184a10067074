//! Small, readable providers as YAML text.

use api::{Metadata, ProviderId, ProviderType};
use manifest::{Object, YamlLimits, read_stream};

/// The older version.
pub const OLD_VERSION: &str = "v1.13.5";
/// The newer version.
pub const NEW_VERSION: &str = "v1.14.0";

/// The core provider.
pub fn core() -> ProviderId {
    ProviderId::new(ProviderType::Core, "cluster-api")
}

/// The kubeadm bootstrap provider.
pub fn bootstrap() -> ProviderId {
    ProviderId::new(ProviderType::Bootstrap, "kubeadm")
}

/// The kubeadm control-plane provider.
pub fn control_plane() -> ProviderId {
    ProviderId::new(ProviderType::ControlPlane, "kubeadm")
}

/// The docker infrastructure provider.
pub fn docker() -> ProviderId {
    ProviderId::new(ProviderType::Infrastructure, "docker")
}

/// The namespace of a provider from [`components`].
pub fn namespace_of(id: &ProviderId) -> String {
    format!("{}-system", id.label())
}

/// Metadata with the release series of one version.
pub fn metadata(version: &str, contract: &str) -> String {
    let numbers: Vec<&str> = version.trim_start_matches('v').split('.').collect();
    format!(
        "apiVersion: {}\nkind: Metadata\nreleaseSeries:\n- {{major: {}, minor: {}, contract: {contract}}}\n",
        Metadata::API_VERSION,
        numbers[0],
        numbers[1]
    )
}

/// The components of a small provider: a definition, RBAC, a Service, a controller and a certificate. The core provider
/// defines Cluster.
pub fn components(id: &ProviderId, version: &str) -> String {
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

/// A small cert-manager: the kinds that providers use, and its three Deployments.
pub fn cert_manager(version: &str) -> String {
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

/// Parses the objects of a YAML text.
pub fn objects(yaml: &str) -> Vec<Object> {
    read_stream(yaml.as_bytes(), &YamlLimits::default()).expect("the manifest can be read").objects
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
