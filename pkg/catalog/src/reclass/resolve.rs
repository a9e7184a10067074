//! Resolution of references.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use manifest::{Map, Value};

use super::inventory::Inventory;
use super::order::KeyOrder;
use super::problem::{ParameterProblem, ProblemKind};
use super::template::{Form, Part};
use super::tree::{Content, Field, Fields, Origin, Tree};

/// The maximum nesting of a resolved value, and of references and values together.
const MAX_DEPTH: usize = 384;
/// The maximum number of references that lead to each other.
pub(super) const MAX_REFERENCES: usize = 64;
/// The maximum size of the result and of the texts on the way to it.
const MAX_BYTES: usize = 64 << 20;
/// The assumed size of a value without text.
const VALUE_BYTES: usize = 32;

pub(super) type Resolved = Result<Arc<Tree>, Arc<ParameterProblem>>;

/// Resolves the parameters of one target.
pub(super) struct Resolver<'a> {
    inventory: &'a Inventory,
    pub(super) fields: &'a Fields,
    /// The values of resolved references, and the number of references that each needs.
    known: RefCell<HashMap<String, (Arc<Tree>, usize)>>,
    /// The largest number of open references since the innermost reference was opened.
    most_open: Cell<usize>,
    used_bytes: Cell<usize>,
}

/// The path to the current value: through fields, items and references.
pub(super) struct Scope<'a> {
    outer: Option<&'a Self>,
    step: Step<'a>,
    depth: usize,
    /// The number of open references.
    references: usize,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Key(&'a str),
    Item(usize),
    Reference(&'a str),
}

impl<'a> Scope<'a> {
    pub(super) fn root() -> Self {
        Self { outer: None, step: Step::Root, depth: 0, references: 0 }
    }

    fn inner(&'a self, step: Step<'a>) -> Scope<'a> {
        let references = self.references + usize::from(matches!(step, Step::Reference(_)));
        Scope { outer: Some(self), step, depth: self.depth + 1, references }
    }

    pub(super) fn key(&'a self, key: &'a str) -> Scope<'a> {
        self.inner(Step::Key(key))
    }

    fn steps(&self) -> Vec<Step<'_>> {
        let mut steps: Vec<_> =
            std::iter::successors(Some(self), |scope| scope.outer).map(|scope| scope.step).collect();
        steps.reverse();
        steps
    }

    /// Returns the path of the parameter, such as `a.b[0]`.
    fn parameter(&self) -> String {
        let mut path = String::new();
        for step in self.steps() {
            match step {
                Step::Key(key) if path.is_empty() => path.push_str(key),
                Step::Key(key) => path.extend([".", key]),
                Step::Item(index) => _ = write!(path, "[{index}]"),
                Step::Root | Step::Reference(_) => {}
            }
        }
        path
    }

    /// Returns the open references, outermost first.
    pub(super) fn open_references(&self) -> Vec<String> {
        let reference = |step| match step {
            Step::Reference(path) => Some(str::to_owned(path)),
            _ => None,
        };
        self.steps().into_iter().filter_map(reference).collect()
    }

    pub(super) fn problem(
        &self,
        resolver: &Resolver<'_>,
        at: &Tree,
        kind: ProblemKind,
    ) -> Arc<ParameterProblem> {
        let mut references = self.open_references();
        // The text of the problem has this reference already.
        if kind.reference() == references.last().map(String::as_str) {
            references.pop();
        }
        let (parameter, location) = (self.parameter(), resolver.inventory.location(at.origin));
        Arc::new(ParameterProblem { parameter, location, references, kind })
    }
}

impl<'a> Resolver<'a> {
    pub(super) fn new(inventory: &'a Inventory, fields: &'a Fields) -> Self {
        Self {
            inventory,
            fields,
            known: RefCell::default(),
            most_open: Cell::new(0),
            used_bytes: Cell::new(0),
        }
    }

    pub(super) fn inventory(&self) -> &'a Inventory {
        self.inventory
    }

    /// Resolves all parameters.
    ///
    /// # Errors
    /// All parameters without a value. A problem that several parameters share is reported once.
    pub(super) fn resolve_all(&self) -> Result<Value, Vec<ParameterProblem>> {
        let fields = self.resolve_fields(self.fields, &Scope::root());
        let mut problems = Vec::new();
        let mut parameters = Map::new();
        for (key, field) in &fields {
            for tree in &field.values {
                let value = self.to_value(tree, &Scope::root().key(key), &mut problems);
                parameters.insert(key.to_string(), value);
            }
        }
        if problems.is_empty() { Ok(Value::Object(parameters)) } else { Err(problems) }
    }

    /// Returns the order of the keys of parameters that can be resolved: shared trees have a size within the limit.
    pub(super) fn key_order(&self) -> KeyOrder {
        let fields = self.resolve_fields(self.fields, &Scope::root());
        KeyOrder::of(&Tree::new(Origin::default(), Content::Map(fields)))
    }

    /// Resolves one text outside of all parameters.
    pub(super) fn resolve_text(&self, tree: &Arc<Tree>) -> Result<String, Arc<ParameterProblem>> {
        let scope = Scope::root();
        let value = self.resolve(tree, &scope)?;
        self.embedded(&value, &scope)
    }

    /// Resolves the values of a field, and merges them.
    pub(super) fn resolve_field(&self, field: &Field, scope: &Scope<'_>) -> Resolved {
        match &field.values[..] {
            [value] => self.resolve(value, scope),
            values => self.resolve_values(values, scope),
        }
    }

    /// Resolves several values of a parameter, and merges them. A later value may replace one that cannot be resolved.
    pub(super) fn resolve_values(&self, values: &[Arc<Tree>], scope: &Scope<'_>) -> Resolved {
        let Some((last, earlier)) = values.split_last() else {
            return Ok(Tree::new(Origin::default(), Content::Null));
        };
        if earlier.is_empty() {
            return self.resolve(last, scope);
        }
        let mut resolved = Vec::with_capacity(values.len());
        for value in earlier {
            resolved.push(self.resolve(value, scope).unwrap_or_else(|problem| failed(value, problem)));
        }
        resolved.push(self.resolve(last, scope)?);
        self.merge(&resolved, scope)
    }

    pub(super) fn resolve(&self, tree: &Arc<Tree>, scope: &Scope<'_>) -> Resolved {
        if scope.depth + tree.depth as usize > MAX_DEPTH {
            return Err(scope.problem(self, tree, ProblemKind::Nesting { limit: MAX_DEPTH }));
        }
        if tree.is_resolved {
            return Ok(Arc::clone(tree));
        }
        let content = match &tree.content {
            Content::Template(template) => return self.resolve_template(tree, &template.form, scope),
            Content::List(items) => {
                let resolved = items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| self.resolve(item, &scope.inner(Step::Item(index))))
                    .collect::<Result<_, _>>()?;
                Content::List(resolved)
            }
            Content::Map(fields) => Content::Map(self.resolve_fields(fields, scope)),
            _ => return Ok(Arc::clone(tree)),
        };
        Ok(Tree::new(tree.origin, content))
    }

    fn resolve_fields(&self, fields: &Fields, scope: &Scope<'_>) -> Fields {
        let mut resolved = Fields::with_capacity(fields.len());
        for (key, field) in fields {
            let value = self
                .resolve_field(field, &scope.key(key))
                .unwrap_or_else(|problem| failed(&field.values[0], problem));
            resolved.insert(key.clone(), Field::of(value, field.options));
        }
        resolved
    }

    fn resolve_template(&self, tree: &Tree, form: &Form, scope: &Scope<'_>) -> Resolved {
        match form {
            Form::Reference(path) => self.resolve_reference(tree, path, scope),
            Form::Text(parts) => {
                let text = self.resolve_parts(tree, parts, scope)?;
                Ok(Tree::new(tree.origin, Content::Text(text.into())))
            }
            Form::Invalid => {
                let text = match &tree.content {
                    Content::Template(template) => template.text.to_string(),
                    _ => String::new(),
                };
                Err(scope.problem(self, tree, ProblemKind::Syntax { text }))
            }
        }
    }

    fn resolve_parts(
        &self,
        tree: &Tree,
        parts: &[Part],
        scope: &Scope<'_>,
    ) -> Result<String, Arc<ParameterProblem>> {
        let mut text = String::new();
        for part in parts {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Reference(path) => {
                    let value = self.resolve_reference(tree, path, scope)?;
                    text.push_str(&self.embedded(&value, scope)?);
                }
            }
            self.charge(text.len(), tree, scope)?;
        }
        Ok(text)
    }

    /// Resolves a reference, and everything in its value.
    fn resolve_reference(&self, tree: &Tree, path: &[Part], scope: &Scope<'_>) -> Resolved {
        if scope.references >= MAX_REFERENCES {
            return Err(self.too_many_references(tree, scope));
        }
        let text = self.resolve_parts(tree, path, scope)?;
        let (path, default) = match text.split_once("::") {
            Some((path, default)) => (path, Some(default)),
            None => (text.as_str(), None),
        };
        let mut open = scope.open_references();
        if open.iter().any(|open| open == path) {
            open.sort();
            open.dedup();
            return Err(scope.problem(self, tree, ProblemKind::Loop { references: open }));
        }
        if default.is_none()
            && let Some((value, needed)) = self.known.borrow().get(path)
        {
            let needed = scope.references + needed;
            if needed > MAX_REFERENCES {
                return Err(self.too_many_references(tree, scope));
            }
            self.most_open.set(self.most_open.get().max(needed));
            return self.resolve(value, scope);
        }
        let inner = scope.inner(Step::Reference(path));
        let before = self.most_open.replace(inner.references);
        let value = self.look_up(tree, path, default, &inner)?;
        let most_open = self.most_open.get();
        self.most_open.set(before.max(most_open));
        if default.is_none() && !value.has_failures {
            let needed = most_open - scope.references;
            self.known.borrow_mut().insert(path.to_owned(), (Arc::clone(&value), needed));
        }
        Ok(value)
    }

    fn too_many_references(&self, tree: &Tree, scope: &Scope<'_>) -> Arc<ParameterProblem> {
        let mut references = scope.open_references();
        references.sort();
        scope.problem(self, tree, ProblemKind::Depth { references, limit: MAX_REFERENCES })
    }

    /// Returns the text of a value inside of another text.
    ///
    /// Source: reclass-rs prints lists and mappings as JSON with sorted keys, and their integers as floats.
    fn embedded(&self, tree: &Tree, scope: &Scope<'_>) -> Result<String, Arc<ParameterProblem>> {
        Ok(match &tree.content {
            Content::Null => "null".to_owned(),
            Content::Bool(true) => "True".to_owned(),
            Content::Bool(false) => "False".to_owned(),
            // serde_yaml prints the exponent of a large number without a sign, unlike serde_json.
            Content::Number(number) => number.to_string().replace("e+", "e"),
            Content::Text(text) => text.to_string(),
            Content::Failed(problem) => return Err(Arc::clone(problem)),
            Content::Template(_) | Content::List(_) | Content::Map(_) => {
                let mut problems = Vec::new();
                let value = with_floats(self.to_value(tree, scope, &mut problems));
                if let Some(problem) = problems.pop() {
                    return Err(Arc::new(problem));
                }
                value.to_string()
            }
        })
    }

    /// Converts a resolved tree. Adds the problems in it.
    fn to_value(&self, tree: &Tree, scope: &Scope<'_>, problems: &mut Vec<ParameterProblem>) -> Value {
        if let Err(problem) = self.charge(VALUE_BYTES, tree, scope) {
            add_problem(problems, &problem);
            return Value::Null;
        }
        match &tree.content {
            Content::Null | Content::Template(_) => Value::Null,
            Content::Bool(flag) => Value::Bool(*flag),
            Content::Number(number) => Value::Number(number.clone()),
            Content::Text(text) => {
                if let Err(problem) = self.charge(text.len(), tree, scope) {
                    add_problem(problems, &problem);
                    return Value::Null;
                }
                Value::String(text.to_string())
            }
            Content::List(items) => items.iter().map(|item| self.to_value(item, scope, problems)).collect(),
            Content::Map(fields) => {
                let values = fields.iter().filter_map(|(key, field)| Some((key, field.values.first()?)));
                let values =
                    values.map(|(key, value)| (key.to_string(), self.to_value(value, scope, problems)));
                Value::Object(values.collect())
            }
            Content::Failed(problem) => {
                add_problem(problems, problem);
                Value::Null
            }
        }
    }

    /// Counts the size of a new value.
    pub(super) fn charge(
        &self,
        bytes: usize,
        tree: &Tree,
        scope: &Scope<'_>,
    ) -> Result<(), Arc<ParameterProblem>> {
        self.used_bytes.set(self.used_bytes.get().saturating_add(bytes));
        if self.used_bytes.get() > MAX_BYTES {
            return Err(scope.problem(self, tree, ProblemKind::Size { limit_bytes: MAX_BYTES }));
        }
        Ok(())
    }
}

/// Returns a value that cannot be resolved.
fn failed(tree: &Tree, problem: Arc<ParameterProblem>) -> Arc<Tree> {
    Tree::new(tree.origin, Content::Failed(problem))
}

/// Adds a problem, unless the same reference has it already for another parameter.
fn add_problem(problems: &mut Vec<ParameterProblem>, problem: &ParameterProblem) {
    let is_known =
        |known: &ParameterProblem| known.location == problem.location && known.kind == problem.kind;
    if !problems.iter().any(is_known) {
        problems.push(problem.clone());
    }
}

/// Replaces integers by floats.
fn with_floats(value: Value) -> Value {
    match value {
        Value::Number(number) => {
            number.as_f64().and_then(serde_json::Number::from_f64).map_or(Value::Null, Value::Number)
        }
        Value::Array(items) => items.into_iter().map(with_floats).collect(),
        Value::Object(fields) => fields.into_iter().map(|(key, value)| (key, with_floats(value))).collect(),
        other => other,
    }
}
