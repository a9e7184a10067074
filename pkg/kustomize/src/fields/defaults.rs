//! The built-in field tables.
//!
//! A line holds kinds separated by commas (`KustomizationKind`, `KustomizationKind.version.group`, `*` for all), a path, and `+` if the field is
//! created. In a path, `{a,b}` stands for each alternative. `@name` stands for the kinds that run pods, as listed in
//! [`PODS`]; the path then begins in the pod spec.
//! Source: kustomize v5.8.1 api/internal/konfig/builtinpluginconsts.

use super::{FieldPath, FieldSpec, FieldTable, FieldTables, KindPattern, ReferenceTable};

/// The path of the pod spec, in the kinds that a table knows.
const PODS: [(&str, &str); 3] = [
    (
        "@config",
        "
Pod.v1 spec
PodTemplate template/spec
Deployment,ReplicaSet,DaemonSet,StatefulSet,Job spec/template/spec
CronJob spec/jobTemplate/spec/template/spec
",
    ),
    (
        "@account",
        "
Pod spec
Deployment,ReplicationController,DaemonSet,StatefulSet,Job spec/template/spec
CronJob spec/jobTemplate/spec/template/spec
",
    ),
    (
        "@vars",
        "
Pod spec
Deployment,ReplicaSet,DaemonSet,StatefulSet,Job spec/template/spec
CronJob spec/jobTemplate/spec/template/spec
",
    ),
];

const NAME: &str = "* metadata/name";

const NAMESPACE: &str = "
Namespace metadata/name +
APIService.*.apiregistration.k8s.io spec/service/namespace +
CustomResourceDefinition.*.apiextensions.k8s.io spec/conversion/webhook/clientConfig/service/namespace
";

const TEMPLATE_LABELS: &str = "
* metadata/labels +
ReplicationController.v1,Deployment,ReplicaSet,DaemonSet spec/template/metadata/labels +
StatefulSet.*.apps,Job.*.batch spec/template/metadata/labels +
StatefulSet.*.apps spec/volumeClaimTemplates[]/metadata/labels +
CronJob.*.batch spec/jobTemplate/metadata/labels +
CronJob.*.batch spec/jobTemplate/spec/template/metadata/labels +
";

/// The fields that `commonLabels` writes in addition to [`TEMPLATE_LABELS`].
const SELECTORS: &str = "
Service.v1,ReplicationController.v1 spec/selector +
Deployment,ReplicaSet,DaemonSet,StatefulSet.*.apps spec/selector/matchLabels +
Deployment.*.apps,StatefulSet.*.apps spec/template/spec/affinity/{podAffinity,podAntiAffinity}/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels
Deployment.*.apps,StatefulSet.*.apps spec/template/spec/affinity/{podAffinity,podAntiAffinity}/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels
Deployment.*.apps,StatefulSet.*.apps spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels
Job.*.batch,PodDisruptionBudget.*.policy spec/selector/matchLabels
CronJob.*.batch spec/jobTemplate/spec/selector/matchLabels
NetworkPolicy.*.networking.k8s.io spec/{podSelector,ingress/from/podSelector,egress/to/podSelector}/matchLabels
";

const ANNOTATIONS: &str = "
* metadata/annotations +
ReplicationController.v1,Deployment,ReplicaSet,DaemonSet,StatefulSet,Job.*.batch spec/template/metadata/annotations +
CronJob.*.batch spec/jobTemplate/metadata/annotations +
CronJob.*.batch spec/jobTemplate/spec/template/metadata/annotations +
";

const IMAGES: &str = "
* spec/{containers[],initContainers[]}/image +
* spec/volumes[]/image/reference +
* spec/template/spec/{containers[],initContainers[]}/image +
* spec/template/spec/volumes[]/image/reference +
";

const REPLICAS: &str = "Deployment,ReplicationController,ReplicaSet,StatefulSet spec/replicas +";

/// The `CronJob` path is the one of kustomize, which omits the pod spec.
const VARIABLES: &str = "
@vars {containers,initContainers}/{args,command,env/value,volumeMounts/mountPath}
Pod spec/volumes/nfs/server
Deployment,ReplicaSet,DaemonSet,Job spec/template/spec/volumes/nfs/server
CronJob spec/jobTemplate/spec/template/volumes/nfs/server
StatefulSet spec/volumeClaimTemplates/spec/nfs/server
PersistentVolume spec/nfs/server
Deployment spec/template/metadata/annotations
Ingress spec/{rules/host,tls/hosts,tls/secretName}
Service spec/ports/{port,targetPort}
* metadata/{labels,annotations}
";

/// A line that ends in `:` names the kind of the referenced objects. The first kind with the name wins, so the order
/// matters.
///
/// The group of IngressClass is the one of kustomize; no object has this group.
const NAME_REFERENCES: &str = r"
StorageClass.v1.storage.k8s.io:
PersistentVolume,PersistentVolumeClaim spec/storageClassName
StatefulSet spec/volumeClaimTemplates/spec/storageClassName
ServiceAccount.v1:
RoleBinding.*.rbac.authorization.k8s.io,ClusterRoleBinding.*.rbac.authorization.k8s.io subjects
@account serviceAccountName
Role.*.rbac.authorization.k8s.io:
RoleBinding.*.rbac.authorization.k8s.io roleRef/name
ClusterRole.*.rbac.authorization.k8s.io:
RoleBinding.*.rbac.authorization.k8s.io,ClusterRoleBinding.*.rbac.authorization.k8s.io roleRef/name
ConfigMap.v1:
@config volumes/{configMap,projected/sources/configMap}/name
@config {containers,initContainers}/{env/valueFrom/configMapKeyRef,envFrom/configMapRef}/name
Node spec/configSource/configMap
Role,ClusterRole rules/resourceNames
Ingress metadata/annotations/nginx.ingress.kubernetes.io\/fastcgi-params-configmap
Secret.v1:
@config volumes/{secret/secretName,projected/sources/secret/name}
@config {containers,initContainers}/{env/valueFrom/secretKeyRef,envFrom/secretRef}/name
@config imagePullSecrets/name
Ingress spec/tls/secretName
Ingress metadata/annotations/{ingress.kubernetes.io\/auth-secret,nginx.ingress.kubernetes.io\/auth-secret}
Ingress metadata/annotations/nginx.ingress.kubernetes.io\/auth-tls-secret
ServiceAccount imagePullSecrets/name
StorageClass parameters/{secretName,adminSecretName,userSecretName,secretRef}
Role,ClusterRole rules/resourceNames
Service.v1.serving.knative.dev spec/template/spec/containers/env/valueFrom/secretKeyRef/name
PersistentVolume spec/azureFile/secretName
Service.v1:
StatefulSet.*.apps spec/serviceName
Ingress spec/{rules/http/paths/backend,backend}/serviceName
Ingress spec/{rules/http/paths/backend,defaultBackend}/service/name
APIService.*.apiregistration.k8s.io spec/service/name
ValidatingWebhookConfiguration.*.admissionregistration.k8s.io webhooks/clientConfig/service
MutatingWebhookConfiguration.*.admissionregistration.k8s.io webhooks/clientConfig/service
PriorityClass.v1.scheduling.k8s.io:
@account priorityClassName
PersistentVolume.v1:
PersistentVolumeClaim spec/volumeName
ClusterRole rules/resourceNames
PersistentVolumeClaim.v1:
@account volumes/persistentVolumeClaim/claimName
Deployment:
HorizontalPodAutoscaler spec/scaleTargetRef/name
StatefulSet:
HorizontalPodAutoscaler spec/scaleTargetRef/name
ValidatingAdmissionPolicy.*.admissionregistration.k8s.io:
ValidatingAdmissionPolicyBinding.*.admissionregistration.k8s.io spec/policyName
IngressClass.v1.networking.k8s.io/v1:
Ingress spec/ingressClassName
ReplicaSet:
HorizontalPodAutoscaler spec/scaleTargetRef/name
ReplicationController:
HorizontalPodAutoscaler spec/scaleTargetRef/name
";

/// Parses the built-in tables.
pub(super) fn tables() -> FieldTables {
    FieldTables {
        name_prefix: table(&[NAME]),
        name_suffix: table(&[NAME]),
        namespace: table(&[NAMESPACE]),
        common_labels: table(&[SELECTORS, TEMPLATE_LABELS]),
        labels: FieldTable::default(),
        template_labels: table(&[TEMPLATE_LABELS]),
        common_annotations: table(&[ANNOTATIONS]),
        images: table(&[IMAGES]),
        replicas: table(&[REPLICAS]),
        var_references: table(&[VARIABLES]),
        name_references: references(NAME_REFERENCES),
    }
}

fn table(texts: &[&str]) -> FieldTable {
    texts.iter().flat_map(|text| lines(text)).flat_map(specs).collect()
}

fn references(text: &str) -> Vec<ReferenceTable> {
    let mut tables: Vec<ReferenceTable> = Vec::new();
    for line in lines(text) {
        if let Some(referent) = line.strip_suffix(':') {
            tables.push(ReferenceTable { referent: pattern(referent), fields: FieldTable::default() });
        } else if let Some(table) = tables.last_mut() {
            for spec in specs(line) {
                table.fields.push(spec);
            }
        }
    }
    tables
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.is_empty())
}

/// Parses a line into one spec per kind and path.
fn specs(line: &str) -> Vec<FieldSpec> {
    let (kinds, rest) = line.split_once(' ').unwrap_or((line, ""));
    let (path, create) = rest.strip_suffix(" +").map_or((rest, false), |path| (path, true));
    let paths = alternatives(path);
    let places = PODS.iter().find(|(name, _)| *name == kinds).map(|(_, places)| *places);
    let Some(places) = places else { return of_kinds(kinds, "", &paths, create) };
    let places = lines(places).filter_map(|line| line.split_once(' '));
    places.flat_map(|(kinds, place)| of_kinds(kinds, &format!("{place}/"), &paths, create)).collect()
}

fn of_kinds(kinds: &str, place: &str, paths: &[String], create: bool) -> Vec<FieldSpec> {
    let spec = |kind: &str, path: &String| {
        let path = FieldPath::parse(&format!("{place}{path}"));
        FieldSpec { kind: pattern(kind), path, create }
    };
    kinds.split(',').flat_map(|kind| paths.iter().map(move |path| spec(kind, path))).collect()
}

/// Expands a path into one path per alternative.
fn alternatives(path: &str) -> Vec<String> {
    let group = path.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    let Some((before, (choices, after))) = group else { return vec![path.to_owned()] };
    let rests = alternatives(after);
    let each = |choice: &str| rests.iter().map(|rest| format!("{before}{choice}{rest}")).collect::<Vec<_>>();
    choices.split(',').flat_map(each).collect()
}

/// Parses `KustomizationKind.version.group`; an omitted part matches everything.
fn pattern(text: &str) -> KindPattern {
    let mut parts = text.splitn(3, '.').map(|part| if part == "*" { "" } else { part });
    let mut next = || parts.next().unwrap_or_default().into();
    let (kind, version, group) = (next(), next(), next());
    KindPattern { group, version, kind }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes one line per field: its table, the kind, the path, and `+` if the field is created.
    fn listed(name: &str, table: &FieldTable) -> String {
        let line = |spec: &FieldSpec| {
            let create = if spec.create { " +" } else { "" };
            format!("{name}: {} {}{create}\n", spec.kind, spec.path)
        };
        table.specs.iter().map(line).collect()
    }

    #[test]
    fn every_table_has_the_fields_of_kustomize() {
        let tables = tables();
        let named = [
            ("namePrefix", &tables.name_prefix),
            ("nameSuffix", &tables.name_suffix),
            ("namespace", &tables.namespace),
            ("commonLabels", &tables.common_labels),
            ("templateLabels", &tables.template_labels),
            ("commonAnnotations", &tables.common_annotations),
            ("images", &tables.images),
            ("replicas", &tables.replicas),
            ("varReference", &tables.var_references),
        ];
        let mut fields: String = named.iter().map(|(name, table)| listed(name, table)).collect();
        for table in &tables.name_references {
            fields.push_str(&listed(&format!("nameReference {}", table.referent), &table.fields));
        }
        assert_eq!(fields, include_str!("defaults/fields.txt"));
    }

    #[test]
    fn a_table_line_expands_to_each_kind_and_path() {
        let written = |line: &str| {
            let specs = specs(line);
            specs.iter().map(|spec| format!("{} {}", spec.kind, spec.path)).collect::<Vec<_>>()
        };
        assert_eq!(written("A.*.g,B {x,y[]}/z"), ["A.*.g x/z", "A.*.g y[]/z", "B x/z", "B y[]/z"]);
        let pods = written("@config a");
        assert_eq!(pods.len(), 8);
        assert_eq!(
            (&*pods[0], &*pods[7]),
            ("Pod.v1 spec/a", "CronJob spec/jobTemplate/spec/template/spec/a")
        );
    }
}
