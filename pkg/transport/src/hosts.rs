use std::{collections::BTreeMap, fmt, path::PathBuf, str::FromStr};

use url::Url;

use crate::{Credential, HostProxy, address::authority};

/// Settings of single hosts.
///
/// The key includes the port: `git.lab` stands for the default port of the scheme, `git.lab:8443` for another one.
/// Settings of one server therefore never apply to another server on the same machine.
#[derive(Clone, Debug, Default)]
pub struct Hosts(BTreeMap<String, HostSettings>);

/// Settings of one host.
#[derive(Clone, Debug, Default)]
pub struct HostSettings {
    /// Credential for this host; takes precedence over all other credentials.
    pub credential: Option<Credential>,
    /// PEM bundle of certificates that are trusted for this host, in addition to those for all hosts.
    pub ca_bundle: Option<CaBundle>,
    /// Client certificate for hosts that request one.
    pub client_certificate: Option<ClientCertificate>,
    /// Proxy setting of this host.
    pub proxy: HostProxy,
    /// Kind of this host, for https URLs of providers that do not set a kind themselves.
    pub kind: Option<HostKind>,
    /// Protocol of a registry at this host.
    pub registry_scheme: RegistryScheme,
}

/// The kind of host behind an https URL. Set it if the URL does not show the kind, or shows a wrong one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostKind {
    /// GitHub or GitHub Enterprise.
    GitHub,
    /// GitLab, under any host name.
    GitLab,
    /// A web server with a folder for each version.
    Folder,
}

/// A file of trusted certificates, and the setting that names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaBundle {
    /// Path of the PEM file.
    pub path: PathBuf,
    /// The flag, variable or key that names the file, for messages.
    pub named_by: String,
}

/// A client certificate and its key, each in a PEM file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientCertificate {
    /// Path of the certificate, followed by its intermediate certificates.
    pub certificate: PathBuf,
    /// Path of the private key.
    pub key: PathBuf,
}

/// The protocol of a registry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RegistryScheme {
    /// HTTPS.
    #[default]
    Https,
    /// Plain HTTP. Others on the network can read and change the traffic; digests are still verified.
    Http,
}

/// An unknown kind of host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is not a kind of host; use `github`, `gitlab` or `folder`")]
pub struct UnknownHostKind {
    /// The rejected word.
    pub word: String,
}

impl FromStr for HostKind {
    type Err = UnknownHostKind;

    fn from_str(word: &str) -> Result<Self, UnknownHostKind> {
        match word {
            "github" => Ok(Self::GitHub),
            "gitlab" => Ok(Self::GitLab),
            "folder" => Ok(Self::Folder),
            _ => Err(UnknownHostKind { word: word.to_owned() }),
        }
    }
}

impl fmt::Display for HostKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GitHub => "github",
            Self::GitLab => "gitlab",
            Self::Folder => "folder",
        })
    }
}

impl Hosts {
    /// Creates the settings from pairs of `host` or `host:port` and settings. Names are case-insensitive, and `:443` is
    /// optional.
    pub fn new(hosts: impl IntoIterator<Item = (String, HostSettings)>) -> Self {
        let plain = |name: String| {
            let name = name.to_ascii_lowercase();
            name.strip_suffix(":443").map(str::to_owned).unwrap_or(name)
        };
        Self(hosts.into_iter().map(|(name, settings)| (plain(name), settings)).collect())
    }

    /// Changes the settings of one host, named as in [`Hosts::new`].
    #[must_use]
    pub fn with_host(mut self, host: &str, change: impl FnOnce(&mut HostSettings)) -> Self {
        let name = host.to_ascii_lowercase();
        change(self.0.entry(name.strip_suffix(":443").unwrap_or(&name).to_owned()).or_default());
        self
    }

    /// Returns the settings for the host of a URL.
    pub fn get(&self, url: &Url) -> Option<&HostSettings> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&authority(url))
    }

    /// Returns the settings for a registry, named `host` or `host:port` as in image references.
    pub fn registry(&self, authority: &str) -> Option<&HostSettings> {
        let authority = authority.to_ascii_lowercase();
        self.0.get(authority.strip_suffix(":443").unwrap_or(&authority))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_settings_apply_to_host_and_port() {
        let named = |names: &[&str], url: &str| {
            let hosts = Hosts::new(names.iter().map(|name| ((*name).to_owned(), HostSettings::default())));
            hosts.get(&Url::parse(url).unwrap()).is_some()
        };
        assert!(named(&["Git.Lab"], "https://git.lab/x") && named(&["git.lab:443"], "https://git.lab/x"));
        assert!(!named(&["git.lab"], "https://git.lab:8443/x"));
        assert!(named(&["git.lab:8443"], "https://git.lab:8443/x"));
        assert!(!named(&["git.lab"], "https://a.git.lab/x"));
        assert!(named(&["github.com"], "https://api.github.com/repos"));
    }
}
