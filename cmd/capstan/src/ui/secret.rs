use std::{io, thread};

use console::Term;
use futures::channel::oneshot;

/// Asks for a text that is not shown while it is typed. When it is dropped before the answer, as by Ctrl-C, the terminal
/// shows again what is typed, and the thread that reads is left behind for the end of the process.
/// # Errors
/// When there is no terminal, or it cannot be read.
pub(crate) async fn ask_secret(what: &str) -> io::Result<String> {
    let terminal = Term::stderr();
    if !terminal.is_term() {
        return Err(io::Error::new(io::ErrorKind::NotConnected, "there is no terminal"));
    }
    let _shown = echo::Restored::later();
    terminal.write_str(&format!("{what}: "))?;
    let (answer, answered) = oneshot::channel();
    // A thread of its own: what a runtime waits for at its end would hold the process.
    thread::Builder::new().name("secret".to_owned()).spawn(move || {
        // Whoever asked may be gone.
        let _ = answer.send(terminal.read_secure_line());
    })?;
    answered.await.unwrap_or_else(|_| Err(io::ErrorKind::UnexpectedEof.into()))
}

#[cfg(unix)]
mod echo {
    use std::io;

    use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

    /// How the terminal was, for when this is dropped.
    pub(super) struct Restored(Option<Termios>);

    impl Restored {
        pub(super) fn later() -> Self {
            Self(tcgetattr(io::stderr()).ok())
        }
    }

    impl Drop for Restored {
        fn drop(&mut self) {
            if let Some(before) = &self.0 {
                // A terminal that is gone needs nothing.
                let _ = tcsetattr(io::stderr(), OptionalActions::Now, before);
            }
        }
    }
}

/// Elsewhere a terminal is read key by key, and nothing of it is changed.
#[cfg(not(unix))]
mod echo {
    pub(super) struct Restored;

    impl Restored {
        pub(super) fn later() -> Self {
            Self
        }
    }
}
