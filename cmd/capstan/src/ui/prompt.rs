use std::{
    io::{self, IsTerminal as _},
    thread,
};

use console::Term;
use futures::channel::oneshot;

/// Asks for a text without echo.
/// If the future is dropped before the answer, such as by Ctrl-C, the terminal gets its echo back. The reading thread
/// stays until the process ends.
pub(crate) async fn ask_secret(what: &str) -> io::Result<String> {
    let terminal = Term::stderr();
    if !terminal.is_term() {
        return Err(io::Error::new(io::ErrorKind::NotConnected, "there is no terminal"));
    }
    let _shown = echo::Restored::later();
    terminal.write_str(&format!("{what}: "))?;
    answer(move || terminal.read_secure_line()).await
}

/// Asks a yes-or-no question. Any answer but `y` or `yes` is no, and so is the end of input.
pub(crate) async fn confirm(question: &str) -> io::Result<bool> {
    let terminal = Term::stderr();
    if !terminal.is_term() {
        return Err(io::Error::new(io::ErrorKind::NotConnected, "there is no terminal"));
    }
    terminal.write_str(&format!("{question} [y/N] "))?;
    let answer = answer(move || read_line(&terminal)).await?;
    Ok(matches!(&*answer.trim().to_lowercase(), "y" | "yes"))
}

/// Reads from standard input if it is a terminal, because `console` takes Ctrl-D for a character of the answer.
fn read_line(terminal: &Term) -> io::Result<String> {
    if !io::stdin().is_terminal() {
        return terminal.read_line();
    }
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok(line)
}

async fn answer(read: impl FnOnce() -> io::Result<String> + Send + 'static) -> io::Result<String> {
    let (answer, answered) = oneshot::channel();
    // A separate thread, because the end of a runtime would wait for the read.
    thread::Builder::new().name("prompt".to_owned()).spawn(move || {
        // The caller may be gone.
        let _ = answer.send(read());
    })?;
    answered.await.unwrap_or_else(|_| Err(io::ErrorKind::UnexpectedEof.into()))
}

#[cfg(unix)]
mod echo {
    use std::io;

    use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

    pub(super) struct Restored(Option<Termios>);

    impl Restored {
        pub(super) fn later() -> Self {
            Self(tcgetattr(io::stderr()).ok())
        }
    }

    impl Drop for Restored {
        fn drop(&mut self) {
            if let Some(before) = &self.0 {
                // A closed terminal needs no restoring.
                let _ = tcsetattr(io::stderr(), OptionalActions::Now, before);
            }
        }
    }
}

/// Other platforms read key by key and change no terminal modes.
#[cfg(not(unix))]
mod echo {
    pub(super) struct Restored;

    impl Restored {
        pub(super) fn later() -> Self {
            Self
        }
    }
}
