//! The construction of the graph.

use std::collections::{HashMap, HashSet};

use super::{ContentFacts, Graph, Node, NodeId, ObjectFacts};

/// Suffixes of Secrets without owners, after the name of their Cluster and a dash.
/// Source: Cluster API v1.14 util/secret (Purpose), limited to Secrets that users create.
const PURPOSES: [&str; 6] = ["apiserver-etcd-client", "ca", "etcd", "kubeconfig", "proxy", "sa"];

/// Objects of one kind, by namespace and name.
type IdsByName<'f> = HashMap<(&'f str, &'f str), NodeId>;

impl Graph {
    /// Links objects by their owner references (by uid), the names of certificates and the references of Clusters. An
    /// object with a repeated uid is added once.
    /// Source: clusterctl v1.14 client/cluster/objectgraph.go; differs: clusterctl misreads the last dash of
    /// `NAME-apiserver-etcd-client`; here such Secrets belong to their Cluster.
    pub fn new(mut objects: Vec<ObjectFacts>) -> Self {
        let mut seen = HashSet::new();
        // An object without a uid was never on a server, so it is no duplicate.
        objects.retain(|facts| facts.uid.is_empty() || seen.insert(facts.uid.clone()));
        objects.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
        let soft = soft_owners(&objects);
        let by_uid: HashMap<_, _> = ids(&objects).map(|(id, facts)| (facts.uid.clone(), id)).collect();
        let nodes = objects.into_iter().zip(soft).map(|(facts, soft)| {
            let owner = |uid: &String| by_uid.get(uid).copied().filter(|_| !uid.is_empty());
            let owners: Vec<_> =
                facts.owners.iter().map(|written| (written.clone(), owner(&written.uid))).collect();
            let is_hard = |owner: &NodeId| owners.iter().any(|(_, known)| *known == Some(*owner));
            let soft_owners = soft.filter(|owner| !is_hard(owner)).into_iter().collect();
            Node { facts, owners, soft_owners, owned: Vec::new() }
        });
        let mut graph = Graph { nodes: nodes.collect() };
        link_owned(&mut graph);
        graph
    }
}

/// Returns the sort key of nodes.
fn sort_key(facts: &ObjectFacts) -> (&str, &str, &str, &str) {
    let key = &facts.key;
    (&key.kind, &key.namespace, &key.name, &key.group)
}

fn ids(objects: &[ObjectFacts]) -> impl Iterator<Item = (NodeId, &ObjectFacts)> {
    (0..).map(NodeId).zip(objects)
}

/// Adds every owned object to its owners once.
fn link_owned(graph: &mut Graph) {
    let mut links: Vec<_> =
        graph.iter().flat_map(|(id, node)| node.all_owners().map(move |owner| (owner, id))).collect();
    links.sort_unstable();
    links.dedup();
    for (owner, owned) in links {
        graph.nodes[owner.index()].owned.push(owned);
    }
}

/// Returns the soft owner of every object.
fn soft_owners(objects: &[ObjectFacts]) -> Vec<Option<NodeId>> {
    let ids_where = |is: fn(&ContentFacts) -> bool| -> IdsByName<'_> {
        let of_kind = ids(objects).filter(|(_, facts)| is(&facts.content));
        of_kind.map(|(id, facts)| ((&*facts.key.namespace, &*facts.key.name), id)).collect()
    };
    let clusters = ids_where(|content| matches!(content, ContentFacts::Cluster(_)));
    let classes = ids_where(|content| matches!(content, ContentFacts::ClusterClass));
    let soft = |facts: &ObjectFacts| match &facts.content {
        ContentFacts::Cluster(cluster) => {
            let (namespace, name) = cluster.class.as_ref()?;
            classes.get(&(&**namespace, &**name)).copied()
        }
        ContentFacts::Binding { cluster } => clusters.get(&(&*facts.key.namespace, &**cluster)).copied(),
        _ if facts.key.is("", "Secret") && facts.owners.is_empty() => certificate_owner(facts, &clusters),
        _ => None,
    };
    objects.iter().map(soft).collect()
}

/// Returns the Cluster of a user-supplied certificate, by the name of the Secret.
fn certificate_owner(facts: &ObjectFacts, clusters: &IdsByName<'_>) -> Option<NodeId> {
    PURPOSES.iter().find_map(|purpose| {
        let cluster = facts.key.name.strip_suffix(purpose)?.strip_suffix('-')?;
        clusters.get(&(&*facts.key.namespace, cluster)).copied()
    })
}
