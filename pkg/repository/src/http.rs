//! One HTTP client for all hosts: made at the first request, redirects watched, credentials by host.

mod classify;
#[cfg(test)]
mod faults;
mod keep;
mod receive;
mod request;
mod send;

use std::{fmt, fs, sync::Arc};

use reqwest::{Certificate, Client, Proxy, redirect};
use url::Url;

pub(crate) use keep::{Keep, Kept, keep, keep_as};
pub(crate) use receive::{InMemory, Sink};
pub(crate) use request::{Answer, Api, Content, Head, Request, digest_of};
pub(crate) use send::{receive_into, send};

use crate::{Error, Settings, local::read_error};

/// The longest chain of redirects that is followed; the peer's library follows as many.
const MAX_REDIRECTS: usize = 10;

/// A redirect that is not followed.
#[derive(Debug)]
pub(crate) struct RedirectRefused(pub(crate) &'static str);

impl fmt::Display for RedirectRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for RedirectRefused {}

/// Makes the client. Reads the trusted certificates, which is why it waits for the first request.
pub(crate) fn make_client(settings: &Settings) -> Result<Client, Error> {
    // Another part of the process may have chosen a provider before; then that one serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    settings.proxy.check()?;
    let proxy = settings.proxy.clone();
    let roots = trusted_roots(settings)?;
    let mut builder = Client::builder()
        .user_agent(&settings.user_agent)
        .connect_timeout(settings.timeouts.connect)
        .read_timeout(settings.timeouts.idle)
        .referer(false)
        .redirect(redirect::Policy::custom(check_redirect))
        // The proxies of the environment were handed in; the client must not look for them itself.
        .no_proxy()
        .proxy(Proxy::custom(move |url| proxy.for_url(url)));
    builder =
        if settings.system_roots { builder.tls_certs_merge(roots) } else { builder.tls_certs_only(roots) };
    for (host, address) in &settings.resolve {
        builder = builder.resolve(host, *address);
    }
    builder.build().map_err(|error| Error::Client(Arc::new(error)))
}

fn trusted_roots(settings: &Settings) -> Result<Vec<Certificate>, Error> {
    let mut roots = Vec::new();
    if let Some(path) = &settings.ca_file {
        let pem = fs::read(path).map_err(|source| read_error(path, source))?;
        match Certificate::from_pem_bundle(&pem) {
            Ok(found) if !found.is_empty() => roots.extend(found),
            _ => return Err(Error::CaFile { path: path.clone() }),
        }
    }
    for pem in &settings.extra_roots {
        roots.extend(Certificate::from_pem_bundle(pem).map_err(|error| Error::Client(Arc::new(error)))?);
    }
    Ok(roots)
}

/// Follows redirects, but never from https to http; the client drops `Authorization` where the host changes.
fn check_redirect(attempt: redirect::Attempt<'_>) -> redirect::Action {
    if attempt.previous().len() > MAX_REDIRECTS {
        return attempt.error(RedirectRefused("too many redirects"));
    }
    let from_https = attempt.previous().last().is_some_and(|url| url.scheme() == "https");
    if from_https && attempt.url().scheme() != "https" {
        return attempt.error(RedirectRefused("it leads from https to http"));
    }
    attempt.follow()
}

/// A url as it may be shown: no user name, no password, no values in the query but harmless ones.
pub(crate) fn shown(url: &Url) -> String {
    let mut shown = url.clone();
    // Both fail only for urls that cannot have a user.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    if url.query().is_some() {
        let pairs: Vec<_> = url
            .query_pairs()
            .map(|(key, value)| if is_harmless(&key) { (key, value) } else { (key, "***".into()) })
            .collect();
        shown.query_pairs_mut().clear().extend_pairs(pairs);
    }
    shown.into()
}

/// Whether a url has something in it that may not be shown, nor written down.
pub(crate) fn has_secret(url: &Url) -> bool {
    let has_user = !url.username().is_empty() || url.password().is_some();
    has_user || url.query_pairs().any(|(key, _)| !is_harmless(&key))
}

fn is_harmless(key: &str) -> bool {
    matches!(key, "page" | "per_page" | "ref")
}

/// An address as it may be shown: without user name, password and the values of its query. A path stays as it is.
pub fn shown_text(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    if let Ok(url) = Url::parse(url) {
        return shown(&url);
    }
    let (rest, query) = rest.split_once('?').map_or((rest, ""), |(rest, _)| (rest, "?***"));
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}{query}")
}

#[cfg(test)]
mod tests {
    use super::shown_text;

    #[test]
    fn a_shown_url_has_no_password_and_no_query_values() {
        let shown = shown_text("https://me:pw@host/x.yaml?token=abc&per_page=100");
        assert_eq!(shown, "https://host/x.yaml?token=***&per_page=100");
        assert_eq!(shown_text("not a url"), "not a url");
        assert_eq!(shown_text("https://me:p@w@host:99999/a@b?token=x"), "https://host:99999/a@b?***");
    }
}
