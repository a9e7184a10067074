//! The merge keys of the built-in kinds, as text.
//!
//! [`TYPES`]: a type a line, then its fields: `field=Type` for a mapping, `field=[key,key]Type` for a list of mappings that
//! are told apart by these keys, `field=[]` for a list of single values, each once. Types of one shape share a line.
//! [`KINDS`]: an `apiVersion`, the type of its kinds, the kinds. [`DEFINITIONS`]: a type, what it is called in the schema.
//! Source: the OpenAPI schema of Kubernetes v1.21.2 (`x-kubernetes-patch-strategy: merge`, with
//! `x-kubernetes-list-map-keys` before `x-kubernetes-patch-merge-key`), which kyaml 0.21 has built in.

use std::collections::HashMap;

use super::{Field, Graph, Type, TypeId};

const TYPES: &str = "
Meta finalizers=[] ownerReferences=[uid]
Conditions conditions=[type]
Plain metadata=Meta
WithConditions metadata=Meta status=Conditions
ComponentStatus metadata=Meta conditions=[type]
Pod metadata=Meta spec=PodSpec status=PodStatus
PodStatus conditions=[type] podIPs=[ip]
PodSpec containers=[name]Container initContainers=[name]Container ephemeralContainers=[name]Container \
    volumes=[name]Volume imagePullSecrets=[name] hostAliases=[ip] \
    topologySpreadConstraints=[topologyKey,whenUnsatisfiable]
Container env=[name] ports=[containerPort,protocol] volumeMounts=[mountPath] volumeDevices=[devicePath]
Volume ephemeral=EphemeralVolume
EphemeralVolume volumeClaimTemplate=Plain
PodTemplate metadata=Meta template=Template
Template metadata=Meta spec=PodSpec
Workload metadata=Meta spec=WorkloadSpec status=Conditions
WorkloadSpec template=Template
CronJob metadata=Meta spec=CronJobSpec
CronJobSpec jobTemplate=JobTemplate
JobTemplate metadata=Meta spec=WorkloadSpec
Service metadata=Meta spec=ServiceSpec status=Conditions
ServiceSpec ports=[port,protocol]
ServiceAccount metadata=Meta secrets=[name]
Node metadata=Meta spec=NodeSpec status=NodeStatus
NodeSpec podCIDRs=[]
NodeStatus conditions=[type] addresses=[type]
Webhooks metadata=Meta webhooks=[name]
CSINode metadata=Meta spec=CSINodeSpec
CSINodeSpec drivers=[name]
Kustomization configMapGenerator=[name] secretGenerator=[name]
";

const KINDS: &str = "
v1 Plain Binding ConfigMap Endpoints Event LimitRange PersistentVolume ResourceQuota Secret
v1 WithConditions Namespace PersistentVolumeClaim
v1 Workload ReplicationController
v1 ComponentStatus ComponentStatus
v1 Node Node
v1 Pod Pod
v1 PodTemplate PodTemplate
v1 Service Service
v1 ServiceAccount ServiceAccount
admissionregistration.k8s.io/v1 Webhooks MutatingWebhookConfiguration ValidatingWebhookConfiguration
admissionregistration.k8s.io/v1beta1 Webhooks MutatingWebhookConfiguration ValidatingWebhookConfiguration
apiextensions.k8s.io/v1 Plain CustomResourceDefinition
apiextensions.k8s.io/v1beta1 Plain CustomResourceDefinition
apiregistration.k8s.io/v1 WithConditions APIService
apiregistration.k8s.io/v1beta1 WithConditions APIService
apps/v1 Plain ControllerRevision
apps/v1 Workload DaemonSet Deployment ReplicaSet StatefulSet
authentication.k8s.io/v1 Plain TokenRequest TokenReview
authentication.k8s.io/v1beta1 Plain TokenReview
authorization.k8s.io/v1 Plain LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview
authorization.k8s.io/v1beta1 Plain LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview
autoscaling/v1 Plain HorizontalPodAutoscaler Scale
autoscaling/v2beta1 Plain HorizontalPodAutoscaler
autoscaling/v2beta2 Plain HorizontalPodAutoscaler
batch/v1 Workload Job
batch/v1 CronJob CronJob
batch/v1beta1 CronJob CronJob
certificates.k8s.io/v1 Plain CertificateSigningRequest
certificates.k8s.io/v1beta1 Plain CertificateSigningRequest
coordination.k8s.io/v1 Plain Lease
coordination.k8s.io/v1beta1 Plain Lease
discovery.k8s.io/v1 Plain EndpointSlice
discovery.k8s.io/v1beta1 Plain EndpointSlice
events.k8s.io/v1 Plain Event
events.k8s.io/v1beta1 Plain Event
extensions/v1beta1 Plain Ingress
flowcontrol.apiserver.k8s.io/v1beta1 Plain FlowSchema PriorityLevelConfiguration
kustomize.config.k8s.io/v1beta1 Kustomization Kustomization
networking.k8s.io/v1 Plain Ingress IngressClass NetworkPolicy
networking.k8s.io/v1beta1 Plain Ingress IngressClass
node.k8s.io/v1 Plain RuntimeClass
node.k8s.io/v1beta1 Plain RuntimeClass
policy/v1 WithConditions PodDisruptionBudget
policy/v1beta1 Plain Eviction PodSecurityPolicy
policy/v1beta1 WithConditions PodDisruptionBudget
rbac.authorization.k8s.io/v1 Plain ClusterRole ClusterRoleBinding Role RoleBinding
rbac.authorization.k8s.io/v1beta1 Plain ClusterRole ClusterRoleBinding Role RoleBinding
scheduling.k8s.io/v1 Plain PriorityClass
scheduling.k8s.io/v1beta1 Plain PriorityClass
storage.k8s.io/v1 Plain CSIDriver StorageClass VolumeAttachment
storage.k8s.io/v1 CSINode CSINode
storage.k8s.io/v1beta1 Plain CSIDriver CSIStorageCapacity StorageClass VolumeAttachment
storage.k8s.io/v1beta1 CSINode CSINode
";

/// What the definitions are called that kinds are made of; those of kinds are called like these.
const DEFINITIONS: &str = "
Meta io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
PodSpec io.k8s.api.core.v1.PodSpec
PodStatus io.k8s.api.core.v1.PodStatus
Template io.k8s.api.core.v1.PodTemplateSpec
Container io.k8s.api.core.v1.Container io.k8s.api.core.v1.EphemeralContainer
Volume io.k8s.api.core.v1.Volume
EphemeralVolume io.k8s.api.core.v1.EphemeralVolumeSource
Plain io.k8s.api.core.v1.PersistentVolumeClaimTemplate
ServiceSpec io.k8s.api.core.v1.ServiceSpec
WorkloadSpec io.k8s.api.core.v1.ReplicationControllerSpec io.k8s.api.apps.v1.DaemonSetSpec \
    io.k8s.api.apps.v1.DeploymentSpec io.k8s.api.apps.v1.ReplicaSetSpec io.k8s.api.apps.v1.StatefulSetSpec \
    io.k8s.api.batch.v1.JobSpec
CronJobSpec io.k8s.api.batch.v1.CronJobSpec io.k8s.api.batch.v1beta1.CronJobSpec
JobTemplate io.k8s.api.batch.v1.JobTemplateSpec io.k8s.api.batch.v1beta1.JobTemplateSpec
";

/// The definitions others can refer to, by their names.
pub(super) fn definitions() -> HashMap<String, TypeId> {
    let types = types();
    let mut definitions = HashMap::new();
    for line in lines(DEFINITIONS) {
        let mut words = line.split_whitespace();
        let Some(of) = words.next().and_then(|of| types.get(of)) else { continue };
        definitions.extend(words.map(|name| (name.to_owned(), *of)));
    }
    for (version, of, kind) in kinds() {
        let (group, version) = version.split_once('/').unwrap_or(("core", version));
        let group = group.split('.').next().unwrap_or_default();
        definitions.extend(types.get(of).map(|of| (format!("io.k8s.api.{group}.{version}.{kind}"), *of)));
    }
    definitions
}

fn lines(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().filter(|line| !line.is_empty())
}

fn types() -> HashMap<&'static str, TypeId> {
    let names = lines(TYPES).enumerate();
    names.filter_map(|(at, line)| Some((line.split(' ').next()?, TypeId(at)))).collect()
}

/// Every kind with its `apiVersion`, before it, and the name of its type, between them.
fn kinds() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    lines(KINDS).flat_map(|line| {
        let mut words = line.split(' ');
        let start = words.next().zip(words.next());
        start.into_iter().flat_map(move |(version, of)| words.clone().map(move |kind| (version, of, kind)))
    })
}

/// Reads the tables.
pub(super) fn graph() -> Graph {
    let names = types();
    let types = lines(TYPES).map(|line| {
        let fields = line.split_whitespace().skip(1).filter_map(|word| word.split_once('='));
        let fields = fields.map(|(name, text)| (name.into(), field(text, &names))).collect();
        Type { fields, others: None }
    });
    let mut graph = Graph { types: types.collect(), ..Graph::default() };
    for (version, of, kind) in kinds() {
        let kinds = graph.kinds.entry(version.into()).or_default();
        kinds.extend(names.get(of).map(|of| (kind.into(), *of)));
    }
    graph
}

fn field(text: &str, names: &HashMap<&str, TypeId>) -> Field {
    match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((keys, of)) => {
            let keys = keys.split(',').filter(|key| !key.is_empty()).map(Into::into).collect();
            Field { keys: Some(keys), of: names.get(of).copied() }
        }
        None => Field { keys: None, of: names.get(text).copied() },
    }
}
