//! The position in the printed text: columns, indentation, and the state of the last document.

/// Lines are folded at the first blank after this column.
pub(super) const WIDTH: usize = 80;

/// A text that is printed line by line. All its characters are ASCII, so a byte is a column.
#[derive(Default)]
pub(super) struct Layout {
    out: String,
    column: usize,
    /// True if the line has only indentation and indicators, so that a nested block may start on it.
    is_line_open: bool,
    /// True if the last scalar needs an end marker before the end of the stream.
    pub(super) is_open_ended: bool,
}

impl Layout {
    pub(super) fn new() -> Self {
        Self { is_line_open: true, ..Self::default() }
    }

    pub(super) fn into_text(self) -> String {
        self.out
    }

    pub(super) fn column(&self) -> usize {
        self.column
    }

    /// Appends a part of a scalar.
    pub(super) fn push(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += text.len();
        self.is_line_open = false;
    }

    /// Appends an indicator after a blank, unless the line is empty or ends with indentation.
    pub(super) fn indicator(&mut self, text: &str) {
        self.separate();
        self.push(text);
        self.is_open_ended = false;
    }

    /// Appends `-`, `?` or `:`, after which a nested block may start on the same line.
    pub(super) fn block_indicator(&mut self, text: &str) {
        let open = self.is_line_open;
        self.push(text);
        self.is_line_open = open;
        self.is_open_ended = false;
    }

    /// Appends `:` directly behind a key.
    pub(super) fn key_end(&mut self) {
        self.push(":");
        self.is_open_ended = false;
    }

    /// Appends a blank, unless one precedes.
    pub(super) fn separate(&mut self) {
        if self.column > 0 && !self.out.ends_with(' ') {
            self.out.push(' ');
            self.column += 1;
        }
    }

    pub(super) fn line_break(&mut self) {
        self.out.push('\n');
        self.column = 0;
        self.is_line_open = true;
    }

    /// Moves to a column on a fresh line, or on this line if it has only indentation and indicators.
    pub(super) fn indent(&mut self, column: usize) {
        let stays = self.is_line_open && self.column <= column;
        if !stays && self.column > 0 {
            self.line_break();
        }
        while self.column < column {
            self.out.push(' ');
            self.column += 1;
        }
    }

    /// Starts a continuation line of a scalar.
    pub(super) fn fold(&mut self, column: usize) {
        self.line_break();
        self.indent(column);
        self.is_line_open = false;
    }
}
