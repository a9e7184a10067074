//! The subset of HTTP/1.1 and CGI that `git http-backend` needs.

use std::{
    ffi::OsString,
    io::{self, Write as _},
    path::PathBuf,
    process::{Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_rustls::TlsAcceptor;

use super::{GitRequest, Login};
use crate::host::serve::read_head;

#[derive(Clone)]
pub(super) struct Backend {
    pub(super) root: PathBuf,
    pub(super) variables: Vec<(OsString, OsString)>,
    pub(super) login: Option<Login>,
    pub(super) log: Arc<Mutex<Vec<GitRequest>>>,
}

pub(super) async fn connection(socket: TcpStream, acceptor: TlsAcceptor, backend: Backend) -> io::Result<()> {
    let mut stream = acceptor.accept(socket).await?;
    let Some(head) = read_head(&mut stream).await? else { return Ok(()) };
    let body = read_body(&mut stream, &head).await?;
    let answer = tokio::task::spawn_blocking(move || backend.answer(&head, &body)).await?;
    stream.write_all(&answer).await?;
    stream.shutdown().await
}

async fn read_body(stream: &mut (impl AsyncRead + Unpin), head: &str) -> io::Result<Vec<u8>> {
    let length = header(head, "content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok(body)
}

fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let mut lines = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

impl Backend {
    fn answer(&self, head: &str, body: &[u8]) -> Vec<u8> {
        let line = head.lines().next().unwrap_or_default().trim_end_matches(" HTTP/1.1").to_owned();
        let authorization = header(head, "authorization").map(str::to_owned);
        let is_welcome = self.login.is_none_or(|login| authorization.as_deref() == Some(&basic_auth(login)));
        let mark = if is_welcome { "" } else { "401 " };
        let request = GitRequest { line: format!("{mark}{line}"), authorization };
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        if !is_welcome {
            return plain("401 Unauthorized", "www-authenticate: Basic realm=\"forge\"\r\n");
        }
        let (method, target) = line.split_once(' ').unwrap_or_default();
        if let Some(elsewhere) = target.strip_prefix("/moved/") {
            return plain("302 Found", &format!("location: https://{elsewhere}\r\n"));
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        self.run(head, body, method, path, query).unwrap_or_else(|_| plain("500 Broken", ""))
    }

    fn run(&self, head: &str, body: &[u8], method: &str, path: &str, query: &str) -> io::Result<Vec<u8>> {
        let mut command = Command::new("git");
        command.arg("http-backend").env_clear().envs(self.variables.iter().cloned());
        command.env("GIT_PROJECT_ROOT", &self.root).env("GIT_HTTP_EXPORT_ALL", "1");
        command.env("REQUEST_METHOD", method).env("PATH_INFO", path).env("QUERY_STRING", query);
        command.env("CONTENT_LENGTH", body.len().to_string());
        let headers = [
            ("CONTENT_TYPE", "content-type"),
            ("HTTP_CONTENT_ENCODING", "content-encoding"),
            ("GIT_PROTOCOL", "git-protocol"),
        ];
        for (variable, name) in headers {
            command.env(variable, header(head, name).unwrap_or_default());
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(body)?;
        }
        let output = child.wait_with_output()?.stdout;
        let end = output.windows(4).position(|window| window == b"\r\n\r\n").unwrap_or(output.len());
        let status = String::from_utf8_lossy(&output[..end]);
        let status =
            status.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK").to_owned();
        let mut answer = format!("HTTP/1.1 {status}\r\nconnection: close\r\n").into_bytes();
        answer.extend(output);
        Ok(answer)
    }
}

fn plain(status: &str, headers: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{headers}connection: close\r\ncontent-length: 0\r\n\r\n").into_bytes()
}

/// The `Authorization` header for a login.
fn basic_auth((user, password): Login) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}
