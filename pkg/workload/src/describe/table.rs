/// A table for terminals, before layout and colours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeTable {
    /// The names of the columns.
    pub columns: &'static [&'static str],
    /// The minimum number of blanks after a cell, except in the first line.
    pub gap: usize,
    /// The lines; each has one cell per column.
    pub lines: Vec<Vec<Cell>>,
}

/// A cell: pieces of text on one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell(pub Vec<Span>);

/// A piece of text with a tone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The text. It may come from objects and contain any characters.
    pub text: String,
    /// The tone of the text.
    pub tone: Tone,
}

/// The tone of a piece of text, for colours; the text alone is sufficient.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Text without emphasis.
    #[default]
    Plain,
    /// Text that only connects other text.
    Faint,
    /// The name of an object.
    Strong,
    /// The type of a condition.
    Topic,
    /// A good state.
    Good,
    /// A bad state.
    Bad,
    /// A doubtful state.
    Doubtful,
}

impl Cell {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self::toned(text, Tone::Plain)
    }

    pub(super) fn toned(text: impl Into<String>, tone: Tone) -> Self {
        let text = text.into();
        if text.is_empty() { Self::default() } else { Self(vec![Span::new(text, tone)]) }
    }

    /// Returns the text without tones.
    pub fn text(&self) -> String {
        self.0.iter().map(|span| span.text.as_str()).collect()
    }
}

impl Span {
    pub(super) fn new(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone }
    }
}
