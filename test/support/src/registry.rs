//! A real registry on loopback: Debian's `docker-registry`, on a free port, with a folder of its own.

use std::{
    fs,
    io::BufReader,
    path::Path,
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

use crate::{
    host::tls::{self, Identity, Manner},
    skip::Need,
};

/// How the registry is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// In the clear.
    Plain,
    /// With a certificate of an authority nobody trusts yet.
    Tls,
}

/// Who may pull and push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guests {
    /// Everybody.
    Anybody,
    /// [`Registry::USER`] with [`Registry::PASSWORD`].
    Ann,
}

/// The registry. It ends with this value.
#[derive(Debug)]
pub struct Registry {
    process: Child,
    /// Host and port.
    host: String,
    ca_pem: String,
    _folder: TempDir,
}

/// The program, found on the PATH.
pub const PROGRAM: &str = "docker-registry";

/// Of the password below, by `htpasswd -B`.
const HTPASSWD: &str = "ann:$2y$04$8AkqsovR4pp.1t5WiEYPMu6OhDyBInDPuoqbjo1PfSNhObZzJRAE6\n";

impl Registry {
    /// The user it knows.
    pub const USER: &str = "ann";
    /// The password of that user.
    pub const PASSWORD: &str = "hunter2";

    /// Starts a registry and waits until it listens; where the program is not installed, the running test is skipped.
    ///
    /// # Panics
    /// When the program is there and does not come up.
    pub fn start(transport: Transport, guests: Guests) -> Option<Self> {
        let mut registry = Self::start_at("127.0.0.1", Path::new(PROGRAM), transport, guests)?;
        registry.host = registry.host.replace("127.0.0.1", "localhost");
        Some(registry)
    }

    /// The same on this address, where one of version 6 stands in brackets; it may be that of another network that
    /// `program` runs in.
    ///
    /// # Panics
    /// When the program is there and does not come up.
    pub fn start_at(address: &str, program: &Path, transport: Transport, guests: Guests) -> Option<Self> {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let file = |name: &str, content: &str| {
            let path = folder.path().join(name);
            fs::write(&path, content).expect("there is room for a file");
            path.display().to_string()
        };
        let tls::Tls { ca_pem, own: Identity { certificate_pem, key_pem }, .. } =
            tls::make(&[address], Manner::Good);
        let (certificate, key) = (file("tls.crt", &certificate_pem), file("tls.key", &key_pem));
        let tls = match transport {
            Transport::Plain => String::new(),
            Transport::Tls => format!("  tls: {{certificate: {certificate}, key: {key}}}\n"),
        };
        let auth = match guests {
            Guests::Anybody => String::new(),
            Guests::Ann => {
                format!("auth: {{htpasswd: {{realm: lab, path: {}}}}}\n", file("htpasswd", HTPASSWD))
            }
        };
        let data = folder.path().join("data").display().to_string();
        let config = format!(
            "version: 0.1
log: {{level: info}}
storage: {{filesystem: {{rootdirectory: {data}}}, delete: {{enabled: true}}}}
http:
  addr: \"{address}:0\"
{tls}{auth}"
        );
        let mut command = Command::new(program);
        command.args(["serve", &file("config.yml", &config)]).stdin(Stdio::null()).stdout(Stdio::null());
        let mut process = match command.stderr(Stdio::piped()).spawn() {
            Ok(process) => process,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Need::Program(PROGRAM).skip();
                return None;
            }
            Err(error) => panic!("{PROGRAM} does not start: {error}"),
        };
        let mut log = BufReader::new(process.stderr.take().expect("its standard error is a pipe"));
        let host = format!("{address}:{}", port_in(&mut log, address));
        // Whoever stops reading a pipe stops the writer.
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        Some(Self { process, host, ca_pem, _folder: folder })
    }

    /// Host and port, as they stand in references.
    pub fn host(&self) -> String {
        self.host.clone()
    }

    /// The certificate that its own is signed with.
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }
}

/// Reads until the registry says where it listens.
fn port_in(log: &mut impl std::io::BufRead, address: &str) -> String {
    let listening = format!("listening on {address}:");
    let mut told = String::new();
    loop {
        let mut line = String::new();
        let read = log.read_line(&mut line).expect("what it says is text");
        assert!(read > 0, "{PROGRAM} ended:\n{told}");
        if let Some((_, rest)) = line.split_once(&listening) {
            return rest.chars().take_while(char::is_ascii_digit).collect();
        }
        told.push_str(&line);
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
