//! Reads the directives of a format, and prints the arguments by them.

use super::printer::{Flags, FormatError, Printer};
use crate::value::Value;

/// The largest width, precision and argument number.
const LARGEST: usize = 1_000_000;

/// Prints arguments by a format, as `printf` does.
pub(crate) fn sprintf(format: &[u8], args: &[Value], limit: usize) -> Result<Vec<u8>, FormatError> {
    let mut out = Vec::with_capacity(format.len() + 16);
    let mut printer = Printer::new(&mut out, limit);
    let mut arguments = Arguments { all: args, next: 0, is_reordered: false };
    let mut rest = format;
    while let Some(length) = memchr::memchr(b'%', rest) {
        printer.out.extend_from_slice(&rest[..length]);
        let (directive, behind) = Directive::parse(&rest[length + 1..]);
        directive.print(&mut printer, &mut arguments)?;
        printer.check()?;
        rest = behind;
    }
    printer.out.extend_from_slice(rest);
    arguments.print_unused(&mut printer)?;
    printer.check()?;
    Ok(out)
}

/// A directive such as `%-8.3[2]f`, without its `%`.
struct Directive {
    flags: Flags,
    /// The indexes in front of the width, the precision and the verb.
    indexes: [Option<Index>; 3],
    width: Option<Amount>,
    precision: Option<Amount>,
    /// `None` if the format ends before.
    verb: Option<char>,
}

/// A width or a precision.
#[derive(Clone, Copy)]
enum Amount {
    Number(usize),
    /// `*`: the next argument.
    Argument,
}

/// The number of an argument in brackets.
#[derive(Clone, Copy)]
enum Index {
    /// The position of the argument, from 0.
    Position(usize),
    Invalid,
}

impl Index {
    /// Parses `[3]` at the start of a text. Returns the text behind it.
    fn parse(text: &[u8]) -> (Option<Self>, &[u8]) {
        let Some(inside) = text.strip_prefix(b"[") else { return (None, text) };
        let Some(length) = memchr::memchr(b']', inside) else { return (Some(Self::Invalid), inside) };
        let number = std::str::from_utf8(&inside[..length]).ok().filter(|number| !number.starts_with('+'));
        let number = number.and_then(|number| number.parse::<usize>().ok());
        let position = number.filter(|number| *number <= LARGEST).and_then(|number| number.checked_sub(1));
        (Some(position.map_or(Self::Invalid, Self::Position)), &inside[length + 1..])
    }
}

impl Amount {
    /// Parses a number or `*` at the start of a text. Returns the text behind it, which is empty after a huge number.
    fn parse(text: &[u8]) -> (Option<Self>, &[u8]) {
        if let Some(rest) = text.strip_prefix(b"*") {
            return (Some(Self::Argument), rest);
        }
        let (digits, rest) = text.split_at(text.iter().take_while(|byte| byte.is_ascii_digit()).count());
        if digits.is_empty() {
            return (None, rest);
        }
        let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
        match number.filter(|number| *number <= LARGEST) {
            Some(number) => (Some(Self::Number(number)), rest),
            None => (None, b""),
        }
    }
}

impl Directive {
    /// Parses the directive at the start of a text. Returns the text behind it.
    fn parse(text: &[u8]) -> (Self, &[u8]) {
        let (signs, rest) = text.split_at(text.iter().take_while(|byte| b"#0+- ".contains(byte)).count());
        let flags = Flags {
            sharp: signs.contains(&b'#'),
            zero: signs.contains(&b'0'),
            plus: signs.contains(&b'+'),
            minus: signs.contains(&b'-'),
            space: signs.contains(&b' '),
            ..Flags::default()
        };
        let (before_width, rest) = Index::parse(rest);
        let (width, rest) = Amount::parse(rest);
        let (before_precision, precision, rest) = match rest.strip_prefix(b".") {
            None => (None, None, rest),
            Some(rest) => {
                let (index, rest) = Index::parse(rest);
                let (precision, rest) = Amount::parse(rest);
                (index, Some(precision.unwrap_or(Amount::Number(0))), rest)
            }
        };
        // A position that no `*` uses is that of the verb, which then has no other one.
        let unused = match (width, precision) {
            (_, Some(Amount::Number(_))) => before_precision,
            (Some(Amount::Number(_)) | None, None) => before_width,
            _ => None,
        };
        let (before_verb, rest) =
            if let Some(Index::Position(_)) = unused { (None, rest) } else { Index::parse(rest) };
        // No character is longer than four bytes.
        let chunk = rest[..rest.len().min(4)].utf8_chunks().next();
        let character = chunk.as_ref().and_then(|chunk| chunk.valid().chars().next());
        let length = character.map_or(1, char::len_utf8).min(rest.len());
        let verb = chunk.map(|_| character.unwrap_or(char::REPLACEMENT_CHARACTER));
        let indexes = [before_width, before_precision, before_verb];
        (Self { flags, indexes, width, precision, verb }, &rest[length..])
    }

    fn print(self, printer: &mut Printer<'_>, arguments: &mut Arguments<'_>) -> Result<(), FormatError> {
        let mut flags = self.flags;
        let [before_width, before_precision, before_verb] = self.indexes;
        // A number or a point must not follow the index of a width.
        let is_misplaced = before_width.is_some()
            && matches!((self.width, self.precision), (Some(Amount::Number(_)), _) | (None, Some(_)));
        let mut has_argument = arguments.choose(before_width) && !is_misplaced;
        match self.width {
            None => {}
            Some(Amount::Number(width)) => flags.width = Some(width),
            Some(Amount::Argument) => {
                let width = arguments.take_amount();
                if width.is_none() {
                    printer.push("%!(BADWIDTH)");
                }
                if width.is_some_and(|width| width < 0) {
                    (flags.minus, flags.zero) = (true, false);
                }
                flags.width = width.and_then(|width| usize::try_from(width.unsigned_abs()).ok());
            }
        }
        has_argument &= arguments.choose(before_precision);
        match self.precision {
            None => {}
            Some(Amount::Number(precision)) => flags.precision = Some(precision),
            Some(Amount::Argument) => {
                let precision = arguments.take_amount();
                flags.precision = precision.and_then(|precision| usize::try_from(precision).ok());
                if flags.precision.is_none() {
                    printer.push("%!(BADPREC)");
                }
            }
        }
        has_argument &= arguments.choose(before_verb);
        let problem = match self.verb {
            None => "%!(NOVERB)".to_owned(),
            Some('%') => "%".to_owned(),
            Some(verb) if !has_argument => format!("%!{verb}(BADINDEX)"),
            Some(verb) => {
                if matches!(verb, 'v' | 'w') {
                    flags.sharp_v = std::mem::take(&mut flags.sharp);
                    flags.plus_v = std::mem::take(&mut flags.plus);
                }
                printer.flags = flags;
                match arguments.take() {
                    Some(argument) => return printer.argument(argument, verb),
                    None => format!("%!{verb}(MISSING)"),
                }
            }
        };
        printer.push(&problem);
        Ok(())
    }
}

/// The arguments of a format.
struct Arguments<'a> {
    all: &'a [Value],
    next: usize,
    /// True once an argument was chosen by its number.
    is_reordered: bool,
}

impl<'a> Arguments<'a> {
    /// Makes an argument the next one. False if there is no such argument.
    fn choose(&mut self, index: Option<Index>) -> bool {
        self.is_reordered |= index.is_some();
        match index {
            None => true,
            Some(Index::Position(position)) if position < self.all.len() => {
                self.next = position;
                true
            }
            Some(_) => false,
        }
    }

    fn take(&mut self) -> Option<&'a Value> {
        let argument = self.all.get(self.next)?;
        self.next += 1;
        Some(argument)
    }

    /// Takes a width or a precision. `None` if the argument is no number, or too large.
    fn take_amount(&mut self) -> Option<i64> {
        let number = match self.take()? {
            Value::Int(number) | Value::Int64(number) => *number,
            Value::Uint8(number) => (*number).into(),
            Value::Uint64(number) => i64::try_from(*number).ok()?,
            _ => return None,
        };
        (number.unsigned_abs() <= LARGEST as u64).then_some(number)
    }

    /// Prints the arguments that no directive used.
    fn print_unused(&self, printer: &mut Printer<'_>) -> Result<(), FormatError> {
        let unused = self.all.get(self.next..).filter(|unused| !self.is_reordered && !unused.is_empty());
        let Some(unused) = unused else { return Ok(()) };
        printer.flags = Flags::default();
        for (index, argument) in unused.iter().enumerate() {
            printer.push(if index > 0 { ", " } else { "%!(EXTRA " });
            if argument.is_nil() {
                printer.push("<nil>");
            } else {
                printer.push(&format!("{}=", argument.type_name()));
                printer.argument(argument, 'v')?;
            }
        }
        printer.push(")");
        Ok(())
    }
}
