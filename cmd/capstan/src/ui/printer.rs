use std::io::{self, BufWriter, Write};

use super::Messages;
use crate::failure::{Failure, Kind};

/// Large enough that a cluster template leaves in one write.
const BUFFER_BYTES: usize = 64 * 1024;

/// The only way out of the process: data to stdout through one buffer, and `Messages` for the rest.
pub(crate) struct Printer {
    stdout: BufWriter<Box<dyn Write + Send>>,
    colour: bool,
    is_terminal: bool,
    reader_left: bool,
    messages: Messages,
}

impl Printer {
    pub(crate) fn new(stdout: Box<dyn Write + Send>, messages: Messages) -> Self {
        Self {
            stdout: BufWriter::with_capacity(BUFFER_BYTES, stdout),
            colour: false,
            is_terminal: false,
            reader_left: false,
            messages,
        }
    }

    /// The same on a terminal, or not: on one, what was printed can be drawn over.
    #[must_use]
    pub(crate) fn on_terminal(self, is_terminal: bool) -> Self {
        Self { is_terminal, ..self }
    }

    pub(crate) fn configure(&mut self, colour: bool, configure: impl FnOnce(&mut Messages)) {
        self.colour = colour;
        configure(&mut self.messages);
    }

    pub(crate) fn messages(&self) -> &Messages {
        &self.messages
    }

    /// Whether data may be coloured; nothing but help is.
    pub(crate) fn colours_stdout(&self) -> bool {
        self.colour
    }

    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// The width of the terminal that data goes to; none if it goes elsewhere, where nothing is ever cut.
    pub(crate) fn width(&self) -> Option<usize> {
        self.is_terminal.then(|| usize::from(console::Term::stdout().size().1))
    }

    /// Whether somebody still reads what is printed.
    pub(crate) fn has_reader(&self) -> bool {
        !self.reader_left
    }

    /// Writes data.
    /// A reader that has seen enough (`| head`) is no failure: the rest goes nowhere.
    pub(crate) fn data(&mut self, data: impl AsRef<[u8]>) -> Result<(), Failure> {
        if self.reader_left {
            return Ok(());
        }
        self.messages.progress().clear();
        let written = self.stdout.write_all(data.as_ref());
        self.settle(written)
    }

    /// Passes on what was printed so far: somebody waits for it while this run goes on.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        if self.reader_left {
            return Ok(());
        }
        let flushed = self.stdout.flush();
        self.settle(flushed)
    }

    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        self.messages.progress().end();
        self.flush()
    }

    fn settle(&mut self, result: io::Result<()>) -> Result<(), Failure> {
        match result {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.reader_left = true;
                Ok(())
            }
            Err(error) => {
                // The same bytes would fail again on the way out.
                self.reader_left = true;
                Err(Failure::new(Kind::Environment, "cannot write to standard output").because(&error))
            }
        }
    }
}
