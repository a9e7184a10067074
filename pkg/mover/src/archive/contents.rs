//! Statistics of a backup, collected while its objects are read or written.

use std::collections::{BTreeMap, BTreeSet};

use api::output;
use apply::{GroupKind, ObjectKey, key_of};
use manifest::{Object, Value};

use super::{BackupIndex, RequiredKey};

const CORE: &str = "cluster.x-k8s.io";
const CONTROL_PLANE: &str = "controlplane.cluster.x-k8s.io";

/// Object counts of a backup by kind, and its Clusters.
#[derive(Clone, Debug, Default)]
pub struct BackupContents {
    kinds: BTreeMap<GroupKind, usize>,
    /// Clusters by namespace and name.
    clusters: BTreeMap<(String, String), ClusterContents>,
    /// Versions of control planes, by namespace, kind and name.
    control_planes: BTreeMap<[String; 3], String>,
    /// Machine counts, by the namespace and name of their Cluster.
    machines: BTreeMap<(String, String), usize>,
}

#[derive(Clone, Debug, Default)]
struct ClusterContents {
    /// Version of the topology.
    version: Option<String>,
    /// Kind and name of the control plane.
    control_plane: Option<(String, String)>,
}

impl BackupContents {
    /// Counts an object.
    pub(super) fn count_object(&mut self, object: &Object) {
        let key = key_of(object);
        *self.kinds.entry(key.group_kind()).or_default() += 1;
        let text = |path: &[&str]| object.get(path).and_then(Value::as_str).map(str::to_owned);
        let ObjectKey { group, kind, namespace, name } = key;
        match (&*group, &*kind) {
            (CORE, "Cluster") => {
                let reference = |field| text(&["spec", "controlPlaneRef", field]);
                let contents = ClusterContents {
                    version: text(&["spec", "topology", "version"]),
                    control_plane: reference("kind").zip(reference("name")),
                };
                self.clusters.insert((namespace, name), contents);
            }
            (CORE, "Machine") => {
                let cluster = text(&["spec", "clusterName"]).unwrap_or_default();
                *self.machines.entry((namespace, cluster)).or_default() += 1;
            }
            (CONTROL_PLANE, _) => {
                if let Some(version) = text(&["spec", "version"]) {
                    self.control_planes.insert([namespace, kind, name], version);
                }
            }
            _ => {}
        }
    }

    /// Counts an object from its saved JSON.
    pub(super) fn count_json(&mut self, content: &[u8]) {
        let object = serde_json::from_slice::<Value>(content).ok().and_then(|value| value.try_into().ok());
        if let Some(object) = object {
            self.count_object(&object);
        }
    }

    /// Returns the number of objects.
    pub fn objects(&self) -> usize {
        self.kinds.values().sum()
    }

    fn cluster_reports(&self, paused: &BTreeSet<ObjectKey>) -> Vec<output::BackupCluster> {
        let report = |((namespace, name), cluster): (&(String, String), &ClusterContents)| {
            let of_control_plane = || {
                let (kind, name) = cluster.control_plane.clone()?;
                self.control_planes.get(&[namespace.clone(), kind, name]).cloned()
            };
            let is_it = |key: &ObjectKey| {
                key.group == CORE && key.kind == "Cluster" && key.namespace == *namespace && key.name == *name
            };
            output::BackupCluster {
                namespace: namespace.clone(),
                name: name.clone(),
                version: cluster.version.clone().or_else(of_control_plane),
                machines: self.machines.get(&(namespace.clone(), name.clone())).copied().unwrap_or_default(),
                paused: paused.iter().any(is_it),
            }
        };
        self.clusters.iter().map(report).collect()
    }
}

impl BackupIndex {
    /// Returns the report of the backup, as commands print it.
    pub fn report(&self, file: &str, required_key: RequiredKey) -> output::BackupReport {
        let about = &self.manifest.origin;
        let provider = |one: &super::BackupProvider| output::BackupProvider {
            provider: one.provider.clone(),
            version: one.version.clone(),
            namespace: one.namespace.clone(),
        };
        let left_out = |one: &crate::LeftOutObject| output::StayingObject {
            object: one.object.clone(),
            why: one.why.clone(),
        };
        let kind = |(kind, objects): (&GroupKind, &usize)| output::BackupKind {
            kind: kind.kind.clone(),
            group: kind.group.clone(),
            objects: *objects,
        };
        output::BackupReport {
            file: file.to_owned(),
            created: about.created.clone(),
            made_by: about.made_by.clone(),
            source: output::BackupSource {
                address: about.source.address.clone(),
                uid: about.source.uid.clone(),
            },
            paused: about.at_rest,
            encryption: match required_key {
                RequiredKey::None => output::BackupEncryption::None,
                RequiredKey::Recipients => output::BackupEncryption::PublicKeys,
                RequiredKey::Passphrase => output::BackupEncryption::Passphrase,
            },
            namespaces: about.namespaces.iter().cloned().collect(),
            objects: self.contents.objects(),
            clusters: self.contents.cluster_reports(&self.manifest.paused()),
            kinds: self.contents.kinds.iter().map(kind).collect(),
            providers: about.providers.iter().map(provider).collect(),
            left_out: self.manifest.left_out.iter().map(left_out).collect(),
            not_ready: about.notes.clone(),
            removed: Vec::new(),
        }
    }
}
