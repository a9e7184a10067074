use std::{
    io,
    path::Path,
    process::{Output, Stdio},
};

use serde::Deserialize;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    process::Command,
};

use super::{Credential, CredentialSources, docker::credential};
use crate::{Error, names::check_version};

/// The maximum size of an answer.
const MAX_OUTPUT_BYTES: u64 = 1 << 20;

/// The output of a credential helper for an unknown server. This case is not a failure.
/// Source: docker-credential-helpers credentials/error.go.
const NOT_FOUND: &str = "credentials not found in native keychain";

/// The maximum length of a shown error message.
const SHOWN_CHARACTERS: usize = 200;

#[derive(Deserialize)]
struct HelperOutput {
    #[serde(default, rename = "Username")]
    username: String,
    #[serde(default, rename = "Secret")]
    secret: String,
}

/// Runs `docker-credential-{name}` to get the credential of a server. None if the program does not know the server.
/// Source: docker-credential-helpers, "Development": `get` reads the server from stdin and prints JSON or a message.
/// # Errors
/// [`Error::CredentialHelper`]; never contains the standard output of the program.
pub(super) async fn run_helper(
    sources: &CredentialSources,
    named_by: &Path,
    name: &str,
    server: &str,
) -> Result<Option<Credential>, Error> {
    let program = format!("docker-credential-{name}");
    let failed = |problem: String| Error::CredentialHelper {
        program: program.clone(),
        server: server.to_owned(),
        problem,
        named_by: named_by.to_owned(),
    };
    check_version(name).map_err(|_| failed("its name is not a plain file name".to_owned()))?;
    let file = if cfg!(windows) { format!("{program}.exe") } else { program.clone() };
    let path = sources.helper_folders.iter().map(|folder| folder.join(&file)).find(|path| path.is_file());
    let path = path.ok_or_else(|| failed("the program is not on the PATH".to_owned()))?;
    let run = tokio::time::timeout(sources.helper_limit, run(&path, server)).await;
    let limit = sources.helper_limit;
    let output = run.map_err(|_| failed(format!("it did not answer within {limit:?}")))?;
    let output = output.map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        if String::from_utf8_lossy(&output.stdout).trim() == NOT_FOUND {
            return Ok(None);
        }
        return Err(failed(format!("it failed with {}{}", output.status, first_line(&output.stderr))));
    }
    let answer: HelperOutput = serde_json::from_slice(&output.stdout)
        .map_err(|_| failed("its output is not valid JSON".to_owned()))?;
    Ok(credential(&format!("`{program}`"), answer.username, answer.secret))
}

async fn run(path: &Path, server: &str) -> io::Result<Output> {
    let mut child = Command::new(path)
        .arg("get")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // If the program does not read stdin, its output shows the problem.
        let _ = stdin.write_all(server.as_bytes()).await;
    }
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (stdout, stderr) = futures::try_join!(read_output(stdout), read_output(stderr))?;
    Ok(Output { status: child.wait().await?, stdout, stderr })
}

async fn read_output(stream: Option<impl AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
    let mut output = Vec::new();
    if let Some(stream) = stream {
        stream.take(MAX_OUTPUT_BYTES + 1).read_to_end(&mut output).await?;
    }
    if output.len() as u64 > MAX_OUTPUT_BYTES {
        return Err(io::Error::other(format!("its output is longer than {MAX_OUTPUT_BYTES} bytes")));
    }
    Ok(output)
}

/// Returns the first line of an error message.
fn first_line(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let Some(line) = text.lines().map(str::trim).find(|line| !line.is_empty()) else { return String::new() };
    let clean: String = line.chars().filter(|c| !c.is_control()).take(SHOWN_CHARACTERS).collect();
    format!(": {clean}")
}
