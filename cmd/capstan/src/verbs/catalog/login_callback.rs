//! The HTTP server on this machine that gets the answer of a login.

use std::time::Duration;

use catalog::login::LoginError;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use transport::http::parse_address;

use crate::Failure;

/// The maximum size of the head of a request in bytes.
const MAX_HEAD: usize = 16 << 10;
/// The time limit of a request.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A listener on loopback.
pub(super) struct Callback {
    listeners: Vec<TcpListener>,
    port: u16,
}

/// The meaning of a request.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Code(String),
    Refused(String),
    /// A request that is no answer of this login, such as for an icon.
    Other,
}

impl Callback {
    /// Listens on a port of this machine. Port 0 is any free port.
    pub(super) async fn listen(port: u16) -> Result<Self, Failure> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.map_err(|error| {
            Failure::user(format!("cannot listen on port {port} for the answer of the login"))
                .because_foreign(&error)
                .hint("end the other login, or use another port with `--callback-port`")
        })?;
        let port = listener.local_addr().map_or(port, |address| address.port());
        // A browser may prefer this address for `localhost`.
        let second = TcpListener::bind(("::1", port)).await.ok();
        Ok(Self { listeners: std::iter::once(listener).chain(second).collect(), port })
    }

    /// The URL for the identity provider.
    pub(super) fn url(&self) -> String {
        format!("http://localhost:{}", self.port)
    }

    /// Waits for the answer with the state of a login. Returns its code.
    pub(super) async fn code(&self, state: &str) -> Result<String, Failure> {
        loop {
            let accepted = futures::future::select_all(
                self.listeners.iter().map(|listener| Box::pin(listener.accept())),
            );
            let (Ok((stream, _)), ..) = accepted.await else {
                // Such as too many open files.
                tokio::time::sleep(TIMEOUT).await;
                continue;
            };
            match timeout(TIMEOUT, answer(stream, state)).await {
                Ok(Some(Answer::Code(code))) => return Ok(code),
                Ok(Some(Answer::Refused(reason))) => return Err(LoginError::Refused { reason }.into()),
                _ => {}
            }
        }
    }
}

/// Reads a request, and answers it with a page.
async fn answer(mut stream: TcpStream, state: &str) -> Option<Answer> {
    let target = read_target(&mut stream).await?;
    let answer = parse(&target, state);
    let (status, text) = match &answer {
        Answer::Code(_) => ("200 OK", "The login is complete. You can close this window."),
        Answer::Refused(_) => ("403 Forbidden", "The login was refused. You can close this window."),
        Answer::Other => ("404 Not Found", "This is no answer of the current login."),
    };
    let page = format!("<!DOCTYPE html><title>Login</title><p>{text}</p>\n");
    let response = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{page}",
        page.len()
    );
    // The browser may be gone; the code is already here.
    let _ = stream.write_all(response.as_bytes()).await;
    let _ = stream.shutdown().await;
    Some(answer)
}

/// Reads the head of a request to its end. Returns the target of a GET request.
async fn read_target(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut piece).await.ok()?;
        head.extend_from_slice(&piece[..count]);
        if count == 0 || head.len() > MAX_HEAD {
            return None;
        }
    }
    let text = String::from_utf8(head).ok()?;
    let mut words = text.lines().next()?.split(' ');
    (words.next() == Some("GET")).then(|| words.next().map(str::to_owned)).flatten()
}

fn parse(target: &str, state: &str) -> Answer {
    let Ok(url) = parse_address(&format!("http://localhost{target}")) else { return Answer::Other };
    let field =
        |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    if url.path() != "/" || field("state").as_deref() != Some(state) {
        return Answer::Other;
    }
    if let Some(error) = field("error") {
        let reason = field("error_description").map_or(error.clone(), |text| format!("{error}: {text}"));
        let printable = reason.chars().filter(|character| !character.is_control());
        return Answer::Refused(printable.take(200).collect());
    }
    field("code").filter(|code| !code.is_empty()).map_or(Answer::Other, Answer::Code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_answer_with_the_state_of_the_login_counts() {
        let code = |code: &str| Answer::Code(code.to_owned());
        for (target, expected) in [
            ("/?code=a%2Bb&state=s", code("a+b")),
            ("/?code=a&state=other", Answer::Other),
            ("/?code=a", Answer::Other),
            ("/?code=&state=s", Answer::Other),
            ("/favicon.ico?code=a&state=s", Answer::Other),
            ("http://elsewhere/?code=a&state=s", Answer::Other),
            ("@elsewhere/?code=a", Answer::Other),
            ("/?state=s&error=access_denied", Answer::Refused("access_denied".to_owned())),
            ("/?state=s&error=x&error_description=no%0Away", Answer::Refused("x: noway".to_owned())),
        ] {
            assert_eq!(parse(target, "s"), expected, "{target}");
        }
    }

    #[tokio::test]
    async fn a_request_without_end_or_of_another_method_is_no_target() {
        assert_eq!(read_target(&mut &b"GET /a HTTP/1.1\r\nhost: x\r\n\r\n"[..]).await.as_deref(), Some("/a"));
        assert_eq!(read_target(&mut &b"POST /a HTTP/1.1\r\n\r\n"[..]).await, None);
        assert_eq!(read_target(&mut &b"GET /a"[..]).await, None);
        assert_eq!(read_target(&mut &vec![b'x'; MAX_HEAD * 2][..]).await, None);
    }
}
