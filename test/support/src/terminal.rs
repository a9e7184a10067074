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

/// A terminal, from the side of the person that looks at it.
#[derive(Debug)]
pub struct Terminal {
    screen: File,
    program: File,
}

/// A process on a terminal.
#[derive(Debug)]
pub struct OnTerminal<'t> {
    terminal: &'t Terminal,
    process: Child,
}

impl Terminal {
    /// Opens a terminal of so many columns and 24 lines.
    ///
    /// # Panics
    /// When the system has none.
    pub fn of_columns(columns: u16) -> Self {
        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("the system has terminals");
        grantpt(&screen).and_then(|()| unlockpt(&screen)).expect("an own terminal can be opened");
        let name = ptsname(&screen, Vec::new()).expect("a terminal has a name");
        let program = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty())
            .expect("an own terminal can be opened");
        let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&program, size).expect("a terminal has a size");
        Self { screen: screen.into(), program: program.into() }
    }

    /// Starts a command with all its streams on the terminal.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn spawn(&self, mut command: Command) -> OnTerminal<'_> {
        let stream = || Stdio::from(self.program.try_clone().expect("a file can be shared"));
        command.stdin(stream()).stdout(stream()).stderr(stream()).env("TERM", "xterm");
        OnTerminal { terminal: self, process: command.spawn().expect("the binary under test can be started") }
    }

    /// Runs a command to its end. Returns its status and all that it shows, without carriage returns and colours.
    ///
    /// # Panics
    /// When it cannot be run.
    pub fn run(&self, command: Command) -> (Option<i32>, String) {
        const END: &str = "\u{4}the end\u{4}";
        std::thread::scope(|scope| {
            let shown = scope.spawn(|| self.read_to(END));
            let status = self.spawn(command).process.wait().expect("a process can be waited for").code();
            // What a terminal holds has no end of its own.
            (&self.program).write_all(END.as_bytes()).expect("a terminal takes text");
            let shown = shown.join().expect("reading does not fail");
            (status, shown.trim_end_matches(END).to_owned())
        })
    }

    /// True if the terminal shows what is typed and passes on whole lines, as shells leave it.
    ///
    /// # Panics
    /// When it is gone.
    pub fn is_as_shells_leave_it(&self) -> bool {
        let modes = tcgetattr(&self.program).expect("a terminal has modes").local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// Types these keys.
    ///
    /// # Panics
    /// When the terminal is gone.
    pub fn press(&self, keys: &str) {
        (&self.screen).write_all(keys.as_bytes()).expect("a terminal takes keys");
    }

    /// Reads what is shown up to a text.
    ///
    /// # Panics
    /// When the terminal is gone.
    pub fn read_to(&self, text: &str) -> String {
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

impl OnTerminal<'_> {
    /// Sends a signal.
    ///
    /// # Panics
    /// When the process has ended.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("the process is there");
    }

    /// Stops the process as Ctrl-Z does, and waits until it is stopped.
    ///
    /// # Panics
    /// When it ends instead.
    pub fn suspend(&self) {
        self.signal(Signal::TSTP);
        let (_, status) = waitpid(Some(self.pid()), WaitOptions::UNTRACED)
            .expect("a child can be waited for")
            .expect("it was waited for");
        assert!(status.stopped(), "it ended: {status:?}");
    }

    /// Lets a stopped process go on.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    /// Ends with the process: its status, and whether the terminal is as shells leave it.
    ///
    /// # Panics
    /// When it cannot be waited for.
    pub fn end(mut self) -> (Option<i32>, bool) {
        let status = self.process.wait().expect("a process can be waited for");
        (status.code(), self.terminal.is_as_shells_leave_it())
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.process)
    }
}
