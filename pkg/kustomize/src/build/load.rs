//! Objects from the bytes of a file.

use std::collections::VecDeque;

use manifest::{Limits, Object, Value, read_resources};

use crate::TreePath;
use crate::problems::ProblemKind;

/// What an object that is no part of the result says of itself; it needs no name.
const LOCAL_CONFIG: &str = "config.kubernetes.io/local-config";

/// Reads all objects of a file.
/// # Errors
/// Every document and item that is no object, and every object without kind or name.
pub(super) fn parse(file: &TreePath, bytes: &[u8]) -> Result<Vec<Object>, Vec<ProblemKind>> {
    let unreadable = |reason: String| vec![ProblemKind::Yaml { file: file.clone(), reason }];
    let stream = read_resources(bytes, &Limits::default()).map_err(|error| unreadable(error.to_string()))?;
    let mut problems = Vec::new();
    let objects = without_lists(stream.objects, &mut |index, found| {
        problems.push(ProblemKind::NotAnItem { file: file.clone(), index, found });
    });
    let nameless = |(index, object): (usize, &Object)| {
        Some(ProblemKind::Nameless { file: file.clone(), index: index + 1, missing: missing(object)? })
    };
    problems.extend(objects.iter().enumerate().filter_map(nameless));
    if problems.is_empty() { Ok(objects) } else { Err(problems) }
}

/// Takes lists apart: their items come behind all other objects, and those of lists among them behind these. An item
/// that is null is none; one of another type is told by its number, from 1.
/// Source: kustomize v5.8.1, as observed.
fn without_lists(objects: Vec<Object>, refuse: &mut dyn FnMut(usize, &'static str)) -> Vec<Object> {
    let mut flat = Vec::with_capacity(objects.len());
    let mut queue = VecDeque::from(objects);
    while let Some(mut object) = queue.pop_front() {
        let is_list = object.kind().ends_with("List");
        let items = if is_list { object.get_mut(&["items"]).map(Value::take) } else { None };
        match items {
            Some(Value::Array(items)) => {
                for (index, item) in items.into_iter().enumerate().filter(|(_, item)| !item.is_null()) {
                    match Object::try_from(item) {
                        Ok(item) => queue.push_back(item),
                        Err(error) => refuse(index + 1, error.found),
                    }
                }
            }
            Some(Value::Null) => {}
            _ => flat.push(object),
        }
    }
    flat
}

fn missing(object: &Object) -> Option<&'static str> {
    if object.kind().is_empty() {
        Some("kind")
    } else if object.name().is_empty() && object.annotation(LOCAL_CONFIG).is_none() {
        let is_written = object.get(&["metadata", "name"]).is_some_and(|name| !name.is_null() && *name != "");
        Some(if is_written { "metadata.name that is a string" } else { "metadata.name" })
    } else {
        None
    }
}
