//! Responses that are cached on disk between runs.
//!
//! ```text
//! look ─► found, and immutable ────────────────────────────────────► returned, no request
//!   │  └► connections forbidden ───────────────────────────────────► returned with its age, or an error
//!   └──► lock of the address ─► look again ─► conditional request ─┬► 304: returned, and marked as fresh
//!                                                                  └► written while received, returned
//! ```
//!
//! The key of a cached response does not include the credential. The folder belongs to one user, and a user who can
//! read the folder can read every blob. So a private file is available without its token, and a new token causes no new
//! requests.

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
    request::{Request, RequestBody, ResponseHead, next_page},
    send::receive_into,
};
use crate::{
    Context, Digest, Error, Event, NetworkAccess, Refresh,
    address::{has_secret, redact_url},
    http::sink::{BodySink, MemorySink},
    store::{BlobWriter, Entry, KeyLock, Store},
};

/// Validity of a cached response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachePolicy {
    /// The content never changes: a file of a pinned version. The cached response is used without a request.
    Immutable,
    /// The content may change: a list of versions, a file on a branch. capstan asks the host for changes.
    Revalidate,
}

/// A response from the host or the cache.
#[derive(Debug)]
pub struct FetchedResponse {
    /// The body of the response.
    pub bytes: Bytes,
    /// The `RequestBody-Type` header.
    pub media_type: Option<String>,
    /// The `Link` header.
    pub link: Option<String>,
}

/// Sends requests to hosts that need more than one request, such as registries that require a token.
pub trait RequestSender: Sync {
    /// Sends the request and passes the response to the sink.
    /// # Errors
    /// Errors of [`receive_into`], and invalid responses. A failed response is not cached.
    fn send_request<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut dyn BodySink,
    ) -> BoxFuture<'a, Result<ResponseHead, Error>>;
}

impl RequestSender for Context {
    fn send_request<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut dyn BodySink,
    ) -> BoxFuture<'a, Result<ResponseHead, Error>> {
        receive_into(self, request, sink, self.max_file_bytes())
    }
}

/// Returns the response to a request, from the cache if possible. Of several concurrent callers for one address, in
/// this process or others, only one sends the request.
///
/// Requests other than a plain GET, and requests with a secret in the address, bypass the cache.
/// # Errors
/// Errors of [`super::send`]; [`Error::Offline`] and [`Error::DamagedOffline`] if connections are forbidden.
pub fn fetch_cached<'a>(
    context: &'a Context,
    request: &'a Request,
    policy: CachePolicy,
) -> BoxFuture<'a, Result<FetchedResponse, Error>> {
    fetch_cached_as(context, &request.url, request, policy)
}

/// Removes the cached response to a request, because its content is invalid.
pub fn remove_cached(context: &Context, request: &Request) {
    if let Some(store) = context.store() {
        store.delete_entry(&key(&request.url, request));
    }
}

/// Like [`fetch_cached`], but caches the response under another address, for files with a stable name and a changing location.
pub fn fetch_cached_as<'a>(
    context: &'a Context,
    name: &'a Url,
    request: &'a Request,
    policy: CachePolicy,
) -> BoxFuture<'a, Result<FetchedResponse, Error>> {
    fetch_cached_with(context, context, name, request, policy)
}

/// Like [`fetch_cached_as`], but another object sends the request.
pub fn fetch_cached_with<'a>(
    context: &'a Context,
    sender: &'a dyn RequestSender,
    name: &'a Url,
    request: &'a Request,
    policy: CachePolicy,
) -> BoxFuture<'a, Result<FetchedResponse, Error>> {
    async move {
        let is_plain = request.method == Method::GET && matches!(request.body, RequestBody::None);
        if let Some(store) = context.store().filter(|_| is_plain && !has_secret(name)) {
            let key = key(name, request);
            return CachedFetch { context, sender, store, key, request, policy }.get().await;
        }
        let mut sink = MemorySink::default();
        let head = sender.send_request(request, &mut sink).await?;
        Ok(FetchedResponse::from_head(sink.finish(), &head))
    }
    .boxed()
}

impl FetchedResponse {
    /// Returns the address of the next page of a list.
    pub fn next_page(&self, of: &Url) -> Option<Url> {
        next_page(self.link.as_deref()?, of)
    }

    fn from_head(bytes: Bytes, head: &ResponseHead) -> Self {
        Self { bytes, media_type: text(&head.headers, &CONTENT_TYPE), link: text(&head.headers, &LINK) }
    }
}

/// State of an address in the cache.
enum CacheState {
    Found(Box<Entry>, Bytes),
    Missing,
    Damaged,
}

struct CachedFetch<'a> {
    context: &'a Context,
    sender: &'a dyn RequestSender,
    store: &'a Store,
    /// The address, and the accepted media types.
    key: String,
    request: &'a Request,
    policy: CachePolicy,
}

/// Returns the cache key: `name`, and the accepted media types if `name` is the address of the request.
fn key(name: &Url, request: &Request) -> String {
    let accept = request.headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
    match accept.filter(|_| *name == request.url) {
        Some(accept) => format!("{name} {accept}"),
        None => name.to_string(),
    }
}

impl CachedFetch<'_> {
    async fn get(&self) -> Result<FetchedResponse, Error> {
        let began = Timestamp::now();
        let mut look = self.cache_state();
        if let CacheState::Found(entry, bytes) = &look
            && self.needs_no_request()
        {
            self.report_use(entry);
            return Ok(cached_response(entry, bytes));
        }
        if self.context.settings().network == NetworkAccess::Forbidden {
            let wanted = redact_url(&self.request.url);
            return Err(match look {
                CacheState::Damaged => Error::DamagedOffline { wanted },
                _ => Error::Offline { wanted },
            });
        }
        let lock = self.lock().await;
        // Another task may have fetched the content before this task acquired the lock.
        if lock.as_ref().is_some_and(KeyLock::waited) || !matches!(look, CacheState::Found(..)) {
            look = self.cache_state();
        }
        if let CacheState::Found(entry, bytes) = &look
            && (self.needs_no_request() || entry.kept_at >= began)
        {
            return Ok(cached_response(entry, bytes));
        }
        self.ask(look).await
    }

    /// True if a cached response needs no request.
    fn needs_no_request(&self) -> bool {
        let settings = self.context.settings();
        settings.network == NetworkAccess::Forbidden
            || (self.policy == CachePolicy::Immutable && settings.refresh == Refresh::Changing)
    }

    fn report_use(&self, entry: &Entry) {
        let url = redact_url(&self.request.url);
        self.context.emit(&match self.policy {
            CachePolicy::Immutable => Event::UsingCached { url },
            CachePolicy::Revalidate => {
                let age = Timestamp::now().duration_since(entry.kept_at);
                Event::UsingCachedOffline { url, age: age.try_into().unwrap_or_default() }
            }
        });
    }

    fn cache_state(&self) -> CacheState {
        match self.read() {
            Ok(Some((entry, bytes))) => CacheState::Found(Box::new(entry), bytes),
            Ok(None) => CacheState::Missing,
            Err(Error::Damaged { .. }) => {
                self.store.delete_entry(&self.key);
                if self.context.settings().network == NetworkAccess::Allowed {
                    self.context.emit(&Event::CacheDamaged { url: redact_url(&self.request.url) });
                }
                CacheState::Damaged
            }
            Err(error) => {
                self.context.report_store_error(&error);
                CacheState::Missing
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
        lock.map_err(|error| self.context.report_store_error(&error)).ok()
    }

    /// Sends the request. If the cache has a response, the request is conditional.
    async fn ask(&self, look: CacheState) -> Result<FetchedResponse, Error> {
        let known = if let CacheState::Found(entry, bytes) = look { Some((entry, bytes)) } else { None };
        let request = match &known {
            Some((entry, _)) => conditional(self.request, entry),
            None => self.request.clone(),
        };
        let mut sink = CachingSink::new(self.store.writer());
        let head = self.sender.send_request(&request, &mut sink).await?;
        if let (StatusCode::NOT_MODIFIED, Some((entry, bytes))) = (head.status, known) {
            let kept = cached_response(&entry, &bytes);
            self.write_entry(&Entry { kept_at: Timestamp::now(), ..*entry });
            return Ok(kept);
        }
        let (bytes, digest) = sink.finish();
        match digest {
            Ok(digest) => self.write_entry(&self.entry(&head, digest, bytes.len() as u64)),
            Err(error) => self.context.report_store_error(&error),
        }
        Ok(FetchedResponse::from_head(bytes, &head))
    }

    fn entry(&self, head: &ResponseHead, digest: Digest, size_bytes: u64) -> Entry {
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

    fn write_entry(&self, entry: &Entry) {
        if let Err(error) = self.store.write_entry(entry) {
            self.context.report_store_error(&error);
        }
    }
}

fn cached_response(entry: &Entry, bytes: &Bytes) -> FetchedResponse {
    FetchedResponse { bytes: bytes.clone(), media_type: entry.media_type.clone(), link: entry.link.clone() }
}

/// Returns a conditional request, which the host can answer with 304. Unchanged if the entry has no validator.
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

/// Collects a response in memory and copies it to disk until a write fails.
struct CachingSink {
    memory: MemorySink,
    blob: Result<BlobWriter, Error>,
}

impl CachingSink {
    fn new(writer: BlobWriter) -> Self {
        Self { memory: MemorySink::default(), blob: Ok(writer) }
    }

    fn write_to_blob(&mut self, copy: impl FnOnce(&mut BlobWriter) -> Result<(), Error>) {
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

impl BodySink for CachingSink {
    fn begin(&mut self) -> Result<(), Error> {
        self.write_to_blob(BlobWriter::begin);
        self.memory.begin()
    }

    fn take(&mut self, piece: Bytes) -> Result<(), Error> {
        self.write_to_blob(|writer| writer.take(piece.clone()));
        self.memory.take(piece)
    }
}
