//! Scopes of kinds, and the kinds that the set defines.

use std::collections::{BTreeMap, BTreeSet};

use manifest::{Object, Value};

use crate::{ApiKind, ApplyOptions, GroupKind, ManagedType, ServedKinds, defined_kinds, key_of};

/// The scopes of kinds.
pub(super) struct Scopes<'a> {
    kinds: &'a ServedKinds,
    /// Versions of kinds that definitions of the set add.
    defined: BTreeMap<GroupKind, Vec<ApiKind>>,
    /// Kinds that APIServices of the set add.
    aggregated: Vec<ManagedType>,
    /// Kinds that come from other sources.
    extra_kinds: &'a [GroupKind],
}

impl<'a> Scopes<'a> {
    pub(super) fn new(objects: &[Object], kinds: &'a ServedKinds, options: &'a ApplyOptions) -> Self {
        let mut defined: BTreeMap<GroupKind, Vec<ApiKind>> = BTreeMap::new();
        for kind in objects.iter().flat_map(defined_kinds) {
            defined.entry(GroupKind::new(&*kind.group, &*kind.kind)).or_default().push(kind);
        }
        let services = objects.iter().filter(|object| key_of(object).is_api_service());
        Self {
            kinds,
            defined,
            aggregated: services.flat_map(defined_types).collect(),
            extra_kinds: &options.additional_managed_types,
        }
    }

    /// True if the object lives in a namespace.
    /// # Errors
    /// The reason if the scope is unknown.
    pub(super) fn is_namespaced(&self, object: &Object) -> Result<bool, String> {
        let kind = GroupKind::new(object.group(), object.kind());
        let version = object.version();
        if let Some(versions) = self.defined.get(&kind) {
            let found = versions.iter().find(|served| served.version == version);
            return found.map(|served| served.namespaced).ok_or_else(|| {
                let all: Vec<_> = versions.iter().map(|served| served.version.as_str()).collect();
                format!("has version `{version}`, but its definition in the set serves {}", all.join(", "))
            });
        }
        if let Some(served) = self.kinds.version(&kind, version) {
            return Ok(served.namespaced);
        }
        let announced = self.aggregated.iter().any(|managed| managed.covers(&kind, version));
        if announced || self.extra_kinds.iter().any(|pattern| pattern.covers(&kind)) {
            return Ok(!object.namespace().is_empty());
        }
        Err(self.unknown_kind_problem(&kind, version))
    }

    fn unknown_kind_problem(&self, kind: &GroupKind, version: &str) -> String {
        let group_version = format!("{}/{version}", kind.group);
        if self.kinds.unavailable().any(|broken| broken == group_version) {
            return format!("the API `{group_version}` does not answer, so kind `{kind}` is unknown");
        }
        if let Some(preferred) = self.kinds.preferred(kind) {
            return format!(
                "the server does not serve `{kind}` in version `{version}`; it prefers version `{}`",
                preferred.version
            );
        }
        let unknown = format!("neither the server nor the set defines kind `{kind}`");
        match self.suggestions(kind) {
            near if near.is_empty() => unknown,
            near => format!("{unknown}; similar kinds: {}", near.join(", ")),
        }
    }

    /// Returns similar kinds: kinds of the same name in other groups, or else kinds with a similar name.
    fn suggestions(&self, kind: &GroupKind) -> Vec<String> {
        let served = self.kinds.iter().map(|served| GroupKind::new(&*served.group, &*served.kind));
        let all: BTreeSet<GroupKind> = served.chain(self.defined.keys().cloned()).collect();
        let namesakes: Vec<_> = all.iter().filter(|other| other.kind == kind.kind).collect();
        if !namesakes.is_empty() {
            return namesakes.into_iter().take(3).map(|other| format!("`{other}`")).collect();
        }
        let names: Vec<_> = all.iter().map(ToString::to_string).collect();
        let near = api::similar_names(&kind.to_string(), names.iter().map(String::as_str));
        near.into_iter().map(|name| format!("`{name}`")).collect()
    }
}

/// Returns the kinds that a CustomResourceDefinition or an APIService defines.
pub(super) fn defined_types(object: &Object) -> Vec<ManagedType> {
    let text = |path: &[&str]| object.get(path).and_then(Value::as_str).unwrap_or_default().to_owned();
    let key = key_of(object);
    let group = text(&["spec", "group"]);
    let all = "*".to_owned();
    match () {
        () if key.is_crd() => {
            vec![ManagedType { group, version: all, kind: text(&["spec", "names", "kind"]) }]
        }
        () if key.is_api_service() => {
            vec![ManagedType { group, version: text(&["spec", "version"]), kind: all }]
        }
        () => Vec::new(),
    }
}
