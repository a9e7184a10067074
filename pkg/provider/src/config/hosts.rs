use std::path::PathBuf;

use manifest::{Map, Value};

use transport::{
    CaBundle, ClientCertificate, Credential, HostProxy, HostSettings, Hosts, ProxyAddress, RegistryScheme,
    Secret,
};

use super::{Config, ConfigError};

/// One entry of the section `hosts`.
struct HostEntry<'c> {
    config: &'c Config,
    /// The key for messages, such as `hosts.git.lab`.
    key: String,
    fields: &'c Map<String, Value>,
}

impl Config {
    /// The settings of single hosts: the section `hosts`, read from the file only.
    ///
    /// Shape: keys are `host` or `host:port`. `${NAME}` in a value is replaced by environment variables. A relative
    /// path starts at the folder of the configuration file.
    /// # Errors
    /// `Shape` or `Substitution` with the key. Errors never contain values.
    pub fn hosts(&self) -> Result<Hosts, ConfigError> {
        let hosts = match self.section("hosts") {
            None => return Ok(Hosts::default()),
            Some(Value::Object(hosts)) => hosts,
            Some(other) => {
                return Err(self.shape_error("hosts", "hosts, each with what is set for it", other));
            }
        };
        let mut read = Vec::with_capacity(hosts.len());
        for (host, fields) in hosts {
            let key = format!("hosts.{host}");
            let Value::Object(fields) = fields else {
                return Err(self.shape_error(key, "what is set for the host, such as `token`", fields));
            };
            let entry = HostEntry { config: self, key, fields };
            if host.contains(['/', '@', '?']) || host.is_empty() {
                return Err(entry
                    .host_error("no host", "a host as it stands in urls, with its port where it has one"));
            }
            read.push((host.clone(), entry.settings(host)?));
        }
        Ok(Hosts::new(read))
    }
}

impl HostEntry<'_> {
    fn settings(&self, host: &str) -> Result<HostSettings, ConfigError> {
        let credential = self.credential()?;
        let registry_scheme = self.registry_scheme()?;
        if registry_scheme == RegistryScheme::Http && credential.is_some() && !is_loopback(host) {
            return Err(self.host_error(
                "a credential for a host that is spoken to in the clear",
                "without `plainHttp`, or without a credential",
            ));
        }
        Ok(HostSettings {
            credential,
            ca_bundle: self.ca_bundle()?,
            client_certificate: self.client_certificate()?,
            proxy: self.proxy()?,
            kind: self.kind()?,
            registry_scheme,
        })
    }

    fn credential(&self) -> Result<Option<Credential>, ConfigError> {
        let name = |field: &str| format!("`{}.{field}`", self.key);
        let (token, user, password) = (self.text("token")?, self.text("username")?, self.text("password")?);
        let expected = "either `token`, or `username` and `password`";
        match (token, user, password) {
            (None, None, None) => Ok(None),
            (Some(token), None, None) => Ok(Secret::new(name("token"), token).map(Credential::Bearer)),
            (None, Some(user), Some(password)) => {
                let password = Secret::new(name("password"), password);
                Ok(password.map(|password| Credential::Basic { user, password }))
            }
            (Some(_), ..) => Err(self.host_error("a token and a user besides", expected)),
            (None, Some(_), None) => Err(self.host_error("a user without a password", expected)),
            (None, None, Some(_)) => Err(self.host_error("a password without a user", expected)),
        }
    }

    fn ca_bundle(&self) -> Result<Option<CaBundle>, ConfigError> {
        let path = self.file("caBundle")?;
        Ok(path.map(|path| CaBundle { path, named_by: format!("`{}.caBundle`", self.key) }))
    }

    fn client_certificate(&self) -> Result<Option<ClientCertificate>, ConfigError> {
        match (self.file("clientCertificate")?, self.file("clientKey")?) {
            (None, None) => Ok(None),
            (Some(certificate), Some(key)) => Ok(Some(ClientCertificate { certificate, key })),
            _ => {
                Err(self
                    .host_error("half of a client certificate", "both `clientCertificate` and `clientKey`"))
            }
        }
    }

    fn proxy(&self) -> Result<HostProxy, ConfigError> {
        match self.text("proxy")?.as_deref() {
            None => Ok(HostProxy::General),
            Some("none") => Ok(HostProxy::Direct),
            Some(text) => ProxyAddress::parse(text).map(HostProxy::Proxy).ok_or_else(|| {
                self.field_error(
                    "proxy",
                    "no address of a proxy",
                    "`none`, or a url with http, https or socks5",
                )
            }),
        }
    }

    fn kind(&self) -> Result<Option<transport::HostKind>, ConfigError> {
        let Some(text) = self.text("kind")? else { return Ok(None) };
        let unknown = |_| self.field_error("kind", "another word", "`github`, `gitlab` or `folder`");
        text.parse().map(Some).map_err(unknown)
    }

    fn registry_scheme(&self) -> Result<RegistryScheme, ConfigError> {
        match self.fields.get("plainhttp") {
            None | Some(Value::Null | Value::Bool(false)) => Ok(RegistryScheme::Https),
            Some(Value::Bool(true)) => Ok(RegistryScheme::Http),
            Some(_) => Err(self.field_error("plainHttp", "another value", "`true` or `false`")),
        }
    }

    fn file(&self, field: &str) -> Result<Option<PathBuf>, ConfigError> {
        Ok(self.text(field)?.map(|path| PathBuf::from(self.config.absolute_url(path))))
    }

    /// The value of a field after substitution. An empty value counts as absent.
    fn text(&self, field: &str) -> Result<Option<String>, ConfigError> {
        let lower = field.to_lowercase();
        if let Some(Value::Array(_) | Value::Object(_)) = self.fields.get(&lower) {
            return Err(self.field_error(field, "no single value", "text"));
        }
        let Some(text) = Config::field(self.fields, &lower) else { return Ok(None) };
        let text = self.config.substitute(&format!("{}.{field}", self.key), &text)?;
        Ok(Some(text).filter(|text| !text.trim().is_empty()))
    }

    fn host_error(&self, found: &'static str, expected: &'static str) -> ConfigError {
        ConfigError::Shape { origin: self.config.display_origin(), key: self.key.clone(), expected, found }
    }

    fn field_error(&self, field: &str, found: &'static str, expected: &'static str) -> ConfigError {
        let key = format!("{}.{field}", self.key);
        ConfigError::Shape { origin: self.config.display_origin(), key, expected, found }
    }
}

fn is_loopback(host: &str) -> bool {
    let name = if host.starts_with('[') {
        host.trim_start_matches('[').split(']').next().unwrap_or_default()
    } else {
        host.split(':').next().unwrap_or_default()
    };
    name == "localhost" || name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;
    use crate::config::{ConfigFile, ConfigFormat, Environment};

    fn hosts(section: &str) -> Result<Hosts, ConfigError> {
        let file = ConfigFile {
            origin: "/etc/lab/clusterctl.yaml".to_owned(),
            folder: Some("/etc/lab".into()),
            format: ConfigFormat::Yaml,
            text: format!("hosts:\n{section}"),
        };
        Config::new(Some(file), Environment::new([("LAB_TOKEN", "s3cret")])).unwrap().hosts()
    }

    fn settings(hosts: &Hosts, url: &str) -> HostSettings {
        hosts.get(&Url::parse(url).unwrap()).unwrap().clone()
    }

    #[test]
    fn what_is_set_for_a_host_is_read_with_its_variables_and_from_its_folder() {
        let hosts = hosts(
            "  Git.Lab:
    token: ${LAB_TOKEN}
    caBundle: ca/lab.pem
    clientCertificate: /etc/me.pem
    clientKey: ./me.key
    proxy: socks5://proxy.lab:1080
    kind: gitlab
  registry.lab:5000: {username: ann, password: 0x10, proxy: none}
  localhost:5000: {plainHttp: true, username: ann, password: pw}
  nothing.lab: {token: '${UNSET}'}
",
        )
        .unwrap();
        let git = settings(&hosts, "https://git.lab/x");
        assert_eq!(git.credential.unwrap().to_string(), "`hosts.git.lab.token` (***)");
        let bundle = git.ca_bundle.unwrap();
        assert_eq!(
            (bundle.path, bundle.named_by.as_str()),
            ("/etc/lab/ca/lab.pem".into(), "`hosts.git.lab.caBundle`")
        );
        let ours = ClientCertificate { certificate: "/etc/me.pem".into(), key: "/etc/lab/me.key".into() };
        assert_eq!((git.client_certificate, git.kind), (Some(ours), Some(transport::HostKind::GitLab)));
        assert!(matches!(git.proxy, HostProxy::Proxy(_)));
        let registry = settings(&hosts, "https://registry.lab:5000/");
        assert_eq!(
            registry.credential.unwrap().to_string(),
            "user `ann` of `hosts.registry.lab:5000.password` (***)"
        );
        assert_eq!((registry.proxy, registry.registry_scheme), (HostProxy::Direct, RegistryScheme::Https));
        assert_eq!(settings(&hosts, "http://localhost:5000/").registry_scheme, RegistryScheme::Http);
        assert_eq!(settings(&hosts, "https://nothing.lab/").credential, None);
    }

    #[test]
    fn what_cannot_be_meant_is_told_with_its_key_and_without_its_value() {
        let cases = [
            ("  git.lab: s3cret\n", "`hosts.git.lab` in"),
            ("  https://git.lab/: {token: s3cret}\n", "is no host"),
            ("  git.lab: {token: s3cret, username: ann}\n", "a token and a user besides"),
            ("  git.lab: {username: ann}\n", "a user without a password"),
            ("  git.lab: {password: s3cret}\n", "a password without a user"),
            ("  git.lab: {token: [s3cret]}\n", "`hosts.git.lab.token` in"),
            ("  git.lab: {token: 's3cret${'}\n", "`hosts.git.lab.token` in"),
            ("  git.lab: {clientKey: /x}\n", "half of a client certificate"),
            ("  git.lab: {proxy: 'ftp://me:s3cret@x'}\n", "`hosts.git.lab.proxy` in"),
            ("  git.lab: {kind: gitea}\n", "`github`, `gitlab` or `folder`"),
            ("  git.lab: {plainHttp: maybe}\n", "`true` or `false`"),
            ("  git.lab: {plainHttp: true, token: s3cret}\n", "in the clear"),
        ];
        for (section, expected) in cases {
            let error = hosts(section).unwrap_err();
            let told = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source())
                .map(|error| format!("{error} {error:?}"))
                .collect::<Vec<_>>()
                .concat();
            assert!(told.contains(expected) && !told.contains("s3cret"), "{section}{told}");
        }
    }
}
