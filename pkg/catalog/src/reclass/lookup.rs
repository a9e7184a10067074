//! The path of a reference, followed through unresolved parameters.
//!
//! Only the values on the path are merged and resolved, so fields of one mapping can refer to each other.

use std::sync::Arc;

use super::class::parse_value;
use super::inventory::similar;
use super::merge::Folded;
use super::problem::{ParameterProblem, ProblemKind};
use super::resolve::{Resolved, Resolver, Scope};
use super::tree::{Content, Fields, Tree, add_field};

impl Resolver<'_> {
    /// Returns the value at a path such as `a:b`, or the default. `tree` is the text with the reference.
    pub(super) fn look_up(
        &self,
        tree: &Tree,
        path: &str,
        default: Option<&str>,
        scope: &Scope<'_>,
    ) -> Resolved {
        let mut keys = path.split(':');
        let first = keys.next().unwrap_or_default();
        let Some(field) = self.fields.get(first) else {
            return self.default_or_missing(tree, path, first, default, scope, &[self.fields]);
        };
        let mut values = field.values.clone();
        let mut followed = first.len();
        for key in keys {
            let reason = match self.fold_unresolved(&values, scope)? {
                Folded::Maps(maps) => {
                    let fields: Vec<&Fields> = maps.iter().filter_map(|map| map.fields()).collect();
                    match self.values_at(&fields, key, tree, scope)? {
                        Some(next) => values = next,
                        None => return self.default_or_missing(tree, path, key, default, scope, &fields),
                    }
                    followed += 1 + key.len();
                    continue;
                }
                Folded::Lists(_) => "Sequence lookups aren't supported for Reclass references!".to_owned(),
                Folded::Single(found) => {
                    format!("Can't continue lookup, {} is a {}", &path[..followed], found.type_name())
                }
            };
            let (reference, key) = (path.to_owned(), key.to_owned());
            return Err(scope.problem(self, tree, ProblemKind::NoMapping { reference, key, reason }));
        }
        self.resolve_values(&values, scope)
    }

    /// Folds values whose fields may be unresolved.
    fn fold_unresolved(
        &self,
        values: &[Arc<Tree>],
        scope: &Scope<'_>,
    ) -> Result<Folded, Arc<ParameterProblem>> {
        let mut shallow = Vec::with_capacity(values.len());
        for value in values {
            shallow.push(match &value.content {
                Content::Template(_) => self.resolve(value, scope)?,
                Content::Failed(problem) => return Err(Arc::clone(problem)),
                _ => Arc::clone(value),
            });
        }
        self.fold(&shallow, scope)
    }

    /// Returns the values of a field in several mappings.
    fn values_at(
        &self,
        maps: &[&Fields],
        key: &str,
        tree: &Tree,
        scope: &Scope<'_>,
    ) -> Result<Option<Vec<Arc<Tree>>>, Arc<ParameterProblem>> {
        let mut merged = Fields::new();
        for field in maps.iter().filter_map(|fields| fields.get(key)) {
            add_field(&mut merged, key, field).map_err(|constant| {
                let earlier = self.inventory().location(constant.constant);
                let at = field.values.first().map_or(tree, AsRef::as_ref);
                scope.problem(self, at, ProblemKind::Constant { key: key.to_owned(), earlier })
            })?;
        }
        Ok(merged.swap_remove(key).map(|field| field.values))
    }

    fn default_or_missing(
        &self,
        tree: &Tree,
        path: &str,
        key: &str,
        default: Option<&str>,
        scope: &Scope<'_>,
        maps: &[&Fields],
    ) -> Resolved {
        let reference = path.to_owned();
        let Some(default) = default else {
            let keys = maps.iter().flat_map(|fields| fields.keys().map(AsRef::as_ref));
            let similar = similar(key, keys);
            let kind = ProblemKind::MissingKey { reference, key: key.to_owned(), similar };
            return Err(scope.problem(self, tree, kind));
        };
        let value = parse_value(default, tree.origin).map_err(|problem| {
            scope.problem(self, tree, ProblemKind::Default { reference, reason: problem.reason })
        })?;
        match &value.content {
            // References in the text of the default are resolved already.
            Content::Template(template) => Ok(Tree::new(value.origin, Content::Text(template.text.clone()))),
            _ => self.resolve(&value, scope),
        }
    }
}

impl Tree {
    /// Returns the fields of a mapping.
    pub(super) fn fields(&self) -> Option<&Fields> {
        match &self.content {
            Content::Map(fields) => Some(fields),
            _ => None,
        }
    }
}
