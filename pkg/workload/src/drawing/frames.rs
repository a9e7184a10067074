//! Sorts objects into the frames of digraphs: a namespace, and Clusters inside it.

use std::collections::BTreeMap;

use api::output::{GraphObject, OwnerGraph};

/// A namespace, or the cluster-scoped objects.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) title: String,
    /// The objects by Cluster name; objects without a Cluster come first.
    pub(super) parts: Vec<(Option<String>, Vec<usize>)>,
}

/// Assigns every object to one frame, by namespace and Cluster; cluster-scoped objects come first.
pub(super) fn frames(graph: &OwnerGraph) -> Vec<Frame> {
    let mut frames: BTreeMap<&str, BTreeMap<Option<usize>, Vec<usize>>> = BTreeMap::new();
    for (position, object) in graph.objects.iter().enumerate() {
        let namespace = &object.object.namespace;
        let is_beside = |cluster: &usize| graph.objects[*cluster].object.namespace == *namespace;
        let cluster = object.cluster.filter(is_beside);
        frames.entry(namespace).or_default().entry(cluster).or_default().push(position);
    }
    let frame = |(namespace, parts): (&str, BTreeMap<Option<usize>, Vec<usize>>)| Frame {
        title: match namespace {
            "" => "cluster-scoped".to_owned(),
            namespace => format!("namespace {namespace}"),
        },
        parts: parts
            .into_iter()
            .map(|(cluster, objects)| {
                (cluster.map(|at| format!("Cluster {}", graph.objects[at].object.name)), objects)
            })
            .collect(),
    };
    frames.into_iter().map(frame).collect()
}

/// Returns the lines in the box of an object: kind, name, remarks.
pub(super) fn lines(object: &GraphObject) -> Vec<String> {
    let name = &object.object;
    [name.kind.clone(), name.name.clone()].into_iter().chain(super::remarks(object)).collect()
}
