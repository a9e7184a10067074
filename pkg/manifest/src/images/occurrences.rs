use std::fmt;

use serde_json::Value;

use super::{ImageOverride, ImageReference, ImageReferenceError};
use crate::{Object, ObjectRef};

/// An image reference found in an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageOccurrence {
    /// The reference as written.
    pub reference: String,
    /// The object with the reference.
    pub object: ObjectRef,
    /// The position in the object.
    pub location: ImageLocation,
}

/// The position of an image in an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageLocation {
    /// The image of a container, an init container or an ephemeral container.
    Container {
        /// The name of the container.
        container: String,
    },
    /// A word of a command line.
    Argument {
        /// The name of the container.
        container: String,
        /// The flag, such as `--solver-image`; empty for a separate word.
        flag: String,
    },
    /// The value of an environment variable.
    Environment {
        /// The name of the container.
        container: String,
        /// The name of the variable.
        variable: String,
    },
    /// The value of an annotation.
    Annotation {
        /// The key of the annotation.
        key: String,
    },
}

impl ImageLocation {
    /// True for the image of a container; all other positions are text that looks like an image.
    pub fn is_container(&self) -> bool {
        matches!(self, Self::Container { .. })
    }
}

impl fmt::Display for ImageLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Container { container } => write!(f, "container `{container}`"),
            Self::Argument { container, flag } if flag.is_empty() => {
                write!(f, "argument of container `{container}`")
            }
            Self::Argument { container, flag } => write!(f, "argument `{flag}` of container `{container}`"),
            Self::Environment { container, variable } => {
                write!(f, "environment variable `{variable}` of container `{container}`")
            }
            Self::Annotation { key } => write!(f, "annotation `{key}`"),
        }
    }
}

/// The paths of pod templates: in workloads, in CronJobs, and in a Pod itself.
const POD_SPECS: [&[&str]; 3] = [&["spec", "template"], &["spec", "jobTemplate", "spec", "template"], &[]];
const ALL_CONTAINER_FIELDS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// Finds every image reference in an object.
///
/// The containers of every kind with a pod come first, each followed by its arguments and environment, then
/// annotations. Duplicates stay. Text counts as an image if its flag, variable or key ends in `image`, or if it has a
/// registry and a tag or digest.
pub fn find_images(object: &Object) -> Vec<ImageOccurrence> {
    image_spans(object)
        .into_iter()
        .map(|spot| ImageOccurrence {
            reference: spot.reference,
            object: ObjectRef::of(object),
            location: spot.location,
        })
        .collect()
}

/// Replaces the images in arguments, environment and annotations. Images of containers and incomplete references stay.
/// An object without a new image is not copied.
pub fn override_text_images(
    object: &mut Object,
    lookup: &dyn Fn(&ImageReference<'_>) -> Option<ImageOverride>,
) {
    for spot in image_spans(object).into_iter().filter(|spot| !spot.location.is_container()) {
        let Ok(reference) = ImageReference::parse(&spot.reference) else { continue };
        let Some(new) = lookup(&reference).map(|change| reference.with_override(&change)) else { continue };
        if new == spot.reference {
            continue;
        }
        if let Some(Value::String(text)) = value_at(object, &spot.path) {
            text.replace_range(spot.start.., &new);
        }
    }
}

/// An image, and its position in a text that ends with it.
struct ImageSpan {
    path: Vec<String>,
    /// The number of bytes before the image in the text.
    start: usize,
    reference: String,
    location: ImageLocation,
}

fn image_spans(object: &Object) -> Vec<ImageSpan> {
    let mut spots = Vec::new();
    for template in POD_SPECS {
        for field in ALL_CONTAINER_FIELDS {
            let path = [template, &["spec", field]].concat();
            let list = object.get(&path).and_then(Value::as_array);
            for (index, container) in list.into_iter().flatten().enumerate() {
                let mut path: Vec<String> = path.iter().map(|&step| step.to_owned()).collect();
                path.push(index.to_string());
                spans_in_container(container, &path, &mut spots);
            }
        }
    }
    for template in POD_SPECS {
        let path = [template, &["metadata", "annotations"]].concat();
        let annotations = object.get(&path).and_then(Value::as_object);
        for (key, value) in annotations.into_iter().flatten() {
            let path = path.iter().map(|&step| step.to_owned()).chain([key.clone()]).collect();
            let place = ImageLocation::Annotation { key: key.clone() };
            spots.extend(span_in_text(value.as_str().unwrap_or_default(), 0, key, path, place));
        }
    }
    spots
}

fn spans_in_container(container: &Value, path: &[String], spots: &mut Vec<ImageSpan>) {
    let text = |value: &'_ Value, field: &str| {
        value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let below = |steps: &[&str]| -> Vec<String> {
        path.iter().cloned().chain(steps.iter().map(|&step| step.to_owned())).collect()
    };
    let name = text(container, "name");
    let image = text(container, "image");
    if !image.is_empty() {
        let place = ImageLocation::Container { container: name.clone() };
        spots.push(ImageSpan { path: below(&["image"]), start: 0, reference: image, location: place });
    }
    for field in ["command", "args"] {
        let words = container.get(field).and_then(Value::as_array).into_iter().flatten();
        let mut before = "";
        for (index, word) in words.map(|word| word.as_str().unwrap_or_default()).enumerate() {
            let (flag, start) = match word.split_once('=') {
                Some((flag, _)) if flag.starts_with('-') => (flag, flag.len() + 1),
                _ if before.starts_with('-') && !before.contains('=') => (before, 0),
                _ => ("", 0),
            };
            before = word;
            let place = ImageLocation::Argument { container: name.clone(), flag: flag.to_owned() };
            spots.extend(span_in_text(word, start, flag, below(&[field, &index.to_string()]), place));
        }
    }
    let variables = container.get("env").and_then(Value::as_array).into_iter().flatten();
    for (index, variable) in variables.enumerate() {
        let (variable, value) = (text(variable, "name"), text(variable, "value"));
        let place = ImageLocation::Environment { container: name.clone(), variable: variable.clone() };
        spots.extend(span_in_text(&value, 0, &variable, below(&["env", &index.to_string(), "value"]), place));
    }
}

/// Returns the image at the end of a text, if any; `name` is the name of the flag, variable or annotation.
fn span_in_text(
    text: &str,
    start: usize,
    name: &str,
    path: Vec<String>,
    place: ImageLocation,
) -> Option<ImageSpan> {
    let reference = &text[start..];
    let is_image = match ImageReference::parse(reference) {
        Ok(parsed) => is_image_name(name) || parsed.tag.is_some() || parsed.digest.is_some(),
        Err(ImageReferenceError::NotCanonical { .. }) => is_image_name(name),
        Err(_) => false,
    };
    is_image.then(|| ImageSpan { path, start, reference: reference.to_owned(), location: place })
}

fn is_image_name(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with("image")
}

fn value_at<'a>(object: &'a mut Object, path: &[String]) -> Option<&'a mut Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(object.as_map_mut().get_mut(first)?, |value, step| match value {
        Value::Array(list) => list.get_mut(step.parse::<usize>().ok()?),
        value => value.get_mut(step.as_str()),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A Deployment like the one of cert-manager, with additions.
    fn deployment() -> Object {
        Object::try_from(json!({
            "kind": "Deployment",
            "metadata": {"name": "d", "namespace": "n", "annotations": {
                "example.com/helper-image": "nginx", "example.com/url": "https://example.com/a:1"
            }},
            "spec": {"template": {
                "metadata": {"annotations": {"sidecar.io~a/b": "gcr.io/side/car@sha256:bad"}},
                "spec": {
                    "containers": [{
                        "name": "manager",
                        "image": "quay.io/jetstack/controller:v1",
                        "args": [
                            "--acme-http01-solver-image=quay.io/jetstack/solver:v1", "--v=2",
                            "--leader-election-namespace=kube-system", "--image", "quay.io/other/x",
                            "--listen=host.example.com:8080/path", "quay.io/plain/word:v2"
                        ],
                        "env": [{"name": "IMAGE", "value": "registry.k8s.io/pause"}, {"name": "REF", "valueFrom": {}}]
                    }],
                    "initContainers": [{"name": "init", "image": "quay.io/i:1"}],
                    "ephemeralContainers": [{"name": "debug", "image": "quay.io/e:1"}]
                }
            }}
        }))
        .unwrap()
    }

    fn reported(object: &Object) -> Vec<String> {
        find_images(object).iter().map(|found| format!("{} {}", found.reference, found.location)).collect()
    }

    // Row: D-214
    #[test]
    fn images_are_found_wherever_an_object_runs_or_names_them() {
        assert_eq!(
            reported(&deployment()),
            [
                "quay.io/jetstack/controller:v1 container `manager`",
                "quay.io/jetstack/solver:v1 argument `--acme-http01-solver-image` of container `manager`",
                "quay.io/other/x argument `--image` of container `manager`",
                "quay.io/plain/word:v2 argument of container `manager`",
                "registry.k8s.io/pause environment variable `IMAGE` of container `manager`",
                "quay.io/i:1 container `init`",
                "quay.io/e:1 container `debug`",
                "nginx annotation `example.com/helper-image`",
            ]
        );
    }

    #[test]
    fn pods_are_found_in_every_kind() {
        let spec = json!({"containers": [{"name": "c", "image": "quay.io/a:1"}]});
        for object in [
            json!({"kind": "Pod", "spec": spec}),
            json!({"kind": "StatefulSet", "spec": {"template": {"spec": spec}}}),
            json!({"kind": "CronJob", "spec": {"jobTemplate": {"spec": {"template": {"spec": spec}}}}}),
        ] {
            assert_eq!(reported(&Object::try_from(object).unwrap()), ["quay.io/a:1 container `c`"]);
        }
    }

    #[test]
    fn named_images_are_replaced_and_containers_stay() {
        let mut object = deployment();
        override_text_images(&mut object, &|reference| {
            let change = ImageOverride { repository: "lab.local".into(), ..ImageOverride::default() };
            (reference.name != "word").then_some(change)
        });
        assert_eq!(
            reported(&object),
            [
                "quay.io/jetstack/controller:v1 container `manager`",
                "lab.local/solver:v1 argument `--acme-http01-solver-image` of container `manager`",
                "lab.local/x argument `--image` of container `manager`",
                "quay.io/plain/word:v2 argument of container `manager`",
                "lab.local/pause environment variable `IMAGE` of container `manager`",
                "quay.io/i:1 container `init`",
                "quay.io/e:1 container `debug`",
                "nginx annotation `example.com/helper-image`",
            ]
        );
        let untouched = deployment();
        let mut clone = untouched.clone();
        override_text_images(&mut clone, &|_| None);
        assert!(std::ptr::eq(untouched.as_map(), clone.as_map()));
    }
}
