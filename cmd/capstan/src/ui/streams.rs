use std::io::{self, IsTerminal as _, Read, Write};

/// The three streams of a run, and whether a person sits at the other end.
pub struct Streams {
    /// Where `-` is read from.
    pub stdin: Box<dyn Read + Send>,
    /// Data.
    pub stdout: Box<dyn Write + Send>,
    /// Everything else.
    pub stderr: Box<dyn Write + Send>,
    /// Whether stdin is a terminal.
    pub stdin_is_terminal: bool,
    /// Whether stdout is a terminal.
    pub stdout_is_terminal: bool,
    /// Whether stderr is a terminal: only then anything is drawn.
    pub stderr_is_terminal: bool,
}

impl Streams {
    /// Those of the process.
    pub fn of_process() -> Self {
        Self {
            stdin: Box::new(io::stdin()),
            // Whether there is colour is decided here; anstream makes old Windows consoles understand it.
            stdout: Box::new(anstream::AutoStream::always(io::stdout())),
            stderr: Box::new(anstream::AutoStream::always(io::stderr())),
            stdin_is_terminal: io::stdin().is_terminal(),
            stdout_is_terminal: io::stdout().is_terminal(),
            stderr_is_terminal: io::stderr().is_terminal(),
        }
    }
}
