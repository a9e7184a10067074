//! Definitions with instances of other owners.

use std::slice;

use futures::future::try_join_all;
use manifest::Object;

use crate::{
    ApiError, ApiKind, ApplyOptions, ApplySet, ApplySetItem, ListQuery, ManagedType, ObjectKey, ObjectPage,
    OwnershipMarks, ServedKinds, Server, key_of,
};

/// The number of objects that are requested.
const MAX_LISTED: usize = 5;
/// The number of objects that the error names.
const MAX_EXAMPLES: usize = 3;

/// A definition with instances of other owners.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{definition} is still in use: {}", self.uses())]
pub struct DefinitionInUse {
    /// The CustomResourceDefinition or APIService.
    pub definition: ObjectKey,
    /// Some of the objects, as `Kind ns/name`.
    pub examples: Vec<String>,
    /// The number of further objects, at least.
    pub others: usize,
}

impl DefinitionInUse {
    fn uses(&self) -> String {
        let examples = self.examples.join(", ");
        if self.others == 0 { examples } else { format!("{examples} and at least {} more", self.others) }
    }
}

impl Server {
    /// Finds definitions of a set, and additional managed types, with instances that do not belong to the set. Then no
    /// object of the set may be deleted. Definitions that outlive the set may be in use.
    /// Shape: in the order of the set, then additional types by group and kind. A definition occurs once for each kind
    /// in use.
    /// Source: component-operator-runtime (IsDeletionAllowed).
    pub async fn in_use(
        &self,
        set: &ApplySet,
        marks: &OwnershipMarks,
        options: &ApplyOptions,
    ) -> Result<Vec<DefinitionInUse>, ApiError> {
        self.in_use_by_others(set, slice::from_ref(marks), options).await
    }

    /// Finds definitions like [`Server::in_use`]. Instances of all given owners are allowed, such as those of sets that are
    /// deleted before.
    pub async fn in_use_by_others(
        &self,
        set: &ApplySet,
        owners: &[OwnershipMarks],
        options: &ApplyOptions,
    ) -> Result<Vec<DefinitionInUse>, ApiError> {
        let deleted = set.items.iter().filter(|item| !item.delete_policy.orphans_on_delete());
        let mut found = self.definitions_in_use(deleted, owners).await?;
        if !options.additional_managed_types.is_empty() {
            let kinds = self.kinds().await?;
            let covered = |kind: &&ApiKind| {
                let patterns = &options.additional_managed_types;
                patterns.iter().any(|pattern| pattern.covers(&kind.group_kind()))
            };
            let managed = kinds.iter().filter(covered).map(|kind| (definition_of(kind), kind.clone()));
            found.extend(self.used_by_other_owners(managed.collect(), owners).await?);
        }
        Ok(found)
    }

    /// Finds definitions of some items with instances of other owners.
    pub(crate) async fn definitions_in_use<'i>(
        &self,
        items: impl Iterator<Item = &'i ApplySetItem>,
        owners: &[OwnershipMarks],
    ) -> Result<Vec<DefinitionInUse>, ApiError> {
        let managed: Vec<_> =
            items.flat_map(|item| item.managed_types.iter().map(|managed| (&item.key, managed))).collect();
        if managed.is_empty() {
            return Ok(Vec::new());
        }
        let mut kinds = self.kinds().await?;
        if managed.iter().any(|(_, managed)| managed.served_kinds(&kinds).next().is_none()) {
            // The definition may be newer than the known kinds.
            self.forget_kinds();
            kinds = self.kinds().await?;
        }
        let defined = managed.iter().flat_map(|(key, managed)| {
            managed.served_kinds(&kinds).map(|kind| ((*key).clone(), kind.clone()))
        });
        self.used_by_other_owners(defined.collect(), owners).await
    }

    async fn used_by_other_owners(
        &self,
        defined: Vec<(ObjectKey, ApiKind)>,
        owners: &[OwnershipMarks],
    ) -> Result<Vec<DefinitionInUse>, ApiError> {
        let lists = defined.iter().map(async |(_, kind)| match self.first_foreign(kind, owners).await {
            Err(error) if error.is_not_found() => Ok(Vec::new()),
            found => found,
        });
        let found = try_join_all(lists).await?;
        let used = defined.iter().zip(found).filter(|(_, objects)| !objects.is_empty());
        Ok(used.map(|((definition, _), objects)| in_use(definition.clone(), &objects)).collect())
    }

    /// Returns the first objects of a kind that belong to none of the owners.
    async fn first_foreign(
        &self,
        kind: &ApiKind,
        owners: &[OwnershipMarks],
    ) -> Result<Vec<Object>, ApiError> {
        // Objects without the label belong to others too. The labels of many owners would not fit into a URL.
        let labels =
            owners.first().map(|OwnershipMarks { label: (key, value), .. }| format!("{key}!={value}"));
        let list = ListQuery {
            labels: labels.unwrap_or_default(),
            metadata_only: true,
            limit: (owners.len() < 2).then_some(MAX_LISTED),
            ..ListQuery::default()
        };
        let (mut pages, mut foreign) = (self.pages(kind, &list), Vec::new());
        while foreign.len() < MAX_LISTED
            && let Some(page) = pages.next().await?
        {
            let objects = match page {
                ObjectPage::First(objects) => {
                    foreign.clear();
                    objects
                }
                ObjectPage::Next(objects) => objects,
            };
            foreign
                .extend(objects.into_iter().filter(|object| !owners.iter().any(|owner| owner.owns(object))));
        }
        foreign.truncate(MAX_LISTED);
        Ok(foreign)
    }
}

fn in_use(definition: ObjectKey, objects: &[Object]) -> DefinitionInUse {
    let examples: Vec<_> =
        objects.iter().take(MAX_EXAMPLES).map(|object| key_of(object).to_string()).collect();
    DefinitionInUse { definition, others: objects.len() - examples.len(), examples }
}

/// Returns the key of the definition of a custom kind.
fn definition_of(kind: &ApiKind) -> ObjectKey {
    ObjectKey {
        group: "apiextensions.k8s.io".to_owned(),
        kind: "CustomResourceDefinition".to_owned(),
        namespace: String::new(),
        name: format!("{}.{}", kind.plural, kind.group),
    }
}

impl ManagedType {
    /// Returns the kinds of this type that can be listed, each in one version.
    pub(crate) fn served_kinds<'k>(&self, kinds: &'k ServedKinds) -> impl Iterator<Item = &'k ApiKind> {
        kinds.iter().filter_map(|preferred| {
            let kind = preferred.group_kind();
            let served =
                if self.version == "*" { Some(preferred) } else { kinds.version(&kind, &self.version) };
            served.filter(|served| self.covers(&kind, &served.version) && served.supports("list"))
        })
    }
}
