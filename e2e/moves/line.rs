//! Ways to servers that can be cut in the middle of a request.

use std::{
    io::{self, Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    process::Child,
    sync::{Arc, Mutex},
    thread,
};

/// What a program has sent to all servers together, and when it is killed.
#[derive(Clone, Default)]
pub(super) struct Meter(Arc<Mutex<Metered>>);

#[derive(Default)]
struct Metered {
    bytes: u64,
    /// Who is killed instead of sending so many bytes.
    victim: Option<(u64, Child)>,
}

impl Meter {
    /// Forgets what was sent. From now on nobody is killed.
    pub(super) fn restart(&self) {
        *self.0.lock().unwrap() = Metered::default();
    }

    pub(super) fn bytes(&self) -> u64 {
        self.0.lock().unwrap().bytes
    }

    /// Kills a program as soon as it is about to send the last of so many bytes.
    pub(super) fn kill_at(&self, bytes: u64, victim: Child) {
        self.0.lock().unwrap().victim = Some((bytes, victim));
    }

    /// Waits for a program that was to be killed; whether it was.
    pub(super) fn wait(&self) -> bool {
        let (_, mut victim) = self.0.lock().unwrap().victim.take().unwrap();
        !victim.wait().unwrap().success()
    }

    /// Whether so many more bytes may pass.
    fn lets_pass(&self, more: usize) -> bool {
        let mut metered = self.0.lock().unwrap();
        metered.bytes += more as u64;
        let bytes = metered.bytes;
        match &mut metered.victim {
            Some((last, victim)) if bytes >= *last => {
                victim.kill().unwrap();
                false
            }
            _ => true,
        }
    }

    /// Opens a way to an address; the address at its near end.
    pub(super) fn open(&self, to: String) -> String {
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
            // A way ends when either end does.
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
