//! The `${VAR}` language of cluster templates, provider components and Components.
//!
//! ```text
//! text ─► legacy (`${ VAR }` to `${VAR}`) ─► grammar ─► Template ─► variables()   the variables of the text
//!                                                              └─► render()       the text with values
//! ```
//!
//! Parsing gives a flat list of steps, which run on a stack without recursion. Positions refer to the original text.
//! Values are inserted as they are: a `${X}` in a value stays.
//!
//! Source: drone/envsubst v2.0.0-20210730161058-179042472c46, with the legacy names and the listing of variables of
//! clusterctl v1.14 client/yamlprocessor/simple_processor.go. If the original renders a text, this module gives the
//! same bytes. [`Dialect::Components`] follows drone/envsubst v1.0.3 instead.
//! Differs:
//! - All faults and all missing variables are reported at once, with their positions.
//! - A negative length is an error instead of a crash.
//! - Nesting and results have limits.
//! - Letters added in Unicode 16 and 17 have a case.
//! - A name may contain any character that is alphabetic or numeric in Unicode; the original accepts letters and
//!   decimal digits only.
//!
//! Deliberately absent: YAML (comments are substituted too), files, the environment.

mod dialect;
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

pub use dialect::Dialect;
pub use error::{
    MissingVariable, MissingVariables, ParseError, RenderError, SubstitutionError, SubstitutionErrorKind,
};
use functions::{Function, FunctionError};
use legacy::LegacyNames;
use position::PositionCursor;
pub use position::TextPosition;
pub use variables::{NestedVariable, Variable, Variables};

/// The maximum nesting depth of `${`.
pub const MAX_DEPTH: usize = 100;

/// The maximum length of a rendered text, equal to the limit of the YAML reader.
const MAX_RESULT_BYTES: usize = 256 << 20;

/// The maximum number of comparisons of all patterns of one text, a fraction of a second.
const MAX_PATTERN_STEPS: u64 = 100_000_000;

/// A parsed text, ready to be rendered any number of times.
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
    /// The original text; the source of positions and excerpts.
    source: &'a str,
    legacy: LegacyNames<'a>,
    steps: Vec<Step>,
    /// In the order of their `${`, so nested expressions follow the outer one directly.
    expressions: Vec<Expression>,
    /// Each name once, at its first position in the text without legacy names.
    names: Vec<Range<usize>>,
}

/// One instruction of the rendering stack machine.
#[derive(Debug)]
enum Step {
    /// Appends a range of the text.
    Text(Range<usize>),
    /// Marks the start of an argument.
    Argument,
    /// Replaces the arguments of an expression with its result.
    Call(usize),
}

#[derive(Debug)]
struct Expression {
    name: usize,
    function: Function,
    arguments: usize,
    /// The offset of its `$`.
    offset: usize,
    /// True if the expression is inside an argument of another one.
    nested: bool,
    /// The steps of the expression; the last one is its `Call`.
    steps: Range<usize>,
}

impl Expression {
    /// True if the expression has a default.
    ///
    /// Source: simple_processor.go (traverse) counts the arguments of every function as a default: `${X:2}` has one,
    /// `${X:=}` has none.
    fn has_default(&self) -> bool {
        self.arguments > 0
    }
}

impl<'a> Template<'a> {
    /// Parses a text of a cluster template or of provider components.
    ///
    /// A NUL character ends the text, the rest is ignored. Source: parse/scan.go (read).
    ///
    /// # Errors
    /// Every invalid substitution, up to [`ParseError::MAX_FAULTS`]. The original reports only the first one.
    pub fn parse(text: &'a str) -> Result<Self, ParseError> {
        Self::parse_in(text, Dialect::ClusterTemplates)
    }

    /// Parses a text of a dialect.
    ///
    /// # Errors
    /// Fails like [`Template::parse`].
    pub fn parse_in(text: &'a str, dialect: Dialect) -> Result<Self, ParseError> {
        let end = text.find('\0').unwrap_or(text.len());
        let legacy = match dialect {
            Dialect::ClusterTemplates => LegacyNames::collapse(&text[..end]),
            Dialect::Components => LegacyNames::none(&text[..end]),
        };
        let parsed = grammar::parse(legacy.text(), dialect).map_err(|faults| {
            let mut cursor = PositionCursor::new(text);
            let faults = faults.into_iter().map(|(kind, at)| SubstitutionError {
                kind,
                position: cursor.position(legacy.original(at)),
                excerpt: error::excerpt(text, legacy.original(at)),
            });
            ParseError { faults: faults.collect() }
        })?;
        let grammar::ParsedTemplate { steps, expressions, names } = parsed;
        Ok(Self { source: text, legacy, steps, expressions, names })
    }

    /// Lists the variables of the text.
    pub fn variables(&self) -> Variables {
        variables::list(self)
    }

    /// Renders the text with every substitution replaced.
    ///
    /// Looks up each name once. An unset name counts as empty inside arguments, and if its first use has a default.
    ///
    /// # Errors
    /// `Missing` with every name without value and default. `NegativeLength` and `CutCharacter` for an impossible
    /// substring. `TooLong` for a result above the limit, `PatternTooSlow` for too many comparisons.
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

    /// Returns the text with a mark in place of each outermost substitution, whatever its value. `mark` makes the mark
    /// from the name of the variable. Substitutions inside arguments get no mark.
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
        let mut steps_left = glob::StepBudget::new(MAX_PATTERN_STEPS);
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
                        .map_err(|why| self.render_error(why, expression))?;
                    marks.truncate(first);
                    out.truncate(start);
                    out.append(&mut result);
                    if out.len() > MAX_RESULT_BYTES {
                        return Err(self.render_error(FunctionError::TooLong, expression));
                    }
                    // Half a character is no error yet: the other half may follow, in the argument or behind it.
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

    fn render_error(&self, why: FunctionError, expression: &Expression) -> RenderError {
        let (at, written) = (self.position(expression), self.excerpt(expression));
        match why {
            FunctionError::NegativeLength(length) => RenderError::NegativeLength { length, at, written },
            FunctionError::TooManySteps => {
                RenderError::PatternTooSlow { limit_steps: MAX_PATTERN_STEPS, at, written }
            }
            FunctionError::TooLong => RenderError::TooLong { limit_bytes: MAX_RESULT_BYTES, at, written },
        }
    }

    fn name(&self, name: usize) -> &str {
        &self.legacy.text()[self.names[name].clone()]
    }

    fn position(&self, expression: &Expression) -> TextPosition {
        PositionCursor::new(self.source).position(self.legacy.original(expression.offset))
    }

    fn excerpt(&self, expression: &Expression) -> String {
        error::excerpt(self.source, self.legacy.original(expression.offset))
    }
}

/// Splits the arguments of one call off the end of the output; there are at most two.
fn split_arguments<'o>(out: &'o [u8], marks: &[usize]) -> [&'o [u8]; 2] {
    match *marks {
        [] => [&[], &[]],
        [only] => [&out[only..], &[]],
        [first, second, ..] => [&out[first..second], &out[second..]],
    }
}
