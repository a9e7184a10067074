//! The evaluation of one program.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rsjsonnet_lang::arena::Arena;
use rsjsonnet_lang::program::{Program, Value as ProgramValue};
use serde_json::Value;

use super::control::EvaluationControl;
use super::convert::{self, ConversionError};
use super::error::JsonnetError;
use super::imports::SourcePath;
use super::native::{Message, NativeCalls, Natives};
use super::session::Session;
use crate::results::Reads;

/// The stack of the thread that parses sources. It is reserved, and used only as far as needed.
const STACK_BYTES: usize = 256 << 20;
/// The interval between two checks of a program from outside.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);
/// The maximum number of open calls.
const MAX_CALLS: usize = 10_000;

/// The surroundings of a program.
pub(crate) struct Evaluation<'a> {
    /// The folders of imported files, in the order of their priority.
    pub(crate) search_paths: &'a [PathBuf],
    /// The values of `std.extVar`.
    pub(crate) external_variables: BTreeMap<String, String>,
    /// The record of read files.
    pub(crate) reads: &'a Arc<Reads>,
    /// The functions of `std.native`.
    pub(crate) natives: &'a dyn Natives,
    /// The limits of the program.
    pub(crate) control: &'a EvaluationControl,
}

/// The result of a program.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Evaluated {
    /// The value.
    pub(crate) value: Value,
    /// The messages of `std.trace`, each with its position.
    pub(crate) traces: Vec<String>,
}

/// The part of the surroundings that the thread of a program has.
pub(super) struct Sources {
    pub(super) search_paths: Vec<PathBuf>,
    pub(super) reads: Arc<Reads>,
    pub(super) natives: NativeCalls,
}

/// Evaluates the program in a file. Nothing can stop the evaluator, so its thread is left alone if the program must end.
pub(crate) fn evaluate(file: &Path, evaluation: &Evaluation<'_>) -> Result<Evaluated, JsonnetError> {
    let (sender, receiver) = mpsc::channel();
    let program = file.to_owned();
    let variables = evaluation.external_variables.clone();
    let sources = Sources {
        search_paths: evaluation.search_paths.to_owned(),
        reads: Arc::clone(evaluation.reads),
        natives: NativeCalls { functions: evaluation.natives.functions(), line: sender.clone() },
    };
    let run = move || {
        let outcome = evaluate_in(&Arena::new(), &program, &variables, sources);
        // Without a receiver, the run has ended.
        let _ = sender.send(Message::End(outcome));
    };
    let thread = thread::Builder::new().name("jsonnet".to_owned()).stack_size(STACK_BYTES);
    let started = thread.spawn(run);
    started.map_err(|error| JsonnetError::new(format!("cannot start a thread: {error}")))?;
    serve(file, evaluation, &receiver)
}

/// Calls native functions for a program until it ends, or must end.
fn serve(
    file: &Path,
    evaluation: &Evaluation<'_>,
    calls: &Receiver<Message>,
) -> Result<Evaluated, JsonnetError> {
    let started_at = Instant::now();
    let mut next_check = started_at + CHECK_INTERVAL;
    loop {
        match calls.recv_timeout(next_check.saturating_duration_since(Instant::now())) {
            Ok(Message::End(outcome)) => return outcome,
            // Without a receiver, the program has ended.
            Ok(Message::Call { name, arguments, answer }) => {
                let _ = answer.send(evaluation.natives.call(&name, &arguments));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(JsonnetError::new(format!("the evaluator failed on `{}`", file.display())));
            }
        }
        if Instant::now() >= next_check {
            evaluation.control.check(file, started_at)?;
            next_check = Instant::now() + CHECK_INTERVAL;
        }
    }
}

fn evaluate_in(
    arena: &Arena,
    file: &Path,
    variables: &BTreeMap<String, String>,
    sources: Sources,
) -> Result<Evaluated, JsonnetError> {
    let mut program = Program::new(arena);
    program.set_max_stack(MAX_CALLS);
    for (name, value) in variables {
        let name = program.intern_str(name);
        let value = program.value_to_thunk(&ProgramValue::string(value));
        program.add_ext_var(name, &value);
    }
    for function in sources.natives.functions {
        let name = program.intern_str(function.name);
        let parameters: Vec<_> = function.parameters.iter().map(|name| program.intern_str(name)).collect();
        program.register_native_func(name, &parameters);
    }
    let mut session = Session::new(sources);
    let root = session.load(&mut program, SourcePath::File(file.to_owned()))?;
    let value = program.eval_value(&root, &mut session).map_err(|error| session.explain(&program, &error))?;
    let value = convert::to_json(&value).map_err(|error| {
        let file = file.display();
        JsonnetError::new(match error {
            ConversionError::Function => format!("the result of `{file}` has a function"),
            ConversionError::TooLarge => {
                format!("the result of `{file}` is larger than {} MiB", convert::MAX_BYTES >> 20)
            }
        })
    })?;
    Ok(Evaluated { value, traces: session.into_traces() })
}
