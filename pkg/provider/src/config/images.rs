use std::collections::BTreeMap;

use api::similar_names;
use manifest::{
    Map, Value,
    images::{ImageOverride, ImageReference, is_digest},
};

use super::{Config, ConfigError};

/// Image overrides: rules by component, and registry replacements by prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageOverrides {
    rules: BTreeMap<String, ImageOverride>,
    registries: BTreeMap<String, String>,
    argument_images: ArgumentImages,
}

/// Policy for images that are named only in arguments, variables or annotations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArgumentImages {
    /// Report only, because text that looks like an image may have another meaning.
    #[default]
    Report,
    /// Replace like images of containers.
    Rewrite,
}

/// A rule that matches no image.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` matches no image{}", suggestion(near))]
pub struct UnusedImageRule {
    /// The key of the rule, with its parents.
    pub key: String,
    /// Similar keys that match.
    pub near: Vec<String>,
}

fn suggestion(near: &[String]) -> String {
    match near {
        [] => String::new(),
        near => format!("; did you mean `{}`?", near.join("` or `")),
    }
}

const ALL: &str = "all";
const IMAGES: &str = "images";
const REGISTRIES: &str = "registryMap";
const ARGUMENT_IMAGES: &str = "imagesInArguments";

impl ImageOverrides {
    /// Resolves the override of one image of one component. Narrower rules win, field by field. Registry replacements
    /// have the lowest precedence.
    ///
    /// Shape: `component` is a provider label or `cert-manager`. Rules match the last path element of the image in the
    /// release.
    /// Source: clusterctl v1.14 client/config (image meta). Keys are case-insensitive. Differs: clusterctl has no
    /// registry replacements and no digests.
    pub fn resolve(&self, component: &str, image: &ImageReference<'_>) -> Option<ImageOverride> {
        let component = component.to_lowercase();
        let narrow = format!("{component}/{}", image.name.to_lowercase());
        let rules = [ALL, &component, &narrow].into_iter().filter_map(|key| self.rules.get(key)).cloned();
        self.registry_override(image).into_iter().chain(rules).reduce(|wide, narrow| ImageOverride {
            repository: first_non_empty(narrow.repository, wide.repository),
            name: first_non_empty(narrow.name, wide.name),
            tag: first_non_empty(narrow.tag, wide.tag),
            digest: first_non_empty(narrow.digest, wide.digest),
        })
    }

    /// The policy for images that no container runs.
    pub fn argument_images(&self) -> ArgumentImages {
        self.argument_images
    }

    /// Rules of a component that match none of its images. Rules for other components are not checked. A registry rule
    /// is reported only if it is similar to a registry of these images, because it may apply elsewhere.
    pub fn unused<'a>(
        &self,
        component: &str,
        images: impl IntoIterator<Item = ImageReference<'a>>,
    ) -> Vec<UnusedImageRule> {
        let images: Vec<_> = images.into_iter().collect();
        let prefix = format!("{}/", component.to_lowercase());
        let names = images.iter().map(|image| image.name);
        let of_component = self.rules.keys().filter_map(|key| Some((key, key.strip_prefix(&prefix)?)));
        let rules = of_component
            .filter(|(_, name)| !names.clone().any(|known| known.eq_ignore_ascii_case(name)))
            .map(|(key, name)| UnusedImageRule {
                key: format!("{IMAGES}.{key}"),
                near: similar_names(name, names.clone())
                    .into_iter()
                    .map(|near| format!("{prefix}{near}"))
                    .collect(),
            });
        let registries = self.registries.keys().filter_map(|key| {
            let is_used = images.iter().any(|image| path_after(&path_of(image), key).is_some());
            let near = similar_names(key, images.iter().map(|image| same_depth(image.repository, key)));
            let near: Vec<String> = near.into_iter().map(str::to_owned).collect();
            (!is_used && !near.is_empty())
                .then(|| UnusedImageRule { key: format!("{REGISTRIES}.{key}"), near })
        });
        rules.chain(registries).collect()
    }

    /// The components that have rules.
    fn components(&self) -> impl Iterator<Item = &str> {
        let component =
            |key: &'_ str| key.split_once('/').map_or(key.len(), |(component, _)| component.len());
        self.rules.keys().map(move |key| &key[..component(key)]).filter(|component| *component != ALL)
    }

    /// The override for an image by the longest matching registry prefix.
    fn registry_override(&self, image: &ImageReference<'_>) -> Option<ImageOverride> {
        let path = path_of(image);
        let prefixes =
            self.registries.iter().filter_map(|(key, to)| Some((key, to, path_after(&path, key)?)));
        let (_, to, rest) = prefixes.max_by_key(|(key, ..)| key.len())?;
        let new = format!("{to}{rest}");
        let (repository, name) = new.rsplit_once('/')?;
        let (repository, name) = (repository.to_owned(), name.to_owned());
        Some(ImageOverride { repository, name, ..ImageOverride::default() })
    }
}

fn first_non_empty(narrow: String, wide: String) -> String {
    if narrow.is_empty() { wide } else { narrow }
}

fn path_of(image: &ImageReference<'_>) -> String {
    format!("{}/{}", image.repository, image.name)
}

/// The rest of a path after a prefix. `None` unless the prefix ends at the end of a path element.
fn path_after<'a>(path: &'a str, prefix: &str) -> Option<&'a str> {
    path.strip_prefix(prefix).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The first elements of a path, as many as another path has.
fn same_depth<'a>(path: &'a str, other: &str) -> &'a str {
    let end = path.match_indices('/').nth(other.matches('/').count()).map_or(path.len(), |(at, _)| at);
    &path[..end]
}

impl Config {
    /// The image sections of the file, for copying into another configuration.
    pub fn image_sections(&self) -> Map<String, Value> {
        let section = |name: &str| Some((name.to_owned(), self.section(&name.to_lowercase())?.clone()));
        [IMAGES, REGISTRIES, ARGUMENT_IMAGES].into_iter().filter_map(section).collect()
    }

    /// The sections `images`, `registryMap` and `imagesInArguments`. An empty list counts as absent, as in viper.
    /// Sections specific to capstan have names that clusterctl ignores.
    /// # Errors
    /// `Shape` if an entry is invalid.
    pub fn image_overrides(&self) -> Result<ImageOverrides, ConfigError> {
        Ok(ImageOverrides {
            rules: self.image_rules()?,
            registries: self.registries()?,
            argument_images: self.argument_image_mode()?,
        })
    }

    /// Rules of the section `images` for components that match no provider, with similar component names.
    /// # Errors
    /// The errors of [`Config::image_overrides`] and [`Config::providers`].
    pub fn unmatched_image_rules(&self) -> Result<Vec<UnusedImageRule>, ConfigError> {
        let overrides = self.image_overrides()?;
        if overrides.rules.is_empty() {
            return Ok(Vec::new());
        }
        let known: Vec<String> = self.providers()?.iter().map(|provider| provider.id.label()).collect();
        let known = || known.iter().map(String::as_str).chain([super::CertManager::LABEL]);
        let mut unused: Vec<UnusedImageRule> = overrides
            .components()
            .filter(|component| !known().any(|label| label.eq_ignore_ascii_case(component)))
            .map(|component| UnusedImageRule {
                key: format!("{IMAGES}.{component}"),
                near: similar_names(component, known()).into_iter().map(str::to_owned).collect(),
            })
            .collect();
        unused.dedup();
        Ok(unused)
    }

    fn image_rules(&self) -> Result<BTreeMap<String, ImageOverride>, ConfigError> {
        const EXPECTED: &str = "a mapping from components to repository, name or tag";
        let components = match self.section(IMAGES) {
            None => return Ok(BTreeMap::new()),
            Some(Value::Array(none)) if none.is_empty() => return Ok(BTreeMap::new()),
            Some(Value::Object(components)) => components,
            Some(other) => return Err(self.shape_error(IMAGES, EXPECTED, other)),
        };
        let mut rules = BTreeMap::new();
        for (component, rule) in components {
            match rule {
                Value::Null => {}
                Value::Object(fields) => {
                    rules.insert(component.clone(), self.image_rule(component, fields)?);
                }
                other => {
                    return Err(self.shape_error(
                        format!("images.{component}"),
                        "a mapping with repository, name or tag",
                        other,
                    ));
                }
            }
        }
        Ok(rules)
    }

    fn image_rule(&self, component: &str, fields: &Map<String, Value>) -> Result<ImageOverride, ConfigError> {
        let key = |field: &str| format!("{IMAGES}.{component}.{field}");
        let text = |field: &str| match fields.get(field) {
            Some(value @ (Value::Array(_) | Value::Object(_))) => {
                Err(self.shape_error(key(field), "text", value))
            }
            _ => Ok(Self::field(fields, field).unwrap_or_default()),
        };
        let digest = text("digest")?;
        let wrong = |expected| Err(self.shape_error(key("digest"), expected, &fields["digest"]));
        if !digest.is_empty() && !is_digest(&digest) {
            return wrong("a digest such as sha256:…");
        }
        if !digest.is_empty() && !component.contains('/') {
            return Err(ConfigError::Shape {
                origin: self.display_origin(),
                key: key("digest"),
                expected: "in an entry for one image, such as `cert-manager/cert-manager-webhook`",
                found: "in an entry for a component",
            });
        }
        Ok(ImageOverride { repository: text("repository")?, name: text("name")?, tag: text("tag")?, digest })
    }

    fn registries(&self) -> Result<BTreeMap<String, String>, ConfigError> {
        let registries = match self.section(REGISTRIES.to_lowercase().as_str()) {
            None => return Ok(BTreeMap::new()),
            Some(Value::Object(registries)) => registries,
            Some(other) => {
                return Err(self.shape_error(
                    REGISTRIES,
                    "a mapping from registries to their replacements",
                    other,
                ));
            }
        };
        let one = |(from, value): (&String, &Value)| match Self::field(registries, from) {
            Some(to) if !to.trim_end_matches('/').is_empty() => {
                Ok((from.trim_end_matches('/').to_owned(), to.trim_end_matches('/').to_owned()))
            }
            _ => Err(self.shape_error(format!("{REGISTRIES}.{from}"), "a registry", value)),
        };
        registries.iter().map(one).collect()
    }

    fn argument_image_mode(&self) -> Result<ArgumentImages, ConfigError> {
        let Some(value) = self.section(&ARGUMENT_IMAGES.to_lowercase()) else {
            return Ok(ArgumentImages::Report);
        };
        match value.as_str() {
            Some("report") => Ok(ArgumentImages::Report),
            Some("rewrite") => Ok(ArgumentImages::Rewrite),
            _ => Err(self.shape_error(ARGUMENT_IMAGES, "report or rewrite", value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;
    use crate::config::{ConfigFile, ConfigFormat, Environment};

    fn config(text: &str) -> Config {
        let file = ConfigFile {
            origin: "/etc/clusterctl.yaml".to_owned(),
            folder: None,
            format: ConfigFormat::Yaml,
            text: text.to_owned(),
        };
        Config::new(Some(file), Environment::default()).unwrap()
    }

    fn overridden(overrides: &ImageOverrides, component: &str, image: &str) -> String {
        let image = ImageReference::parse(image).unwrap();
        image.with_override(&overrides.resolve(component, &image).unwrap_or_default())
    }

    // Row: D-212
    #[test]
    fn the_longest_prefix_is_replaced_and_a_rule_comes_before_it() {
        let overrides = config(
            "registryMap:
  quay.io: lab.local/quay/
  quay.io/jetstack: lab.local/jetstack
  registry.k8s.io/pause: lab.local/other/rest
images:
  core/b: {repository: narrow.local}
  core/c: {tag: v2}
",
        )
        .image_overrides()
        .unwrap();
        for (image, expected) in [
            ("quay.io/a:1", "lab.local/quay/a:1"),
            ("quay.io/jetstack/a:1", "lab.local/jetstack/a:1"),
            ("quay.io/jetstack2/a:1", "lab.local/quay/jetstack2/a:1"),
            ("quay.io.evil/a:1", "quay.io.evil/a:1"),
            ("registry.k8s.io/pause:1", "lab.local/other/rest:1"),
            ("quay.io/b:1", "narrow.local/b:1"),
            ("quay.io/c:1", "lab.local/quay/c:v2"),
        ] {
            assert_eq!(overridden(&overrides, "core", image), expected);
        }
    }

    // Row: D-212
    #[test]
    fn a_digest_applies_to_a_single_image() {
        let digest = format!("sha256:{}", "0".repeat(64));
        let overrides =
            config(&format!("images: {{core/a: {{digest: '{digest}'}}}}")).image_overrides().unwrap();
        assert_eq!(overridden(&overrides, "core", "quay.io/a:1"), format!("quay.io/a:1@{digest}"));
        let reported = [
            &format!("images: {{core: {{digest: '{digest}'}}}}"),
            "images: {core/a: {digest: 'sha256:0'}}",
            "registryMap: {quay.io: ''}",
            "imagesInArguments: true",
        ]
        .map(|text| config(text).image_overrides().unwrap_err().to_string());
        assert_data_eq!(
            reported.join("\n"),
            str![[r#"
`images.core.digest` in `/etc/clusterctl.yaml` must be in an entry for one image, such as `cert-manager/cert-manager-webhook`, not in an entry for a component
`images.core/a.digest` in `/etc/clusterctl.yaml` must be a digest such as sha256:…, not text
`registryMap.quay.io` in `/etc/clusterctl.yaml` must be a registry, not text
`imagesInArguments` in `/etc/clusterctl.yaml` must be report or rewrite, not a boolean
"#]]
        );
    }

    #[test]
    fn image_rules_that_match_nothing_get_suggestions() {
        let config = config(
            "registryMap: {registry.k8s.oi: a, gcr.io: b, quay.io: c}
images: {all: {tag: v1}, core: {tag: v1}, core/manger: {tag: v1}, other/manager: {tag: v1}, infrastructure-awss: {tag: v1}}
",
        );
        let overrides = config.image_overrides().unwrap();
        let images =
            ["registry.k8s.io/capi/manager:1", "quay.io/a:1"].map(|it| ImageReference::parse(it).unwrap());
        let reported =
            |unused: Vec<UnusedImageRule>| -> Vec<_> { unused.iter().map(ToString::to_string).collect() };
        let of_nobody = reported(config.unmatched_image_rules().unwrap());
        let unused = [reported(overrides.unused("core", images)), of_nobody].concat();
        assert_data_eq!(
            unused.join("\n"),
            str![[r#"
`images.core/manger` matches no image; did you mean `core/manager`?
`registryMap.registry.k8s.oi` matches no image; did you mean `registry.k8s.io`?
`images.core` matches no image
`images.infrastructure-awss` matches no image; did you mean `infrastructure-aws`?
`images.other` matches no image
"#]]
        );
    }
}
