//! Entries that name a remote repository or a URL.

use std::fmt;
use std::time::Duration;

/// An entry that is no local path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RemoteEntry {
    /// The entry as written; may contain a password, see [`RemoteEntry::redacted`].
    pub text: String,
    /// The ways to fetch the entry, in order of attempt; empty if there are none.
    pub methods: Vec<FetchMethod>,
}

/// One way to fetch an entry.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum FetchMethod {
    /// One file behind an http or https address.
    File(String),
    /// A folder of a Git repository.
    Repository(Checkout),
}

/// A folder of a Git repository. The URL may contain a password.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Checkout {
    /// The address of the repository, as Git takes it.
    pub url: String,
    /// The folder in the repository, without `..`; empty for its top.
    pub folder: String,
    /// A branch, a tag or a hash; `None` for the default branch of the host.
    pub reference: Option<String>,
    /// The time limit for the fetch, if any.
    pub timeout: Option<Duration>,
    /// True if the checkout includes submodules.
    pub submodules: bool,
}

/// URL schemes that Git accepts.
const SCHEMES: [&str; 4] = ["https://", "http://", "ssh://", "file://"];
/// A prefix for other programs; ignored here.
const FORCED_GETTER: &str = "git::";
const GITHUB: &str = "github.com";
/// Number of names in a repository path without any other mark of its end.
const REPOSITORY_SEGMENTS: usize = 2;
/// Query parameters with values that may be shown; any other value may be a secret.
const SHOWN_PARAMETERS: [&str; 4] = ["ref", "version", "timeout", "submodules"];
/// The replacement for a hidden value.
const REDACTED: &str = "***";

impl RemoteEntry {
    /// Recognizes a remote entry by its form. `None` for a local path.
    ///
    /// Source: kustomize v5.8.1 api/internal/git (NewRepoSpecFromURL) and api/internal/loader; differs: `.git` counts
    /// only at the end of a name, and if an entry can only be a repository, the repository is tried before the file.
    pub fn of_entry(entry: &str) -> Option<Self> {
        if entry.starts_with('/') {
            return None;
        }
        let forced = strip_prefix(entry, FORCED_GETTER);
        let address = Address::split(forced.unwrap_or(entry));
        let mut ways = Vec::new();
        if forced.is_none()
            && ["https://", "http://"].iter().any(|scheme| strip_prefix(entry, scheme).is_some())
        {
            ways.push(FetchMethod::File(entry.to_owned()));
        }
        match address.as_ref().and_then(|address| Some((address, address.checkout()?))) {
            Some((address, checkout)) if address.must_be_repository() => {
                ways.insert(0, FetchMethod::Repository(checkout));
            }
            Some((address, checkout)) if ways.is_empty() || !address.is_named_like_a_file() => {
                ways.push(FetchMethod::Repository(checkout));
            }
            _ => {}
        }
        let is_remote = !ways.is_empty() || entry.contains("://");
        is_remote.then(|| Self { text: entry.to_owned(), methods: ways })
    }

    /// Recognizes a remote entry that must be a file.
    pub fn of_file_entry(entry: &str) -> Option<Self> {
        let mut remote = Self::of_entry(entry)?;
        remote.methods.retain(|way| matches!(way, FetchMethod::File(_)));
        (!remote.methods.is_empty()).then_some(remote)
    }

    /// Returns the entry without its user, password and tokens.
    pub fn redacted(&self) -> String {
        let (address, query) = self.text.split_once('?').unwrap_or((&self.text, ""));
        let mut shown = without_login(address);
        for (index, pair) in query.split('&').filter(|pair| !pair.is_empty()).enumerate() {
            shown.push(if index == 0 { '?' } else { '&' });
            match pair.split_once('=') {
                Some((key, _)) if !SHOWN_PARAMETERS.contains(&key) => shown.extend([key, "=", REDACTED]),
                _ => shown.push_str(pair),
            }
        }
        shown
    }
}

/// Removes the login from an address. For `ssh`, a user without a password is part of the address and stays.
fn without_login(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let host = rest.split('/').next().unwrap_or_default();
    match host.rsplit_once('@') {
        Some((login, _)) if login.contains(':') || scheme.ends_with("http") || scheme.ends_with("https") => {
            format!("{scheme}://{}", &rest[login.len() + 1..])
        }
        _ => address.to_owned(),
    }
}

impl fmt::Debug for RemoteEntry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Remote").field(&self.redacted()).finish()
    }
}

/// An entry in parts: `host` with everything before it and the separator behind it, `path`, `query`.
struct Address<'e> {
    host: String,
    path: &'e str,
    query: &'e str,
}

impl<'e> Address<'e> {
    fn split(entry: &'e str) -> Option<Self> {
        let (entry, query) = entry.split_once('?').unwrap_or((entry, ""));
        let scheme = SCHEMES.iter().find(|scheme| strip_prefix(entry, scheme).is_some());
        let rest = &entry[scheme.map_or(0, |scheme| scheme.len())..];
        if scheme == Some(&"file://") {
            return Some(Self { host: "file://".to_owned(), path: rest, query });
        }
        let (user, rest) = split_user(rest);
        let is_github = ["/", ":"].iter().any(|end| strip_prefix(rest, &format!("{GITHUB}{end}")).is_some());
        let is_scp = scheme.is_none() && (!user.is_empty() || is_github);
        if scheme.is_none() && !is_scp {
            return None;
        }
        let slash = rest.find('/');
        let colon = rest.find(':').filter(|colon| is_scp && slash.is_none_or(|slash| *colon < slash));
        let (host, path) = rest.split_at(colon.or(slash)? + 1);
        let host = match (is_github, scheme) {
            (true, Some(&"ssh://")) => format!("{user}{GITHUB}:"),
            (true, _) if user == "git@" || (scheme.is_none() && !user.is_empty()) => {
                format!("{user}{GITHUB}:")
            }
            (true, Some(&"https://")) => format!("https://{user}{GITHUB}/"),
            (true, _) => format!("https://{GITHUB}/"),
            (false, scheme) => format!("{}{user}{host}", scheme.copied().unwrap_or_default()),
        };
        Some(Self { host, path, query })
    }

    fn checkout(&self) -> Option<Checkout> {
        let (repository, folder) = self.split_at_marker().or_else(|| self.split_by_segments())?;
        let folder: Vec<&str> = folder.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
        if repository.is_empty() || folder.contains(&"..") {
            return None;
        }
        let timeout = self.parameter("timeout").and_then(|text| duration(&text));
        let submodules = self.parameter("submodules");
        Some(Checkout {
            url: format!("{}{repository}", self.host),
            folder: folder.join("/"),
            reference: self.parameter("ref").or_else(|| self.parameter("version")),
            timeout,
            submodules: !submodules
                .is_some_and(|text| matches!(text.as_str(), "0" | "f" | "F" | "false" | "FALSE" | "False")),
        })
    }

    /// Splits the path into repository and folder, if it marks the end of the repository.
    fn split_at_marker(&self) -> Option<(&'e str, &'e str)> {
        const AZURE: &str = "_git/";
        const SUFFIX: &str = ".git";
        let path = self.path;
        if let Some(at) = path.find(AZURE) {
            let end = path[at + AZURE.len()..].find('/').map_or(path.len(), |end| at + AZURE.len() + end);
            return Some(path.split_at(end));
        }
        if let Some((repository, folder)) = path.split_once("//") {
            return Some((repository, folder));
        }
        let ends_name = |at: &usize| matches!(path.as_bytes().get(at + SUFFIX.len()), None | Some(b'/'));
        let at = path.match_indices(SUFFIX).map(|(at, _)| at).find(ends_name)?;
        Some(path.split_at(at + SUFFIX.len()))
    }

    fn split_by_segments(&self) -> Option<(&'e str, &'e str)> {
        if self.host == "file://" {
            return Some((self.path, ""));
        }
        let mut ends = self.path.match_indices('/').map(|(at, _)| at);
        let end = ends.nth(REPOSITORY_SEGMENTS - 1).unwrap_or(self.path.len());
        let (repository, folder) = self.path.split_at(end);
        (repository.split('/').count() >= REPOSITORY_SEGMENTS).then_some((repository, folder))
    }

    /// True if the address cannot name a file: GitHub serves files under a few names only.
    fn must_be_repository(&self) -> bool {
        let third = self.path.split('/').nth(REPOSITORY_SEGMENTS);
        let is_file = matches!(third, Some("releases" | "raw" | "archive"));
        self.split_at_marker().is_some() || self.host.ends_with("github.com/") && !is_file
    }

    fn is_named_like_a_file(&self) -> bool {
        let extension = self.path.rsplit_once('.').map_or("", |(_, extension)| extension);
        matches!(extension, "yaml" | "yml" | "json")
    }

    /// Returns the first value of a parameter; `None` if the value is empty.
    fn parameter(&self, name: &str) -> Option<String> {
        let mut pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        let (_, value) = pairs.find(|(key, _)| *key == name)?;
        Some(percent_decoded(value)).filter(|value| !value.is_empty())
    }
}

/// Splits off the user of `git@`; a user has letters, digits and dashes.
fn split_user(rest: &str) -> (&str, &str) {
    let is_user = |user: &str| {
        user.starts_with(|c: char| c.is_ascii_alphabetic())
            && user.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    match rest.find('@') {
        Some(at) if is_user(&rest[..at]) => rest.split_at(at + 1),
        _ => ("", rest),
    }
}

/// Removes a prefix, regardless of case.
fn strip_prefix<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let start = text.get(..prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let decoded = hex.filter(|_| *first == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(decoded.unwrap_or(if *first == b'+' { b' ' } else { *first }));
        rest = if decoded.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Parses whole seconds, or a duration of Go such as `1m30s`. `None`, so no limit, for zero and for other texts.
fn duration(text: &str) -> Option<Duration> {
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds)).filter(|limit| !limit.is_zero());
    }
    let (mut total, mut rest) = (Duration::ZERO, text);
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, behind) = rest.split_at(end);
        let unit = &behind[..behind.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(behind.len())];
        let seconds = match unit {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" | "µs" => 1e-6,
            "ns" => 1e-9,
            _ => return None,
        };
        let part = Duration::try_from_secs_f64(number.parse::<f64>().ok()? * seconds).ok()?;
        total = total.checked_add(part)?;
        rest = &behind[unit.len()..];
    }
    Some(total).filter(|limit| !limit.is_zero())
}

#[cfg(test)]
mod tests;
