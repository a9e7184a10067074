use std::{fmt, net::IpAddr};

use url::{Host, Url};

use crate::address::{is_loopback, redact_url};

/// Proxy settings from `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`.
///
/// Requests to loopback addresses never use one of these proxies.
/// Source: Go net/http (ProxyFromEnvironment), which clusterctl uses; differs: `ALL_PROXY` is supported, as in curl.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProxySettings {
    https: Option<ProxyVariable>,
    http: Option<ProxyVariable>,
    all: Option<ProxyVariable>,
    exceptions: Vec<NoProxyEntry>,
}

#[derive(Clone, PartialEq, Eq)]
struct ProxyVariable {
    variable: &'static str,
    text: String,
}

/// One entry of `NO_PROXY`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum NoProxyEntry {
    Everything,
    Address(IpAddr, Option<u16>),
    Network(IpAddr, u8),
    /// With `includes_domain: false`, the exception covers only subdomains, as `.example.com` does.
    Domain {
        suffix: String,
        includes_domain: bool,
        port: Option<u16>,
    },
}

impl fmt::Debug for ProxySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The addresses may contain passwords.
        f.debug_struct("ProxySettings").field("exceptions", &self.exceptions).finish_non_exhaustive()
    }
}

impl ProxySettings {
    /// Reads the settings from environment variables. Upper-case names take precedence over lower-case names.
    pub fn from_variables(get: impl Fn(&str) -> Option<String>) -> Self {
        let setting = |upper: &'static str, lower: &'static str| {
            let one = |variable: &'static str| {
                let text = get(variable)?.trim().to_owned();
                (!text.is_empty()).then_some(ProxyVariable { variable, text })
            };
            one(upper).or_else(|| one(lower))
        };
        let exceptions = setting("NO_PROXY", "no_proxy").map(|setting| setting.text).unwrap_or_default();
        Self {
            https: setting("HTTPS_PROXY", "https_proxy"),
            http: setting("HTTP_PROXY", "http_proxy"),
            all: setting("ALL_PROXY", "all_proxy"),
            exceptions: exceptions.split(',').filter_map(NoProxyEntry::parse).collect(),
        }
    }

    /// Checks that every setting is a valid address.
    /// # Errors
    /// Returns the name of the variable with an invalid address.
    pub fn check(&self) -> Result<(), &'static str> {
        let mut settings = [&self.https, &self.http, &self.all].into_iter().flatten();
        settings.try_for_each(|setting| setting.url().map(drop).ok_or(setting.variable))
    }

    /// Returns the proxy for a URL, with the settings of its host if there are any. None for a direct connection.
    pub fn for_host(&self, url: &Url, host: Option<&HostProxy>) -> Option<Url> {
        match host {
            None | Some(HostProxy::General) => self.for_url(url),
            Some(HostProxy::Direct) => None,
            Some(HostProxy::Proxy(proxy)) => Some(proxy.0.clone()),
        }
    }

    /// Returns the proxy for a URL from the general settings.
    fn for_url(&self, url: &Url) -> Option<Url> {
        let own = match url.scheme() {
            "https" => &self.https,
            "http" => &self.http,
            _ => return None,
        };
        let setting = own.as_ref().or(self.all.as_ref())?;
        if is_loopback(url) || self.exceptions.iter().any(|exception| exception.covers(url)) {
            return None;
        }
        setting.url()
    }
}

impl ProxyVariable {
    fn url(&self) -> Option<Url> {
        ProxyAddress::parse(&self.text).map(|address| address.0)
    }
}

/// The proxy setting of one host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum HostProxy {
    /// The general settings apply.
    #[default]
    General,
    /// Requests never use a proxy.
    Direct,
    /// Requests always use this proxy.
    Proxy(ProxyAddress),
}

/// The address of a proxy. It may contain a password, which is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxyAddress(Url);

impl ProxyAddress {
    /// Parses `[scheme://][user:password@]host[:port]`. The scheme is http, https, socks5 or socks5h; the default is
    /// http.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let url = if text.contains("://") { Url::parse(text) } else { Url::parse(&format!("http://{text}")) };
        let known = |url: &Url| {
            matches!(url.scheme(), "http" | "https" | "socks5" | "socks5h") && url.host_str().is_some()
        };
        url.ok().filter(known).map(Self)
    }
}

impl fmt::Debug for ProxyAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProxyAddress({})", redact_url(&self.0))
    }
}

impl NoProxyEntry {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        if text.is_empty() {
            return None;
        }
        if text == "*" {
            return Some(Self::Everything);
        }
        if let Some((address, bits)) = text.split_once('/') {
            let (address, bits) = (address.parse::<IpAddr>().ok()?, bits.parse::<u8>().ok()?);
            return Some(Self::Network(address, bits));
        }
        if let Ok(address) = text.trim_matches(['[', ']']).parse::<IpAddr>() {
            return Some(Self::Address(address, None));
        }
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) => (name, Some(port.parse::<u16>().ok()?)),
            None => (text.as_str(), None),
        };
        if let Ok(address) = name.trim_matches(['[', ']']).parse::<IpAddr>() {
            return Some(Self::Address(address, port));
        }
        let name = name.strip_prefix('*').unwrap_or(name);
        let itself = !name.starts_with('.');
        let suffix = name.trim_start_matches('.').to_owned();
        (!suffix.is_empty()).then_some(Self::Domain { suffix, includes_domain: itself, port })
    }

    fn covers(&self, url: &Url) -> bool {
        let same_port = |port: &Option<u16>| port.is_none() || *port == url.port_or_known_default();
        let address = match url.host() {
            Some(Host::Ipv4(address)) => Some(IpAddr::V4(address)),
            Some(Host::Ipv6(address)) => Some(IpAddr::V6(address)),
            _ => None,
        };
        match self {
            Self::Everything => true,
            Self::Address(own, port) => address == Some(*own) && same_port(port),
            Self::Network(network, bits) => {
                address.is_some_and(|address| in_network(address, *network, *bits))
            }
            Self::Domain { suffix, includes_domain: itself, port } => {
                let host = url.host_str().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase();
                let below = host.strip_suffix(suffix.as_str()).is_some_and(|rest| rest.ends_with('.'));
                (below || (*itself && host == *suffix)) && same_port(port)
            }
        }
    }
}

fn in_network(address: IpAddr, network: IpAddr, bits: u8) -> bool {
    match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) if bits <= 32 => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
            address.to_bits() & mask == network.to_bits() & mask
        }
        (IpAddr::V6(address), IpAddr::V6(network)) if bits <= 128 => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
            address.to_bits() & mask == network.to_bits() & mask
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxy(variables: &[(&str, &str)], url: &str) -> Option<String> {
        let get =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, text)| (*text).to_owned());
        let settings = ProxySettings::from_variables(get);
        settings.for_url(&Url::parse(url).unwrap()).map(|url| url.to_string())
    }

    // Row: D-35
    #[test]
    fn each_scheme_has_a_proxy_with_all_proxy_as_fallback() {
        let both = [("HTTPS_PROXY", "proxy:3128"), ("ALL_PROXY", "socks5://socks:1080")];
        assert_eq!(proxy(&both, "https://github.com/x").as_deref(), Some("http://proxy:3128/"));
        assert_eq!(proxy(&both, "http://github.com/x").as_deref(), Some("socks5://socks:1080"));
        assert_eq!(
            proxy(&[("https_proxy", "http://low:1")], "https://a.b").as_deref(),
            Some("http://low:1/")
        );
        let upper_wins = [("https_proxy", "http://low:1"), ("HTTPS_PROXY", "http://up:1")];
        assert_eq!(proxy(&upper_wins, "https://a.b").as_deref(), Some("http://up:1/"));
        assert_eq!(proxy(&[("HTTPS_PROXY", " ")], "https://a.b"), None);
    }

    #[test]
    fn exceptions_name_domains_addresses_networks_and_ports() {
        let goes = |exceptions: &str, url: &str| {
            proxy(&[("HTTPS_PROXY", "http://p:1"), ("NO_PROXY", exceptions)], url).is_some()
        };
        assert!(
            !goes("example.com", "https://example.com/") && !goes("example.com", "https://a.example.com/")
        );
        assert!(goes("example.com", "https://badexample.com/"));
        assert!(
            goes(".example.com", "https://example.com/") && !goes("*.example.com", "https://a.example.com/")
        );
        assert!(!goes("x, 10.0.0.0/8", "https://10.1.2.3/") && goes("10.0.0.0/8", "https://11.1.2.3/"));
        assert!(!goes("10.1.2.3", "https://10.1.2.3/") && !goes("::1,fd00::/8", "https://[fd00::1]/"));
        assert!(goes("example.com:8443", "https://example.com/"));
        assert!(!goes("example.com:8443", "https://example.com:8443/") && !goes("*", "https://any/"));
        assert!(
            !goes("", "https://localhost:8080/") && !goes("", "https://127.0.0.1/"),
            "loopback is never proxied"
        );
    }

    #[test]
    fn an_invalid_proxy_address_names_its_variable() {
        let settings =
            ProxySettings::from_variables(|name| (name == "ALL_PROXY").then(|| "ftp://x".to_owned()));
        assert_eq!(settings.check(), Err("ALL_PROXY"));
    }
}
