/// A table for people, before it is laid out and coloured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeTable {
    /// The names of the columns.
    pub columns: &'static [&'static str],
    /// The least number of blanks behind a cell that is not of the first line.
    pub gap: usize,
    /// Lines; each has a cell for each column.
    pub lines: Vec<Vec<Cell>>,
}

/// A cell: pieces of text in a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell(pub Vec<Span>);

/// A piece of text, and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The text. It may come from objects, and holds whatever they hold.
    pub text: String,
    /// What it says.
    pub tone: Tone,
}

/// What a piece of text says, for colours; the words say it too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Nothing special.
    #[default]
    Plain,
    /// What only holds the rest together.
    Faint,
    /// A name.
    Strong,
    /// The type of a condition.
    Topic,
    /// All is well.
    Good,
    /// Something is wrong.
    Bad,
    /// Something may be wrong.
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

    /// All of it, without tones.
    pub fn text(&self) -> String {
        self.0.iter().map(|span| span.text.as_str()).collect()
    }
}

impl Span {
    pub(super) fn new(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone }
    }
}
