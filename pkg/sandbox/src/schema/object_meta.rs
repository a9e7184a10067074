//! The schema of `metadata`, which every object has and no definition describes.

use std::{collections::BTreeMap, sync::Arc};

use super::{AdditionalProperties, ListType, Node, NodeId, PatchStrategy, Schemas, Type};

const PREFIX: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";

/// Adds the schema of `ObjectMeta` and its parts. Returns its number.
/// Source: `io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta` in the OpenAPI document of kube-apiserver 1.36.
pub(crate) fn object_meta(schemas: &mut Schemas) -> NodeId {
    let text = schemas.add(Node { kind: Type::String, ..Node::default() });
    let number = schemas.add(integer());
    let time = schemas.add(time());
    let texts = schemas.add(Node {
        kind: Type::Object,
        additional: AdditionalProperties::Of(text),
        ..Node::default()
    });
    let merge = PatchStrategy { merge: true, ..PatchStrategy::default() };
    let finalizers = schemas.add(Node { list_type: ListType::Set, patch: merge, ..list(text) });
    let owner = owner_reference(schemas, text);
    let uid: Arc<str> = "uid".into();
    let owners = schemas.add(Node {
        list_type: ListType::Map(vec![Arc::clone(&uid)]),
        patch: PatchStrategy { merge: true, merge_key: Some(uid), ..PatchStrategy::default() },
        ..list(owner)
    });
    let managed = managed_fields(schemas, text, time);
    let mut properties = BTreeMap::new();
    for name in ["name", "generateName", "namespace", "selfLink", "uid", "resourceVersion"] {
        properties.insert(name.into(), text);
    }
    for (name, node) in [
        ("generation", number),
        ("deletionGracePeriodSeconds", number),
        ("creationTimestamp", time),
        ("deletionTimestamp", time),
        ("labels", texts),
        ("annotations", texts),
        ("finalizers", finalizers),
        ("ownerReferences", owners),
        ("managedFields", managed),
    ] {
        properties.insert(name.into(), node);
    }
    schemas.add(object("ObjectMeta", properties))
}

fn owner_reference(schemas: &mut Schemas, text: NodeId) -> NodeId {
    let flag = schemas.add(Node { kind: Type::Boolean, ..Node::default() });
    let mut properties = BTreeMap::new();
    for name in ["apiVersion", "kind", "name", "uid"] {
        properties.insert(name.into(), text);
    }
    for name in ["controller", "blockOwnerDeletion"] {
        properties.insert(name.into(), flag);
    }
    let required = ["apiVersion", "kind", "name", "uid"].map(Arc::from).to_vec();
    schemas.add(Node { required, atomic_map: true, ..object("OwnerReference", properties) })
}

fn managed_fields(schemas: &mut Schemas, text: NodeId, time: NodeId) -> NodeId {
    let any =
        Node { kind: Type::Object, preserve_unknown_fields: true, ..object("FieldsV1", BTreeMap::new()) };
    let fields = schemas.add(any);
    let mut properties = BTreeMap::new();
    for name in ["apiVersion", "fieldsType", "manager", "operation", "subresource"] {
        properties.insert(name.into(), text);
    }
    properties.insert("time".into(), time);
    properties.insert("fieldsV1".into(), fields);
    let entry = schemas.add(object("ManagedFieldsEntry", properties));
    schemas.add(list(entry))
}

fn object(name: &str, properties: BTreeMap<Arc<str>, NodeId>) -> Node {
    let definition = Some(format!("{PREFIX}.{name}").into());
    Node { definition, kind: Type::Object, properties, ..Node::default() }
}

fn list(items: NodeId) -> Node {
    Node { kind: Type::Array, items: Some(items), ..Node::default() }
}

fn integer() -> Node {
    Node { kind: Type::Integer, format: Some("int64".into()), ..Node::default() }
}

fn time() -> Node {
    let definition = Some(format!("{PREFIX}.Time").into());
    Node { definition, kind: Type::String, format: Some("date-time".into()), ..Node::default() }
}
