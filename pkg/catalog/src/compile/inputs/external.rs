//! Programs that write files. The wrapper of kustomize is built in; all other programs need a permission.

use std::path::Path;

use serde_json::Value;

use super::kustomize::note_inputs;
use crate::compile::KUSTOMIZE_WRAPPER;
use crate::compile::context::TargetContext;
use crate::compile::error::InputError;
use crate::compile::output_tree::OutputTree;
use crate::compile::search::find;
use crate::compile::settings::Input;
use crate::compile::tools::{ProgramCall, ToolError};

/// The word for the output folder in arguments and variables.
const OUTPUT_FOLDER: &str = "${compiled_target_dir}";
/// The variable with the folder of a kustomization.
const INPUT_FOLDER: &str = "INPUT_DIR";

/// Runs a program.
pub(in crate::compile) fn compile(
    context: &TargetContext<'_>,
    input: &Input,
    program: &str,
    output: &OutputTree,
) -> Result<(), InputError> {
    output.create()?;
    if program == KUSTOMIZE_WRAPPER {
        return build_kustomization(context, input, output);
    }
    let found = find(program, &context.search_paths, &context.reads)?;
    if found.is_empty() && !input.ignore_missing() {
        return Err(InputError::Missing { path: program.to_owned(), searched: context.search_paths.clone() });
    }
    // Programs read and write anything.
    context.reads.note_unknown();
    for path in found {
        let call = ProgramCall {
            program: program.to_owned(),
            command_line: command_line(&path, input, output),
            variables: variables(input, output),
        };
        context.tools.run_program(call).map_err(|error| InputError::External {
            program: program.to_owned(),
            reason: error.reason,
            hints: error.hints,
        })?;
    }
    Ok(())
}

/// The command line for the shell, which splits and expands it.
fn command_line(path: &Path, input: &Input, output: &OutputTree) -> String {
    let words = std::iter::once(path.display().to_string()).chain(input.args.iter().cloned());
    with_output(&words.collect::<Vec<_>>().join(" "), output)
}

fn with_output(text: &str, output: &OutputTree) -> String {
    text.replace(OUTPUT_FOLDER, &output.root().display().to_string())
}

fn variables(input: &Input, output: &OutputTree) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    input.env_vars.iter().map(|(name, value)| (name.clone(), with_output(&text(value), output))).collect()
}

/// Builds the kustomization in the folder `INPUT_DIR` into the folder of the first argument.
fn build_kustomization(
    context: &TargetContext<'_>,
    input: &Input,
    output: &OutputTree,
) -> Result<(), InputError> {
    let fail = |path: &str, error: ToolError| InputError::Kustomize {
        path: path.into(),
        reason: error.reason,
        hints: error.hints,
    };
    let missing = |what: &str| InputError::External {
        program: KUSTOMIZE_WRAPPER.to_owned(),
        reason: format!("{what} is missing"),
        hints: Vec::new(),
    };
    let variables = variables(input, output);
    let folder = variables.iter().find(|(name, _)| name == INPUT_FOLDER).map(|(_, folder)| folder);
    let folder = folder.ok_or_else(|| missing("variable `INPUT_DIR`"))?;
    let arguments = with_output(&input.args.join(" "), output);
    let to = arguments.split_whitespace().next().ok_or_else(|| missing("the output folder"))?;
    let inside = Path::new(to).strip_prefix(output.root()).ok().and_then(Path::to_str);
    let inside = inside.ok_or_else(|| InputError::Outside { path: to.to_owned() })?;
    let to = output.folder(inside)?;
    let built = context.tools.build_kustomization(Path::new(folder)).map_err(|error| fail(folder, error))?;
    note_inputs(context, &built);
    for (name, text) in &built.files {
        to.write(name, text.as_bytes())?;
    }
    Ok(())
}
