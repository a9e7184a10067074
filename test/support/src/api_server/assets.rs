//! `etcd` and `kube-apiserver` as two binaries.

use std::{
    fs,
    io::{self, Read as _, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use rcgen::KeyPair;
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
};

use super::Process;

/// Sufficient for a server that only this machine can reach, for the duration of a test.
const TOKEN: &str = "token-of-a-test";

pub(super) fn start(assets: &Path, dir: &Path, flags: &[String]) -> io::Result<(PathBuf, Vec<Process>)> {
    let etcd_url = format!("http://127.0.0.1:{}", free_port()?);
    let peer_url = format!("http://127.0.0.1:{}", free_port()?);
    let mut etcd = Command::new(assets.join("etcd"));
    etcd.arg("--data-dir").arg(dir.join("etcd")).arg("--unsafe-no-fsync").args([
        format!("--listen-client-urls={etcd_url}"),
        format!("--advertise-client-urls={etcd_url}"),
        format!("--listen-peer-urls={peer_url}"),
        format!("--initial-advertise-peer-urls={peer_url}"),
        format!("--initial-cluster=default={peer_url}"),
    ]);
    let etcd = spawn(&mut etcd)?;

    let key = dir.join("service-account.key");
    let pair = KeyPair::generate().map_err(io::Error::other)?;
    fs::write(&key, pair.serialize_pem())?;
    let tokens = dir.join("tokens.csv");
    fs::write(&tokens, format!("{TOKEN},admin,admin,system:masters\n"))?;
    let certificates = dir.join("certs");
    let port = free_port()?;
    let mut server = Command::new(assets.join("kube-apiserver"));
    server.args([
        format!("--etcd-servers={etcd_url}"),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--secure-port={port}"),
        format!("--cert-dir={}", certificates.display()),
        format!("--token-auth-file={}", tokens.display()),
        "--authorization-mode=RBAC".to_owned(),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        format!("--service-account-key-file={}", key.display()),
        format!("--service-account-signing-key-file={}", key.display()),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        "--disable-admission-plugins=ServiceAccount".to_owned(),
    ]);
    let mut server = spawn(server.args(flags))?;
    let certificate = certificates.join("apiserver.crt");
    wait_until_ready(&mut server, port, &certificate)?;

    let kubeconfig = dir.join("kubeconfig");
    fs::write(&kubeconfig, kubeconfig_text(port, &certificate))?;
    Ok((kubeconfig, vec![server, etcd]))
}

fn spawn(command: &mut Command) -> io::Result<Process> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    Ok(Process { child, _stdin: None })
}

/// A port that was free a moment ago. Both binaries require an explicit port.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

fn wait_until_ready(server: &mut Process, port: u16, certificate: &Path) -> io::Result<()> {
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        let last = match probe(port, certificate) {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        if let Some(status) = server.child.try_wait()? {
            return Err(io::Error::other(format!("kube-apiserver ended with {status}")));
        }
        if Instant::now() > deadline {
            return Err(last);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn probe(port: u16, certificate: &Path) -> io::Result<()> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(certificate).map_err(io::Error::other)? {
        roots.add(certificate.map_err(io::Error::other)?).map_err(io::Error::other)?;
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::from(std::net::IpAddr::from(Ipv4Addr::LOCALHOST));
    let tls = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    let mut stream = StreamOwned::new(tls, TcpStream::connect((Ipv4Addr::LOCALHOST, port))?);
    write!(stream, "GET /readyz HTTP/1.0\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n\r\n")?;
    let mut start = [0; 12];
    stream.read_exact(&mut start)?;
    let status = String::from_utf8_lossy(&start);
    if status.ends_with("200") {
        Ok(())
    } else {
        Err(io::Error::other(format!("/readyz answers {status:?}")))
    }
}

fn kubeconfig_text(port: u16, certificate: &Path) -> String {
    format!(
        "apiVersion: v1
kind: Config
clusters:
- name: test
  cluster: {{server: \"https://127.0.0.1:{port}\", certificate-authority: {}}}
users:
- name: admin
  user: {{token: {TOKEN}}}
contexts:
- name: admin@test
  context: {{cluster: test, user: admin}}
current-context: admin@test
",
        certificate.display()
    )
}
