//! Objects in the frames that digraphs are drawn with: a namespace, and in it a Cluster.

use std::collections::BTreeMap;

use api::output::{GraphObject, OwnerGraph};

/// A namespace, or what is of the whole cluster.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) title: String,
    /// Objects of each Cluster, by its name; of none first.
    pub(super) parts: Vec<(Option<String>, Vec<usize>)>,
}

/// Every object in one frame, by namespace and Cluster; what is of the whole cluster comes first.
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
            "" => "of the whole cluster".to_owned(),
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

/// What stands in the box of an object: kind, name, remarks.
pub(super) fn lines(object: &GraphObject) -> Vec<String> {
    let name = &object.object;
    [name.kind.clone(), name.name.clone()].into_iter().chain(super::remarks(object)).collect()
}
