use std::time::Duration;

use manifest::{Map, Value, duration::nanoseconds};

use super::{Config, ConfigError};

/// Which cert-manager a management cluster gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertManager {
    /// Address of its manifest.
    pub url: String,
    /// The release to install, whatever version the url carries.
    pub version: String,
    /// How long to wait for it to answer.
    pub timeout: Duration,
    /// Who takes care of it.
    pub mode: CertManagerMode,
    /// A timeout that could not be read, so that the default is taken; for a warning.
    pub invalid_timeout: Option<String>,
}

/// Who takes care of cert-manager.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CertManagerMode {
    /// Installed when there is none, upgraded when we installed it.
    #[default]
    Managed,
    /// Somebody else does: it is waited for, never written to. `externallyProvisioned: true` means the same.
    External,
    /// Nobody looks at it: no provider needs one.
    None,
}

impl CertManager {
    /// Source: clusterctl v1.14.0.
    pub const DEFAULT_VERSION: &'static str = "v1.21.1";
    /// Source: clusterctl v1.14.0.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_mins(10);
    /// The folder in repositories and overrides, and the component of image overrides.
    pub const LABEL: &'static str = "cert-manager";

    fn default_url() -> String {
        let version = Self::DEFAULT_VERSION;
        format!("https://github.com/cert-manager/cert-manager/releases/{version}/cert-manager.yaml")
    }
}

impl Config {
    /// The cert-manager section with its defaults.
    /// # Errors
    /// `Shape` when the section, `mode` or `externallyProvisioned` holds something else than it must; `Substitution`
    /// when a `${…}` of the url cannot be read.
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
                return Err(self.shape(
                    "cert-manager",
                    "url, version, timeout, mode and externallyProvisioned",
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

    /// `mode` is ours and says more, so it wins over the peer's `externallyProvisioned`.
    fn cert_manager_mode(&self, fields: &Map<String, Value>) -> Result<CertManagerMode, ConfigError> {
        let text = |key| Self::field(fields, key).filter(|text| !text.is_empty());
        if let Some(mode) = text("mode") {
            return parse_mode(&mode).ok_or_else(|| {
                self.shape("cert-manager.mode", "managed, external or none", &fields["mode"])
            });
        }
        let Some(external) = text("externallyprovisioned") else { return Ok(CertManagerMode::Managed) };
        match parse_bool(&external) {
            Some(true) => Ok(CertManagerMode::External),
            Some(false) => Ok(CertManagerMode::Managed),
            None => Err(self.shape(
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

/// The words Go's strconv.ParseBool knows.
fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// Reads a Go duration that is not negative.
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
