use std::path::{Component, Path, PathBuf};

use transport::{Credential, Secret};
use url::Url;

/// The url of a Git repository. All spellings of the url share one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteUrl {
    address: String,
    key: String,
    push_url: String,
    transport: GitTransport,
    credential: Option<Credential>,
    user: Option<String>,
}

/// The protocol of a remote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitTransport {
    /// HTTP over TLS.
    Https,
    /// HTTP without TLS.
    Http,
    /// SSH.
    Ssh,
    /// A folder on this machine.
    File,
}

/// The reason why a url is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the message of a variant names its fields")]
pub enum RemoteUrlError {
    #[error("scheme `{scheme}` is not supported; use https, http, ssh or file")]
    Scheme { scheme: String },
    #[error("it is not a URL: {reason}")]
    NotAUrl { reason: String },
    #[error("{problem}")]
    Form { problem: &'static str },
}

impl RemoteUrl {
    /// Parses `https://`, `http://`, `ssh://` and `file://` urls, `git@host:path`, and absolute paths.
    ///
    /// The key consists of host and path, so that one repository has one clone regardless of its protocol. Default
    /// ports (443, 22), repeated slashes, trailing slashes and the case of the host are ignored. The key ends with one
    /// `.git`. Other ports are part of the key, and so are ssh users other than `git`, whose paths may be relative to
    /// their home. A repository fetched over http has its own key, because http does not authenticate the host.
    /// Source: Project Syn's Commodore (bare clones in `dependencies/.repos/<host>/<path>`).
    /// # Errors
    /// Fails if the text has none of these forms, or if its path leads out of the folder of clones.
    pub fn parse(text: &str) -> Result<Self, RemoteUrlError> {
        let text = text.trim();
        if text.starts_with('-') || text.contains(char::is_control) {
            return Err(form_error("it starts with a dash or contains a control character"));
        }
        if Path::new(text).is_absolute() {
            return from_path(Path::new(text));
        }
        match text.split_once("://") {
            Some(_) => from_url(text),
            None => from_scp(text),
        }
    }

    /// The url for Git, as written but without a password.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The folder of the clone, relative to the folder of all clones: `github.com/o/r.git`.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The url for pushes. For https and http it is `ssh://git@host/path`, without user and port; else the url itself.
    /// Source: Project Syn's Commodore, "Dependencies" of its reference.
    pub fn push_url(&self) -> &str {
        &self.push_url
    }

    /// The protocol of the remote.
    pub fn transport(&self) -> GitTransport {
        self.transport
    }

    /// Parses the url of a submodule, which may be relative to this url. A relative one has the same credential.
    /// # Errors
    /// Fails if the text is no url, if it leads out of the host, or if it leads from a host to a folder of this machine.
    pub(super) fn join(&self, text: &str) -> Result<Self, RemoteUrlError> {
        if !text.starts_with("./") && !text.starts_with("../") {
            let url = Self::parse(text)?;
            if self.is_remote() && !url.is_remote() {
                return Err(form_error("a repository of a host must not refer to a folder of this machine"));
            }
            return Ok(url);
        }
        let host_end = match self.address.split_once("://") {
            Some((scheme, rest)) => scheme.len() + 3 + rest.find('/').map_or(rest.len(), |at| at + 1),
            None => self.address.find([':', '/']).map_or(0, |at| at + 1),
        };
        let (host, path) = self.address.split_at(host_end);
        let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        for part in text.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop().ok_or_else(|| form_error("it leads out of the host"))?),
                part => parts.push(part),
            }
        }
        let url = Self::parse(&format!("{host}{}", parts.join("/")))?;
        Ok(Self { credential: self.credential.clone(), user: self.user.clone(), ..url })
    }

    /// The password in the url, if any.
    pub(super) fn credential(&self) -> Option<&Credential> {
        self.credential.as_ref()
    }

    /// The user in the url, if the url has no password.
    pub(super) fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// True if the remote needs a connection.
    pub(super) fn is_remote(&self) -> bool {
        self.transport != GitTransport::File
    }

    /// The url, if its protocol is http or https.
    pub(super) fn http_url(&self) -> Option<Url> {
        let is_http = matches!(self.transport, GitTransport::Https | GitTransport::Http);
        is_http.then(|| Url::parse(&self.address).ok()).flatten()
    }
}

fn from_url(text: &str) -> Result<RemoteUrl, RemoteUrlError> {
    let mut url = Url::parse(text).map_err(|error| RemoteUrlError::NotAUrl { reason: error.to_string() })?;
    let transport = match url.scheme() {
        "https" => GitTransport::Https,
        "http" => GitTransport::Http,
        "ssh" => GitTransport::Ssh,
        "file" => {
            let path = url
                .to_file_path()
                .map_err(|()| form_error("write a file URL with three slashes: file:///path"))?;
            return from_path(&path);
        }
        scheme => return Err(RemoteUrlError::Scheme { scheme: scheme.to_owned() }),
    };
    if url.query().is_some() || url.fragment().is_some() {
        return Err(form_error("a remote must not contain `?` or `#`"));
    }
    let host =
        url.host_str().filter(|host| !host.is_empty()).ok_or_else(|| form_error("the host is missing"))?;
    if host.starts_with('-') {
        return Err(form_error("a host must not start with a dash"));
    }
    let host = host.to_ascii_lowercase();
    let port = url.port().filter(|port| transport != GitTransport::Ssh || *port != 22);
    // Content fetched over http must not be mistaken for content fetched over https.
    let port = port.or_else(|| (transport == GitTransport::Http).then_some(80));
    let user = if transport == GitTransport::Ssh { url.username() } else { "" };
    let key = key(&with_user(user, &host), port, url.path())?;
    if transport == GitTransport::Ssh {
        if url.password().is_some() {
            return Err(form_error("an SSH URL must not contain a password"));
        }
        let address = text.to_owned();
        return Ok(RemoteUrl {
            push_url: address.clone(),
            address,
            key,
            transport,
            credential: None,
            user: None,
        });
    }
    let (credential, user) = user_info(&url)?;
    // Neither call fails for a url with a host.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    let push = format!("ssh://git@{host}{}", url.path());
    Ok(RemoteUrl { address: url.into(), key, push_url: push, transport, credential, user })
}

fn user_info(url: &Url) -> Result<(Option<Credential>, Option<String>), RemoteUrlError> {
    let user = transport::address::percent_decode(url.username());
    let password = url.password().map(transport::address::percent_decode).unwrap_or_default();
    if [&user, &password].iter().any(|text| text.contains(char::is_control)) {
        return Err(form_error("the user or password contains a control character"));
    }
    match Secret::new("the url of the remote", password) {
        Some(password) => Ok((Some(Credential::Basic { user, password }), None)),
        None => Ok((None, Some(user).filter(|user| !user.is_empty()))),
    }
}

/// Parses `[user@]host:path`, the syntax of ssh.
fn from_scp(text: &str) -> Result<RemoteUrl, RemoteUrlError> {
    let (login, path) = text
        .split_once(':')
        .filter(|(login, path)| !login.contains('/') && !path.is_empty())
        .ok_or_else(|| form_error("it is neither a url, nor `git@host:path`, nor an absolute path"))?;
    let (user, host) = login.rsplit_once('@').unwrap_or(("", login));
    if path.starts_with(':') {
        return Err(RemoteUrlError::Scheme { scheme: format!("{login}::") });
    }
    if host.is_empty() || host.starts_with('-') || text.contains(char::is_whitespace) || login.contains('\\')
    {
        return Err(form_error("the host is missing"));
    }
    let key = key(&with_user(user, &host.to_ascii_lowercase()), None, path)?;
    let (address, transport) = (text.to_owned(), GitTransport::Ssh);
    Ok(RemoteUrl { push_url: address.clone(), address, key, transport, credential: None, user: None })
}

fn from_path(path: &Path) -> Result<RemoteUrl, RemoteUrlError> {
    let plain: PathBuf = path.components().collect();
    let text = plain.to_str().ok_or_else(|| form_error("the path is not UTF-8"))?;
    if plain.components().any(|part| part == Component::ParentDir) {
        return Err(form_error("the path contains `..`"));
    }
    let key = key("localhost", None, &text.replace(std::path::MAIN_SEPARATOR, "/"))?;
    let (address, transport) = (text.to_owned(), GitTransport::File);
    Ok(RemoteUrl { push_url: address.clone(), address, key, transport, credential: None, user: None })
}

/// The host, prefixed with the ssh user. The user `git` is omitted, because forges use it for all users.
fn with_user(user: &str, host: &str) -> String {
    if user.is_empty() || user == "git" { host.to_owned() } else { format!("{user}@{host}") }
}

/// Builds a key whose folder contains no other clone.
fn key(host: &str, port: Option<u16>, path: &str) -> Result<String, RemoteUrlError> {
    let mut parts: Vec<String> = path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    if parts.iter().any(|part| part == "." || part == ".." || part.contains('\\')) {
        return Err(form_error("the path contains `.`, `..` or a backslash"));
    }
    let mut last = parts.pop().ok_or_else(|| form_error("the path of the repository is missing"))?;
    last.truncate(last.strip_suffix(".git").unwrap_or(&last).len());
    if last.is_empty() {
        return Err(form_error("the name of the repository is missing"));
    }
    // Only clones end in `.git`: a group with that ending would be a folder inside a clone.
    for part in parts.iter_mut().filter(|part| part.strip_suffix(".git").is_some()) {
        part.push('+');
    }
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    // No file system allows slashes in names, and some do not allow colons.
    let host = format!("{host}{port}").replace(':', "+");
    parts.insert(0, host);
    parts.push(format!("{last}.git"));
    Ok(parts.join("/"))
}

fn form_error(problem: &'static str) -> RemoteUrlError {
    RemoteUrlError::Form { problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> RemoteUrl {
        RemoteUrl::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn one_repository_has_one_key_regardless_of_spelling() {
        let spellings = [
            "https://git.lab/group/sub/r.git",
            "https://git.lab/group/sub/r",
            "https://git.lab:443//group/sub/r.git/",
            "https://ann:pw@GIT.lab/group/sub/r",
            "ssh://git@git.lab/group/sub/r.git",
            "ssh://git.lab:22/group/sub/r",
            "git@git.lab:group/sub/r.git",
            "git.lab:/group/sub/r",
        ];
        for text in spellings {
            assert_eq!(read(text).key(), "git.lab/group/sub/r.git", "{text}");
        }
        assert_eq!(read("https://git.lab:8443/r").key(), "git.lab+8443/r.git");
        assert_eq!(read("http://git.lab/r").key(), "git.lab+80/r.git", "nobody vouches for it");
        assert_eq!(read("file:///srv/a%20b/r.git/").key(), "localhost/srv/a b/r.git");
        assert_eq!(read("/srv//r").key(), read("file:///srv/r").key());
    }

    #[test]
    fn users_of_one_ssh_host_have_separate_clones() {
        assert_eq!(read("alice@git.lab:r").key(), "alice@git.lab/r.git");
        assert_eq!(read("bob@git.lab:r").key(), "bob@git.lab/r.git");
        assert_eq!(read("ssh://alice@git.lab:2222/r").key(), "alice@git.lab+2222/r.git");
        assert!(RemoteUrl::parse(r"a\..\b@git.lab:r").is_err());
    }

    #[test]
    fn no_clone_is_inside_another() {
        assert_eq!(read("https://git.lab/a.git/objects").key(), "git.lab/a.git+/objects.git");
        for text in
            ["https://git.lab/", "https://git.lab/.git", "git@git.lab:../r", "git@git.lab:a/./r", "/srv/../r"]
        {
            assert!(RemoteUrl::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn urls_that_git_treats_as_programs_or_options_are_refused() {
        let texts =
            ["ext::sh -c id", "--upload-pack=id", "ssh://-oProxyCommand=id/r", "-h:r", "git@-h:r", "fd::17"];
        for text in
            texts.into_iter().chain(["git://git.lab/r", "r", "a b:r", "https://git.lab/r?x", "ftp://h/r"])
        {
            assert!(RemoteUrl::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_url_of_a_submodule_may_be_relative() {
        for (parent, text, expected) in [
            ("https://git.lab/group/r.git", "../lib.git", "https://git.lab/group/lib.git"),
            ("https://git.lab:8443/r", "./lib", "https://git.lab:8443/r/lib"),
            ("git@git.lab:group/r.git", "../../other/lib", "git@git.lab:other/lib"),
            ("ssh://git@git.lab:22/group/r", "../lib", "ssh://git@git.lab:22/group/lib"),
            ("/srv/git/r", "../lib", "/srv/git/lib"),
            ("https://git.lab/r", "ssh://git@other.lab/lib", "ssh://git@other.lab/lib"),
        ] {
            assert_eq!(read(parent).join(text).unwrap().address(), expected, "{text}");
        }
        let joined = read("https://ann:pw@git.lab/group/r").join("../lib").unwrap();
        assert!(joined.credential().is_some());
        for text in
            ["../../lib", "/srv/lib", "file:///srv/lib", "--upload-pack=id", "ext::sh", "../-/..", "lib"]
        {
            assert!(read("https://git.lab/r").join(text).is_err(), "{text}");
        }
    }

    // Row: CAT-29
    // Row: CAT-30
    #[test]
    fn http_remotes_are_pushed_by_ssh_without_user_and_port() {
        assert_eq!(read("https://u:p@host:8443/a/b.git").push_url(), "ssh://git@host/a/b.git");
        assert_eq!(read("https://host/a/b").push_url(), "ssh://git@host/a/b");
        assert_eq!(read("http://u@host:80/a/b.git").push_url(), "ssh://git@host/a/b.git");
    }

    // Row: CAT-31
    #[test]
    fn push_urls_keep_nested_groups_and_ssh_urls() {
        assert_eq!(read("https://host/a/b/c/d.git").push_url(), "ssh://git@host/a/b/c/d.git");
        for text in ["git@host:a/b/c.git", "ssh://git@host/a/b/c.git", "ssh://git@host:2222/a/b.git"] {
            assert_eq!(read(text).push_url(), text);
        }
    }

    #[test]
    fn a_password_of_a_url_is_neither_passed_to_git_nor_shown() {
        let url = read("https://ann:s%40cret@host/a.git");
        assert_eq!(url.address(), "https://host/a.git");
        assert_eq!(url.credential().map(|credential| credential.secret().expose()), Some("s@cret"));
        assert!(!format!("{url:?}").contains("s@cret"));
        assert_eq!(read("https://ann@host/a").user(), Some("ann"));
    }
}
