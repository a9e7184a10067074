use std::{collections::BTreeMap, path::PathBuf};

use api::{ProviderId, ProviderType};
use manifest::{Map, Value};

use super::{Config, ConfigError};

impl Config {
    /// The keys that must have signed the releases of providers: `verify: {key: FILE}` of their entries.
    ///
    /// Shape: by provider label. The later of two equal entries counts. A relative path starts at the folder of the
    /// configuration file. Other errors of entries are reported by [`Config::providers`].
    /// # Errors
    /// `Shape` if `verify` has anything except a key; `Substitution` if a `${…}` in the path is invalid.
    pub fn signature_keys(&self) -> Result<BTreeMap<String, PathBuf>, ConfigError> {
        let entries = match self.section("providers") {
            Some(Value::Array(entries)) => entries.as_slice(),
            Some(entry @ Value::Object(_)) => std::slice::from_ref(entry),
            _ => &[],
        };
        let mut keys = BTreeMap::new();
        for (index, entry) in entries.iter().enumerate() {
            let Some(fields) = entry.as_object() else { continue };
            let field = |key| Self::field(fields, key).unwrap_or_default();
            let Ok(provider_type) = field("type").parse::<ProviderType>() else { continue };
            let label = ProviderId::new(provider_type, field("name")).label();
            match self.signature_key(index, fields)? {
                Some(key) => keys.insert(label, key),
                None => keys.remove(&label),
            };
        }
        Ok(keys)
    }

    fn signature_key(
        &self,
        index: usize,
        fields: &Map<String, Value>,
    ) -> Result<Option<PathBuf>, ConfigError> {
        let place = format!("providers[{index}].verify");
        let Some(verify) = fields.get("verify") else { return Ok(None) };
        let key = verify
            .as_object()
            .filter(|verify| verify.len() == 1)
            .and_then(|verify| Self::field(verify, "key"))
            .filter(|key| !key.is_empty());
        let key = key.ok_or_else(|| {
            self.shape_error(place.clone(), "a mapping with `key`, the file of a public key", verify)
        })?;
        let path = self.substitute(&format!("{place}.key"), &key)?;
        Ok(Some(PathBuf::from(self.absolute_url(path))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ConfigFile, ConfigFormat, Environment};

    fn keys(text: &str) -> Result<BTreeMap<String, PathBuf>, ConfigError> {
        let file = ConfigFile {
            origin: "clusterctl.yaml".to_owned(),
            folder: Some(PathBuf::from("/etc/capi")),
            format: ConfigFormat::Yaml,
            text: text.to_owned(),
        };
        Config::new(Some(file), Environment::default())?.signature_keys()
    }

    #[test]
    fn a_key_is_found_by_the_label_and_starts_at_the_folder_of_the_file() {
        let found = keys(
            "providers:
- {name: aws, type: InfrastructureProvider, url: 'oci://lab/aws', verify: {key: keys/cosign.pub}}
- {name: kubeadm, type: BootstrapProvider, url: 'oci://lab/kubeadm', verify: {key: /k.pub}}
- {name: kubeadm, type: BootstrapProvider, url: 'oci://lab/kubeadm'}
",
        );
        let expected = [("infrastructure-aws".to_owned(), PathBuf::from("/etc/capi/keys/cosign.pub"))];
        assert_eq!(found.unwrap(), BTreeMap::from(expected));
    }

    #[test]
    fn an_invalid_public_key_is_refused() {
        for verify in ["true", "{}", "{key: ''}", "{keys: a.pub}", "{key: a.pub, identity: me}", "null"] {
            let entry = format!(
                "{{name: aws, type: InfrastructureProvider, url: 'oci://lab/aws', verify: {verify}}}"
            );
            assert!(keys(&format!("providers: [{entry}]\n")).is_err(), "{verify}");
        }
    }
}
