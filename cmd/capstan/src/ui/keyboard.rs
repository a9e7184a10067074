//! Reads pressed keys in watch mode.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interruption {
    /// The user pressed `q`, or the terminal was closed.
    Quit,
    /// The process was stopped and continued. Other programs may have written to the terminal.
    #[cfg_attr(not(unix), expect(dead_code, reason = "only Unix stops processes"))]
    Resumed,
}

#[cfg(unix)]
pub(crate) use on_unix::{Keyboard, restore_terminal};

#[cfg(not(unix))]
pub(crate) use elsewhere::{Keyboard, restore_terminal};

#[cfg(unix)]
mod on_unix {
    use std::{
        io,
        sync::{Mutex, MutexGuard, PoisonError},
        time::Duration,
    };

    use rustix::{
        process::{Signal, getpgrp, getpid, kill_process},
        termios::{
            LocalModes, OptionalActions, SpecialCodeIndex, Termios, isatty, tcgetattr, tcgetpgrp, tcsetattr,
        },
    };
    use tokio::signal::unix::{Signal as Signals, SignalKind, signal};

    use super::Interruption;

    const POLL_INTERVAL: Duration = Duration::from_millis(100);

    /// The terminal modes before single keys were read.
    static ORIGINAL_MODES: Mutex<Option<Termios>> = Mutex::new(None);

    /// A terminal in single-key mode, without Enter and echo. Ctrl-C and Ctrl-Z keep their meaning.
    /// The original modes return when the keyboard is dropped and while the process is stopped.
    pub(crate) struct Keyboard {
        suspended: Signals,
        hung_up: Signals,
    }

    impl Keyboard {
        /// Opens the terminal of standard input. `None` if standard input is not a terminal. Requires a runtime.
        pub(crate) fn open() -> Option<Self> {
            if !isatty(io::stdin()) {
                return None;
            }
            let keyboard = Self {
                suspended: signal(SignalKind::from_raw(Signal::TSTP.as_raw())).ok()?,
                hung_up: signal(SignalKind::hangup()).ok()?,
            };
            read_keys();
            Some(keyboard)
        }

        pub(crate) async fn interruption(&mut self) -> Interruption {
            loop {
                tokio::select! {
                    _ = self.hung_up.recv() => return Interruption::Quit,
                    _ = self.suspended.recv() => {
                        restore_terminal();
                        // The process continues after this line.
                        let _ = kill_process(getpid(), Signal::STOP);
                        return Interruption::Resumed;
                    }
                    () = tokio::time::sleep(POLL_INTERVAL) => {
                        // A process that continues in the background gets the terminal later.
                        read_keys();
                        if is_quit_pressed() {
                            return Interruption::Quit;
                        }
                    }
                }
            }
        }
    }

    impl Drop for Keyboard {
        fn drop(&mut self) {
            restore_terminal();
        }
    }

    fn original_modes() -> MutexGuard<'static, Option<Termios>> {
        ORIGINAL_MODES.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Restores the original terminal modes. Also called for exits that drop nothing.
    pub(crate) fn restore_terminal() {
        if let Some(modes) = original_modes().take() {
            // A closed terminal needs no restoring.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &modes);
        }
    }

    /// Enables single-key mode without blocking reads, unless enabled. Does nothing in the background, where the
    /// system would stop the process.
    fn read_keys() {
        let mut before = original_modes();
        let is_in_background = tcgetpgrp(io::stdin()).is_ok_and(|foreground| foreground != getpgrp());
        if before.is_some() || is_in_background {
            return;
        }
        let Ok(modes) = tcgetattr(io::stdin()) else { return };
        let mut keys = modes.clone();
        keys.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        keys.special_codes[SpecialCodeIndex::VMIN] = 0;
        keys.special_codes[SpecialCodeIndex::VTIME] = 0;
        if tcsetattr(io::stdin(), OptionalActions::Now, &keys).is_ok() {
            *before = Some(modes);
        }
    }

    fn is_quit_pressed() -> bool {
        let mut keys = [0; 64];
        // Without single-key mode, a read would block.
        if original_modes().is_none() {
            return false;
        }
        let read = rustix::io::read(io::stdin(), &mut keys).unwrap_or(0);
        keys[..read].iter().any(|key| matches!(key, b'q' | b'Q'))
    }
}

/// Other platforms read no keys and change nothing.
#[cfg(not(unix))]
mod elsewhere {
    use std::convert::Infallible;

    use super::Interruption;

    pub(crate) struct Keyboard(Infallible);

    impl Keyboard {
        pub(crate) fn open() -> Option<Self> {
            None
        }

        #[expect(clippy::unused_async, reason = "it is awaited where there is a keyboard")]
        pub(crate) async fn interruption(&mut self) -> Interruption {
            match self.0 {}
        }
    }

    pub(crate) fn restore_terminal() {}
}

/// Returns at the next interruption. Never returns without a keyboard.
pub(crate) async fn interruption(keyboard: Option<&mut Keyboard>) -> Interruption {
    match keyboard {
        None => std::future::pending().await,
        Some(keyboard) => keyboard.interruption().await,
    }
}

/// Returns when the user quits. Never returns without a keyboard.
pub(crate) async fn wait_for_quit(mut keyboard: Option<&mut Keyboard>) {
    while interruption(keyboard.as_deref_mut()).await != Interruption::Quit {}
}
