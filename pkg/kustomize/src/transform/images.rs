//! `images`: new names, tags and digests.
//!
//! Written are the `image` of what stands in any list `containers` or `initContainers`, at any depth, and the fields of the
//! table. Definitions of custom resources are left alone.
//! Source: kustomize v5.8.1 api/filters/imagetag, api/internal/image; differs: there, `tagSuffix` is put twice behind an image
//! that both ways lead to.

use manifest::Value;
use regex::Regex;

use crate::accumulator::Accumulator;
use crate::expression;
use crate::fields::{FieldPath, FieldTable};
use crate::kustomization::entries::Image;
use crate::scope::Scope;

/// An entry of `images` that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("`{name}` is read as a regular expression, and is none: {reason}")]
pub(crate) struct ImageProblem {
    name: String,
    reason: String,
}

/// One entry, ready to be compared with many images.
pub(crate) struct Rule<'a> {
    image: &'a Image,
    pattern: Regex,
}

/// Changes the images.
pub(crate) fn run(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let mut rules = Vec::new();
    for (index, image) in scope.kustomization.images.iter().enumerate() {
        let rule = scope.ok(&format!("images[{index}].name"), Rule::new(image));
        rules.extend(rule.map(|rule| (index, rule)));
    }
    let tables = objects.tables.clone();
    if !scope.is_traced() {
        let rules: Vec<Rule<'_>> = rules.into_iter().map(|(_, rule)| rule).collect();
        return set(&rules, &tables.images, objects);
    }
    // One after the other they come to the same, slower.
    for (index, rule) in rules {
        set(&[rule], &tables.images, objects);
        scope.account(&format!("images[{index}]"), objects);
    }
}

/// Changes every image by each rule in turn.
pub(crate) fn set(rules: &[Rule<'_>], fields: &FieldTable, objects: &mut Accumulator) {
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
        let specs: Vec<_> = fields.of(object).collect();
        for spec in specs {
            let mut changes = false;
            spec.read(object, |value| changes |= changed(rules, value).is_some());
            if changes && is_walked(&spec.path) {
                let change_mapping = &mut |value: &mut Value| change_image_of(rules, value);
                spec.path.parent().edit(object.as_map_mut(), false, change_mapping);
            } else if changes {
                spec.path.edit(object.as_map_mut(), false, &mut |value| change(rules, value));
            }
        }
    });
}

/// Whether the walk over containers has been at the values of a field, wherever they stand in a list.
fn is_walked(path: &FieldPath) -> bool {
    path.ends_in(&["containers", "image"]) || path.ends_in(&["initContainers", "image"])
}

fn images_of<'a>(key: &str, value: &'a Value) -> impl Iterator<Item = &'a Value> {
    let items = if is_list_of_containers(key) { value.as_array() } else { None };
    items.into_iter().flatten().filter_map(|container| container.get("image"))
}

fn is_list_of_containers(key: &str) -> bool {
    matches!(key, "containers" | "initContainers")
}

/// Looks before anything is written: most objects have no image that changes.
fn has_change(rules: &[Rule<'_>], value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.iter().any(|(key, value)| {
            has_change(rules, value) || images_of(key, value).any(|image| changed(rules, image).is_some())
        }),
        Value::Array(items) => items.iter().any(|item| has_change(rules, item)),
        _ => false,
    }
}

fn change_containers(rules: &[Rule<'_>], value: &mut Value) {
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

/// Changes the image of what stands where a list of containers is expected.
fn change_image_of(rules: &[Rule<'_>], value: &mut Value) {
    if let Some(image) = value.as_object_mut().and_then(|container| container.get_mut("image")) {
        change(rules, image);
    }
}

fn change(rules: &[Rule<'_>], value: &mut Value) {
    if let Some(text) = changed(rules, value) {
        *value = text.into();
    }
}

/// What an image becomes; nothing where no rule changes it.
fn changed(rules: &[Rule<'_>], value: &Value) -> Option<String> {
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

impl<'a> Rule<'a> {
    /// Reads an entry.
    /// # Errors
    /// A name that is no regular expression.
    pub(crate) fn new(image: &'a Image) -> Result<Self, ImageProblem> {
        let end = "(:[a-zA-Z0-9_.{}-]*)?(@sha256:[a-zA-Z0-9_.{}-]*)?$";
        let pattern = expression::read(&format!("^{}{end}", image.name))
            .map_err(|reason| ImageProblem { name: image.name.clone(), reason })?;
        Ok(Self { image, pattern })
    }

    fn apply(&self, text: &str) -> String {
        let (name, tag, digest) = split(text);
        let Image { new_name, new_tag, tag_suffix, digest: new_digest, .. } = self.image;
        let name = if new_name.is_empty() { name } else { new_name };
        // Either of a new tag and a new digest drops what is there of both.
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
