//! What the sandbox takes: `cargo bench -p capstan-sandbox`. Prints one table; nothing is asserted.
//!
//! Each column is a server that does the same work for the same clients: the sandbox in this process, the sandbox in a
//! process of its own over HTTP/1.1 and over HTTP/2, and the real kube-apiserver where `CAPSTAN_TEST_APISERVER` names
//! it. Words behind `--` are parts of the work (`start`, `create`, `list`, `watch`, `install`, `disk`) or columns
//! (`in-process`, `http1`, `http2`, `real`) to do alone.
//!
//! Started again by itself, the program is also the server of the columns that have one.

mod child;
mod client;
mod load;
mod objects;
mod process;
mod providers;
mod table;
mod work;

use std::{env, path::PathBuf};

use anyhow::Result;

use crate::{
    table::Table,
    work::{Column, Part},
};

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<()> {
    let words: Vec<String> = env::args().skip(1).filter(|word| word != "--bench").collect();
    match words.first().map(String::as_str) {
        Some("serve") => return child::serve(&words[1..]).await,
        Some("start-in-process") => return child::start().await,
        _ => {}
    }
    let real = variable("CAPSTAN_TEST_APISERVER");
    let wanted = |name: &str, names: &[&str]| {
        let mut picked = words.iter().filter(|word| names.contains(&word.as_str())).peekable();
        picked.peek().is_none() || picked.any(|word| word == name)
    };
    let mut table = Table::default();
    for column in Column::ALL {
        if !wanted(column.word(), &Column::ALL.map(Column::word)) || column == Column::Real && real.is_none()
        {
            continue;
        }
        let parts = Part::ALL.into_iter().filter(|part| wanted(part.word(), &Part::ALL.map(Part::word)));
        let parts: Vec<Part> = parts.collect();
        work::measure(column, &parts, real.as_deref(), &mut table).await?;
    }
    say(&table.to_string());
    say(
        "in brackets: seconds of processor time that the server took; in process, its clients are counted with it",
    );
    if real.is_none() {
        say("kube-apiserver: not found; name one with CAPSTAN_TEST_APISERVER");
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a program reads the environment")]
fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

#[expect(clippy::print_stdout, reason = "the table is what the program is for")]
fn say(text: &str) {
    println!("{text}");
}
