use std::io::{self, Read};

use super::Messages;

/// Standard input.
pub(crate) struct Input {
    stream: Box<dyn Read + Send>,
    is_terminal: bool,
}

impl Input {
    pub(crate) fn new(stream: Box<dyn Read + Send>, is_terminal: bool) -> Self {
        Self { stream, is_terminal }
    }

    /// Reads to the end; at a terminal it says so first, or the program would seem to hang.
    pub(crate) fn read_to_end(&mut self, messages: &Messages) -> io::Result<Vec<u8>> {
        if self.is_terminal {
            let end = if cfg!(windows) { "Ctrl-Z and Enter" } else { "Ctrl-D" };
            messages.status(format!("reading standard input; end it with {end}"));
        }
        let mut bytes = Vec::new();
        self.stream.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}
