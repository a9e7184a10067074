//! A real registry on loopback: Debian's `docker-registry`, on a free port, with a temporary folder.

use std::{
    fs,
    io::BufReader,
    path::Path,
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

use crate::{
    host::tls::{self, HostCertificate, Identity},
    skip::TestRequirement,
};

/// The protocol of the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegistryTransport {
    /// HTTP without TLS.
    Plain,
    /// HTTPS with a certificate of an unknown authority.
    Tls,
}

/// The users who may pull and push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegistryAccess {
    /// Everyone.
    Anonymous,
    /// Only [`Registry::USER`] with [`Registry::PASSWORD`].
    PasswordRequired,
}

/// A running registry. Dropping the value stops the registry.
#[derive(Debug)]
pub struct Registry {
    process: Child,
    /// The host and port.
    host: String,
    ca_pem: String,
    _folder: TempDir,
}

/// The program, found on `PATH`.
pub const PROGRAM: &str = "docker-registry";

/// The hash of [`Registry::PASSWORD`], created with `htpasswd -B`.
const HTPASSWD: &str = "ann:$2y$04$8AkqsovR4pp.1t5WiEYPMu6OhDyBInDPuoqbjo1PfSNhObZzJRAE6\n";

impl Registry {
    /// The only user.
    pub const USER: &str = "ann";
    /// The password of that user.
    pub const PASSWORD: &str = "hunter2";

    /// Starts a registry and waits until it listens. If the program is not installed, marks the running test as
    /// skipped.
    ///
    /// # Panics
    /// Panics if the program is installed but does not start.
    pub fn start(transport: RegistryTransport, guests: RegistryAccess) -> Option<Self> {
        let mut registry = Self::start_at("127.0.0.1", Path::new(PROGRAM), transport, guests)?;
        registry.host = registry.host.replace("127.0.0.1", "localhost");
        Some(registry)
    }

    /// Starts a registry on this address, with IPv6 addresses in brackets. The address may belong to another network,
    /// in which `program` runs.
    ///
    /// # Panics
    /// Panics if the program is installed but does not start.
    pub fn start_at(
        address: &str,
        program: &Path,
        transport: RegistryTransport,
        guests: RegistryAccess,
    ) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder can be created");
        let file = |name: &str, content: &str| {
            let path = folder.path().join(name);
            fs::write(&path, content).expect("a file can be written");
            path.display().to_string()
        };
        let tls::Tls { ca_pem, host: Identity { certificate_pem, key_pem }, .. } =
            tls::create(&[address], HostCertificate::Valid);
        let (certificate, key) = (file("tls.crt", &certificate_pem), file("tls.key", &key_pem));
        let tls = match transport {
            RegistryTransport::Plain => String::new(),
            RegistryTransport::Tls => format!("  tls: {{certificate: {certificate}, key: {key}}}\n"),
        };
        let auth = match guests {
            RegistryAccess::Anonymous => String::new(),
            RegistryAccess::PasswordRequired => {
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
                TestRequirement::Program(PROGRAM).skip();
                return None;
            }
            Err(error) => panic!("cannot start {PROGRAM}: {error}"),
        };
        let mut log = BufReader::new(process.stderr.take().expect("its standard error is a pipe"));
        let host = format!("{address}:{}", port_in(&mut log, address));
        // If the pipe is not read, the registry blocks.
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        Some(Self { process, host, ca_pem, _folder: folder })
    }

    /// Host and port, as in references.
    pub fn host(&self) -> String {
        self.host.clone()
    }

    /// The certificate of the authority that issued the registry's certificate.
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }
}

/// Reads the log until the registry prints its address.
fn port_in(log: &mut impl std::io::BufRead, address: &str) -> String {
    let listening = format!("listening on {address}:");
    let mut reported = String::new();
    loop {
        let mut line = String::new();
        let read = log.read_line(&mut line).expect("what it says is text");
        assert!(read > 0, "{PROGRAM} ended:\n{reported}");
        if let Some((_, rest)) = line.split_once(&listening) {
            return rest.chars().take_while(char::is_ascii_digit).collect();
        }
        reported.push_str(&line);
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
