//! Native functions. Programs call them through a line between two threads.

use std::sync::mpsc::{self, Sender};

use serde_json::Value;

use super::JsonnetError;
use super::evaluate::Evaluated;

/// A native function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NativeFunction {
    /// The name for `std.native`.
    pub(crate) name: &'static str,
    /// The names of its parameters.
    pub(crate) parameters: &'static [&'static str],
}

/// Functions that programs call by `std.native`. Equal calls of one program are made once.
pub(crate) trait Natives {
    /// The functions.
    fn functions(&self) -> &'static [NativeFunction];

    /// Calls a function.
    fn call(&self, name: &str, arguments: &[Value]) -> Result<Value, String>;
}

/// A message of the thread of a program.
pub(super) enum Message {
    /// The program calls a function.
    Call { name: String, arguments: Vec<Value>, answer: Sender<Result<Value, String>> },
    /// The program has ended.
    End(Result<Evaluated, JsonnetError>),
}

/// The end of the line at the program.
pub(super) struct NativeCalls {
    pub(super) functions: &'static [NativeFunction],
    pub(super) line: Sender<Message>,
}

impl NativeCalls {
    pub(super) fn call(&self, name: &str, arguments: Vec<Value>) -> Result<Value, String> {
        let ended = || "the run has ended".to_owned();
        let (answer, answered) = mpsc::channel();
        let call = Message::Call { name: name.to_owned(), arguments, answer };
        self.line.send(call).map_err(|_| ended())?;
        answered.recv().map_err(|_| ended())?
    }
}
