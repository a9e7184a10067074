//! `images`: new names, tags and digests.
//!
//! The transformer writes the `image` of each element of `containers` and `initContainers` lists, at any depth, and the
//! fields of the table. Custom resource definitions are skipped.
//! Source: kustomize v5.8.1 api/filters/imagetag, api/internal/image; differs: kustomize appends `tagSuffix` twice to
//! an image that is both in such a list and in the table.

use manifest::{Value, expression};
use regex::Regex;

use crate::accumulator::Accumulator;

use crate::fields::{FieldPath, FieldTable};
use crate::kustomization::entries::Image;
use crate::scope::Scope;

/// An invalid entry of `images`.
#[derive(Debug, thiserror::Error)]
#[error("`{name}` is not a valid regular expression: {reason}")]
pub(crate) struct ImageError {
    name: String,
    reason: String,
}

/// One entry, compiled for many comparisons.
pub(crate) struct ImageRule<'a> {
    image: &'a Image,
    pattern: Regex,
}

/// Applies the entries of `images`.
pub(crate) fn run(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let mut rules = Vec::new();
    for (index, image) in scope.kustomization.images.iter().enumerate() {
        let rule = scope.ok(&format!("images[{index}].name"), ImageRule::new(image));
        rules.extend(rule.map(|rule| (index, rule)));
    }
    let tables = objects.tables.clone();
    if !scope.is_traced() {
        let rules: Vec<ImageRule<'_>> = rules.into_iter().map(|(_, rule)| rule).collect();
        return set(&rules, &tables.images, objects);
    }
    // One pass per entry gives the same result, but slower.
    for (index, rule) in rules {
        set(&[rule], &tables.images, objects);
        scope.record_provenance(&format!("images[{index}]"), objects);
    }
}

/// Applies all rules in turn to every image.
pub(crate) fn set(rules: &[ImageRule<'_>], fields: &FieldTable, objects: &mut Accumulator) {
    if rules.is_empty() {
        return;
    }
    objects.edit_all(|resource| {
        let object = &mut resource.object;
        if object.kind() == "CustomResourceDefinition" {
            return;
        }
        if object.as_map().values().any(|value| has_change(rules, value)) {
            object.as_map_mut().values_mut().for_each(|value| change_containers(rules, value));
        }
        let specs: Vec<_> = fields.for_object(object).collect();
        for spec in specs {
            let mut changes = false;
            spec.visit(object, |value| changes |= new_image(rules, value).is_some());
            if changes && is_container_image(&spec.path) {
                let change_mapping = &mut |value: &mut Value| change_image_of(rules, value);
                spec.path.parent().edit(object.as_map_mut(), false, change_mapping);
            } else if changes {
                spec.path.edit(object.as_map_mut(), false, &mut |value| change(rules, value));
            }
        }
    });
}

/// True if the walk over containers has already visited the values of a field.
fn is_container_image(path: &FieldPath) -> bool {
    path.ends_in(&["containers", "image"]) || path.ends_in(&["initContainers", "image"])
}

fn images_of<'a>(key: &str, value: &'a Value) -> impl Iterator<Item = &'a Value> {
    let items = if is_list_of_containers(key) { value.as_array() } else { None };
    items.into_iter().flatten().filter_map(|container| container.get("image"))
}

fn is_list_of_containers(key: &str) -> bool {
    matches!(key, "containers" | "initContainers")
}

/// True if a rule changes an image in the value. Most objects have no such image and stay unwritten.
fn has_change(rules: &[ImageRule<'_>], value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.iter().any(|(key, value)| {
            has_change(rules, value) || images_of(key, value).any(|image| new_image(rules, image).is_some())
        }),
        Value::Array(items) => items.iter().any(|item| has_change(rules, item)),
        _ => false,
    }
}

fn change_containers(rules: &[ImageRule<'_>], value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                change_containers(rules, value);
                let items = if is_list_of_containers(key) { value.as_array_mut() } else { None };
                let images = items.into_iter().flatten().filter_map(|container| container.get_mut("image"));
                images.for_each(|image| change(rules, image));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| change_containers(rules, item)),
        _ => {}
    }
}

/// Changes the image of one element of a list of containers.
fn change_image_of(rules: &[ImageRule<'_>], value: &mut Value) {
    if let Some(image) = value.as_object_mut().and_then(|container| container.get_mut("image")) {
        change(rules, image);
    }
}

fn change(rules: &[ImageRule<'_>], value: &mut Value) {
    if let Some(text) = new_image(rules, value) {
        *value = text.into();
    }
}

/// Returns the new image; `None` if no rule matches.
fn new_image(rules: &[ImageRule<'_>], value: &Value) -> Option<String> {
    let written = value.as_str()?;
    let mut now: Option<String> = None;
    for rule in rules {
        let text = now.as_deref().unwrap_or(written);
        if rule.pattern.is_match(text) {
            now = Some(rule.apply(text));
        }
    }
    now.filter(|text| text != written)
}

impl<'a> ImageRule<'a> {
    /// Compiles an entry.
    /// # Errors
    /// `name` is no valid regular expression.
    pub(crate) fn new(image: &'a Image) -> Result<Self, ImageError> {
        let end = "(:[a-zA-Z0-9_.{}-]*)?(@sha256:[a-zA-Z0-9_.{}-]*)?$";
        let pattern = expression::read(&format!("^{}{end}", image.name))
            .map_err(|reason| ImageError { name: image.name.clone(), reason })?;
        Ok(Self { image, pattern })
    }

    fn apply(&self, text: &str) -> String {
        let (name, tag, digest) = split(text);
        let Image { new_name, new_tag, tag_suffix, digest: new_digest, .. } = self.image;
        let name = if new_name.is_empty() { name } else { new_name };
        // A new tag or a new digest replaces both the old tag and the old digest.
        let (tag, digest) = match (new_tag.as_str(), new_digest.as_str(), tag_suffix.as_str()) {
            ("", "", "") => (tag.to_owned(), digest),
            ("", "", suffix) => (format!("{tag}{suffix}"), ""),
            (tag, digest, _) => (tag.to_owned(), digest),
        };
        let part = |mark: &str, part: &str| {
            if part.is_empty() { String::new() } else { format!("{mark}{part}") }
        };
        format!("{name}{}{}", part(":", &tag), part("@", digest))
    }
}

/// Splits an image into name, tag and digest; a colon before the first slash belongs to the host.
fn split(image: &str) -> (&str, &str, &str) {
    let (rest, digest) = image.split_once('@').unwrap_or((image, ""));
    let path = rest.find('/').unwrap_or(0);
    match rest[path..].find(':') {
        Some(colon) => (&rest[..path + colon], &rest[path + colon + 1..], digest),
        None => (rest, "", digest),
    }
}

#[cfg(test)]
mod tests;
