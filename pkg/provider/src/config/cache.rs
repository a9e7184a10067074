use std::path::PathBuf;

use manifest::Value;

use super::{Config, ConfigError};

/// The configuration of the disk cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheConfig {
    /// The folder of the cache.
    pub folder: CacheFolder,
    /// The maximum size in bytes. `None` for the default.
    pub max_bytes: Option<u64>,
}

/// The folder of the cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CacheFolder {
    /// The default cache folder of the platform.
    #[default]
    Default,
    /// The given folder.
    Path(PathBuf),
    /// Disables the cache.
    Off,
}

impl CacheFolder {
    /// Parses a folder from the configuration or the environment. `off` disables the cache.
    pub fn parse(text: &str) -> Self {
        match text {
            "" => Self::Default,
            "off" => Self::Off,
            path => Self::Path(PathBuf::from(path)),
        }
    }
}

impl Config {
    /// The section `cache`, read from the file only. clusterctl ignores this section.
    ///
    /// Shape: `${NAME}` in the folder is replaced by environment variables. A relative folder starts at the working
    /// folder.
    /// # Errors
    /// `Shape` if the section or the size is invalid; `Substitution` if a `${…}` in the folder is invalid.
    pub fn cache(&self) -> Result<CacheConfig, ConfigError> {
        let fields = match self.section("cache") {
            None => return Ok(CacheConfig::default()),
            Some(Value::Object(fields)) => fields,
            Some(other) => return Err(self.shape_error("cache", "a mapping with folder or maxSize", other)),
        };
        // Some YAML parsers convert an unquoted `off` to false.
        let folder = if fields.get("folder") == Some(&Value::Bool(false)) {
            CacheFolder::Off
        } else {
            let text = Self::field(fields, "folder").unwrap_or_default();
            CacheFolder::parse(&self.substitute("cache.folder", &text)?)
        };
        let size = Self::field(fields, "maxsize").filter(|text| !text.is_empty());
        let max_bytes = match size {
            None => None,
            Some(text) => Some(parse_size(&text).ok_or_else(|| {
                self.shape_error("cache.maxSize", "a size such as 500MB or 2GiB", &fields["maxsize"])
            })?),
        };
        Ok(CacheConfig { folder, max_bytes })
    }
}

/// Parses a number of bytes with an optional unit.
fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let unit_bytes = match unit.trim_start().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1000,
        "mb" => 1000 * 1000,
        "gb" => 1000 * 1000 * 1000,
        "ki" | "kib" => 1 << 10,
        "mi" | "mib" => 1 << 20,
        "gi" | "gib" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ConfigFile, ConfigFormat, Environment};

    fn cache(text: &str) -> Result<CacheConfig, ConfigError> {
        let file = ConfigFile {
            origin: "c.yaml".to_owned(),
            folder: None,
            format: ConfigFormat::Yaml,
            text: text.to_owned(),
        };
        Config::new(Some(file), Environment::new([("WORK".to_owned(), "/srv".to_owned())]))?.cache()
    }

    #[test]
    fn a_cache_size_has_a_unit_or_is_in_bytes() {
        for (text, bytes) in [("0", 0), ("42", 42), ("1 kB", 1000), ("500MB", 500_000_000), ("2GiB", 2 << 30)]
        {
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
        for bad in ["", "GiB", "1.5GiB", "-1", "1 PB", "99999999999999999999", "18446744073709551615Ki"] {
            assert_eq!(parse_size(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_cache_folder_expands_variables_and_off_disables_it() {
        let folder = |text: &str| cache(text).unwrap().folder;
        assert_eq!(folder("cache: {folder: \"${WORK}/cache\"}"), CacheFolder::Path("/srv/cache".into()));
        assert_eq!(folder("cache: {folder: off}"), CacheFolder::Off);
        assert_eq!(folder("cache: {folder: \"off\"}"), CacheFolder::Off);
        assert_eq!(folder("cache: {maxSize: 1Gi}"), CacheFolder::Default);
        assert_eq!(cache("cache: {maxSize: 1Gi}").unwrap().max_bytes, Some(1 << 30));
        assert_eq!(cache("a: b").unwrap(), CacheConfig::default());
    }

    #[test]
    fn an_invalid_size_is_refused_with_its_key() {
        let error = cache("cache: {maxSize: much}").unwrap_err();
        assert!(matches!(&error, ConfigError::Shape { key, .. } if key == "cache.maxSize"), "{error}");
        assert!(cache("cache: [a]").is_err());
    }
}
