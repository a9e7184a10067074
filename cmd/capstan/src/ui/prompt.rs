use std::{io, thread};

use console::Term;
use futures::channel::oneshot;

/// Asks for a text that is not shown while it is typed. When it is dropped before the answer, as by Ctrl-C, the terminal
/// shows again what is typed, and the thread that reads is left behind for the end of the process.
pub(crate) async fn ask_secret(what: &str) -> io::Result<String> {
    let terminal = Term::stderr();
    if !terminal.is_term() {
        return Err(io::Error::new(io::ErrorKind::NotConnected, "there is no terminal"));
    }
    let _shown = echo::Restored::later();
    terminal.write_str(&format!("{what}: "))?;
    answer(move || terminal.read_secure_line()).await
}

/// Asks a question that is answered with yes or no. Anything but `y` or `yes` is no.
pub(crate) async fn confirm(question: &str) -> io::Result<bool> {
    let terminal = Term::stderr();
    if !terminal.is_term() {
        return Err(io::Error::new(io::ErrorKind::NotConnected, "there is no terminal"));
    }
    terminal.write_str(&format!("{question} [y/N] "))?;
    let answer = answer(move || terminal.read_line()).await?;
    Ok(matches!(&*answer.trim().to_lowercase(), "y" | "yes"))
}

async fn answer(read: impl FnOnce() -> io::Result<String> + Send + 'static) -> io::Result<String> {
    let (answer, answered) = oneshot::channel();
    // A thread of its own: what a runtime waits for at its end would hold the process.
    thread::Builder::new().name("prompt".to_owned()).spawn(move || {
        // Whoever asked may be gone.
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
