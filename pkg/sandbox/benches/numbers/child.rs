//! The sandbox as the server of a process of its own, and the very first start in a process.

use std::{fs, io, path::Path, time::Instant};

use anyhow::{Context as _, Result};
use sandbox::{Control, Identity, Listener, Options, Sandbox, Switches};
use serde_json::json;

use crate::{client::Server, say};

/// Serves until stdin is closed. The first word is the folder for the kubeconfig, whose path is printed as the real
/// server's binary does; `keep` lets the objects live in the folder too, `alone` leaves the controllers out.
pub(crate) async fn serve(words: &[String]) -> Result<()> {
    let folder = Path::new(words.first().context("no folder")?);
    let asked = |word: &str| words.iter().any(|asked| asked == word);
    let options = Options {
        data_dir: asked("keep").then(|| folder.join("data")),
        controllers: if asked("alone") { Switches::none() } else { Switches::default() },
        ..Options::default()
    };
    let sandbox = Sandbox::start(options).await?;
    let identity = Identity::generate()?;
    let listener = Listener::bind(Control::new(sandbox), &identity, 0).await?;
    let path = folder.join("kubeconfig");
    fs::write(&path, sandbox::kubeconfig("bench", &listener.url(), &identity).to_string())?;
    say(&json!({"kubeconfig": path}).to_string());
    tokio::task::spawn_blocking(|| io::copy(&mut io::stdin(), &mut io::sink())).await??;
    Ok(())
}

/// Prints the microseconds from nothing to the first answer.
pub(crate) async fn start() -> Result<()> {
    let begin = Instant::now();
    let server = Server::InProcess(Sandbox::start(Options::default()).await?);
    server.client().await?.get("/api/v1/namespaces/default").await?;
    say(&begin.elapsed().as_micros().to_string());
    Ok(())
}
