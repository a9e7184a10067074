//! HTTP: clients made at the first request, redirects by our own rules, failures read.

mod classify;
#[cfg(test)]
mod faults;
mod keep;
#[cfg(test)]
mod proxies;
mod receive;
mod redirect;
mod request;
mod send;

use std::sync::Arc;

use reqwest::{Client, Proxy};
use url::Url;

pub(crate) use keep::{Ask, Keep, Kept, forget, keep, keep_as, keep_from};
pub(crate) use receive::{InMemory, Sink};
pub(crate) use request::{Api, Content, Head, Request, digest_of};
pub(crate) use send::{receive_into, send};

use crate::{
    Error, Settings,
    tls::{self, Identity},
};

/// Makes a client for the hosts that agree in who they trust and who we are to them. Reads certificates, which is why it
/// waits for the first request.
pub(crate) fn make_client(settings: &Settings, identity: &Identity) -> Result<Client, Error> {
    settings.proxy.check()?;
    let tls = tls::client_config(settings, identity)?;
    let (proxy, hosts) = (settings.proxy.clone(), settings.hosts.clone());
    let mut builder = Client::builder()
        .user_agent(&settings.user_agent)
        .connect_timeout(settings.timeouts.connect)
        .read_timeout(settings.timeouts.idle)
        .referer(false)
        // Each hop is a request of its own, with the client and the credential of its host.
        .redirect(reqwest::redirect::Policy::none())
        .tls_backend_preconfigured(tls)
        // The proxies of the environment were handed in; the client must not look for them itself.
        .no_proxy()
        .proxy(Proxy::custom(move |url| proxy.for_host(url, hosts.get(url))));
    for (host, address) in &settings.resolve {
        builder = builder.resolve(host, *address);
    }
    builder.build().map_err(|error| Error::Client(Arc::new(error)))
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
    matches!(key, "page" | "per_page" | "ref" | "n" | "last")
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
