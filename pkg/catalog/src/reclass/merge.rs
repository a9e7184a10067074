//! Merging of values: mappings deeply, lists by appending, scalars by replacing. Null replaces and is replaced.

use std::sync::Arc;

use super::problem::{ParameterProblem, ProblemKind};
use super::resolve::{Resolved, Resolver, Scope};
use super::tree::{Content, Field, FieldOptions, Fields, Origin, Tree, add_field};

/// The assumed size of an item of a merged list.
const ITEM_BYTES: usize = 16;

/// Values after the removal of those that later values replace.
pub(super) enum Folded {
    Maps(Vec<Arc<Tree>>),
    Lists(Vec<Arc<Tree>>),
    /// Null, a scalar, or a value that cannot be resolved.
    Single(Arc<Tree>),
}

impl Folded {
    fn start(value: &Arc<Tree>) -> Self {
        match value.content {
            Content::Map(_) => Self::Maps(vec![Arc::clone(value)]),
            Content::List(_) => Self::Lists(vec![Arc::clone(value)]),
            _ => Self::Single(Arc::clone(value)),
        }
    }
}

impl Resolver<'_> {
    /// Merges resolved values, earliest first.
    pub(super) fn merge(&self, values: &[Arc<Tree>], scope: &Scope<'_>) -> Resolved {
        match self.fold(values, scope)? {
            Folded::Single(value) => Ok(value),
            Folded::Maps(maps) => match &maps[..] {
                [map] => Ok(Arc::clone(map)),
                maps => Ok(self.merge_maps(maps, scope)),
            },
            Folded::Lists(lists) => match &lists[..] {
                [list] => Ok(Arc::clone(list)),
                lists => self.merge_lists(lists, scope),
            },
        }
    }

    /// Selects the values that take part in the result.
    ///
    /// # Errors
    /// Values of different types.
    pub(super) fn fold(
        &self,
        values: &[Arc<Tree>],
        scope: &Scope<'_>,
    ) -> Result<Folded, Arc<ParameterProblem>> {
        let mut folded: Option<Folded> = None;
        for value in values {
            let Some(earlier) = &mut folded else {
                folded = Some(Folded::start(value));
                continue;
            };
            match (&mut *earlier, &value.content) {
                (_, Content::Null) => *earlier = Folded::start(value),
                (Folded::Maps(maps), Content::Map(_)) => maps.push(Arc::clone(value)),
                (Folded::Lists(lists), Content::List(_)) => lists.push(Arc::clone(value)),
                (Folded::Single(single), content) => match (&single.content, content) {
                    (Content::Null, _) => *earlier = Folded::start(value),
                    (Content::Failed(problem), Content::Map(_) | Content::List(_)) => {
                        return Err(Arc::clone(problem));
                    }
                    (_, Content::Map(_) | Content::List(_)) => {
                        return Err(self.mismatch(single, single.type_name(), value, scope));
                    }
                    _ => *single = Arc::clone(value),
                },
                (Folded::Maps(maps), _) => {
                    return Err(self.mismatch(&maps[maps.len() - 1], "mapping", value, scope));
                }
                (Folded::Lists(lists), _) => {
                    return Err(self.mismatch(&lists[lists.len() - 1], "sequence", value, scope));
                }
            }
        }
        Ok(folded.unwrap_or_else(|| Folded::Single(Tree::new(Origin::default(), Content::Null))))
    }

    fn merge_maps(&self, maps: &[Arc<Tree>], scope: &Scope<'_>) -> Arc<Tree> {
        let origin = maps[0].origin;
        let mut merged = Fields::new();
        for (key, field) in maps.iter().filter_map(|map| map.fields()).flatten() {
            if let Err(constant) = add_field(&mut merged, key, field) {
                let earlier = self.inventory().location(constant.constant);
                let at = field.values.first().unwrap_or(&maps[0]);
                let kind = ProblemKind::Constant { key: key.to_string(), earlier };
                let problem = scope.key(key).problem(self, at, kind);
                let value = Tree::new(at.origin, Content::Failed(problem));
                let options = FieldOptions { is_constant: true, replaces: false };
                merged.insert(key.clone(), Field::of(value, options));
            }
        }
        for (key, field) in &mut merged {
            if field.values.len() > 1 {
                let scope = scope.key(key);
                let value = self
                    .merge(&field.values, &scope)
                    .unwrap_or_else(|problem| Tree::new(field.values[0].origin, Content::Failed(problem)));
                field.values = vec![value];
            }
        }
        Tree::new(origin, Content::Map(merged))
    }

    fn merge_lists(&self, lists: &[Arc<Tree>], scope: &Scope<'_>) -> Resolved {
        let items = |list: &Arc<Tree>| match &list.content {
            Content::List(items) => items.clone(),
            _ => Vec::new(),
        };
        let merged: Vec<_> = lists.iter().flat_map(items).collect();
        self.charge(merged.len() * ITEM_BYTES, &lists[0], scope)?;
        Ok(Tree::new(lists[0].origin, Content::List(merged)))
    }

    fn mismatch(
        &self,
        earlier: &Tree,
        over: &'static str,
        value: &Tree,
        scope: &Scope<'_>,
    ) -> Arc<ParameterProblem> {
        if let Content::Failed(problem) = &value.content {
            return Arc::clone(problem);
        }
        let earlier = self.inventory().location(earlier.origin);
        scope.problem(self, value, ProblemKind::Mismatch { value: value.type_name(), over, earlier })
    }
}
