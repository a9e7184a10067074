//! One target: its inputs in order.

use std::path::Path;

use super::context::TargetContext;
use super::error::InputError;
use super::inputs::{copy, external, helm, jinja2, jsonnet, kustomize, remove};
use super::output_tree::OutputTree;
use super::search::find;
use super::settings::{Input, InputType};

/// Compiles the inputs of a target. Returns the messages of failed inputs without which the target is complete, and of
/// programs.
pub(super) fn compile(context: &TargetContext<'_>) -> Result<Vec<String>, InputError> {
    let mut messages = Vec::new();
    context.output.create()?;
    for input in Input::all(context.field("/kapitan/compile"))? {
        match compile_input(context, &input, &mut messages) {
            Err(error) if input.may_fail() && !context.control.is_stopped() => {
                messages.push(format!("Error compiling {}: {error}", context.name));
            }
            result => result?,
        }
    }
    Ok(messages)
}

fn compile_input(
    context: &TargetContext<'_>,
    input: &Input,
    messages: &mut Vec<String>,
) -> Result<(), InputError> {
    let output = context.output_of(input)?;
    for path in &input.input_paths {
        if input.input_type == InputType::External {
            external::compile(context, input, path, &output)?;
            continue;
        }
        let search_paths = match input.input_type {
            // A relative path names a compiled file.
            InputType::Remove => &context.search_paths[context.search_paths.len().saturating_sub(1)..],
            _ => &context.search_paths,
        };
        let found = find(path, search_paths, &context.reads)?;
        if found.is_empty() && !input.ignore_missing() {
            return Err(InputError::Missing { path: path.clone(), searched: context.search_paths.clone() });
        }
        for file in found {
            output.create()?;
            compile_path(context, input, &file, &output, messages)?;
        }
    }
    Ok(())
}

fn compile_path(
    context: &TargetContext<'_>,
    input: &Input,
    path: &Path,
    output: &OutputTree,
    messages: &mut Vec<String>,
) -> Result<(), InputError> {
    // Noted twice: files may change while they are read.
    let is_tree = !matches!(input.input_type, InputType::Jsonnet | InputType::Remove | InputType::External);
    let note_tree = || is_tree.then(|| context.reads.note_tree(path));
    note_tree();
    let compiled = match input.input_type {
        InputType::Copy => copy::compile(path, output),
        InputType::Helm => helm::compile(context, input, path, output),
        InputType::Jinja2 => jinja2::compile(context, input, path, output),
        InputType::Jsonnet => jsonnet::compile(context, input, path, output, messages),
        InputType::Kustomize => kustomize::compile(context, input, path, output),
        InputType::Remove => remove::compile(context, path),
        InputType::External => Ok(()),
    };
    note_tree();
    compiled
}
