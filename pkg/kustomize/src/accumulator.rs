//! The objects of a target so far, indexed by every current and former id.
//!
//! The index only grows: a renamed object keeps its former ids, which patches and references use. A look-up costs one
//! hash and a scan of the few objects that share a name.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use manifest::provenance::FieldOrigin;

use crate::ResId;
use crate::fields::FieldTables;
use crate::report::{BuildLocation, StepError};
use crate::resource::Resource;

/// The position of an object in an accumulator; stable while other objects are added or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ResourcePosition(usize);

/// Objects in insertion order, and the field tables that apply to them.
#[derive(Debug)]
pub(crate) struct Accumulator {
    /// The fields that transformers write: the built-in tables and those of every `configurations` on the way up.
    pub(crate) tables: Arc<FieldTables>,
    /// The variables of this target and of the targets it has absorbed.
    pub(crate) variables: BTreeMap<Arc<str>, Variable>,
    /// True if an entry of this target failed to load; the report has its error.
    pub(crate) is_partial: bool,
    slots: Vec<Option<Resource>>,
    index: HashMap<ResId, Vec<ResourcePosition>>,
    /// Positions by every current and former name; built by the first look-up.
    names: Option<HashMap<Arc<str>, Vec<ResourcePosition>>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) object: ResId,
    pub(crate) field: Box<str>,
    pub(crate) location: BuildLocation,
}

/// An object or a variable that already exists.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConflictError {
    #[error("duplicate object `{id}`: from {first} and from {second}")]
    Object { id: Box<ResId>, first: String, second: String },
    #[error("duplicate variable `{name}`: in {first} and in {second}")]
    Variable { name: String, first: String, second: String },
}

/// An empty accumulator. A kustomization adds the built-in tables together with its own tables.
impl Default for Accumulator {
    fn default() -> Self {
        let (variables, is_partial, slots, index, names) = Default::default();
        Self { tables: FieldTables::empty(), variables, is_partial, slots, index, names }
    }
}

impl Accumulator {
    /// Appends an object.
    /// # Errors
    /// `Object` if another object has this id now; then the accumulator stays unchanged.
    pub(crate) fn append(&mut self, resource: Resource) -> Result<ResourcePosition, ConflictError> {
        if let Some(first) = self.find_by_id(resource.id()).and_then(|position| self.get(position)) {
            let (first, second) = (first.origin.to_string(), resource.origin.to_string());
            return Err(ConflictError::Object { id: Box::new(resource.id().clone()), first, second });
        }
        let position = ResourcePosition(self.slots.len());
        for id in resource.ids() {
            index_id(&mut self.index, &mut self.names, id, position);
        }
        self.slots.push(Some(resource));
        Ok(position)
    }

    /// Appends all objects of another accumulator, with its field tables and variables. Returns the conflicts.
    pub(crate) fn absorb(&mut self, other: Self) -> Vec<StepError> {
        self.is_partial |= other.is_partial;
        let mut problems = self.add_tables(&other.tables);
        let added = other.slots.into_iter().flatten().map(|resource| self.append(resource));
        problems.extend(added.filter_map(Result::err).map(Into::into));
        for (name, variable) in other.variables {
            problems.extend(self.add_variable(name, variable).err().map(Into::into));
        }
        problems
    }

    /// Adds a variable.
    /// # Errors
    /// `Variable` if the name is taken; then the first variable stays.
    pub(crate) fn add_variable(&mut self, name: Arc<str>, variable: Variable) -> Result<(), ConflictError> {
        if let Some(first) = self.variables.get(&name) {
            let (first, second) = (first.location.to_string(), variable.location.to_string());
            return Err(ConflictError::Variable { name: name.to_string(), first, second });
        }
        self.variables.insert(name, variable);
        Ok(())
    }

    /// Adds field tables to the current ones. Returns the conflicts.
    pub(crate) fn add_tables(&mut self, tables: &Arc<FieldTables>) -> Vec<StepError> {
        let built_in = FieldTables::built_in();
        let is = |first: &Arc<FieldTables>, second: &Arc<FieldTables>| Arc::ptr_eq(first, second);
        // Shortcut for the usual case: merging the built-in tables into none or into themselves gives the built-in
        // tables.
        if is(tables, &built_in) && (is(&self.tables, &built_in) || is(&self.tables, &FieldTables::empty())) {
            self.tables = built_in;
            return Vec::new();
        }
        Arc::make_mut(&mut self.tables).merge(tables).into_iter().map(Into::into).collect()
    }

    /// Iterates over the objects in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ResourcePosition, &Resource)> {
        let occupied = |(index, slot): (usize, &'_ Option<Resource>)| slot.is_some().then_some(index);
        let positions = self.slots.iter().enumerate().filter_map(occupied);
        positions.filter_map(|index| Some((ResourcePosition(index), self.slots[index].as_ref()?)))
    }

    pub(crate) fn get(&self, position: ResourcePosition) -> Option<&Resource> {
        self.slots.get(position.0)?.as_ref()
    }

    /// Finds the objects that have or had an id, in order.
    pub(crate) fn find_by_any_id(&self, id: &ResId) -> impl Iterator<Item = ResourcePosition> {
        let found = self.index.get(id).into_iter().flatten().copied();
        found.filter(|position| self.get(*position).is_some())
    }

    /// Finds the object whose current id is `id`.
    pub(crate) fn find_by_id(&self, id: &ResId) -> Option<ResourcePosition> {
        self.find_by_any_id(id)
            .find(|position| self.get(*position).is_some_and(|resource| resource.id() == id))
    }

    /// Finds the objects that have or had a name, in order.
    pub(crate) fn find_by_any_name(&mut self, name: &str) -> Vec<ResourcePosition> {
        let names = self.names.get_or_insert_with(|| {
            let mut names: HashMap<Arc<str>, Vec<ResourcePosition>> = HashMap::new();
            for (index, resource) in self.slots.iter().enumerate() {
                for id in resource.iter().flat_map(Resource::ids) {
                    names.entry(Arc::clone(&id.name)).or_default().push(ResourcePosition(index));
                }
            }
            names
        });
        let mut found = names.get(name).cloned().unwrap_or_default();
        found.retain(|position| self.get(*position).is_some());
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Changes one object. If the change gives the object a new id, indexes that id and keeps the former one. Drops an
    /// object that the change leaves empty.
    pub(crate) fn edit<T>(
        &mut self,
        position: ResourcePosition,
        change: impl FnOnce(&mut Resource) -> T,
    ) -> Option<T> {
        let slot = self.slots.get_mut(position.0)?;
        let resource = slot.as_mut()?;
        let result = change(resource);
        if resource.object.as_map().is_empty() {
            *slot = None;
        } else if resource.update_id() {
            index_id(&mut self.index, &mut self.names, resource.id(), position);
        }
        Some(result)
    }

    /// Changes every object, in order.
    pub(crate) fn edit_all(&mut self, mut change: impl FnMut(&mut Resource)) {
        for index in 0..self.slots.len() {
            self.edit(ResourcePosition(index), &mut change);
        }
    }

    /// Records the provenance of every field changed since the last call. A new object gets the provenance of its
    /// origin.
    pub(crate) fn record_provenance(&mut self, setter: &Arc<FieldOrigin>) {
        for resource in self.slots.iter_mut().flatten() {
            if resource.object.provenance().is_some() {
                resource.object.record_provenance(setter);
            } else {
                resource.object.start_provenance(&Arc::new(resource.origin.field_origin()));
            }
        }
    }

    pub(crate) fn remove(&mut self, position: ResourcePosition) -> Option<Resource> {
        self.slots.get_mut(position.0)?.take()
    }

    /// Sorts the objects by a key; the sort is stable. All positions change.
    pub(crate) fn sort_by_cached_key<K: Ord>(&mut self, key: impl FnMut(&Resource) -> K) {
        let mut resources: Vec<Resource> = self.slots.drain(..).flatten().collect();
        resources.sort_by_cached_key(key);
        self.index.clear();
        self.names = None;
        for (place, resource) in resources.iter().enumerate() {
            resource
                .ids()
                .for_each(|id| index_id(&mut self.index, &mut self.names, id, ResourcePosition(place)));
        }
        self.slots = resources.into_iter().map(Some).collect();
    }

    pub(crate) fn into_resources(self) -> Vec<Resource> {
        self.slots.into_iter().flatten().collect()
    }
}

fn index_id(
    index: &mut HashMap<ResId, Vec<ResourcePosition>>,
    names: &mut Option<HashMap<Arc<str>, Vec<ResourcePosition>>>,
    id: &ResId,
    position: ResourcePosition,
) {
    let positions = index.entry(id.clone()).or_default();
    if !positions.contains(&position) {
        positions.push(position);
    }
    if let Some(names) = names {
        names.entry(Arc::clone(&id.name)).or_default().push(position);
    }
}

#[cfg(test)]
mod tests {
    use manifest::Object;
    use serde_json::json;

    use snapbox::{assert_data_eq, str};

    use super::*;
    use crate::TreePath;
    use crate::resource::ObjectOrigin;

    fn config_map(name: &str) -> Resource {
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
        let origin = Arc::new(ObjectOrigin::File(TreePath::new(name)));
        Resource::new(Object::try_from(object).unwrap(), origin)
    }

    fn gathered(names: &[&str]) -> Accumulator {
        let mut all = Accumulator::default();
        for name in names {
            all.append(config_map(name)).unwrap();
        }
        all
    }

    #[test]
    fn an_object_is_found_by_former_names_and_its_current_one() {
        let mut all = gathered(&["a", "b"]);
        let first = all.find_by_id(config_map("a").id()).unwrap();
        all.edit(first, |resource| resource.object.set_name("x-a"));
        all.edit(first, |resource| resource.object.set_name("y-x-a"));
        for name in ["a", "x-a", "y-x-a"] {
            assert_eq!(all.find_by_any_id(config_map(name).id()).collect::<Vec<_>>(), [first], "{name}");
        }
        assert_eq!(all.find_by_id(config_map("a").id()), None);
        assert_eq!(all.get(first).unwrap().original_id(), config_map("a").id());
    }

    #[test]
    fn two_objects_with_one_id_are_refused_with_both_files() {
        let mut all = gathered(&["a", "b"]);
        let clashes = all.absorb(gathered(&["b", "c"]));
        let texts: Vec<String> = clashes.iter().map(ToString::to_string).collect();
        assert_data_eq!(
            texts.join("\n"),
            str!["duplicate object `ConfigMap.v1.[noGrp]/b.[noNs]`: from `/b` and from `/b`"]
        );
        let names = all.iter().map(|(_, resource)| resource.object.name()).collect::<Vec<_>>();
        assert_eq!(names, ["a", "b", "c"]);
    }

    #[test]
    fn removing_an_object_keeps_the_positions_of_others() {
        let mut all = gathered(&["a", "b", "c"]);
        let at = |all: &Accumulator, name: &str| all.find_by_id(config_map(name).id()).unwrap();
        let (first, second) = (at(&all, "a"), at(&all, "b"));
        all.edit(first, |resource| resource.object.as_map_mut().clear());
        assert!(all.remove(second).is_some());
        assert_eq!(all.find_by_any_id(config_map("b").id()).count(), 0);
        assert_eq!(all.iter().count(), 1);
        assert_eq!(at(&all, "c"), ResourcePosition(2));
    }
}
