//! The evaluation of one program.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;

use rsjsonnet_lang::arena::Arena;
use rsjsonnet_lang::program::{Program, Value as ProgramValue};
use serde_json::Value;

use super::convert;
use super::error::JsonnetError;
use super::imports::SourcePath;
use super::session::{Natives, Session};
use crate::results::Reads;

/// The stack of the thread that parses sources. It is reserved, and used only as far as needed.
const STACK_BYTES: usize = 256 << 20;
/// The maximum number of open calls.
const MAX_CALLS: usize = 10_000;

/// The surroundings of a program.
pub(crate) struct Evaluation<'a> {
    /// The folders of imported files, in the order of their priority.
    pub(crate) search_paths: &'a [PathBuf],
    /// The values of `std.extVar`.
    pub(crate) external_variables: BTreeMap<String, String>,
    /// The record of read files.
    pub(crate) reads: &'a Reads,
    /// The functions of `std.native`.
    pub(crate) natives: &'a dyn Natives,
}

/// The result of a program.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Evaluated {
    /// The value.
    pub(crate) value: Value,
    /// The messages of `std.trace`, each with its position.
    pub(crate) traces: Vec<String>,
}

/// Evaluates the program in a file.
pub(crate) fn evaluate(file: &Path, evaluation: &Evaluation<'_>) -> Result<Evaluated, JsonnetError> {
    let run = || {
        let arena = Arena::new();
        evaluate_in(&arena, file, evaluation)
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("jsonnet".to_owned()).stack_size(STACK_BYTES);
        match thread.spawn_scoped(scope, run) {
            Ok(running) => running.join().unwrap_or_else(|_| {
                Err(JsonnetError::new(format!("the evaluator failed on `{}`", file.display())))
            }),
            Err(error) => Err(JsonnetError::new(format!("cannot start a thread: {error}"))),
        }
    })
}

fn evaluate_in(arena: &Arena, file: &Path, evaluation: &Evaluation<'_>) -> Result<Evaluated, JsonnetError> {
    let mut program = Program::new(arena);
    program.set_max_stack(MAX_CALLS);
    for (name, value) in &evaluation.external_variables {
        let name = program.intern_str(name);
        let value = program.value_to_thunk(&ProgramValue::string(value));
        program.add_ext_var(name, &value);
    }
    for function in evaluation.natives.functions() {
        let name = program.intern_str(function.name);
        let parameters: Vec<_> = function.parameters.iter().map(|name| program.intern_str(name)).collect();
        program.register_native_func(name, &parameters);
    }
    let mut session = Session::new(evaluation);
    let root = session.load(&mut program, SourcePath::File(file.to_owned()))?;
    let value = program.eval_value(&root, &mut session).map_err(|error| session.explain(&program, &error))?;
    let value = convert::to_json(&value)
        .ok_or_else(|| JsonnetError::new(format!("the result of `{}` has a function", file.display())))?;
    Ok(Evaluated { value, traces: session.into_traces() })
}
