//! Tests of `component` with recorded cases: encrypted files, substitutions and whole Components.

use std::{fs, path::Path};

use manifest::{YamlLimits, read_stream};
use serde_json::Value;
use support::{binary::RunOutput, skip::corpus};

use crate::world;

/// Runs the cases of a set, and returns the names of those with another result than `agrees` requires.
fn differing(set: &str, agrees: impl Fn(&RunOutput, &Path) -> bool) -> Vec<String> {
    let Some(corpus) = corpus() else { return Vec::new() };
    let mut differing = Vec::new();
    for entry in fs::read_dir(corpus.join("components").join(set)).unwrap() {
        let folder = entry.unwrap().path();
        let Ok(case) = fs::read(folder.join("case.json")) else { continue };
        let case: Value = serde_json::from_slice(&case).unwrap();
        let world = world();
        let arguments = case["args"].as_array().unwrap().iter().map(|argument| argument.as_str().unwrap());
        let run = world.to_output(&world.command(arguments).current_dir(&folder).output().unwrap());
        let is_same = match case["expect"].as_str() {
            Some("ok") => run.status == 0 && agrees(&run, &folder),
            _ => run.status == 1 && run.stdout.is_empty() && names_all(&run, &case),
        };
        if !is_same {
            differing.push(format!("{}: {run}", folder.display()));
        }
    }
    differing
}

/// True if the error names each word of the case, such as the field with the problem.
fn names_all(run: &RunOutput, case: &Value) -> bool {
    let error = run.stderr.to_lowercase();
    let words = case["must_name"].as_array().into_iter().flatten();
    words.into_iter().all(|word| error.contains(&word.as_str().unwrap().to_lowercase()))
}

fn is_recorded_text(run: &RunOutput, folder: &Path) -> bool {
    let expected = fs::read(folder.join("expected.txt")).unwrap();
    run.stdout == String::from_utf8_lossy(&expected)
}

#[test]
fn encrypted_files_are_decrypted_to_the_recorded_text_or_refused() {
    let differing = differing("sops", is_recorded_text);
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

// Row: CMP-52
#[test]
fn variables_are_substituted_to_the_recorded_text_or_refused() {
    let differing = differing("substitute", is_recorded_text);
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

// Row: CMP-09, CMP-31, CMP-38, CMP-53
#[test]
fn whole_components_are_rendered_to_the_recorded_objects_or_refused() {
    let objects = |text: &[u8]| read_stream(text, &YamlLimits::default()).unwrap().objects;
    let differing = differing("component", |run, folder| {
        objects(run.stdout.as_bytes()) == objects(&fs::read(folder.join("expected.yaml")).unwrap())
    });
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}
