//! The `${VAR}` language of cluster templates and provider components.
//!
//! ```text
//! text ─► legacy (`${ VAR }` to `${VAR}`) ─► grammar ─► Template ─► variables()   what the text asks for
//!                                                              └─► render()       the text with values in it
//! ```
//!
//! A template is parsed once into a flat list of steps, run on a stack; nothing recurses. Positions always speak of the
//! text as it was given. Values are put in as they are and never read again, so a value with `${X}` in it stays that.
//!
//! Source: drone/envsubst v2.0.0-20210730161058-179042472c46, with the reading of legacy names and the listing of variables
//! of clusterctl v1.14 client/yamlprocessor/simple_processor.go. A text that succeeds there gives the same bytes here.
//! Differs: all faults and all missing variables are reported at once, with their places; a negative length is an error and
//! no crash; nesting and results have a limit; letters that came with Unicode 16 and 17 have a case; a name may hold any character that
//! Unicode calls alphabetic or numeric, where the peer takes letters and decimal digits alone.
//!
//! Absent on purpose: YAML (comments are substituted too), files, the environment.

mod error;
mod functions;
mod glob;
mod grammar;
mod legacy;
mod position;
mod variables;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

pub use error::{Fault, FaultKind, MissingVariable, MissingVariables, ParseError, RenderError};
use functions::{Function, Unusable};
use legacy::LegacyNames;
use position::Cursor;
pub use position::Position;
pub use variables::{NestedVariable, Variable, Variables};

/// How many `${` may be open at once.
pub const MAX_DEPTH: usize = 100;

/// The longest text that is rendered; the reader of YAML takes no longer one.
const MAX_RESULT_BYTES: usize = 256 << 20;

/// The comparisons that all patterns of one text may take together, a fraction of a second of work.
const MAX_PATTERN_STEPS: u64 = 100_000_000;

/// A text with its substitutions found, ready to be rendered any number of times.
///
/// ```
/// use manifest::envsubst::Template;
///
/// let template = Template::parse("replicas: ${COUNT:=3}, name: ${NAME}").unwrap();
/// let text = template.render(&mut |name| (name == "NAME").then(|| "blue".into())).unwrap();
/// assert_eq!(text, "replicas: 3, name: blue");
/// ```
#[derive(Debug)]
pub struct Template<'a> {
    /// What the caller gave; positions and excerpts come from here.
    source: &'a str,
    legacy: LegacyNames<'a>,
    steps: Vec<Step>,
    /// In the order of their `${`, so what is nested in one comes right after it.
    expressions: Vec<Expression>,
    /// Every name once, where it is first written, in the text without legacy names.
    names: Vec<Range<usize>>,
}

/// One instruction of the stack machine that renders.
#[derive(Debug)]
enum Step {
    /// Appends this part of the text.
    Text(Range<usize>),
    /// Marks that an argument begins.
    Argument,
    /// Replaces the arguments of an expression by its result.
    Call(usize),
}

/// One `${…}`.
#[derive(Debug)]
struct Expression {
    name: usize,
    function: Function,
    arguments: usize,
    /// Offset of its `$`.
    at: usize,
    /// Whether it stands in an argument of another one.
    nested: bool,
    /// Its steps; the last one is its `Call`.
    steps: Range<usize>,
}

impl Expression {
    /// Says whether the text offers something in place of the value.
    ///
    /// Source: simple_processor.go (traverse) counts the arguments of every function as a default, so `${X:2}` has one,
    /// and `${X:=}` has none.
    fn has_default(&self) -> bool {
        self.arguments > 0
    }
}

impl<'a> Template<'a> {
    /// Reads a text and finds its substitutions.
    ///
    /// Source: a NUL character ends the text there, what follows it is dropped (parse/scan.go, read).
    ///
    /// # Errors
    /// `ParseError` with every substitution that cannot be read, up to [`ParseError::MAX_FAULTS`]; the first is the one
    /// the peer stops at.
    pub fn parse(text: &'a str) -> Result<Self, ParseError> {
        let end = text.find('\0').unwrap_or(text.len());
        let legacy = LegacyNames::collapse(&text[..end]);
        let parsed = grammar::parse(legacy.text()).map_err(|faults| {
            let mut cursor = Cursor::new(text);
            let faults = faults.into_iter().map(|(kind, at)| Fault {
                kind,
                at: cursor.position(legacy.original(at)),
                written: error::excerpt(text, legacy.original(at)),
            });
            ParseError { faults: faults.collect() }
        })?;
        let grammar::Parsed { steps, expressions, names } = parsed;
        Ok(Self { source: text, legacy, steps, expressions, names })
    }

    /// Lists what the text asks for.
    pub fn variables(&self) -> Variables {
        variables::list(self)
    }

    /// Gives the text with every substitution replaced.
    ///
    /// Each name is looked up once. A name that is not set counts as empty where the text has a default for it at its
    /// first place, and inside arguments.
    ///
    /// # Errors
    /// `Missing` with every name that has neither value nor default. `NegativeLength` and `CutCharacter` for a value that
    /// cannot be cut as asked, `TooLong` for replacements that grow without measure.
    pub fn render<'v>(
        &self,
        lookup: &mut dyn FnMut(&str) -> Option<Cow<'v, str>>,
    ) -> Result<String, RenderError> {
        let values: Vec<_> = (0..self.names.len()).map(|name| lookup(self.name(name))).collect();
        if values.iter().any(Option::is_none)
            && let Some(missing) = variables::missing(self, &values)
        {
            return Err(RenderError::Missing(missing));
        }
        self.run(&values)
    }

    /// Gives the text with a mark in place of each substitution, whatever its value would be; `mark` makes it from the name of
    /// the variable. What stands in an argument of another substitution is gone with it.
    pub fn mark(&self, mark: &dyn Fn(&str) -> String) -> String {
        let text = self.legacy.text();
        let mut out = String::with_capacity(text.len());
        let mut outermost = self.expressions.iter().filter(|expression| !expression.nested).peekable();
        let mut at = 0;
        while let Some(step) = self.steps.get(at) {
            if let Some(expression) = outermost.next_if(|expression| expression.steps.start == at) {
                out.push_str(&mark(self.name(expression.name)));
                at = expression.steps.end;
                continue;
            }
            if let Step::Text(range) = step {
                out.push_str(&text[range.clone()]);
            }
            at += 1;
        }
        out
    }

    fn run(&self, values: &[Option<Cow<'_, str>>]) -> Result<String, RenderError> {
        let text = self.legacy.text();
        let mut out = Vec::with_capacity(text.len());
        let mut marks = Vec::new();
        let mut result = Vec::new();
        let mut broken = None;
        let mut steps_left = glob::Steps::new(MAX_PATTERN_STEPS);
        for step in &self.steps {
            match step {
                Step::Text(range) => out.extend_from_slice(&text.as_bytes()[range.clone()]),
                Step::Argument => marks.push(out.len()),
                Step::Call(index) => {
                    let expression = &self.expressions[*index];
                    let value = values[expression.name].as_deref().unwrap_or_default();
                    let first = marks.len() - expression.arguments;
                    let start = marks.get(first).copied().unwrap_or(out.len());
                    let arguments = split_arguments(&out, &marks[first..]);
                    expression
                        .function
                        .apply(value, &arguments[..expression.arguments], &mut steps_left, &mut result)
                        .map_err(|why| self.unusable(why, expression))?;
                    marks.truncate(first);
                    out.truncate(start);
                    out.append(&mut result);
                    if out.len() > MAX_RESULT_BYTES {
                        return Err(self.unusable(Unusable::TooLong, expression));
                    }
                    // Half a character is no fault yet: its other half may follow, in an argument or after it.
                    if broken.is_none() && !expression.nested && std::str::from_utf8(&out[start..]).is_err() {
                        broken = Some(expression);
                    }
                }
            }
        }
        String::from_utf8(out).map_err(|_| {
            let cut =
                broken.expect("invariant: text and values are UTF-8, so only a result can be otherwise");
            RenderError::CutCharacter { at: self.position(cut), written: self.excerpt(cut) }
        })
    }

    fn unusable(&self, why: Unusable, expression: &Expression) -> RenderError {
        let (at, written) = (self.position(expression), self.excerpt(expression));
        match why {
            Unusable::NegativeLength(length) => RenderError::NegativeLength { length, at, written },
            Unusable::TooManySteps => {
                RenderError::PatternTooSlow { limit_steps: MAX_PATTERN_STEPS, at, written }
            }
            Unusable::TooLong => RenderError::TooLong { limit_bytes: MAX_RESULT_BYTES, at, written },
        }
    }

    fn name(&self, name: usize) -> &str {
        &self.legacy.text()[self.names[name].clone()]
    }

    fn position(&self, expression: &Expression) -> Position {
        Cursor::new(self.source).position(self.legacy.original(expression.at))
    }

    fn excerpt(&self, expression: &Expression) -> String {
        error::excerpt(self.source, self.legacy.original(expression.at))
    }
}

/// Cuts the arguments of one call out of the output; they lie at its end, one after the other, and are two at most.
fn split_arguments<'o>(out: &'o [u8], marks: &[usize]) -> [&'o [u8]; 2] {
    match *marks {
        [] => [&[], &[]],
        [only] => [&out[only..], &[]],
        [first, second, ..] => [&out[first..second], &out[second..]],
    }
}
