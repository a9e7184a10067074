//! Objects from the bytes of a file.

use std::collections::VecDeque;

use manifest::{Object, Value, read_resources};

use crate::report::StepError;
use crate::resource::ParsedObject;
use crate::{TreeError, TreePath};

/// The annotation of an object that is not part of the output; such an object needs no name.
const LOCAL_CONFIG: &str = "config.kubernetes.io/local-config";

/// An invalid document or list item.
#[derive(Debug, thiserror::Error)]
enum ObjectError {
    #[error("object {index} of `{file}` has no {missing}")]
    Nameless { file: TreePath, index: usize, missing: &'static str },
    #[error("item {index} of a list in `{file}` must be a mapping, not {found}")]
    NotAnItem { file: TreePath, index: usize, found: &'static str },
}

/// Parses all objects of a file; ignores a mapping without fields.
/// # Errors
/// Every document and item that is no object, and every object without kind or name.
pub(super) fn parse(file: &TreePath, bytes: &[u8]) -> Result<Vec<ParsedObject>, Vec<StepError>> {
    let unreadable = |reason: String| vec![TreeError { path: file.clone(), reason }.into()];
    let stream = read_resources(bytes).map_err(|error| unreadable(error.to_string()))?;
    let mut problems = Vec::new();
    let read = stream
        .objects
        .into_iter()
        .zip(stream.empty_fields)
        .map(|(object, fields)| ParsedObject::new(object, fields));
    let objects = expand_lists(read.collect(), &mut |index, found| {
        problems.push(ObjectError::NotAnItem { file: file.clone(), index, found }.into());
    });
    let nameless = |(index, read): (usize, &ParsedObject)| {
        let missing = missing_field(&read.object)?;
        Some(ObjectError::Nameless { file: file.clone(), index: index + 1, missing }.into())
    };
    problems.extend(objects.iter().enumerate().filter_map(nameless));
    if problems.is_empty() { Ok(objects) } else { Err(problems) }
}

/// Replaces lists with their items. The items follow all other objects, and the items of nested lists follow those.
///
/// Ignores null items. Calls `refuse` with the number, from 1, and the type of any other invalid item.
/// Source: kustomize v5.8.1, as observed.
fn expand_lists(
    objects: VecDeque<ParsedObject>,
    refuse: &mut dyn FnMut(usize, &'static str),
) -> Vec<ParsedObject> {
    let mut flat = Vec::with_capacity(objects.len());
    let mut queue = objects;
    while let Some(mut read) = queue.pop_front() {
        let is_list = read.object.kind().ends_with("List");
        let items = if is_list { read.object.get_mut(&["items"]).map(Value::take) } else { None };
        match items {
            Some(Value::Array(items)) => {
                for (index, item) in items.into_iter().enumerate().filter(|(_, item)| !item.is_null()) {
                    match Object::try_from(item) {
                        Ok(item) => queue.push_back(read.item(index, item)),
                        Err(error) => refuse(index + 1, error.found),
                    }
                }
            }
            Some(Value::Null) => {}
            None | Some(Value::String(_) | Value::Number(_) | Value::Bool(_))
                if read.object.kind() == "List" => {}
            _ if read.object.as_map().is_empty() => {}
            _ => flat.push(read),
        }
    }
    flat
}

fn missing_field(object: &Object) -> Option<&'static str> {
    if object.kind().is_empty() {
        Some("kind")
    } else if object.name().is_empty() && object.annotation(LOCAL_CONFIG).is_none() {
        let is_written = object.get(&["metadata", "name"]).is_some_and(|name| !name.is_null() && *name != "");
        Some(if is_written { "metadata.name of type string" } else { "metadata.name" })
    } else {
        None
    }
}
