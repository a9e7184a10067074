use std::time::Duration;

use manifest::{Map, Value, duration::nanoseconds, parse_bool};

use super::{Config, ConfigError};

/// The cert-manager configuration of a management cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertManager {
    /// The url of the manifest.
    pub url: String,
    /// The release to install, regardless of the version in the url.
    pub version: String,
    /// The time to wait for cert-manager to become ready.
    pub timeout: Duration,
    /// The management mode.
    pub mode: CertManagerMode,
    /// An invalid timeout, reported as a warning. The default is used instead.
    pub invalid_timeout: Option<String>,
}

/// The management mode of cert-manager.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CertManagerMode {
    /// capstan installs cert-manager if absent, and upgrades installations made by capstan.
    #[default]
    Managed,
    /// Another tool manages cert-manager. capstan waits for cert-manager and never changes it. `externallyProvisioned:
    /// true` has the same meaning.
    External,
    /// No cert-manager is needed. capstan ignores cert-manager.
    None,
}

impl CertManager {
    /// The default version. Source: clusterctl v1.14.0.
    pub const DEFAULT_VERSION: &'static str = "v1.21.1";
    /// The default timeout. Source: clusterctl v1.14.0.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_mins(10);
    /// The folder in repositories and overrides, and the component in image overrides.
    pub const LABEL: &'static str = "cert-manager";

    fn default_url() -> String {
        let version = Self::DEFAULT_VERSION;
        format!("https://github.com/cert-manager/cert-manager/releases/{version}/cert-manager.yaml")
    }
}

impl Config {
    /// The section `cert-manager`, with defaults.
    /// # Errors
    /// `Shape` if the section, `mode` or `externallyProvisioned` is invalid; `Substitution` if a `${…}` in the url is
    /// invalid.
    pub fn cert_manager(&self) -> Result<CertManager, ConfigError> {
        let mut cert_manager = CertManager {
            url: CertManager::default_url(),
            version: CertManager::DEFAULT_VERSION.to_owned(),
            timeout: CertManager::DEFAULT_TIMEOUT,
            mode: CertManagerMode::Managed,
            invalid_timeout: None,
        };
        let fields = match self.section("cert-manager") {
            None => return Ok(cert_manager),
            Some(Value::Object(fields)) => fields,
            Some(other) => {
                return Err(self.shape_error(
                    "cert-manager",
                    "a mapping with url, version, timeout, mode or externallyProvisioned",
                    other,
                ));
            }
        };
        let field = |key| Self::field(fields, key).filter(|text| !text.is_empty());
        if let Some(url) = field("url") {
            cert_manager.url = self.absolute_url(self.substitute("cert-manager.url", &url)?);
        }
        if let Some(version) = field("version") {
            cert_manager.version = version;
        }
        if let Some(text) = field("timeout") {
            match parse_duration(&text) {
                Some(timeout) => cert_manager.timeout = timeout,
                None => cert_manager.invalid_timeout = Some(text),
            }
        }
        cert_manager.mode = self.cert_manager_mode(fields)?;
        Ok(cert_manager)
    }

    /// `mode` is specific to capstan and wins over `externallyProvisioned` of clusterctl.
    fn cert_manager_mode(&self, fields: &Map<String, Value>) -> Result<CertManagerMode, ConfigError> {
        let text = |key| Self::field(fields, key).filter(|text| !text.is_empty());
        if let Some(mode) = text("mode") {
            return parse_mode(&mode).ok_or_else(|| {
                self.shape_error("cert-manager.mode", "managed, external or none", &fields["mode"])
            });
        }
        let Some(external) = text("externallyprovisioned") else { return Ok(CertManagerMode::Managed) };
        match parse_bool(&external) {
            Some(true) => Ok(CertManagerMode::External),
            Some(false) => Ok(CertManagerMode::Managed),
            None => Err(self.shape_error(
                "cert-manager.externallyProvisioned",
                "true or false",
                &fields["externallyprovisioned"],
            )),
        }
    }
}

fn parse_mode(text: &str) -> Option<CertManagerMode> {
    match text {
        "managed" => Some(CertManagerMode::Managed),
        "external" => Some(CertManagerMode::External),
        "none" => Some(CertManagerMode::None),
        _ => None,
    }
}

/// Parses a non-negative Go duration.
fn parse_duration(text: &str) -> Option<Duration> {
    u64::try_from(nanoseconds(text)?).ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_as_in_go() {
        let seconds = |text| parse_duration(text).map(|duration| duration.as_secs_f64());
        assert_eq!(seconds("10m0s"), Some(600.0));
        assert_eq!(seconds("1.5h"), Some(5400.0));
        assert_eq!(seconds("250ms"), Some(0.25));
        assert_eq!(seconds("0"), Some(0.0));
        for bad in ["", "10", "m", "10 m", "-1s", "1d", "1e400h"] {
            assert_eq!(seconds(bad), None, "{bad}");
        }
    }
}
