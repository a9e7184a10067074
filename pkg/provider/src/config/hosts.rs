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
                return Err(self.shape_error("hosts", "a mapping from hosts to their settings", other));
            }
        };
        let mut read = Vec::with_capacity(hosts.len());
        for (host, fields) in hosts {
            let key = format!("hosts.{host}");
            let Value::Object(fields) = fields else {
                return Err(self.shape_error(key, "a mapping of settings such as `token`", fields));
            };
            let entry = HostEntry { config: self, key, fields };
            if host.contains(['/', '@', '?']) || host.is_empty() {
                let found = if host.is_empty() { "empty" } else { "a url" };
                return Err(entry.host_error(found, "`host` or `host:port`"));
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
                "both (plain HTTP exposes the credential)",
                "a host with either `plainHttp` or a credential",
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
        let expected = "a host with either `token`, or `username` and `password`";
        match (token, user, password) {
            (None, None, None) => Ok(None),
            (Some(token), None, None) => Ok(Secret::new(name("token"), token).map(Credential::Bearer)),
            (None, Some(user), Some(password)) => {
                let password = Secret::new(name("password"), password);
                Ok(password.map(|password| Credential::Basic { user, password }))
            }
            (Some(_), ..) => Err(self.host_error("both", expected)),
            (None, Some(_), None) => Err(self.host_error("`username` alone", expected)),
            (None, None, Some(_)) => Err(self.host_error("`password` alone", expected)),
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
            _ => Err(self
                .host_error("only one", "a host with both `clientCertificate` and `clientKey`, or neither")),
        }
    }

    fn proxy(&self) -> Result<HostProxy, ConfigError> {
        match self.text("proxy")?.as_deref() {
            None => Ok(HostProxy::General),
            Some("none") => Ok(HostProxy::Direct),
            Some(text) => ProxyAddress::parse(text).map(HostProxy::Proxy).ok_or_else(|| {
                self.field_error(
                    "proxy",
                    "another value",
                    "`none`, or a url with the scheme http, https or socks5",
                )
            }),
        }
    }

    fn kind(&self) -> Result<Option<transport::HostKind>, ConfigError> {
        let Some(text) = self.text("kind")? else { return Ok(None) };
        let unknown = |_| self.field_error("kind", "another value", "`github`, `gitlab` or `folder`");
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
            return Err(self.field_error(field, "a list or a mapping", "text"));
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
    use snapbox::{assert_data_eq, str};
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
    fn host_settings_expand_variables_and_relative_paths() {
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
    fn invalid_host_settings_are_refused_with_key_and_without_value() {
        let cases = [
            "git.lab: s3cret",
            "https://git.lab/: {token: s3cret}",
            "'': {token: s3cret}",
            "git.lab: {token: s3cret, username: ann}",
            "git.lab: {username: ann}",
            "git.lab: {password: s3cret}",
            "git.lab: {token: [s3cret]}",
            "git.lab: {token: 's3cret${'}",
            "git.lab: {clientKey: /x}",
            "git.lab: {proxy: 'ftp://me:s3cret@x'}",
            "git.lab: {kind: gitea}",
            "git.lab: {plainHttp: maybe}",
            "git.lab: {plainHttp: true, token: s3cret}",
        ];
        let mut reported = Vec::new();
        for section in cases {
            let error = hosts(&format!("  {section}\n")).unwrap_err();
            reported.push(error.to_string());
            let debugged =
                std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source())
                    .map(|error| format!("{error} {error:?}"))
                    .collect::<Vec<_>>()
                    .concat();
            assert!(!debugged.contains("s3cret"), "{section}: {debugged}");
        }
        assert_data_eq!(
            reported.join("\n"),
            str![[r#"
`hosts.git.lab` in `/etc/lab/clusterctl.yaml` must be a mapping of settings such as `token`, not text
`hosts.https://git.lab/` in `/etc/lab/clusterctl.yaml` must be `host` or `host:port`, not a url
`hosts.` in `/etc/lab/clusterctl.yaml` must be `host` or `host:port`, not empty
`hosts.git.lab` in `/etc/lab/clusterctl.yaml` must be a host with either `token`, or `username` and `password`, not both
`hosts.git.lab` in `/etc/lab/clusterctl.yaml` must be a host with either `token`, or `username` and `password`, not `username` alone
`hosts.git.lab` in `/etc/lab/clusterctl.yaml` must be a host with either `token`, or `username` and `password`, not `password` alone
`hosts.git.lab.token` in `/etc/lab/clusterctl.yaml` must be text, not a list or a mapping
cannot substitute variables in `hosts.git.lab.token` of `/etc/lab/clusterctl.yaml`
`hosts.git.lab` in `/etc/lab/clusterctl.yaml` must be a host with both `clientCertificate` and `clientKey`, or neither, not only one
`hosts.git.lab.proxy` in `/etc/lab/clusterctl.yaml` must be `none`, or a url with the scheme http, https or socks5, not another value
`hosts.git.lab.kind` in `/etc/lab/clusterctl.yaml` must be `github`, `gitlab` or `folder`, not another value
`hosts.git.lab.plainHttp` in `/etc/lab/clusterctl.yaml` must be `true` or `false`, not another value
`hosts.git.lab` in `/etc/lab/clusterctl.yaml` must be a host with either `plainHttp` or a credential, not both (plain HTTP exposes the credential)
"#]]
        );
    }
}
