//! Connections to servers that can be cut in the middle of a request.

use std::{
    io::{self, Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    process::Child,
    sync::{Arc, Mutex},
    thread,
};

#[cfg(unix)]
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

/// Counts the bytes that a program sends to all servers, and kills or stops the program at a given count.
#[derive(Clone, Default)]
pub(crate) struct Meter(Arc<Mutex<Metered>>);

#[derive(Default)]
struct Metered {
    bytes: u64,
    /// The byte count, the program, and the action to take before the last byte is sent.
    victim: Option<(u64, Child, Strike)>,
}

/// Kills or stops a program. True if the current bytes are still forwarded.
type Strike = fn(&mut Child) -> bool;

impl Meter {
    /// Resets the count and removes the victim.
    pub(crate) fn restart(&self) {
        *self.0.lock().unwrap() = Metered::default();
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.0.lock().unwrap().bytes
    }

    /// Kills a program before it sends the last of this many bytes.
    pub(crate) fn kill_at(&self, bytes: u64, victim: Child) {
        let kill: Strike = |victim| {
            victim.kill().unwrap();
            false
        };
        self.0.lock().unwrap().victim = Some((bytes, victim, kill));
    }

    /// Stops a program with a signal at the last of this many bytes, which are still forwarded. Waits until the program
    /// is stopped or has exited.
    #[cfg(unix)]
    pub(crate) fn stop_at(&self, bytes: u64, victim: Child) -> Child {
        let pid = Pid::from_child(&victim);
        let stop: Strike = |victim| {
            kill_process(Pid::from_child(victim), Signal::STOP).unwrap();
            true
        };
        self.0.lock().unwrap().victim = Some((bytes, victim, stop));
        let events = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(pid), events).unwrap();
        let (_, victim, _) = self.0.lock().unwrap().victim.take().unwrap();
        victim
    }

    /// Waits for the program from [`Meter::kill_at`]. True if the program was killed.
    pub(crate) fn wait(&self) -> bool {
        let (_, mut victim, _) = self.0.lock().unwrap().victim.take().unwrap();
        !victim.wait().unwrap().success()
    }

    /// Counts bytes. True if they may be forwarded.
    fn lets_pass(&self, more: usize) -> bool {
        let mut metered = self.0.lock().unwrap();
        metered.bytes += more as u64;
        let bytes = metered.bytes;
        match &mut metered.victim {
            Some((last, victim, strike)) if bytes >= *last => strike(victim),
            _ => true,
        }
    }

    /// Opens a forwarding connection to an address. Returns the local address.
    pub(crate) fn open(&self, to: String) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let meter = self.clone();
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let far = TcpStream::connect(&to).unwrap();
                meter.carry(near, far).unwrap();
            }
        });
        address
    }

    fn carry(&self, near: TcpStream, far: TcpStream) -> io::Result<()> {
        near.set_nodelay(true)?;
        far.set_nodelay(true)?;
        let (mut answers, mut asker) = (far.try_clone()?, near.try_clone()?);
        thread::spawn(move || {
            // A connection ends when either side closes it.
            let _ = io::copy(&mut answers, &mut asker);
            let _ = asker.shutdown(Shutdown::Both);
        });
        let meter = self.clone();
        thread::spawn(move || {
            let _ = meter.carry_requests(near, &far);
            let _ = far.shutdown(Shutdown::Both);
        });
        Ok(())
    }

    fn carry_requests(&self, mut from: TcpStream, mut to: &TcpStream) -> io::Result<()> {
        let mut buffer = vec![0; 16 * 1024];
        loop {
            let read = from.read(&mut buffer)?;
            if read == 0 || !self.lets_pass(read) {
                return Ok(());
            }
            to.write_all(&buffer[..read])?;
        }
    }
}

/// Resumes a stopped program, waits until it exits, and returns its exit status.
#[cfg(unix)]
pub(crate) fn resume(mut stopped: Child) -> Option<i32> {
    kill_process(Pid::from_child(&stopped), Signal::CONT).unwrap();
    stopped.wait().unwrap().code()
}
