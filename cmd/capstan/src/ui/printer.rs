use std::io::{self, BufWriter, Write};

use super::Messages;
use crate::failure::{Failure, Kind};

/// Large enough to write a cluster template at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// The output of the process: buffered data on stdout, and `Messages` on stderr.
pub(crate) struct Printer {
    stdout: BufWriter<Box<dyn Write + Send>>,
    colour: bool,
    is_terminal: bool,
    is_reader_gone: bool,
    messages: Messages,
}

impl Printer {
    pub(crate) fn new(stdout: Box<dyn Write + Send>, messages: Messages) -> Self {
        Self {
            stdout: BufWriter::with_capacity(BUFFER_BYTES, stdout),
            colour: false,
            is_terminal: false,
            is_reader_gone: false,
            messages,
        }
    }

    /// Sets the terminal flag of stdout. Text on a terminal can be overwritten.
    #[must_use]
    pub(crate) fn with_terminal(self, is_terminal: bool) -> Self {
        Self { is_terminal, ..self }
    }

    pub(crate) fn configure(&mut self, colour: bool, configure: impl FnOnce(&mut Messages)) {
        self.colour = colour;
        configure(&mut self.messages);
    }

    pub(crate) fn messages(&self) -> &Messages {
        &self.messages
    }

    /// True if data may be coloured. Only help uses colours.
    pub(crate) fn is_stdout_coloured(&self) -> bool {
        self.colour
    }

    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Returns the width of the terminal on stdout. `None` for other outputs, where text is never truncated.
    pub(crate) fn width(&self) -> Option<usize> {
        self.is_terminal.then(|| usize::from(console::Term::stdout().size().1))
    }

    /// True if the reader of stdout is still connected.
    pub(crate) fn has_reader(&self) -> bool {
        !self.is_reader_gone
    }

    /// Writes data.
    /// A reader that closes early (`| head`) is no failure: the rest is discarded.
    pub(crate) fn write(&mut self, data: impl AsRef<[u8]>) -> Result<(), Failure> {
        if self.is_reader_gone {
            return Ok(());
        }
        self.messages.progress().clear();
        let written = self.stdout.write_all(data.as_ref());
        self.handle_write_result(written)
    }

    /// Flushes the printed data while this run continues.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        if self.is_reader_gone {
            return Ok(());
        }
        let flushed = self.stdout.flush();
        self.handle_write_result(flushed)
    }

    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        self.messages.progress().end();
        self.flush()
    }

    fn handle_write_result(&mut self, result: io::Result<()>) -> Result<(), Failure> {
        match result {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.is_reader_gone = true;
                Ok(())
            }
            Err(error) => {
                // Writing the same bytes at the end would fail again.
                self.is_reader_gone = true;
                Err(Failure::new(Kind::Environment, "cannot write to standard output").because(&error))
            }
        }
    }
}
