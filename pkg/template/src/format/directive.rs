//! Reads the directives of a format and prints the arguments.

use super::printer::{Flags, FormatError, Printer};
use crate::value::Value;

/// The largest width, precision and argument number.
const LARGEST: usize = 1_000_000;

/// Prints arguments by a format, as `printf` does.
pub(crate) fn sprintf(format: &[u8], args: &[Value], limit: usize) -> Result<Vec<u8>, FormatError> {
    let mut out = Vec::with_capacity(format.len() + 16);
    let printer = Printer::new(&mut out, limit);
    let mut reader = Reader {
        format,
        args,
        at: 0,
        next: 0,
        is_reordered: false,
        is_good_index: true,
        after_index: false,
        printer,
    };
    reader.run()?;
    reader.extra()?;
    reader.printer.check()?;
    Ok(out)
}

struct Reader<'a, 'o> {
    format: &'a [u8],
    args: &'a [Value],
    /// The position in the format.
    at: usize,
    /// The next argument.
    next: usize,
    /// True once an argument was chosen by its number.
    is_reordered: bool,
    is_good_index: bool,
    /// True directly behind `[3]`.
    after_index: bool,
    printer: Printer<'o>,
}

impl Reader<'_, '_> {
    fn run(&mut self) -> Result<(), FormatError> {
        while self.at < self.format.len() {
            self.is_good_index = true;
            let rest = &self.format[self.at..];
            let length = memchr::memchr(b'%', rest).unwrap_or(rest.len());
            self.printer.out.extend_from_slice(&rest[..length]);
            self.at += length + 1;
            if length == rest.len() {
                break;
            }
            self.directive()?;
            self.printer.check()?;
        }
        Ok(())
    }

    fn peek(&self) -> Option<u8> {
        self.format.get(self.at).copied()
    }

    fn directive(&mut self) -> Result<(), FormatError> {
        self.printer.flags = Flags::default();
        self.after_index = false;
        self.flags();
        self.index();
        self.width();
        self.precision();
        if !self.after_index {
            self.index();
        }
        let Some(verb) = self.verb() else {
            self.printer.push("%!(NOVERB)");
            return Ok(());
        };
        if verb == '%' {
            self.printer.push("%");
        } else if !self.is_good_index {
            self.bad(verb, "BADINDEX");
        } else if self.next >= self.args.len() {
            self.bad(verb, "MISSING");
        } else {
            let flags = &mut self.printer.flags;
            if matches!(verb, 'v' | 'w') {
                flags.sharp_v = std::mem::take(&mut flags.sharp);
                flags.plus_v = std::mem::take(&mut flags.plus);
            }
            self.next += 1;
            self.printer.argument(&self.args[self.next - 1], verb)?;
        }
        Ok(())
    }

    fn bad(&mut self, verb: char, problem: &str) {
        self.printer.push("%!");
        self.printer.push_character(verb);
        self.printer.push("(");
        self.printer.push(problem);
        self.printer.push(")");
    }

    fn verb(&mut self) -> Option<char> {
        let rest = self.format.get(self.at..).filter(|rest| !rest.is_empty())?;
        // No character is longer than four bytes.
        let chunk = rest[..rest.len().min(4)].utf8_chunks().next()?;
        let verb = chunk.valid().chars().next();
        self.at += verb.map_or(1, char::len_utf8);
        Some(verb.unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn flags(&mut self) {
        while let Some(byte) = self.peek() {
            let flags = &mut self.printer.flags;
            match byte {
                b'#' => flags.sharp = true,
                b'0' => flags.zero = true,
                b'+' => flags.plus = true,
                b'-' => flags.minus = true,
                b' ' => flags.space = true,
                _ => return,
            }
            self.at += 1;
        }
    }

    fn width(&mut self) {
        if self.peek() == Some(b'*') {
            self.at += 1;
            let width = self.number_argument();
            if width.is_none() {
                self.printer.push("%!(BADWIDTH)");
            }
            if width.is_some_and(|width| width < 0) {
                self.printer.flags.minus = true;
                self.printer.flags.zero = false;
            }
            self.printer.flags.width = width.and_then(|width| usize::try_from(width.unsigned_abs()).ok());
            self.after_index = false;
            return;
        }
        self.printer.flags.width = self.digits();
        if self.after_index && self.printer.flags.width.is_some() {
            self.is_good_index = false;
        }
    }

    fn precision(&mut self) {
        if self.peek() != Some(b'.') {
            return;
        }
        self.at += 1;
        if self.after_index {
            self.is_good_index = false;
        }
        self.index();
        if self.peek() == Some(b'*') {
            self.at += 1;
            let precision = self.number_argument();
            let usable = precision.and_then(|precision| usize::try_from(precision).ok());
            if usable.is_none() {
                self.printer.push("%!(BADPREC)");
            }
            self.printer.flags.precision = usable;
            self.after_index = false;
            return;
        }
        self.printer.flags.precision = Some(self.digits().unwrap_or(0));
    }

    /// Reads a decimal number. A huge one ends the format.
    fn digits(&mut self) -> Option<usize> {
        let mut number = None;
        while let Some(byte) = self.peek().filter(u8::is_ascii_digit) {
            let value = number.unwrap_or(0) * 10 + usize::from(byte - b'0');
            if value > LARGEST {
                self.at = self.format.len();
                return None;
            }
            number = Some(value);
            self.at += 1;
        }
        number
    }

    /// Takes a width or precision from the arguments.
    fn number_argument(&mut self) -> Option<i64> {
        let arg = self.args.get(self.next)?;
        self.next += 1;
        let number = match arg {
            Value::Int(number) | Value::Int64(number) => *number,
            Value::Uint8(number) => (*number).into(),
            Value::Uint64(number) => i64::try_from(*number).ok()?,
            _ => return None,
        };
        (number.unsigned_abs() <= LARGEST as u64).then_some(number)
    }

    /// Reads `[3]`, the number of the next argument.
    fn index(&mut self) {
        self.after_index = false;
        if self.peek() != Some(b'[') {
            return;
        }
        self.is_reordered = true;
        let rest = &self.format[self.at..];
        let Some(end) = memchr::memchr(b']', rest) else {
            self.is_good_index = false;
            self.at += 1;
            return;
        };
        let number = std::str::from_utf8(&rest[1..end]).ok().filter(|text| !text.starts_with('+'));
        let number = number.and_then(|text| text.parse::<usize>().ok()).filter(|number| *number <= LARGEST);
        self.at += end + 1;
        match number.and_then(|number| number.checked_sub(1)) {
            Some(index) if index < self.args.len() => {
                self.next = index;
                self.after_index = true;
            }
            Some(_) => {
                self.is_good_index = false;
                self.after_index = true;
            }
            None => self.is_good_index = false,
        }
    }

    /// Prints the arguments that no directive used.
    fn extra(&mut self) -> Result<(), FormatError> {
        if self.is_reordered || self.next >= self.args.len() {
            return Ok(());
        }
        self.printer.flags = Flags::default();
        self.printer.push("%!(EXTRA ");
        for (index, arg) in self.args[self.next..].iter().enumerate() {
            if index > 0 {
                self.printer.push(", ");
            }
            if arg.is_nil() {
                self.printer.push("<nil>");
            } else {
                let name = arg.type_name();
                self.printer.push(&name);
                self.printer.push("=");
                self.printer.argument(arg, 'v')?;
            }
        }
        self.printer.push(")");
        Ok(())
    }
}
