//! Parameters that nothing reads, and dependencies that no application includes.
//!
//! Programs read parameters by names in their text, and may pass on a whole mapping. Therefore only two kinds of
//! parameters are checked: fields directly below the key of a component, whose defaults do not have them, and other keys
//! at the top. Such a name is used if a reference or any file of a component or library has it as a word.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::LazyLock;

use manifest::{Map, Value};
use regex::Regex;

use super::class_file::{ClassFile, plain_key, visit_texts};
use super::finding::{LintCode, LintFinding};
use super::hierarchy::{Checked, Checkout, Hierarchy, read_source};
use crate::reclass::references;

/// The keys that Commodore, Kapitan and capstan read.
const READ_KEYS: [&str; 9] = [
    "cluster",
    "commodore",
    "component_versions",
    "components",
    "dynamic_facts",
    "facts",
    "kapitan",
    "packages",
    "exports",
];
/// The fields of any component that Commodore and capstan read. Fields with an underscore too.
const READ_FIELDS: [&str; 1] = ["jsonnetfile_parameters"];

/// The extensions of Jsonnet programs and libraries.
const PROGRAMS: [&str; 3] = ["jsonnet", "libjsonnet", "libsonnet"];

/// A program passes all parameters of its component to a function, or merges them.
static PASSED_ON: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"([A-Za-z_][\w.]*)\(\s*params\s*[,)]|[,+:]\s*params\s*[,;})]")
        .expect("invariant: the pattern is constant and valid")
});
/// The functions that read one field.
const FIELD_FUNCTIONS: [&str; 3] = ["std.get", "std.objectHas", "std.objectHasAll"];

/// A parameter that seems unused.
struct Candidate<'h> {
    class: &'h ClassFile,
    field: String,
    /// The key at the top, and the field of a component below it.
    key: &'h str,
    name: Option<&'h str>,
}

/// Finds parameters that nothing reads.
pub(super) fn check_parameters(hierarchy: &Hierarchy<'_>) -> Checked {
    let mut checked = Checked::default();
    let missing = hierarchy.missing_components();
    // Any component may read any parameter.
    let checks_other_keys = missing.is_empty() && !hierarchy.checkouts.is_empty();
    if !missing.is_empty() {
        checked.skipped.push(format!(
            "unused-parameters: only parameters of components, because `dependencies` lacks {}",
            missing.join(", ")
        ));
    }
    let mut candidates = Vec::new();
    for class in hierarchy.classes.iter().filter(|class| hierarchy.shown_path(class).is_some()) {
        for (written, value) in class.parameters() {
            let key = plain_key(written);
            if key.starts_with('_') || READ_KEYS.contains(&key) {
                continue;
            }
            match hierarchy.component_of_key(key) {
                Some(component) => {
                    let fields = value.as_object().into_iter().flatten();
                    let unknown = unknown_fields(hierarchy, component, fields.map(|(name, _)| name.as_str()));
                    candidates.extend(unknown.into_iter().map(|name| Candidate {
                        class,
                        field: format!("parameters.{written}.{name}"),
                        key,
                        name: Some(plain_key(name)),
                    }));
                }
                None if checks_other_keys => {
                    candidates.push(Candidate {
                        class,
                        field: format!("parameters.{written}"),
                        key,
                        name: None,
                    });
                }
                None => {}
            }
        }
    }
    let used = used_names(hierarchy, &candidates);
    for Candidate { class, field, key, name } in candidates {
        if used.contains(&(key, name)) {
            continue;
        }
        let Some(shown) = hierarchy.shown_path(class) else { continue };
        let parameter = name.map_or_else(|| key.to_owned(), |name| format!("{key}:{name}"));
        let message = format!("Nothing reads parameter '{parameter}' in file '{}'", shown.display());
        let finding = class.finding(LintCode::UnusedParameter, &field, message);
        checked.findings.push(LintFinding { file: shown.clone(), ..finding });
    }
    checked
}

/// Returns the fields that the classes of a component do not have. Empty if the component is unknown or passes on all.
fn unknown_fields<'f>(
    hierarchy: &Hierarchy<'_>,
    component: &str,
    fields: impl Iterator<Item = &'f str>,
) -> Vec<&'f str> {
    let (checkouts, key) = (hierarchy.checkouts_of(component), component.replace('-', "_"));
    let defaults: Vec<&Value> = checkouts.iter().flat_map(|checkout| checkout.values_of(&key)).collect();
    if defaults.is_empty() || !defaults.iter().all(|value| value.is_object()) {
        return Vec::new();
    }
    let known: BTreeSet<&str> = defaults
        .iter()
        .filter_map(|value| value.as_object())
        .flat_map(Map::keys)
        .map(|key| plain_key(key))
        .collect();
    let is_unknown = |field: &&str| {
        let name = plain_key(field);
        !name.starts_with('_') && !READ_FIELDS.contains(&name) && !known.contains(name)
    };
    let unknown: Vec<&str> = fields.filter(is_unknown).collect();
    let passes_on = !unknown.is_empty() && checkouts.iter().any(|checkout| passes_on(checkout));
    if passes_on { Vec::new() } else { unknown }
}

/// True if a program passes all parameters of its component to a function.
fn passes_on(checkout: &Checkout) -> bool {
    let is_program = |path: &&PathBuf| {
        path.extension().and_then(|found| found.to_str()).is_some_and(|found| PROGRAMS.contains(&found))
    };
    checkout.sources.iter().filter(is_program).filter_map(|path| read_source(path)).any(|text| {
        PASSED_ON
            .captures_iter(&text)
            .any(|found| found.get(1).is_none_or(|function| !FIELD_FUNCTIONS.contains(&function.as_str())))
    })
}

/// Returns the candidates that a reference, a program or a template has as a word.
fn used_names<'h>(
    hierarchy: &Hierarchy<'_>,
    candidates: &[Candidate<'h>],
) -> BTreeSet<(&'h str, Option<&'h str>)> {
    let mut used = BTreeSet::new();
    let mut open: BTreeMap<&str, Vec<&Candidate<'h>>> = BTreeMap::new();
    for candidate in candidates {
        open.entry(candidate.name.unwrap_or(candidate.key)).or_default().push(candidate);
    }
    for class in hierarchy.all_classes() {
        visit_texts(&class.content, "", &mut |_, text| {
            for reference in references(text) {
                let mut steps = reference.path.split(':');
                let (key, name) = (steps.next().unwrap_or_default(), steps.next());
                let component = hierarchy.component_of_key(key);
                for candidate in candidates {
                    let is_key = candidate.key == key
                        || component.is_some() && hierarchy.component_of_key(candidate.key) == component;
                    if is_key && (candidate.name.is_none() || name.is_none() || candidate.name == name) {
                        used.insert((candidate.key, candidate.name));
                    }
                }
            }
        });
    }
    let sources = hierarchy.checkouts.values().flat_map(|checkout| &checkout.sources);
    for text in sources.chain(&hierarchy.libraries).filter_map(|path| read_source(path)) {
        open.retain(|word, candidates| {
            if !has_word(&text, word) {
                return true;
            }
            used.extend(candidates.iter().map(|candidate| (candidate.key, candidate.name)));
            false
        });
    }
    used
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |character: Option<char>| character.is_some_and(|one| one.is_alphanumeric() || one == '_');
    text.match_indices(word).any(|(at, _)| {
        !is_part(text[..at].chars().next_back()) && !is_part(text[at + word.len()..].chars().next())
    })
}

/// Finds declared components and packages that no application of any class includes.
pub(super) fn check_dependencies(hierarchy: &Hierarchy<'_>) -> Checked {
    let mut checked = Checked::default();
    if !hierarchy.missing_packages.is_empty() {
        checked.skipped.push(format!(
            "unused-dependencies: the applications of {} are not in `dependencies`",
            hierarchy.missing_packages.join(", ")
        ));
        return checked;
    }
    let components: BTreeSet<&String> =
        hierarchy.instances.iter().flat_map(|(alias, of)| [alias, of]).collect();
    let packages: BTreeSet<&String> = hierarchy.packages.iter().collect();
    for class in &hierarchy.classes {
        let Some(shown) = hierarchy.shown_path(class) else { continue };
        for (key, value) in class.parameters() {
            let (included, word, code) = match plain_key(key) {
                "components" => (&components, "component", LintCode::UnusedComponent),
                "packages" => (&packages, "package", LintCode::UnusedPackage),
                _ => continue,
            };
            let names = value.as_object().into_iter().flat_map(Map::keys);
            for name in names.filter(|name| !included.iter().any(|known| *known == plain_key(name))) {
                let message = format!(
                    "No application includes {word} '{}' of file '{}'",
                    plain_key(name),
                    shown.display()
                );
                let finding = class.finding(code, &format!("parameters.{key}.{name}"), message);
                checked.findings.push(LintFinding { file: shown.clone(), ..finding });
            }
        }
    }
    checked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_no_letters_beside_it() {
        for (text, expected) in [
            ("params.disk", true),
            ("disks", false),
            ("a_disk", false),
            ("'disk': 1", true),
            ("diskdisk disk", true),
        ] {
            assert_eq!(has_word(text, "disk"), expected, "{text}");
        }
    }

    #[test]
    fn a_program_that_passes_on_its_parameters_reads_all() {
        let passes = |text: &str| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("main.jsonnet");
            std::fs::write(&path, text).unwrap();
            passes_on(&Checkout { sources: vec![path], ..Checkout::default() })
        };
        for (text, expected) in [
            ("local params = inv.parameters.nfs; { a: params.a }", false),
            ("std.get(params, 'a', 1)", false),
            ("if std.objectHas(params, 'a') then 1", false),
            ("std.objectFields(params)", true),
            ("std.mapWithKey(function(k, v) v, params)", true),
            ("lib.make( params )", true),
            ("{ data+: params, }", true),
            ("{ a: 1 } + params }", true),
        ] {
            assert_eq!(passes(text), expected, "{text}");
        }
    }
}
