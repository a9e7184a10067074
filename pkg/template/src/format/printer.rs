//! The state of one format directive, and padding.

/// A text that cannot be printed: too long, or a value that is nested too deeply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FormatError {
    #[error("exceeded the limit of {0} bytes for output")]
    TooLong(usize),
    #[error(transparent)]
    TooDeep(crate::value::TooDeep),
}

/// The flags of a directive.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    pub(super) width: Option<usize>,
    pub(super) precision: Option<usize>,
    pub(super) minus: bool,
    pub(super) plus: bool,
    pub(super) sharp: bool,
    pub(super) space: bool,
    pub(super) zero: bool,
    /// `%+v`.
    pub(super) plus_v: bool,
    /// `%#v`.
    pub(super) sharp_v: bool,
}

pub(super) struct Printer<'o> {
    pub(super) out: &'o mut Vec<u8>,
    pub(super) flags: Flags,
    /// The maximum length of `out`.
    limit: usize,
}

impl<'o> Printer<'o> {
    pub(super) fn new(out: &'o mut Vec<u8>, limit: usize) -> Self {
        Self { out, flags: Flags::default(), limit }
    }

    /// Checks the length of the output.
    pub(super) fn check(&self) -> Result<(), FormatError> {
        if self.out.len() > self.limit { Err(FormatError::TooLong(self.limit)) } else { Ok(()) }
    }

    pub(super) fn push(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    pub(super) fn push_character(&mut self, character: char) {
        self.push(character.encode_utf8(&mut [0; 4]));
    }

    fn padding(&mut self, count: usize) {
        let byte = if self.flags.zero && !self.flags.minus { b'0' } else { b' ' };
        let end = self.out.len() + count;
        self.out.resize(end, byte);
    }

    /// Appends a text, padded to the width of the directive. Characters count.
    pub(super) fn pad(&mut self, text: &[u8]) {
        let width = self.flags.width.unwrap_or(0);
        if width == 0 {
            return self.out.extend_from_slice(text);
        }
        let missing = width.saturating_sub(characters(text));
        if self.flags.minus {
            self.out.extend_from_slice(text);
            self.padding(missing);
        } else {
            self.padding(missing);
            self.out.extend_from_slice(text);
        }
    }

    /// Appends a text, padded with spaces.
    pub(super) fn pad_with_spaces(&mut self, text: &[u8]) {
        let zero = std::mem::take(&mut self.flags.zero);
        self.pad(text);
        self.flags.zero = zero;
    }

    /// Appends a number whose first byte is its sign; zeros come behind the sign.
    pub(super) fn pad_number(&mut self, number: &[u8]) {
        let width = self.flags.width.unwrap_or(0);
        if self.flags.plus || number[0] != b'+' {
            if self.flags.zero && !self.flags.minus && width > number.len() {
                self.out.push(number[0]);
                self.padding(width - number.len());
                self.out.extend_from_slice(&number[1..]);
                return;
            }
            return self.pad(number);
        }
        self.pad(&number[1..]);
    }
}

/// Counts characters as Go does: each byte that is not UTF-8 is one.
pub(super) fn characters(text: &[u8]) -> usize {
    text.utf8_chunks().map(|chunk| chunk.valid().chars().count() + chunk.invalid().len()).sum()
}

/// Returns the first characters of a text.
pub(super) fn first_characters(text: &[u8], count: usize) -> &[u8] {
    let mut left = count;
    let mut end = 0;
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            if left == 0 {
                return &text[..end];
            }
            left -= 1;
            end += character.len_utf8();
        }
        let bytes = chunk.invalid().len().min(left);
        end += bytes;
        left -= bytes;
    }
    &text[..end]
}
