//! Kustomizations with the output of kustomize v5.8.1, in the order of their entries and without load restrictions.
//!
//! `corpus/passing.txt` lists the cases with identical output; the list only grows.
//! `SNAPSHOTS=overwrite cargo test -p capstan-kustomize corpus` rewrites the list.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use manifest::provenance::Trace;
use manifest::{YamlLimits, read_stream, write_stream};

use crate::{Build, BuildOptions, BuildOutput, FetchResults, LoadRestrictor, MemoryTree, Reorder, TreePath};

const PASSING: &str = include_str!("corpus/passing.txt");

#[test]
fn every_case_of_the_corpus_builds() {
    let Some(corpus) = support::skip::corpus() else { return };
    let mut came_out = BTreeSet::new();
    let mut others = Vec::new();
    for folder in folders(&corpus.join("kustomize")) {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        match compare(&folder) {
            Ok(()) => drop(came_out.insert(name)),
            Err(why) => others.push(format!("{name}: {why}")),
        }
    }
    let report = others.join("\n");
    if variable("SNAPSHOTS").is_some_and(|mode| mode == "overwrite") {
        let names: Vec<&str> = came_out.iter().map(String::as_str).collect();
        let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/corpus/passing.txt");
        fs::write(list, names.join("\n") + "\n").unwrap();
        return;
    }
    println!("{} come out; of the others:\n{report}", came_out.len());
    let listed: BTreeSet<String> = PASSING.lines().map(str::to_owned).collect();
    let broken: Vec<&String> = listed.difference(&came_out).collect();
    assert!(broken.is_empty(), "these came out before: {broken:?}\n{report}");
    let unlisted: Vec<&String> = came_out.difference(&listed).collect();
    assert!(unlisted.is_empty(), "these come out now, list them: {unlisted:?}");
}

/// Builds a case. Returns the difference to the expected output as an error.
fn compare(folder: &Path) -> Result<(), String> {
    let expected = fs::read_to_string(folder.join("expected.yaml")).unwrap();
    let start = fs::read_to_string(folder.join("run")).unwrap();
    let mut tree = MemoryTree::default();
    read_folder(&folder.join("in"), &TreePath::new("/"), &mut tree);
    let printed = build(&tree, start.trim(), Trace::Off)?.text();
    check_trace(&build(&tree, start.trim(), Trace::On)?, &printed)?;
    let (expected, printed) = (expected.trim(), printed.trim());
    if expected == printed {
        return Ok(());
    }
    let differs = expected.lines().zip(printed.lines()).enumerate().find(|(_, (a, b))| a != b);
    Err(format!("first difference {differs:?}"))
}

fn build(tree: &MemoryTree, start: &str, trace: Trace) -> Result<BuildOutput, String> {
    let options = BuildOptions {
        load_restrictor: LoadRestrictor::None,
        reorder: Reorder::None,
        trace,
        ..BuildOptions::default()
    };
    let build = Build { tree, fetch_results: &FetchResults::new(), options };
    build.run(&TreePath::new(start)).map_err(|report| report.to_string())
}

/// Checks that tracing changes no object, and that its comments do not change the parsed text.
fn check_trace(traced: &BuildOutput, printed: &str) -> Result<(), String> {
    if write_stream(&traced.objects) != printed.trim_end() {
        return Err("traced it is another".to_owned());
    }
    let read = |text: &str| read_stream(text.as_bytes(), &YamlLimits::default()).map(|stream| stream.objects);
    let commented = traced.text();
    if read(&commented).ok() != read(printed).ok() {
        return Err(format!("with comments it is another:\n{commented}"));
    }
    Ok(())
}

/// Copies the files of a folder on disk into a tree.
pub(crate) fn read_folder(folder: &Path, at: &TreePath, tree: &mut MemoryTree) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = at.join(&entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            read_folder(&entry.path(), &path, tree);
        } else {
            tree.insert(path, fs::read(entry.path()).unwrap());
        }
    }
}

fn folders(corpus: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.retain(|folder| folder.is_dir());
    folders.sort();
    folders
}

#[expect(clippy::disallowed_methods, reason = "a test finds its data through the environment")]
fn variable(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name)
}
