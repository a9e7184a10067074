//! `jsonnetfile.jsonnet` of components: a program that gives `jsonnetfile.json`.

use std::collections::BTreeMap;
use std::sync::Arc;

use manifest::Value;

use super::Dependency;
use crate::error::CatalogError;
use crate::jsonnet::{Evaluation, EvaluationControl, NativeFunction, Natives, evaluate};
use crate::results::Reads;
use crate::working_folder::write_file;

/// Evaluates the program of a component, if it has one, and writes its result.
///
/// # Errors
/// The program fails, or a parameter for it is no text.
pub(crate) fn render_jsonnetfile(
    component: &Dependency,
    parameters: &Value,
    control: &EvaluationControl,
) -> Result<(), CatalogError> {
    let program = component.worktree.join("jsonnetfile.jsonnet");
    if !program.is_file() {
        return Ok(());
    }
    let mut external_variables = BTreeMap::new();
    let entries = parameters.get("jsonnetfile_parameters").and_then(Value::as_object);
    for (name, value) in entries.into_iter().flatten() {
        let Value::String(text) = value else {
            return Err(CatalogError::rule_with_hint(
                format!(
                    "Parameter '{name}' in 'jsonnetfile_parameters' of component '{}' must be text",
                    component.name
                ),
                format!("put quotes around the value of `{name}`"),
            ));
        };
        external_variables.insert(name.clone(), text.clone());
    }
    let reads = Arc::<Reads>::default();
    let evaluation =
        Evaluation { search_paths: &[], external_variables, natives: &NoNatives, reads: &reads, control };
    let evaluated = evaluate(&program, &evaluation)?;
    let text = serde_json::to_string_pretty(&evaluated.value)
        .map_err(|error| CatalogError::Libraries { problem: error.to_string() })?;
    write_file(&component.worktree.join("jsonnetfile.json"), &format!("{text}\n"))
}

/// A program for dependencies calls no native functions.
struct NoNatives;

impl Natives for NoNatives {
    fn functions(&self) -> &'static [NativeFunction] {
        &[]
    }

    fn call(&self, name: &str, _arguments: &[Value]) -> Result<Value, String> {
        Err(format!("there is no native function `{name}`"))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    fn render(component: &Dependency, parameters: &Value) -> Result<(), CatalogError> {
        render_jsonnetfile(component, parameters, &EvaluationControl::default())
    }

    // Row: CAT-53
    // Row: CAT-54
    // Row: CAT-55
    // Row: D-441
    #[test]
    fn parameters_are_external_variables_of_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let component = Dependency {
            name: "one".to_owned(),
            component: "one".to_owned(),
            url: String::new(),
            version: String::new(),
            path: String::new(),
            worktree: folder.path().to_owned(),
            commit: None,
        };
        render(&component, &json!({})).unwrap();
        assert!(!folder.path().join("jsonnetfile.json").exists());
        fs::write(folder.path().join("jsonnetfile.jsonnet"), "{ version: std.extVar('v') }").unwrap();
        render(&component, &json!({"jsonnetfile_parameters": {"v": "1.18"}})).unwrap();
        let written = fs::read_to_string(folder.path().join("jsonnetfile.json")).unwrap();
        assert_eq!(written, "{\n  \"version\": \"1.18\"\n}\n");
        let error = render(&component, &json!({"jsonnetfile_parameters": {"v": 1}})).unwrap_err();
        assert_eq!(
            error.to_string(),
            "Parameter 'v' in 'jsonnetfile_parameters' of component 'one' must be text"
        );
    }
}
