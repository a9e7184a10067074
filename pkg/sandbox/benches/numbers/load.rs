//! What clients do all the time: create, list, watch.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use bytes::Bytes;
use http::Method;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::{sync::mpsc, task::JoinSet};

use crate::{
    client::{Client, Incoming, Server},
    objects::Sort,
};

/// So many objects are created and listed.
pub(crate) const OBJECTS: usize = 10_000;
const CLIENTS: usize = 16;
const PAGE: usize = 500;
/// Changes a watch is told of, one by one.
const CHANGES: usize = 200;

/// How the objects are made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Create,
    Apply,
}

/// Lets the clients make all objects. Returns the time and how many bytes the answers had in all.
pub(crate) async fn fill(server: &Server, sort: Sort, how: How) -> Result<(Duration, usize)> {
    let (next, bytes) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(server.client().await?);
    }
    let begin = Instant::now();
    let mut work: JoinSet<Result<()>> = JoinSet::new();
    for mut client in clients {
        let (next, bytes) = (Arc::clone(&next), Arc::clone(&bytes));
        work.spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= OBJECTS {
                    return Ok(());
                }
                let answer = match how {
                    How::Create => {
                        client.post(sort.collection(), sort.object(&format!("created-{number}"))).await?
                    }
                    How::Apply => {
                        let name = format!("applied-{number}");
                        client.apply(&format!("{}/{name}", sort.collection()), sort.object(&name)).await?
                    }
                };
                bytes.fetch_add(answer.len(), Ordering::Relaxed);
            }
        });
    }
    while let Some(done) = work.join_next().await {
        done??;
    }
    Ok((begin.elapsed(), bytes.load(Ordering::Relaxed)))
}

/// Lists everything at once, reading the answer away as it comes. Returns the time and the bytes.
pub(crate) async fn list(server: &Server, sort: Sort) -> Result<(Duration, usize)> {
    let mut client = server.client().await?;
    let begin = Instant::now();
    let mut body = client.send(Method::GET, sort.collection(), "", Bytes::new()).await?;
    let mut bytes = 0;
    while let Some(frame) = body.frame().await {
        bytes += frame?.data_ref().map_or(0, Bytes::len);
    }
    Ok((begin.elapsed(), bytes))
}

/// Lists everything in pages.
pub(crate) async fn list_in_pages(server: &Server, sort: Sort) -> Result<Duration> {
    let mut client = server.client().await?;
    let mut took = Duration::ZERO;
    let mut token = String::new();
    loop {
        let path = format!("{}?limit={PAGE}&continue={token}", sort.collection());
        let begin = Instant::now();
        let page = client.get(&path).await?;
        took += begin.elapsed();
        let page: Value = serde_json::from_slice(&page)?;
        page["metadata"]["continue"].as_str().unwrap_or_default().clone_into(&mut token);
        if token.is_empty() {
            return Ok(took);
        }
    }
}

/// The times from the moment a change is sent until each of so many watchers has it, sorted.
pub(crate) async fn watch(server: &Server, watchers: usize) -> Result<Vec<Duration>> {
    let mut client = server.client().await?;
    let collection = Sort::ConfigMap.collection();
    let name = format!("watched-by-{watchers}");
    let made = client.post(collection, Sort::ConfigMap.object(&name)).await?;
    let made: Value = serde_json::from_slice(&made)?;
    let revision = made["metadata"]["resourceVersion"].as_str().context("no resourceVersion")?;
    let (tell, mut told) = mpsc::unbounded_channel();
    let mut tasks = JoinSet::new();
    let path = format!("{collection}?watch=1&resourceVersion={revision}");
    // Over HTTP/1.1 a watch is a connection.
    let mut clients: Vec<Client> = Vec::new();
    for _ in 0..watchers {
        let mut watcher = server.client().await?;
        let body = watcher.send(Method::GET, &path, "", Bytes::new()).await?;
        clients.push(watcher);
        tasks.spawn(follow(body, tell.clone()));
    }
    let mut times = Vec::with_capacity(watchers * CHANGES);
    let object = format!("{collection}/{name}");
    for number in 0..CHANGES {
        let patch = json!({"data": {"change": format!("<{number}>")}}).to_string();
        let begin = Instant::now();
        client
            .send(Method::PATCH, &object, "application/merge-patch+json", patch.into())
            .await?
            .collect()
            .await?;
        for _ in 0..watchers {
            let at: Instant = told.recv().await.context("the watches have ended")?;
            times.push(at - begin);
        }
    }
    times.sort_unstable();
    Ok(times)
}

/// Tells when each event is there.
async fn follow(mut body: Incoming, tell: mpsc::UnboundedSender<Instant>) -> Result<()> {
    while let Some(frame) = body.frame().await {
        let frame = frame?;
        let ends = frame.data_ref().map_or(0, |data| memchr::memchr_iter(b'\n', data).count());
        let now = Instant::now();
        (0..ends).try_for_each(|_| tell.send(now))?;
    }
    Ok(())
}
