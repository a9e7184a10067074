use std::{collections::BTreeMap, fmt, path::PathBuf, str::FromStr};

use url::Url;

use crate::{Credential, HostProxy, address::authority};

/// What is set for single hosts.
///
/// A host is meant with its port: `git.lab` is the port its scheme has, another one is written behind it
/// (`git.lab:8443`). So what is meant for one server does not go to another one on the same machine.
#[derive(Clone, Debug, Default)]
pub struct Hosts(BTreeMap<String, HostSettings>);

/// What is set for one host.
#[derive(Clone, Debug, Default)]
pub struct HostSettings {
    /// Shown to this host; comes before every other one.
    pub credential: Option<Credential>,
    /// A PEM bundle of certificates that are trusted for this host, besides those that are for all.
    pub ca_bundle: Option<CaBundle>,
    /// Shown to a host that wants to know who connects.
    pub client_certificate: Option<ClientCertificate>,
    /// The way to this host.
    pub proxy: HostProxy,
    /// What https urls at this host are, where the provider does not say it.
    pub kind: Option<HostKind>,
    /// How a registry at this host is spoken to.
    pub registry_scheme: RegistryScheme,
}

/// What kind of host an https url is of, where its form does not say it or says it wrongly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostKind {
    /// GitHub or GitHub Enterprise.
    GitHub,
    /// GitLab, under any host name.
    GitLab,
    /// A web server with a folder for each version.
    Folder,
}

/// A file of trusted certificates and who names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaBundle {
    /// The file, PEM.
    pub path: PathBuf,
    /// The flag, variable or key that names it, for messages.
    pub named_by: String,
}

/// A certificate of ours and its key, each in a PEM file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientCertificate {
    /// The certificate, and those between it and the authority behind it.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// How a registry is spoken to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RegistryScheme {
    /// With TLS.
    #[default]
    Https,
    /// In the clear: whoever is on the way can read and change what passes; digests still hold.
    Http,
}

/// A word that names no kind of host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is no kind of host; there are `github`, `gitlab` and `folder`")]
pub struct UnknownHostKind {
    /// The word.
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
    /// Takes what is set, by `host` or `host:port`; names do not mind case, and the port of https may be written.
    pub fn new(hosts: impl IntoIterator<Item = (String, HostSettings)>) -> Self {
        let plain = |name: String| {
            let name = name.to_ascii_lowercase();
            name.strip_suffix(":443").map(str::to_owned).unwrap_or(name)
        };
        Self(hosts.into_iter().map(|(name, settings)| (plain(name), settings)).collect())
    }

    /// What is set for the host of a url.
    pub fn get(&self, url: &Url) -> Option<&HostSettings> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&authority(url))
    }

    /// What is set for a registry, by `host` or `host:port` as it stands in references.
    pub fn registry(&self, authority: &str) -> Option<&HostSettings> {
        let authority = authority.to_ascii_lowercase();
        self.0.get(authority.strip_suffix(":443").unwrap_or(&authority))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_meant_with_its_port() {
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
