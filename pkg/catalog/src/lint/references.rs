//! References that no class gives a value.

use std::collections::BTreeMap;

use manifest::Value;

use super::class_file::{plain_key, visit_texts};
use super::entries::REMOVED;
use super::finding::{LintCode, LintFinding};
use super::hierarchy::{Checked, Hierarchy};
use crate::reclass::{Reference, references};

/// The parameters that each compilation sets.
const GIVEN: [&str; 5] = ["cluster", "facts", "dynamic_facts", "kapitan", "components"];

/// Finds references whose parameter no class sets. A class that no cluster includes counts too.
pub(super) fn check(hierarchy: &Hierarchy<'_>) -> Checked {
    let mut checked = Checked::default();
    if !hierarchy.missing_packages.is_empty() {
        checked.skipped.push(format!(
            "unknown-references: the classes of {} are not in `dependencies`",
            hierarchy.missing_packages.join(", ")
        ));
        return checked;
    }
    let mut set = SetParameter::default();
    for class in hierarchy.all_classes().chain(&hierarchy.targets) {
        for (key, value) in class.parameters() {
            set.child(key).add(value);
        }
    }
    for class in hierarchy.all_classes().chain(&hierarchy.targets) {
        let Some(shown) = hierarchy.shown_path(class) else { continue };
        for section in ["classes", "parameters"] {
            let Some(value) = class.content.get(section) else { continue };
            visit_texts(value, section, &mut |field, text| {
                let needed = references(text).into_iter().filter(|reference| reference.needs_value);
                for Reference { path, .. } in needed.filter(|needed| !is_known(&needed.path, &set, hierarchy))
                {
                    let file = shown.display();
                    let message =
                        format!("Reference '${{{path}}}' of field '{field}' in file '{file}' has no value");
                    let finding = class.finding(LintCode::UnknownReference, field, message);
                    checked.findings.push(LintFinding { file: shown.clone(), ..finding });
                }
            });
        }
    }
    checked
}

/// True if some class sets a parameter, or if it cannot be known.
fn is_known(path: &str, set: &SetParameter, hierarchy: &Hierarchy<'_>) -> bool {
    let mut steps = path.split(':');
    let Some(key) = steps.next() else { return true };
    let is_removed = REMOVED.iter().any(|removed| removed[2..].trim_end_matches('}') == path);
    if is_removed || key.starts_with('_') || GIVEN.contains(&key) || set.has(path.split(':')) {
        return true;
    }
    let Some(component) = hierarchy.component_of_key(key) else { return false };
    // An instance also has the parameters of its component.
    let own = component.replace('-', "_");
    hierarchy.checkouts_of(component).is_empty() || set.has(std::iter::once(own.as_str()).chain(steps))
}

/// The parameters that any class sets.
#[derive(Default)]
struct SetParameter {
    children: BTreeMap<String, Self>,
    /// The value is a reference in a class, so that its fields are unknown.
    is_open: bool,
}

impl SetParameter {
    fn child(&mut self, key: &str) -> &mut Self {
        self.children.entry(plain_key(key).to_owned()).or_default()
    }

    fn add(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(key, value)| self.child(key).add(value)),
            Value::String(text) => self.is_open |= text.contains("${"),
            _ => {}
        }
    }

    fn has<'p>(&self, mut path: impl Iterator<Item = &'p str>) -> bool {
        if self.is_open {
            return true;
        }
        path.next().is_none_or(|step| self.children.get(step).is_some_and(|child| child.has(path)))
    }
}
