//! JSON patches (RFC 6902): a list of operations, read once and applied to every target.

use json_patch::jsonptr::{Pointer, PointerBuf, Token};
use json_patch::{AddOperation, PatchErrorKind, PatchOperation};
use manifest::{Map, Object, Value};

use crate::output;
use crate::report::format_suggestions;

/// An element of a list that is no valid operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("operation {number} is invalid: {reason}")]
pub(crate) struct InvalidOperation {
    /// The number of the element, from 1.
    number: usize,
    reason: String,
}

/// An operation that cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("operation {number} ({name} `{path}`): {reason}{}", format_suggestions(suggestions))]
pub(crate) struct FailedOperation {
    /// The number of the operation, from 1.
    number: usize,
    /// The name of the operation, such as `add`.
    name: &'static str,
    path: String,
    reason: &'static str,
    suggestions: Vec<String>,
}

/// Removes everything before the first slash of each path. Returns the changed paths, each with its new form.
/// Source: evanphx/json-patch v4, the library of kustomize, ignores the text before the first slash.
pub(super) fn trim_paths(operations: &mut [Value]) -> Vec<(String, String)> {
    let mut cut = Vec::new();
    for operation in operations.iter_mut().filter_map(Value::as_object_mut) {
        for field in ["path", "from"] {
            let Some(Value::String(path)) = operation.get_mut(field) else { continue };
            if let Some(slash) = path.find('/').filter(|slash| *slash > 0) {
                let rest = path[slash..].to_owned();
                cut.push((std::mem::replace(path, rest.clone()), rest));
            }
        }
    }
    cut
}

/// The operations of a JSON patch, in order.
#[derive(Debug)]
pub(crate) struct Operations(Vec<PatchOperation>);

impl Operations {
    /// Parses a list of operations.
    /// # Errors
    /// Every invalid operation.
    pub(super) fn read(operations: Vec<Value>) -> Result<Self, Vec<InvalidOperation>> {
        let mut problems = Vec::new();
        let mut read = Vec::with_capacity(operations.len());
        for (index, mut operation) in operations.into_iter().enumerate() {
            // A missing value counts as null, as in kustomize.
            if let Some(fields) = operation.as_object_mut()
                && matches!(fields.get("op").and_then(Value::as_str), Some("add" | "replace" | "test"))
            {
                fields.entry("value").or_insert(Value::Null);
            }
            match serde_json::from_value(operation) {
                Ok(operation) => read.push(operation),
                Err(error) => {
                    problems.push(InvalidOperation { number: index + 1, reason: error.to_string() });
                }
            }
        }
        if problems.is_empty() { Ok(Self(read)) } else { Err(problems) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the paths that the operations set, with their values.
    pub(super) fn writes(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().filter_map(|operation| match operation {
            PatchOperation::Add(add) => Some((add.path.as_str(), &add.value)),
            PatchOperation::Replace(replace) => Some((replace.path.as_str(), &replace.value)),
            _ => None,
        })
    }

    /// Applies all operations. Creates a missing mapping of annotations; converts annotation values to strings.
    /// # Errors
    /// The first operation that fails; then the object stays unchanged.
    pub(super) fn apply(&self, object: &mut Object) -> Result<(), FailedOperation> {
        let mut value = object.clone().into_value();
        add_annotations(&mut value);
        for (index, operation) in self.0.iter().enumerate() {
            let counted = with_resolved_index(operation, &value);
            let operation = counted.as_ref().unwrap_or(operation);
            let added = with_missing_key(operation, &value);
            let operation = added.as_ref().unwrap_or(operation);
            if tests_for_null(operation, &value) {
                continue;
            }
            if let Err(error) = json_patch::patch_unsafe(&mut value, std::slice::from_ref(operation)) {
                return Err(FailedOperation::new(index, operation, &error.kind, &value));
            }
        }
        let whole = |reason| FailedOperation {
            number: self.0.len(),
            name: "replace",
            path: String::new(),
            reason,
            suggestions: Vec::new(),
        };
        let patched = Object::try_from(value).map_err(|_| whole("the result is not an object"))?;
        if patched.kind().is_empty() {
            return Err(whole("the result has no `kind`"));
        }
        if patched.name().is_empty() && !object.name().is_empty() {
            return Err(whole("the result has no `metadata.name`"));
        }
        object.replace_fields(patched.into_fields());
        output::stringify_annotations(object);
        Ok(())
    }
}

/// Adds an empty mapping of annotations if there is none. The end of the build removes an empty mapping.
/// Source: kustomize v5.8.1 keeps annotations of its own there during a build.
fn add_annotations(value: &mut Value) {
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.entry("annotations").or_insert_with(|| Map::new().into());
    }
}

impl FailedOperation {
    fn new(index: usize, operation: &PatchOperation, why: &PatchErrorKind, value: &Value) -> Self {
        let from = match operation {
            PatchOperation::Move(moved) => Some(&moved.from),
            PatchOperation::Copy(copied) => Some(&copied.from),
            _ => None,
        };
        let path = match (why, from) {
            (PatchErrorKind::InvalidFromPointer, Some(from)) => from,
            _ => operation.path(),
        };
        let reason = match (why, operation) {
            (PatchErrorKind::TestFailed, _) => "the value differs or is missing",
            (PatchErrorKind::CannotMoveInsideItself, _) => "a value cannot be moved into itself",
            (_, PatchOperation::Add(_)) => "the parent is missing, or the list is shorter",
            _ => "the path does not exist",
        };
        let near = suggest_fields(path, value);
        Self {
            number: index + 1,
            name: operation_name(operation),
            path: path.as_str().to_owned(),
            reason,
            suggestions: near,
        }
    }
}

fn operation_name(operation: &PatchOperation) -> &'static str {
    match operation {
        PatchOperation::Add(_) => "add",
        PatchOperation::Remove(_) => "remove",
        PatchOperation::Replace(_) => "replace",
        PatchOperation::Move(_) => "move",
        PatchOperation::Copy(_) => "copy",
        PatchOperation::Test(_) => "test",
    }
}

/// Suggests names for the first step of a path that does not exist.
fn suggest_fields(path: &Pointer, value: &Value) -> Vec<String> {
    let mut at = value;
    for token in path.tokens() {
        let name = token.decoded();
        let next = match at {
            Value::Object(fields) => fields.get(&*name),
            Value::Array(items) => name.parse::<usize>().ok().and_then(|index| items.get(index)),
            _ => None,
        };
        let Some(next) = next else {
            let names = at.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
            return api::similar_names(&name, names).into_iter().map(str::to_owned).collect();
        };
        at = next;
    }
    Vec::new()
}

/// Rewrites an operation on a key that its mapping lacks: a replace becomes an add, and a copy becomes an add of null.
/// Source: evanphx/json-patch v4, the library of kustomize; RFC 6902 rejects both.
fn with_missing_key(operation: &PatchOperation, of: &Value) -> Option<PatchOperation> {
    let (missing, path, value) = match operation {
        PatchOperation::Replace(replace) => (&replace.path, &replace.path, replace.value.clone()),
        PatchOperation::Copy(copy) => (&copy.from, &copy.path, Value::Null),
        _ => return None,
    };
    is_missing_key(missing, of).then(|| PatchOperation::Add(AddOperation { path: path.clone(), value }))
}

/// True if an operation tests a missing key for null; such a test passes.
fn tests_for_null(operation: &PatchOperation, value: &Value) -> bool {
    matches!(operation, PatchOperation::Test(test) if test.value.is_null() && is_missing_key(&test.path, value))
}

fn is_missing_key(path: &Pointer, value: &Value) -> bool {
    let Some((parent, key)) = path.split_back() else { return false };
    let fields = parent.resolve(value).ok().and_then(Value::as_object);
    fields.is_some_and(|fields| !fields.contains_key(&*key.decoded()))
}

/// Returns the operation with an index counted from the start, if its path counts from the end of a list (`/args/-1`).
/// Source: evanphx/json-patch v4 (`SupportNegativeIndices`), the library of kustomize.
fn with_resolved_index(operation: &PatchOperation, value: &Value) -> Option<PatchOperation> {
    let path = resolve_index(operation.path(), value, matches!(operation, PatchOperation::Add(_)))?;
    let mut operation = operation.clone();
    match &mut operation {
        PatchOperation::Add(add) => add.path = path,
        PatchOperation::Remove(remove) => remove.path = path,
        PatchOperation::Replace(replace) => replace.path = path,
        PatchOperation::Move(moved) => moved.path = path,
        PatchOperation::Copy(copied) => copied.path = path,
        PatchOperation::Test(test) => test.path = path,
    }
    Some(operation)
}

fn resolve_index(path: &Pointer, value: &Value, adds: bool) -> Option<PointerBuf> {
    let from_end = |token: &Token<'_>| -> Option<usize> { token.decoded().strip_prefix('-')?.parse().ok() };
    if !path.tokens().any(|token| from_end(&token).is_some()) {
        return None;
    }
    let last = path.tokens().count() - 1;
    let mut at = Some(value);
    let mut counted = PointerBuf::new();
    for (index, token) in path.tokens().enumerate() {
        let place = match (at, from_end(&token)) {
            (Some(Value::Array(items)), Some(back)) => {
                (items.len() + usize::from(adds && index == last)).checked_sub(back)
            }
            _ => None,
        };
        let token = place.map_or_else(|| token.into_owned(), Token::from);
        at = at.and_then(|at| match at {
            Value::Object(fields) => fields.get(&*token.decoded()),
            Value::Array(items) => items.get(token.decoded().parse::<usize>().ok()?),
            _ => None,
        });
        counted.push_back(token);
    }
    Some(counted)
}
