//! Objects from the bytes of a file.

use std::collections::VecDeque;
use std::sync::Arc;

use manifest::{Limits, Object, Value, read_resources};

use crate::TreePath;
use crate::problems::ProblemKind;

/// What an object that is no part of the result says of itself; it needs no name.
const LOCAL_CONFIG: &str = "config.kubernetes.io/local-config";

/// An object as it was read.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub(crate) object: Object,
    /// The fields that are null because no value is written, as JSON pointers; `None` for none, as nearly always.
    pub(crate) empty_fields: Option<Arc<[String]>>,
}

/// Reads all objects of a file; a mapping without fields is none.
/// # Errors
/// Every document and item that is no object, and every object without kind or name.
pub(super) fn parse(file: &TreePath, bytes: &[u8]) -> Result<Vec<Read>, Vec<ProblemKind>> {
    let unreadable = |reason: String| vec![ProblemKind::Yaml { file: file.clone(), reason }];
    let stream = read_resources(bytes, &Limits::default()).map_err(|error| unreadable(error.to_string()))?;
    let mut problems = Vec::new();
    let read =
        stream.objects.into_iter().zip(stream.empty_fields).map(|(object, fields)| Read::new(object, fields));
    let objects = without_lists(read.collect(), &mut |index, found| {
        problems.push(ProblemKind::NotAnItem { file: file.clone(), index, found });
    });
    let nameless = |(index, read): (usize, &Read)| {
        let missing = missing(&read.object)?;
        Some(ProblemKind::Nameless { file: file.clone(), index: index + 1, missing })
    };
    problems.extend(objects.iter().enumerate().filter_map(nameless));
    if problems.is_empty() { Ok(objects) } else { Err(problems) }
}

/// Takes lists apart: their items come behind all other objects, and those of lists among them behind these. An item
/// that is null is none; one of another type is told by its number, from 1.
/// Source: kustomize v5.8.1, as observed.
fn without_lists(objects: VecDeque<Read>, refuse: &mut dyn FnMut(usize, &'static str)) -> Vec<Read> {
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
            _ if read.object.as_map().is_empty() => {}
            _ => flat.push(read),
        }
    }
    flat
}

impl Read {
    fn new(object: Object, empty_fields: Vec<String>) -> Self {
        Self { object, empty_fields: (!empty_fields.is_empty()).then(|| empty_fields.into()) }
    }

    /// An item of this list.
    fn item(&self, index: usize, object: Object) -> Self {
        let place = format!("/items/{index}/");
        let fields = self.empty_fields.iter().flat_map(|fields| fields.iter());
        let own = fields.filter_map(|field| Some(format!("/{}", field.strip_prefix(&place)?)));
        Self::new(object, own.collect())
    }
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
