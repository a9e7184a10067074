//! Prints integers, characters and bytes.

use super::printer::{Printer, first_characters};
use super::quote::{Allowed, can_be_raw, is_printable, push_quoted};

/// An integer of 64 bits, with its sign apart.
#[derive(Clone, Copy)]
pub(super) struct Integer {
    pub(super) magnitude: u64,
    pub(super) is_negative: bool,
}

impl Printer<'_> {
    /// Prints an integer by a verb. False if the verb is not for integers.
    pub(super) fn integer(&mut self, number: Integer, verb: char, is_signed: bool) -> bool {
        match verb {
            'v' if self.flags.sharp_v && !is_signed => {
                let sharp = std::mem::replace(&mut self.flags.sharp, true);
                self.number(number, 16, 'v');
                self.flags.sharp = sharp;
            }
            'v' | 'd' => self.number(number, 10, verb),
            'b' => self.number(number, 2, verb),
            'o' | 'O' => self.number(number, 8, verb),
            'x' | 'X' => self.number(number, 16, verb),
            'c' => {
                let character = character(number);
                self.pad(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            'q' => {
                let allowed = if self.flags.plus { Allowed::Ascii } else { Allowed::Printable };
                let mut out = String::new();
                let character = character(number);
                push_quoted(&mut out, character.encode_utf8(&mut [0; 4]).as_bytes(), '\'', allowed);
                self.pad(out.as_bytes());
            }
            'U' => self.unicode(number),
            _ => return false,
        }
        true
    }

    fn number(&mut self, number: Integer, base: u32, verb: char) {
        let flags = self.flags;
        let has_sign = number.is_negative || flags.plus || flags.space;
        let mut minimum = 0;
        if let Some(precision) = flags.precision {
            minimum = precision;
            if precision == 0 && number.magnitude == 0 {
                return self.pad_with_spaces(b"");
            }
        } else if flags.zero && !flags.minus {
            minimum = flags.width.map_or(0, |width| width.saturating_sub(usize::from(has_sign)));
        }
        let digits = match (base, verb) {
            (2, _) => format!("{:b}", number.magnitude),
            (8, _) => format!("{:o}", number.magnitude),
            (16, 'X') => format!("{:X}", number.magnitude),
            (16, _) => format!("{:x}", number.magnitude),
            _ => number.magnitude.to_string(),
        };
        let mut text = "0".repeat(minimum.saturating_sub(digits.len())) + &digits;
        if flags.sharp {
            text = match (base, verb) {
                (2, _) => format!("0b{text}"),
                (8, _) if !text.starts_with('0') => format!("0{text}"),
                (16, 'X') => format!("0X{text}"),
                (16, _) => format!("0x{text}"),
                _ => text,
            };
        }
        if verb == 'O' {
            text.insert_str(0, "0o");
        }
        if number.is_negative {
            text.insert(0, '-');
        } else if flags.plus {
            text.insert(0, '+');
        } else if flags.space {
            text.insert(0, ' ');
        }
        self.pad_with_spaces(text.as_bytes());
    }

    fn unicode(&mut self, number: Integer) {
        let code = if number.is_negative { number.magnitude.wrapping_neg() } else { number.magnitude };
        let width = self.flags.precision.map_or(4, |precision| precision.max(4));
        let mut text = format!("U+{code:0width$X}");
        let character = u32::try_from(code).ok().and_then(char::from_u32);
        if let Some(character) = character.filter(|character| self.flags.sharp && is_printable(*character)) {
            text += &format!(" '{character}'");
        }
        self.pad_with_spaces(text.as_bytes());
    }

    /// Prints a string by a verb. False if the verb is not for strings.
    pub(super) fn string(&mut self, text: &[u8], verb: char) -> bool {
        match verb {
            'v' if self.flags.sharp_v => self.quote(text),
            'v' | 's' => {
                let text = self.flags.precision.map_or(text, |count| first_characters(text, count));
                self.pad(text);
            }
            'q' => self.quote(text),
            'x' => self.bytes_in_hexadecimal(text, false),
            'X' => self.bytes_in_hexadecimal(text, true),
            _ => return false,
        }
        true
    }

    fn quote(&mut self, text: &[u8]) {
        let text = self.flags.precision.map_or(text, |count| first_characters(text, count));
        let mut out = String::new();
        if self.flags.sharp && can_be_raw(text) {
            out = format!("`{}`", String::from_utf8_lossy(text));
        } else {
            let allowed = if self.flags.plus { Allowed::Ascii } else { Allowed::Printable };
            push_quoted(&mut out, text, '"', allowed);
        }
        self.pad(out.as_bytes());
    }

    fn bytes_in_hexadecimal(&mut self, text: &[u8], is_upper: bool) {
        let text = &text[..self.flags.precision.unwrap_or(text.len()).min(text.len())];
        let (prefix, is_spaced) = (if is_upper { "0X" } else { "0x" }, self.flags.space);
        let mut out = String::new();
        for (index, byte) in text.iter().enumerate() {
            if index > 0 && is_spaced {
                out.push(' ');
            }
            if self.flags.sharp && (is_spaced || index == 0) {
                out.push_str(prefix);
            }
            out += &if is_upper { format!("{byte:02X}") } else { format!("{byte:02x}") };
        }
        self.pad(out.as_bytes());
    }
}

fn character(number: Integer) -> char {
    let code = if number.is_negative { None } else { u32::try_from(number.magnitude).ok() };
    code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
}
