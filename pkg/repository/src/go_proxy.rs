use std::collections::BTreeMap;

use api::Version;
use futures::future::try_join;
use transport::{
    AddressOrigin, Event, RequestPurpose,
    address::redact_url,
    disk::read_limited,
    http::{CachePolicy, Request, fetch_cached},
};
use url::Url;

use crate::RepositoryContext;

/// The default proxy of Go.
const PUBLIC_PROXY: &str = "https://proxy.golang.org";

/// One proxy of the `GOPROXY` list.
#[derive(Debug, PartialEq, Eq)]
struct GoProxy {
    url: Url,
    /// True if a `|` follows: the next proxy is used after any failure, not only if the module does not exist.
    next_on_any_failure: bool,
}

/// Lists the versions of a Go module. `None` if no proxy has the module or `GOPROXY` disables proxies.
///
/// Shape: `module` is a path such as `github.com/owner/repo`. Versions have the form `v1.2.3`, oldest first, never
/// empty.
/// Source: go.dev/ref/mod "GOPROXY protocol"; clusterctl v1.14 internal/goproxy. Differs: upper-case letters are
/// escaped, the path of the proxy is kept, and the whole list is used. Differs: one gap between major versions does not
/// end the search.
pub(crate) async fn versions(context: &RepositoryContext, module: &str) -> Option<Vec<Version>> {
    for source in sources(context.release_settings().goproxy.as_deref()) {
        let (why, ask_next) = match list_versions(context, &source.url, module).await {
            Ok(Some(versions)) => return Some(versions),
            Ok(None) => ("it does not have the module".to_owned(), true),
            Err(error) => (api::with_causes(&error), source.next_on_any_failure),
        };
        context.emit(&Event::VersionSourceSkipped { source: redact_url(&source.url), reason: why });
        if !ask_next {
            return None;
        }
    }
    None
}

/// Parses `GOPROXY`. The list ends at `off`, `direct` or any other bare word; the host itself is queried then.
fn sources(goproxy: Option<&str>) -> Vec<GoProxy> {
    let text = goproxy.map(str::trim).filter(|text| !text.is_empty()).unwrap_or(PUBLIC_PROXY);
    let mut sources = Vec::new();
    for part in text.split_inclusive([',', '|']) {
        let entry = part.trim_end_matches([',', '|']).trim();
        if entry.is_empty() {
            continue;
        }
        let full = if entry.contains(":/") { entry.to_owned() } else { format!("https://{entry}") };
        let Some(url) = Url::parse(&full).ok().filter(|_| entry.contains(['.', ':', '/'])) else { break };
        sources.push(GoProxy { url, next_on_any_failure: part.ends_with('|') });
    }
    sources
}

/// All versions on one proxy, across all major versions. `None` if the proxy does not have the module.
async fn list_versions(
    context: &RepositoryContext,
    proxy: &Url,
    module: &str,
) -> Result<Option<Vec<Version>>, transport::Error> {
    let Some(first) = list_major(context, proxy, module, 1).await? else { return Ok(None) };
    let mut found: BTreeMap<String, Version> = first;
    let mut major = 2;
    loop {
        let (one, two) = try_join(
            list_major(context, proxy, module, major),
            list_major(context, proxy, module, major + 1),
        )
        .await?;
        let (misses_one, misses_two) = (one.is_none(), two.is_none());
        found.extend(one.into_iter().chain(two).flatten());
        match (misses_one, misses_two) {
            (true, true) => break,
            // The first missing major version may be a gap, so the search continues after it.
            (_, true) => {
                let Some(next) = list_major(context, proxy, module, major + 2).await? else { break };
                found.extend(next);
                major += 3;
            }
            (_, false) => major += 2,
        }
    }
    let mut versions: Vec<Version> = found.into_values().collect();
    versions.sort();
    Ok((!versions.is_empty()).then_some(versions))
}

/// Enough for 100,000 versions, each of which needs many times its text in memory.
const MAX_LIST_BYTES: usize = 1 << 20;

/// The versions of one major version (0 and 1 together), by text. `None` if the proxy does not have the major version.
///
/// From 2 on, only versions with that major number count. The search would not end if a proxy returned the same list
/// for every path.
async fn list_major(
    context: &RepositoryContext,
    proxy: &Url,
    module: &str,
    major: u32,
) -> Result<Option<BTreeMap<String, Version>>, transport::Error> {
    let suffix = if major > 1 { format!("/v{major}") } else { String::new() };
    let base = proxy.as_str().trim_end_matches('/');
    let address = format!("{base}/{}{suffix}/@v/list", escape(module));
    let invalid = |_| transport::Error::FetchUrl {
        url: redact_url(proxy),
        reason: "it cannot be the base URL of a Go module proxy",
    };
    let url = Url::parse(&address).map_err(invalid)?;
    let bytes = if url.scheme() == "file" {
        let path = url.to_file_path().map_err(|()| transport::Error::FetchUrl {
            url: redact_url(proxy),
            reason: "the file URL of a Go module proxy must be an absolute path",
        })?;
        read_limited(&path, context.max_file_bytes())?
    } else {
        let credential = context.credential_for(&url, RequestPurpose::File(AddressOrigin::User)).await?;
        match fetch_cached(context, &Request::get(url).with_credential(credential), CachePolicy::Revalidate)
            .await
        {
            Ok(answer) => Some(answer.bytes),
            // The absence of a major version is not cached. Without a connection, only cached lists count.
            Err(transport::Error::Offline { .. }) if major > 1 => None,
            Err(error) if error.is_missing() => None,
            Err(error) => return Err(error),
        }
    };
    let Some(bytes) = bytes else { return Ok(None) };
    if bytes.len() > MAX_LIST_BYTES {
        return Err(transport::Error::TooLarge { place: address, limit_bytes: MAX_LIST_BYTES as u64 });
    }
    let lines = String::from_utf8_lossy(&bytes);
    let versions: BTreeMap<String, Version> = lines
        .lines()
        .filter_map(Version::parse_lenient)
        .filter(|version| suffix.is_empty() || version.semver().major == u64::from(major))
        .filter_map(|v| Some((v.with_v(), Version::parse(&v.with_v()).ok()?)))
        .collect();
    Ok((suffix.is_empty() || !versions.is_empty()).then_some(versions))
}

/// Escapes upper-case letters as `!` and the lower-case letter, because proxies may store modules on case-insensitive
/// disks.
fn escape(module: &str) -> String {
    let mut escaped = String::with_capacity(module.len() + 4);
    for letter in module.chars() {
        if letter.is_ascii_uppercase() {
            escaped.push('!');
        }
        escaped.push(letter.to_ascii_lowercase());
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(goproxy: &str) -> Vec<String> {
        let mark = |source: &GoProxy| if source.next_on_any_failure { "|" } else { "" };
        sources(Some(goproxy)).iter().map(|source| format!("{}{}", source.url, mark(source))).collect()
    }

    // Row: D-13
    #[test]
    fn the_list_of_proxies_is_parsed_like_go() {
        assert_eq!(read(""), ["https://proxy.golang.org/"]);
        assert_eq!(
            read("https://a/path|b.corp,direct,https://never"),
            ["https://a/path|", "https://b.corp/"]
        );
        assert_eq!(read(" , https://a"), ["https://a/"]);
        assert_eq!(read("file:///srv/mods"), ["file:///srv/mods"]);
        for none in ["off", "direct", "none", ",|,"] {
            assert!(read(none).is_empty(), "{none}");
        }
    }

    #[test]
    fn upper_case_owners_are_escaped() {
        assert_eq!(escape("github.com/OpenNebula/x"), "github.com/!open!nebula/x");
    }
}
