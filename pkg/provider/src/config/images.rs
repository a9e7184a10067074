use std::collections::BTreeMap;

use manifest::{Value, images::ImageOverride};

use super::{Config, ConfigError};

/// Image overrides by component: `all`, a provider label, or a provider label with the image's last path element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageOverrides(BTreeMap<String, ImageOverride>);

impl ImageOverrides {
    /// What applies to one image of one component, field by field, the narrowest rule winning.
    /// Shape: `component` is a provider label or `cert-manager`; `image` the last element of the image's path.
    /// Source: clusterctl v1.14 client/config (image meta); keys do not mind case.
    pub fn resolve(&self, component: &str, image: &str) -> Option<ImageOverride> {
        let component = component.to_lowercase();
        let narrow = format!("{component}/{}", image.to_lowercase());
        let rules = ["all", &component, &narrow].into_iter().filter_map(|key| self.0.get(key));
        rules.cloned().reduce(|wide, narrow| ImageOverride {
            repository: set_or(narrow.repository, wide.repository),
            name: set_or(narrow.name, wide.name),
            tag: set_or(narrow.tag, wide.tag),
        })
    }
}

fn set_or(narrow: String, wide: String) -> String {
    if narrow.is_empty() { wide } else { narrow }
}

impl Config {
    /// The `images` section. An empty list counts as nothing, as it does for viper.
    /// # Errors
    /// `Shape` when an entry is not a mapping of repository, name and tag.
    pub fn image_overrides(&self) -> Result<ImageOverrides, ConfigError> {
        const EXPECTED: &str = "components, each with repository, name or tag";
        let components = match self.section("images") {
            None => return Ok(ImageOverrides::default()),
            Some(Value::Array(none)) if none.is_empty() => return Ok(ImageOverrides::default()),
            Some(Value::Object(components)) => components,
            Some(other) => return Err(self.shape("images", EXPECTED, other)),
        };
        let mut overrides = BTreeMap::new();
        for (component, rule) in components {
            let fields = match rule {
                Value::Null => continue,
                Value::Object(fields) => fields,
                other => {
                    return Err(self.shape(format!("images.{component}"), "repository, name or tag", other));
                }
            };
            for key in ["repository", "name", "tag"] {
                if let Some(value @ (Value::Array(_) | Value::Object(_))) = fields.get(key) {
                    return Err(self.shape(format!("images.{component}.{key}"), "text", value));
                }
            }
            let field = |key| Self::field(fields, key).unwrap_or_default();
            let rule =
                ImageOverride { repository: field("repository"), name: field("name"), tag: field("tag") };
            overrides.insert(component.clone(), rule);
        }
        Ok(ImageOverrides(overrides))
    }
}
