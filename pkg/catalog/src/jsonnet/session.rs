//! The state of an evaluation: loaded sources, results of native functions, and the last failure.

use std::cell::OnceCell;
use std::collections::HashMap;

use rsjsonnet_lang::interner::InternedStr;
use rsjsonnet_lang::program::{
    Callbacks, EvalError, EvalErrorKind, EvalStackTraceItem, ImportError as Refused, NativeError, Program,
    Thunk, Value as ProgramValue,
};
use rsjsonnet_lang::span::{SpanContextId, SpanId};
use serde_json::Value;

use super::convert::{self, ConversionError};
use super::depth::{MAX_DEPTH, nesting};
use super::error::{JsonnetError, SourcePosition, TracePoint};
use super::evaluate::Sources;
use super::imports::{self, SourcePath};
use super::limits::{LIMITS, PREFIX};
use super::message;

/// A loaded source.
struct Source {
    path: SourcePath,
    text: Vec<u8>,
    /// The file for messages, looked up at the first message.
    location: OnceCell<String>,
}

/// The state of an evaluation.
pub(super) struct Session<'p> {
    from: Sources,
    programs: HashMap<SourcePath, Thunk<'p>>,
    sources: HashMap<SpanContextId, Source>,
    results: HashMap<(&'p str, String), ProgramValue<'p>>,
    traces: Vec<String>,
    /// The reason of the last refused import or native call.
    failure: Option<JsonnetError>,
}

impl<'p> Session<'p> {
    pub(super) fn new(from: Sources) -> Self {
        Self {
            from,
            programs: HashMap::new(),
            sources: HashMap::new(),
            results: HashMap::new(),
            traces: Vec::new(),
            failure: None,
        }
    }

    pub(super) fn into_traces(self) -> Vec<String> {
        self.traces
    }

    /// Parses a source.
    pub(super) fn load(
        &mut self,
        program: &mut Program<'p>,
        path: SourcePath,
    ) -> Result<Thunk<'p>, JsonnetError> {
        if let Some(loaded) = self.programs.get(&path) {
            return Ok(loaded.clone());
        }
        let text =
            imports::read(&path, &self.from.reads).map_err(|error| JsonnetError::new(error.to_string()))?;
        if nesting(&String::from_utf8_lossy(&text)) > MAX_DEPTH {
            let reason = format!("`{}` is nested deeper than {MAX_DEPTH} levels", path.location());
            return Err(JsonnetError::new(reason));
        }
        let text = if path == LIMITS { text } else { [PREFIX.as_bytes(), &text].concat() };
        let (context, _) = program.span_manager_mut().insert_source_context(text.len());
        let name = path.display();
        self.sources.insert(context, Source { path: path.clone(), text, location: OnceCell::new() });
        let text = &self.sources[&context].text;
        let loaded = program.load_source(context, text, true, &name).map_err(|error| {
            let (reason, span) = message::of_load(&error);
            JsonnetError { position: self.position(program, span), ..JsonnetError::new(reason) }
        })?;
        self.programs.insert(path, loaded.clone());
        Ok(loaded)
    }

    /// Converts an error of the evaluator.
    pub(super) fn explain(&mut self, program: &Program<'p>, error: &EvalError) -> JsonnetError {
        let (reason, span) = message::of_evaluation(&error.kind);
        let trace: Box<[_]> =
            error.stack_trace.iter().rev().map(|item| self.trace_point(program, item)).collect();
        let position = span
            .and_then(|span| self.position(program, span))
            .or_else(|| trace.iter().find_map(|point| point.position.clone()));
        let refused =
            matches!(error.kind, EvalErrorKind::ImportFailed { .. } | EvalErrorKind::NativeCallFailed);
        match self.failure.take().filter(|_| refused) {
            Some(failure) if failure.position.is_some() => failure,
            Some(failure) => JsonnetError { position, trace, ..failure },
            None => JsonnetError { position, trace, ..JsonnetError::new(reason) },
        }
    }

    fn trace_point(&self, program: &Program<'p>, item: &EvalStackTraceItem) -> TracePoint {
        let (what, span) = message::of_trace(item);
        TracePoint { what, position: span.and_then(|span| self.position(program, span)) }
    }

    fn position(&self, program: &Program<'p>, span: SpanId) -> Option<SourcePosition> {
        let (context, start, _) = program.span_manager().get_span(span);
        let source = self.sources.get(&context).filter(|source| source.path != LIMITS)?;
        let start = start.checked_sub(PREFIX.len())?;
        let before = source.text.get(PREFIX.len()..)?.get(..start)?;
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        let file = source.location.get_or_init(|| source.path.location()).clone();
        Some(SourcePosition { file, line, column: start - line_start + 1 })
    }

    fn resolve(
        &mut self,
        program: &Program<'p>,
        from: SpanId,
        name: &str,
    ) -> Result<SourcePath, JsonnetError> {
        let (context, ..) = program.span_manager().get_span(from);
        if let SourcePath::Embedded(limits) = LIMITS
            && name == limits
        {
            return Ok(LIMITS);
        }
        let from = self.sources.get(&context).map(|source| &source.path);
        imports::resolve(from, name, &self.from.search_paths, &self.from.reads)
            .map_err(|error| JsonnetError::new(error.to_string()))
    }

    fn call(
        &mut self,
        program: &mut Program<'p>,
        name: InternedStr<'p>,
        arguments: &[ProgramValue<'p>],
    ) -> Result<ProgramValue<'p>, String> {
        let arguments: Result<Vec<_>, _> = arguments.iter().map(convert::to_json).collect();
        let arguments = arguments.map_err(|error| match error {
            ConversionError::Function => format!("native function `{}` takes no functions", name.value()),
            ConversionError::TooLarge => format!(
                "native function `{}` takes no value of more than {} MiB",
                name.value(),
                convert::MAX_BYTES >> 20
            ),
        })?;
        let key = (name.value(), Value::from(arguments.clone()).to_string());
        if let Some(known) = self.results.get(&key) {
            return Ok(known.clone());
        }
        let result = self.from.natives.call(name.value(), arguments)?;
        let value = convert::from_json(program, &result);
        self.results.insert(key, value.clone());
        Ok(value)
    }
}

impl<'p> Callbacks<'p> for Session<'p> {
    fn import(&mut self, program: &mut Program<'p>, from: SpanId, path: &str) -> Result<Thunk<'p>, Refused> {
        let loaded = self.resolve(program, from, path).and_then(|source| self.load(program, source));
        loaded.map_err(|error| {
            self.failure = Some(error);
            Refused
        })
    }

    fn import_str(&mut self, program: &mut Program<'p>, from: SpanId, path: &str) -> Result<String, Refused> {
        let text = self.resolve(program, from, path).and_then(|source| {
            imports::read_text(&source, &self.from.reads)
                .map_err(|error| JsonnetError::new(error.to_string()))
        });
        text.map_err(|error| {
            self.failure = Some(error);
            Refused
        })
    }

    fn import_bin(
        &mut self,
        program: &mut Program<'p>,
        from: SpanId,
        path: &str,
    ) -> Result<Vec<u8>, Refused> {
        let bytes = self.resolve(program, from, path).and_then(|source| {
            imports::read(&source, &self.from.reads).map_err(|error| JsonnetError::new(error.to_string()))
        });
        bytes.map_err(|error| {
            self.failure = Some(error);
            Refused
        })
    }

    fn trace(&mut self, program: &mut Program<'p>, message: &str, stack: &[EvalStackTraceItem]) {
        let position = stack.iter().rev().find_map(|item| self.trace_point(program, item).position);
        self.traces.push(match position {
            Some(position) => format!("{}:{} {message}", position.file, position.line),
            None => message.to_owned(),
        });
    }

    fn native_call(
        &mut self,
        program: &mut Program<'p>,
        name: InternedStr<'p>,
        arguments: &[ProgramValue<'p>],
    ) -> Result<ProgramValue<'p>, NativeError> {
        self.call(program, name, arguments).map_err(|reason| {
            self.failure = Some(JsonnetError::new(reason));
            NativeError
        })
    }
}
