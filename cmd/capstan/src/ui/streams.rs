use std::io::{self, IsTerminal as _, Read, Write};

use super::Messages;

/// The three streams of a run, with terminal detection.
pub struct Streams {
    /// The input for `-`.
    pub stdin: Box<dyn Read + Send>,
    /// The output of data.
    pub stdout: Box<dyn Write + Send>,
    /// All other output.
    pub stderr: Box<dyn Write + Send>,
    /// True if stdin is a terminal.
    pub stdin_is_terminal: bool,
    /// True if stdout is a terminal.
    pub stdout_is_terminal: bool,
    /// True if stderr is a terminal, which enables live lines.
    pub stderr_is_terminal: bool,
}

impl Streams {
    /// Returns the streams of this process.
    pub fn from_process() -> Self {
        Self {
            stdin: Box::new(io::stdin()),
            // capstan decides about colours itself. anstream translates them for old Windows consoles.
            stdout: Box::new(anstream::AutoStream::always(io::stdout())),
            stderr: Box::new(anstream::AutoStream::always(io::stderr())),
            stdin_is_terminal: io::stdin().is_terminal(),
            stdout_is_terminal: io::stdout().is_terminal(),
            stderr_is_terminal: io::stderr().is_terminal(),
        }
    }
}

pub(crate) struct Input {
    stream: Box<dyn Read + Send>,
    is_terminal: bool,
}

impl Input {
    pub(crate) fn new(stream: Box<dyn Read + Send>, is_terminal: bool) -> Self {
        Self { stream, is_terminal }
    }

    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Returns the stream for input that may exceed the memory.
    pub(crate) fn stream(&mut self) -> &mut dyn Read {
        &mut self.stream
    }

    /// Reads to the end. On a terminal, first shows a message, because the program would seem to hang.
    pub(crate) fn read_to_end(&mut self, messages: &Messages, limit_bytes: u64) -> io::Result<Vec<u8>> {
        if self.is_terminal {
            let end = if cfg!(windows) { "Ctrl-Z and Enter" } else { "Ctrl-D" };
            messages.status(format!("reading standard input; press {end} to finish"));
        }
        let mut bytes = Vec::new();
        (&mut self.stream).take(limit_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit_bytes {
            let text = format!("standard input is larger than the limit of {limit_bytes} bytes");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;

    // Row: D-34
    #[test]
    fn an_endless_stream_is_refused_at_the_limit() {
        let messages = Messages::new(Box::new(io::sink()), false);
        let input =
            |text: &'static str| Input::new(Box::new(text.as_bytes()), false).read_to_end(&messages, 4);
        assert_eq!(input("four").unwrap(), b"four");
        assert_data_eq!(
            input("five!").unwrap_err().to_string(),
            str!["standard input is larger than the limit of 4 bytes"]
        );
        let mut endless = Input::new(Box::new(io::repeat(b'x')), false);
        assert!(endless.read_to_end(&messages, 1000).is_err());
    }
}
