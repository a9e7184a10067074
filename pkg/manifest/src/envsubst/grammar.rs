//! The grammar: parses a text into steps.
//!
//! Source: parse/parse.go and parse/scan.go. Comments mark the oddities that are kept for compatibility.

use std::collections::HashMap;
use std::ops::Range;

use super::functions::Function;
use super::{Dialect, Expression, MAX_DEPTH, ParseError, Step, SubstitutionErrorKind};

/// The result of parsing a text.
pub(super) struct ParsedTemplate {
    pub(super) steps: Vec<Step>,
    pub(super) expressions: Vec<Expression>,
    pub(super) names: Vec<Range<usize>>,
}

/// A fault, and the offset of its `${`.
type FaultAt = (SubstitutionErrorKind, usize);

/// Parses a whole text. Faults are in the order of the text.
pub(super) fn parse(text: &str, dialect: Dialect) -> Result<ParsedTemplate, Vec<FaultAt>> {
    let mut parser = Parser::new(text, dialect);
    let mut faults = Vec::new();
    while let Err(wrong) = parser.run() {
        faults.push(wrong);
        if faults.len() == ParseError::MAX_FAULTS {
            break;
        }
        // Continue as if that `${` were text. Its inside is parsed again, so its valid substitutions give no faults.
        parser.open.clear();
        parser.offset = wrong.1 + 2;
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(ParsedTemplate { steps: parser.steps, expressions: parser.expressions, names: parser.names })
}

/// An argument, defined by its end and its successor.
#[derive(Clone, Copy)]
enum ArgumentKind {
    /// The words of a default: any mix of text and substitutions.
    Words,
    /// The first argument of a substring.
    Offset,
    /// The second argument of a substring.
    Length,
    /// The pattern that `#` and `%` remove.
    Pattern,
    /// The text that the `/` family searches.
    Search,
    /// The replacement of the `/` family.
    Replacement,
}

impl ArgumentKind {
    fn ends_at(self, byte: u8) -> bool {
        match self {
            Self::Words | Self::Length | Self::Pattern | Self::Replacement => byte == b'}',
            Self::Offset => byte == b':' || byte == b'}',
            // A closing brace is text here: without a second `/`, the expression extends to the next `/` of the
            // document.
            Self::Search => byte == b'/',
        }
    }

    /// True if a byte makes the next one plain text.
    fn escapes(self, byte: u8, next: Option<u8>) -> bool {
        matches!(self, Self::Search | Self::Replacement)
            && match byte {
                b'$' => next == Some(b'$'),
                b'\\' => matches!(next, Some(b'/' | b'\\')),
                _ => false,
            }
    }
}

/// The state of an open expression.
#[derive(Clone, Copy)]
enum Expected {
    Argument(ArgumentKind),
    AfterArgument(ArgumentKind),
}

struct Frame {
    expression: usize,
    expected: Expected,
}

#[derive(Default)]
struct Parser<'t> {
    text: &'t str,
    dialect: Dialect,
    offset: usize,
    open: Vec<Frame>,
    steps: Vec<Step>,
    expressions: Vec<Expression>,
    names: Vec<Range<usize>>,
    ids: HashMap<&'t str, usize>,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, dialect: Dialect) -> Self {
        Self { text, dialect, ..Self::default() }
    }

    fn run(&mut self) -> Result<(), FaultAt> {
        loop {
            let Some(frame) = self.open.last() else {
                if self.read_outside()? {
                    continue;
                }
                return Ok(());
            };
            let at = self.expressions[frame.expression].offset;
            match frame.expected {
                Expected::Argument(ArgumentKind::Words) if self.peek() == Some(b'}') => self.close(),
                Expected::Argument(slot) => self.read_argument(slot, at)?,
                Expected::AfterArgument(slot) => self.read_after(slot, at)?,
            }
        }
    }

    /// Reads text up to the next `${` and opens it. Returns false at the end of the text.
    fn read_outside(&mut self) -> Result<bool, FaultAt> {
        let (mut start, mut from) = (self.offset, self.offset);
        while let Some(found) = self.text[from..].find(['$', '\\']) {
            let at = from + found;
            let (byte, next) = (self.text.as_bytes()[at], self.byte(at + 1));
            if byte == b'$' && next == Some(b'{') {
                self.push_text(start..at);
                self.offset = at;
                self.open_expression()?;
                return Ok(true);
            }
            if self.dialect.escapes(byte, next) {
                self.push_text(start..at);
                (start, from) = (at + 1, at + 2);
            } else {
                from = at + 1;
            }
        }
        self.push_text(start..self.text.len());
        self.offset = self.text.len();
        Ok(false)
    }

    /// Reads `${`, the name and the operator. Also closes an expression without arguments.
    fn open_expression(&mut self) -> Result<(), FaultAt> {
        let at = self.offset;
        if self.open.len() == MAX_DEPTH {
            return Err((SubstitutionErrorKind::TooDeep, at));
        }
        self.offset += 2;
        if self.peek() == Some(b'#') {
            self.offset += 1;
            let name = self.read_name().ok_or((SubstitutionErrorKind::BadSubstitution, at))?;
            self.add_expression(at, name, Function::ByteLength);
            return self.close_or_fail(at);
        }
        let name = self.read_name().ok_or((SubstitutionErrorKind::VariableName, at))?;
        let (function, length, slot) = self.read_operator().map_err(|kind| (kind, at))?;
        self.offset += length;
        self.add_expression(at, name, function);
        match slot {
            Some(slot) => {
                let expression = self.expressions.len() - 1;
                self.open.push(Frame { expression, expected: Expected::Argument(slot) });
                Ok(())
            }
            None => self.close_or_fail(at),
        }
    }

    /// Reads the operator after a name. Returns the function, its length in bytes and its first argument.
    fn read_operator(&self) -> Result<(Function, usize, Option<ArgumentKind>), SubstitutionErrorKind> {
        let second = self.byte(self.offset + 1);
        let first = self.peek().ok_or(SubstitutionErrorKind::MissingClosingBrace)?;
        let doubled = second == Some(first);
        Ok(match first {
            b'}' => (Function::Value, 0, None),
            b'=' => (Function::Default, 1, Some(ArgumentKind::Words)),
            b':' => match second {
                // All of them give a default for an empty value, set or not.
                Some(b'=' | b'-' | b'?' | b'+') => (Function::Default, 2, Some(ArgumentKind::Words)),
                // drone/envsubst loses its position if a multi-byte character follows the colon.
                Some(next) if next.is_ascii() => (Function::Substring, 1, Some(ArgumentKind::Offset)),
                _ => return Err(SubstitutionErrorKind::BadSubstitution),
            },
            b',' if doubled => (Function::Lower, 2, None),
            b'^' if doubled => (Function::Upper, 2, None),
            // Mixed operators are valid and do nothing.
            b',' | b'^' if matches!(second, Some(b',' | b'^')) => (Function::Value, 2, None),
            b',' => (Function::LowerFirst, 1, None),
            b'^' => (Function::UpperFirst, 1, None),
            b'#' => (
                Function::TrimPrefix { longest: doubled },
                1 + usize::from(doubled),
                Some(ArgumentKind::Pattern),
            ),
            b'%' => (
                Function::TrimSuffix { longest: doubled },
                1 + usize::from(doubled),
                Some(ArgumentKind::Pattern),
            ),
            b'/' => match second {
                Some(b'/') => (Function::ReplaceAll, 2, Some(ArgumentKind::Search)),
                Some(b'#') => (Function::ReplacePrefix, 2, Some(ArgumentKind::Search)),
                Some(b'%') => (Function::ReplaceSuffix, 2, Some(ArgumentKind::Search)),
                _ => (Function::ReplaceFirst, 1, Some(ArgumentKind::Search)),
            },
            _ => return Err(SubstitutionErrorKind::MissingClosingBrace),
        })
    }

    /// Reads an argument, or one part of the words of a default.
    fn read_argument(&mut self, slot: ArgumentKind, at: usize) -> Result<(), FaultAt> {
        let nested = self.is_at_nested();
        let first = self.peek().ok_or((SubstitutionErrorKind::Argument, at))?;
        if !nested && slot.ends_at(first) {
            return Err((SubstitutionErrorKind::Argument, at));
        }
        let frame = self.open.last_mut().expect("invariant: an argument is read in an open expression");
        let expression = &mut self.expressions[frame.expression];
        match slot {
            // The parts of a default are joined, so they count as one argument.
            ArgumentKind::Words if expression.arguments == 1 => {}
            _ => {
                expression.arguments += 1;
                self.steps.push(Step::Argument);
            }
        }
        if !matches!(slot, ArgumentKind::Words) {
            frame.expected = Expected::AfterArgument(slot);
        }
        if nested {
            return self.open_expression();
        }
        self.read_text(slot);
        Ok(())
    }

    /// Reads the text of an argument up to its end.
    fn read_text(&mut self, slot: ArgumentKind) {
        let mut start = self.offset;
        while let Some(byte) = self.peek() {
            if self.is_at_nested() {
                break;
            }
            if slot.escapes(byte, self.byte(self.offset + 1)) {
                self.push_text(start..self.offset);
                start = self.offset + 1;
                self.offset += 2;
            } else if slot.ends_at(byte) {
                break;
            } else {
                self.offset += 1;
            }
        }
        self.push_text(start..self.offset);
    }

    /// Reads the text between two arguments or after the last one.
    fn read_after(&mut self, slot: ArgumentKind, at: usize) -> Result<(), FaultAt> {
        let next = match (slot, self.peek()) {
            // Any number of colons separates.
            (ArgumentKind::Offset, Some(b':')) => {
                self.skip_all(b':');
                ArgumentKind::Length
            }
            (ArgumentKind::Search, Some(b'/')) => {
                self.skip_all(b'/');
                if self.peek() == Some(b'}') {
                    self.close();
                    return Ok(());
                }
                ArgumentKind::Replacement
            }
            (ArgumentKind::Search, _) => return Err((SubstitutionErrorKind::BadSubstitution, at)),
            (_, Some(b'}')) => {
                self.close();
                return Ok(());
            }
            _ => return Err((SubstitutionErrorKind::BadSubstitution, at)),
        };
        let frame = self.open.last_mut().expect("invariant: an argument is read in an open expression");
        frame.expected = Expected::Argument(next);
        Ok(())
    }

    /// Records an expression with its name and function.
    fn add_expression(&mut self, at: usize, name: Range<usize>, function: Function) {
        let next = self.names.len();
        let name = *self.ids.entry(&self.text[name.clone()]).or_insert_with(|| {
            self.names.push(name);
            next
        });
        self.expressions.push(Expression {
            name,
            function,
            arguments: 0,
            offset: at,
            nested: !self.open.is_empty(),
            steps: self.steps.len()..self.steps.len(),
        });
    }

    /// Closes the last expression, which takes no argument.
    fn close_or_fail(&mut self, at: usize) -> Result<(), FaultAt> {
        if self.peek() != Some(b'}') {
            return Err((SubstitutionErrorKind::BadSubstitution, at));
        }
        self.offset += 1;
        self.finish(self.expressions.len() - 1);
        Ok(())
    }

    /// Closes the innermost open expression at its brace.
    fn close(&mut self) {
        self.offset += 1;
        let frame = self.open.pop().expect("invariant: only an open expression is closed");
        self.finish(frame.expression);
    }

    fn finish(&mut self, expression: usize) {
        self.steps.push(Step::Call(expression));
        self.expressions[expression].steps.end = self.steps.len();
    }

    fn read_name(&mut self) -> Option<Range<usize>> {
        let rest = &self.text[self.offset..];
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let start = self.offset;
        self.offset += length;
        (length > 0).then_some(start..self.offset)
    }

    fn skip_all(&mut self, byte: u8) {
        while self.peek() == Some(byte) {
            self.offset += 1;
        }
    }

    fn is_at_nested(&self) -> bool {
        self.peek() == Some(b'$') && self.byte(self.offset + 1) == Some(b'{')
    }

    fn push_text(&mut self, range: Range<usize>) {
        if !range.is_empty() {
            self.steps.push(Step::Text(range));
        }
    }

    fn peek(&self) -> Option<u8> {
        self.byte(self.offset)
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }
}
