//! Objects from the bytes of a file.

use manifest::{Limits, Object, Value, read_resources};

use crate::TreePath;
use crate::problems::ProblemKind;

/// What an object that is no part of the result says of itself; it needs no name.
const LOCAL_CONFIG: &str = "config.kubernetes.io/local-config";

/// Reads all objects of a file.
/// # Errors
/// Every document that is no object, and every object without kind or name.
pub(super) fn parse(file: &TreePath, bytes: &[u8]) -> Result<Vec<Object>, Vec<ProblemKind>> {
    let unreadable = |reason: String| vec![ProblemKind::Yaml { file: file.clone(), reason }];
    let stream = read_resources(bytes, &Limits::default()).map_err(|error| unreadable(error.to_string()))?;
    let mut objects = Vec::with_capacity(stream.objects.len());
    stream.objects.into_iter().for_each(|object| flatten(object, &mut objects));
    let nameless = |(index, object): (usize, &Object)| {
        Some(ProblemKind::Nameless { file: file.clone(), index: index + 1, missing: missing(object)? })
    };
    let problems: Vec<ProblemKind> = objects.iter().enumerate().filter_map(nameless).collect();
    if problems.is_empty() { Ok(objects) } else { Err(problems) }
}

/// Puts the items of a list, and of the lists among them, in its place.
fn flatten(mut object: Object, into: &mut Vec<Object>) {
    let is_list = object.kind().ends_with("List");
    let items = if is_list { object.get_mut(&["items"]).map(Value::take) } else { None };
    match items {
        Some(Value::Array(items)) => {
            items
                .into_iter()
                .filter_map(|item| Object::try_from(item).ok())
                .for_each(|item| flatten(item, into));
        }
        Some(Value::Null) => {}
        _ => into.push(object),
    }
}

fn missing(object: &Object) -> Option<&'static str> {
    if object.kind().is_empty() {
        Some("kind")
    } else if object.name().is_empty() && object.annotation(LOCAL_CONFIG).is_none() {
        Some("metadata.name")
    } else {
        None
    }
}
