//! A terminal for the binary under test.

use std::{
    fs::File,
    io::{Read as _, Write as _},
    process::{Child, Command, Stdio},
};

use rustix::{
    fs::{Mode, OFlags},
    process::{Pid, Signal, WaitOptions, kill_process, waitpid},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize},
};

/// A terminal, from the user's side.
#[derive(Debug)]
pub struct Terminal {
    screen: File,
    program: File,
}

/// A process on a terminal.
#[derive(Debug)]
pub struct TerminalProcess<'t> {
    terminal: &'t Terminal,
    process: Child,
}

impl Terminal {
    /// Opens a terminal with this many columns and 24 lines.
    ///
    /// # Panics
    /// Panics if the system has no terminals.
    pub fn with_columns(columns: u16) -> Self {
        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("the system has terminals");
        grantpt(&screen).and_then(|()| unlockpt(&screen)).expect("an own terminal can be opened");
        let name = ptsname(&screen, Vec::new()).expect("a terminal has a name");
        let program = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty())
            .expect("an own terminal can be opened");
        let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&program, size).expect("a terminal has a size");
        Self { screen: screen.into(), program: program.into() }
    }

    /// Starts a command with all streams on the terminal.
    ///
    /// # Panics
    /// Panics if the command cannot be started.
    pub fn spawn(&self, mut command: Command) -> TerminalProcess<'_> {
        let stream = || Stdio::from(self.program.try_clone().expect("a file can be shared"));
        command.stdin(stream()).stdout(stream()).stderr(stream()).env("TERM", "xterm");
        TerminalProcess {
            terminal: self,
            process: command.spawn().expect("the binary under test can be started"),
        }
    }

    /// Runs a command until it exits. Returns its status and its output, without carriage returns and colours.
    ///
    /// # Panics
    /// Panics if the command cannot be run.
    pub fn run(&self, command: Command) -> (Option<i32>, String) {
        const END: &str = "\u{4}the end\u{4}";
        std::thread::scope(|scope| {
            let shown = scope.spawn(|| self.read_until(END));
            let status = self.spawn(command).process.wait().expect("a process can be waited for").code();
            // A terminal has no end of file, so a marker ends the output.
            (&self.program).write_all(END.as_bytes()).expect("a terminal takes text");
            let shown = shown.join().expect("reading does not fail");
            (status, shown.trim_end_matches(END).to_owned())
        })
    }

    /// True if the terminal echoes input and passes on complete lines, as shells expect.
    ///
    /// # Panics
    /// Panics if the terminal is closed.
    pub fn is_in_line_mode(&self) -> bool {
        let modes = tcgetattr(&self.program).expect("a terminal has modes").local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// Types these keys.
    ///
    /// # Panics
    /// Panics if the terminal is closed.
    pub fn press(&self, keys: &str) {
        (&self.screen).write_all(keys.as_bytes()).expect("a terminal takes keys");
    }

    /// Reads the output up to a text.
    ///
    /// # Panics
    /// Panics if the terminal is closed.
    pub fn read_until(&self, text: &str) -> String {
        let (mut shown, mut piece) = (Vec::new(), [0; 4096]);
        loop {
            let so_far = String::from_utf8_lossy(&shown).replace('\r', "");
            if so_far.contains(text) {
                return so_far;
            }
            let read = (&self.screen).read(&mut piece).expect("a terminal can be read");
            shown.extend_from_slice(&piece[..read]);
        }
    }
}

impl TerminalProcess<'_> {
    /// Sends a signal.
    ///
    /// # Panics
    /// Panics if the process has exited.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("the process is there");
    }

    /// Stops the process like Ctrl-Z, and waits until it is stopped.
    ///
    /// # Panics
    /// Panics if the process exits instead.
    pub fn suspend(&self) {
        self.signal(Signal::TSTP);
        let (_, status) = waitpid(Some(self.pid()), WaitOptions::UNTRACED)
            .expect("a child can be waited for")
            .expect("it was waited for");
        assert!(status.stopped(), "it ended: {status:?}");
    }

    /// Resumes a stopped process.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    /// Waits until the process exits. Returns its status, and true if the terminal is in the state that shells expect.
    ///
    /// # Panics
    /// Panics if waiting fails.
    pub fn wait(mut self) -> (Option<i32>, bool) {
        let status = self.process.wait().expect("a process can be waited for");
        (status.code(), self.terminal.is_in_line_mode())
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.process)
    }
}
