//! Answers that are kept on disk between runs.
//!
//! ```text
//! look ─► there, and it cannot change ─────────────────────────────► given, no request
//!   │  └► no connection allowed ───────────────────────────────────► given with its age, or an error
//!   └──► lock of the address ─► look again ─► conditional request ─┬► 304: given, and confirmed
//!                                                                  └► written while it arrives, given
//! ```
//!
//! The credential of a request is no part of what an answer is kept under: the folder belongs to one user, and whoever
//! can read it can read every blob. So a private file is there without its token too, and a new token asks for nothing
//! again.

use bytes::Bytes;
use futures::{FutureExt as _, future::BoxFuture};
use jiff::Timestamp;
use reqwest::{
    Method, StatusCode,
    header::{
        ACCEPT, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH,
        LAST_MODIFIED, LINK,
    },
};
use url::Url;

use super::{
    request::{Content, Head, Request, next_page},
    send::receive_into,
};
use crate::{
    Context, Digest, Error, Event, Network, Refresh,
    address::{has_secret, shown},
    http::sink::{InMemory, Sink},
    store::{BlobWriter, Entry, KeyLock, Store},
};

/// For how long an answer is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The address names one content: a file of a pinned version. Once it is kept nobody is asked.
    Forever,
    /// The content may change: a list of versions, a file on a branch. The host is asked whether it did.
    WhileFresh,
}

/// An answer, from the host or from the disk.
#[derive(Debug)]
pub struct Kept {
    /// The content.
    pub bytes: Bytes,
    /// `Content-Type`.
    pub media_type: Option<String>,
    /// `Link`.
    pub link: Option<String>,
}

/// Who puts a request to its host, where that takes more than sending it: a registry wants to be asked for a token first.
pub trait Ask: Sync {
    /// Makes the request, and hands the answer on.
    /// # Errors
    /// As [`receive_into`], and where the answer is not what it should be; nothing of it is kept then.
    fn ask<'a>(&'a self, request: &'a Request, sink: &'a mut dyn Sink) -> BoxFuture<'a, Result<Head, Error>>;
}

impl Ask for Context {
    fn ask<'a>(&'a self, request: &'a Request, sink: &'a mut dyn Sink) -> BoxFuture<'a, Result<Head, Error>> {
        receive_into(self, request, sink, self.max_file_bytes())
    }
}

/// Gives what a request is answered with, from the disk where that is as good. Of several that want the same at once,
/// in this process or another, one asks.
/// A request for something else than a file, and one whose address has a secret in it, are made each time.
/// # Errors
/// As [`super::send`]; [`Error::Offline`] and [`Error::DamagedOffline`] where no connection may be made.
pub fn keep<'a>(context: &'a Context, request: &'a Request, how: Keep) -> BoxFuture<'a, Result<Kept, Error>> {
    keep_as(context, &request.url, request, how)
}

/// Forgets what is kept under the address of a request: it turned out not to be what it should be.
pub fn forget(context: &Context, request: &Request) {
    if let Some(store) = context.store() {
        store.drop_entry(&key(&request.url, request));
    }
}

/// The same under another address than the one that is asked: where a file has a name that stays, and is fetched from
/// elsewhere.
pub fn keep_as<'a>(
    context: &'a Context,
    name: &'a Url,
    request: &'a Request,
    how: Keep,
) -> BoxFuture<'a, Result<Kept, Error>> {
    keep_from(context, context, name, request, how)
}

/// The same where somebody else asks the host.
pub fn keep_from<'a>(
    context: &'a Context,
    asker: &'a dyn Ask,
    name: &'a Url,
    request: &'a Request,
    how: Keep,
) -> BoxFuture<'a, Result<Kept, Error>> {
    async move {
        let is_plain = request.method == Method::GET && matches!(request.content, Content::None);
        if let Some(store) = context.store().filter(|_| is_plain && !has_secret(name)) {
            let key = key(name, request);
            return Keeper { context, asker, store, key, request, how }.get().await;
        }
        let mut sink = InMemory::default();
        let head = asker.ask(request, &mut sink).await?;
        Ok(Kept::of_answer(sink.finish(), &head))
    }
    .boxed()
}

impl Kept {
    /// The address of the next page of a list.
    pub fn next_page(&self, of: &Url) -> Option<Url> {
        next_page(self.link.as_deref()?, of)
    }

    fn of_answer(bytes: Bytes, head: &Head) -> Self {
        Self { bytes, media_type: text(&head.headers, &CONTENT_TYPE), link: text(&head.headers, &LINK) }
    }
}

/// What is known of an address.
enum Look {
    Found(Box<Entry>, Bytes),
    Nothing,
    Damaged,
}

struct Keeper<'a> {
    context: &'a Context,
    asker: &'a dyn Ask,
    store: &'a Store,
    /// The address, and the media types that were asked for.
    key: String,
    request: &'a Request,
    how: Keep,
}

/// What an answer is kept under: under a name of its own it is that content, however it is asked for.
fn key(name: &Url, request: &Request) -> String {
    let accept = request.headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
    match accept.filter(|_| *name == request.url) {
        Some(accept) => format!("{name} {accept}"),
        None => name.to_string(),
    }
}

impl Keeper<'_> {
    async fn get(&self) -> Result<Kept, Error> {
        let began = Timestamp::now();
        let mut look = self.look();
        if let Look::Found(entry, bytes) = &look
            && self.needs_no_host()
        {
            self.tell_use(entry);
            return Ok(given(entry, bytes));
        }
        if self.context.settings().network == Network::Forbidden {
            let wanted = shown(&self.request.url);
            return Err(match look {
                Look::Damaged => Error::DamagedOffline { wanted },
                _ => Error::Offline { wanted },
            });
        }
        let lock = self.lock().await;
        let waited = lock.as_ref().is_some_and(KeyLock::waited);
        // Between the look and the lock another one may have fetched it.
        if waited || !matches!(look, Look::Found(..)) {
            look = self.look();
        }
        if let Look::Found(entry, bytes) = &look
            && (self.needs_no_host() || (waited && entry.kept_at >= began))
        {
            return Ok(given(entry, bytes));
        }
        self.ask(look).await
    }

    /// Whether what is kept is enough by itself.
    fn needs_no_host(&self) -> bool {
        let settings = self.context.settings();
        settings.network == Network::Forbidden
            || (self.how == Keep::Forever && settings.refresh == Refresh::Changing)
    }

    fn tell_use(&self, entry: &Entry) {
        let url = shown(&self.request.url);
        self.context.emit(&match self.how {
            Keep::Forever => Event::UsingKept { url },
            Keep::WhileFresh => {
                let age = Timestamp::now().duration_since(entry.kept_at);
                Event::UsingKeptOffline { url, age: age.try_into().unwrap_or_default() }
            }
        });
    }

    fn look(&self) -> Look {
        match self.read() {
            Ok(Some((entry, bytes))) => Look::Found(Box::new(entry), bytes),
            Ok(None) => Look::Nothing,
            Err(Error::Damaged { .. }) => {
                self.store.drop_entry(&self.key);
                if self.context.settings().network == Network::Allowed {
                    self.context.emit(&Event::KeptDamaged { url: shown(&self.request.url) });
                }
                Look::Damaged
            }
            Err(error) => {
                self.context.tell_of_store(&error);
                Look::Nothing
            }
        }
    }

    fn read(&self) -> Result<Option<(Entry, Bytes)>, Error> {
        let Some(entry) = self.store.entry(&self.key)? else { return Ok(None) };
        let bytes = self.store.read_blob(&entry.digest, self.context.max_file_bytes())?;
        Ok(bytes.map(|bytes| (entry, bytes)))
    }

    async fn lock(&self) -> Option<KeyLock> {
        let lock = self.store.lock(&self.key).await;
        lock.map_err(|error| self.context.tell_of_store(&error)).ok()
    }

    /// Asks the host: whether it has something else than what is kept, where something is.
    async fn ask(&self, look: Look) -> Result<Kept, Error> {
        let known = if let Look::Found(entry, bytes) = look { Some((entry, bytes)) } else { None };
        let request = match &known {
            Some((entry, _)) => conditional(self.request, entry),
            None => self.request.clone(),
        };
        let mut sink = Copying::to(self.store.writer());
        let head = self.asker.ask(&request, &mut sink).await?;
        if let (StatusCode::NOT_MODIFIED, Some((entry, bytes))) = (head.status, known) {
            let kept = given(&entry, &bytes);
            self.put(&Entry { kept_at: Timestamp::now(), ..*entry });
            return Ok(kept);
        }
        let (bytes, digest) = sink.finish();
        match digest {
            Ok(digest) => self.put(&self.entry(&head, digest, bytes.len() as u64)),
            Err(error) => self.context.tell_of_store(&error),
        }
        Ok(Kept::of_answer(bytes, &head))
    }

    fn entry(&self, head: &Head, digest: Digest, size_bytes: u64) -> Entry {
        let text = |name| text(&head.headers, &name);
        Entry {
            key: self.key.clone(),
            digest,
            size_bytes,
            etag: text(ETAG),
            last_modified: text(LAST_MODIFIED),
            media_type: text(CONTENT_TYPE),
            link: text(LINK),
            kept_at: Timestamp::now(),
        }
    }

    fn put(&self, entry: &Entry) {
        if let Err(error) = self.store.put_entry(entry) {
            self.context.tell_of_store(&error);
        }
    }
}

fn given(entry: &Entry, bytes: &Bytes) -> Kept {
    Kept { bytes: bytes.clone(), media_type: entry.media_type.clone(), link: entry.link.clone() }
}

/// The request that is answered with 304 when nothing changed, where the host gave something to tell that by.
fn conditional(request: &Request, entry: &Entry) -> Request {
    let mut request = request.clone();
    for (name, value) in [(IF_NONE_MATCH, &entry.etag), (IF_MODIFIED_SINCE, &entry.last_modified)] {
        if let Some(value) = value.as_ref().and_then(|value| HeaderValue::from_str(value).ok()) {
            request = request.with_header(name, value);
        }
    }
    request
}

fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// Keeps an answer in memory, and writes it to the disk as long as that goes well.
struct Copying {
    memory: InMemory,
    blob: Result<BlobWriter, Error>,
}

impl Copying {
    fn to(writer: BlobWriter) -> Self {
        Self { memory: InMemory::default(), blob: Ok(writer) }
    }

    fn copy(&mut self, copy: impl FnOnce(&mut BlobWriter) -> Result<(), Error>) {
        if let Ok(writer) = &mut self.blob
            && let Err(error) = copy(writer)
        {
            self.blob = Err(error);
        }
    }

    fn finish(self) -> (Bytes, Result<Digest, Error>) {
        (self.memory.finish(), self.blob.and_then(BlobWriter::commit))
    }
}

impl Sink for Copying {
    fn begin(&mut self) -> Result<(), Error> {
        self.copy(BlobWriter::begin);
        self.memory.begin()
    }

    fn take(&mut self, piece: Bytes) -> Result<(), Error> {
        self.copy(|writer| writer.take(piece.clone()));
        self.memory.take(piece)
    }
}
