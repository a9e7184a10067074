//! Small builds for the tests of steps: of the kustomization in `/`, in the order of its entries.

use manifest::{Object, Value};

use crate::{Answers, Build, MemoryTree, Options, Outcome, Reorder, TreePath};

/// Builds files; gives what is wrong a line each.
pub(crate) fn build(files: &[(&str, &str)]) -> Result<Vec<Object>, String> {
    build_with(files, Options { reorder: Reorder::None, ..Options::default() })
}

/// Builds files in another way.
pub(crate) fn build_with(files: &[(&str, &str)], options: Options) -> Result<Vec<Object>, String> {
    let tree: MemoryTree = files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
    let outcome = Build { tree: &tree, answers: &Answers::new(), options }.run(&TreePath::new("/"));
    match outcome {
        Ok(Outcome::Built(output)) => Ok(output.objects),
        Ok(Outcome::Wants(wanted)) => Err(format!("wants {wanted:?}")),
        Err(errors) => {
            let lines: Vec<String> = errors.problems.iter().map(ToString::to_string).collect();
            Err(lines.join("\n"))
        }
    }
}

/// What is wrong with files.
pub(crate) fn told(files: &[(&str, &str)]) -> String {
    build(files).unwrap_err()
}

/// Builds files that hold no mistake; gives the last object.
pub(crate) fn built(files: &[(&str, &str)]) -> Value {
    build(files).unwrap().pop().unwrap().into_value()
}
