//! `index.json`: the list of entries in a bundle.

use std::{collections::BTreeMap, fmt::Display};

use api::output::{BundleContentKind, LoadedContent, LoadedContentState};
use repository::{ChartSource, chart_path};
use serde::{Deserialize, Serialize};
use transport::{
    AddressOrigin,
    names::check_version,
    registry::{Descriptor, INDEX_MEDIA_TYPE},
};

use crate::{BundleFormatError, ImageAddress, layout::FORMAT_VERSION};

/// The maximum size of `index.json`.
pub(super) const MAX_INDEX_BYTES: u64 = 4 * 1024 * 1024;

const BUNDLE: &str = "dev.capstan.bundle";
const KIND: &str = "dev.capstan.bundle.kind";
const PROVIDER: &str = "dev.capstan.bundle.provider";
const CHART_URL: &str = "dev.capstan.bundle.chart";
const VERSION: &str = "dev.capstan.bundle.version";
const SIGNED: &str = "dev.capstan.bundle.signed";
const PLATFORM: &str = "dev.capstan.bundle.platform";
/// The annotation with the name of an entry for other tools.
const NAME: &str = "org.opencontainers.image.ref.name";

const RELEASE: &str = "release";
const CONFIGURATION: &str = "configuration";
const CHART: &str = "chart";
const IMAGE: &str = "image";
const SIGNATURE: &str = "signature";

/// Release labels and versions that would conflict with other names in a folder.
const RESERVED_NAMES: [&str; 1] = [crate::layout::IMAGES_FOLDER];

/// The kind and name of a bundle entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BundleItem {
    /// `clusterctl.yaml`, the lock, and the list of images.
    Configuration,
    /// The files of a release of a provider, or of cert-manager.
    Release {
        /// Provider label.
        label: String,
        /// Version, as written in its tag or folder.
        version: String,
    },
    /// A Helm chart.
    Chart {
        /// URL of the chart, as in a lock.
        url: String,
        /// Version of the chart.
        version: String,
    },
    /// An image.
    Image {
        /// Image reference, as written in the components.
        reference: String,
        /// Platform, if the bundle contains only one platform of the image. None for all platforms.
        platform: Option<String>,
    },
    /// The signatures of a release, a chart or an image, as stored by cosign.
    Signature {
        /// Name of the signed entry.
        signed_entry: String,
    },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct IndexDocument {
    schema_version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    media_type: Option<String>,
    manifests: Vec<Descriptor>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    annotations: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LayoutFile {
    image_layout_version: String,
}

/// Writes an index with sorted entries.
pub(super) fn render(mut entries: Vec<(BundleItem, Descriptor)>) -> Vec<u8> {
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    let manifests = entries.into_iter().map(|(item, descriptor)| item.annotate(descriptor)).collect();
    let document = IndexDocument {
        schema_version: 2,
        media_type: Some(INDEX_MEDIA_TYPE.to_owned()),
        manifests,
        annotations: BTreeMap::from([(BUNDLE.to_owned(), FORMAT_VERSION.to_owned())]),
    };
    serde_json::to_vec_pretty(&document).expect("texts and numbers can be written as JSON")
}

/// Parses an index.
/// # Errors
/// Fails if the index or an entry is invalid.
pub(super) fn parse(bytes: &[u8]) -> Result<Vec<(BundleItem, Descriptor)>, BundleFormatError> {
    let document: IndexDocument =
        serde_json::from_slice(bytes).map_err(|source| parse_error("`index.json`", source))?;
    match document.annotations.get(BUNDLE).map(String::as_str) {
        None => return Err(BundleFormatError::NoBundle),
        Some(FORMAT_VERSION) => {}
        Some(form) => return Err(BundleFormatError::FormatVersion { form: form.chars().take(20).collect() }),
    }
    let entries = document.manifests.into_iter();
    entries.map(|descriptor| Ok((BundleItem::from_descriptor(&descriptor)?, descriptor))).collect()
}

/// Checks that the layout version is supported.
pub(super) fn check_layout(bytes: &[u8]) -> Result<(), BundleFormatError> {
    let layout: LayoutFile =
        serde_json::from_slice(bytes).map_err(|source| parse_error("`oci-layout`", source))?;
    match layout.image_layout_version.as_str() {
        "1.0.0" => Ok(()),
        version => Err(BundleFormatError::Layout { version: version.chars().take(20).collect() }),
    }
}

pub(super) fn parse_error(
    what: &str,
    source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> BundleFormatError {
    BundleFormatError::Text { what: what.to_owned(), source: source.into() }
}

impl BundleItem {
    /// Returns the name for other tools: `LABEL:VERSION`, `PATH:VERSION` of a chart, or the reference of an image. A
    /// signature has the name of the signed entry with the suffix `.sig`.
    pub fn name(&self) -> String {
        match self {
            Self::Configuration => CONFIGURATION.to_owned(),
            Self::Release { label, version } => format!("{label}:{version}"),
            Self::Chart { url, version } => format!("{}:{version}", chart_path(url)),
            Self::Image { reference, .. } => reference.clone(),
            Self::Signature { signed_entry: of } => format!("{of}.sig"),
        }
    }

    /// Returns the kind of the entry for results.
    pub fn kind(&self) -> BundleContentKind {
        match self {
            Self::Configuration => BundleContentKind::Configuration,
            Self::Release { .. } => BundleContentKind::Release,
            Self::Chart { .. } => BundleContentKind::Chart,
            Self::Image { .. } => BundleContentKind::Image,
            Self::Signature { .. } => BundleContentKind::Signature,
        }
    }

    pub(super) fn loaded_content(&self, location: impl Display, state: LoadedContentState) -> LoadedContent {
        LoadedContent { kind: self.kind(), name: self.name(), place: location.to_string(), state }
    }

    fn annotate(self, mut descriptor: Descriptor) -> Descriptor {
        let mut set = |key: &str, value: String| descriptor.annotations.insert(key.to_owned(), value);
        set(NAME, self.name());
        match self {
            Self::Configuration => {
                set(KIND, CONFIGURATION.to_owned());
            }
            Self::Release { label, version } => {
                set(KIND, RELEASE.to_owned());
                set(PROVIDER, label);
                set(VERSION, version);
            }
            Self::Chart { url, version } => {
                set(KIND, CHART.to_owned());
                set(CHART_URL, url);
                set(VERSION, version);
            }
            Self::Image { platform, .. } => {
                set(KIND, IMAGE.to_owned());
                if let Some(platform) = platform {
                    set(PLATFORM, platform);
                }
            }
            Self::Signature { signed_entry: of } => {
                set(KIND, SIGNATURE.to_owned());
                set(SIGNED, of);
            }
        }
        descriptor
    }

    fn from_descriptor(descriptor: &Descriptor) -> Result<Self, BundleFormatError> {
        let digest = descriptor.digest;
        let annotation = |key: &str| descriptor.annotations.get(key).cloned();
        let needed = |key: &str| {
            annotation(key)
                .ok_or(BundleFormatError::Manifest { digest, reason: "has no annotation for its kind" })
        };
        match needed(KIND)?.as_str() {
            CONFIGURATION => Ok(Self::Configuration),
            RELEASE => {
                let (label, version) = (needed(PROVIDER)?, needed(VERSION)?);
                check_name("the provider", &label)?;
                check_name("the version", &version)?;
                Ok(Self::Release { label, version })
            }
            CHART => {
                let (url, version) = (needed(CHART_URL)?, needed(VERSION)?);
                check_name("the version", &version)?;
                let source = ChartSource::of_url(&url, AddressOrigin::FetchedFile);
                if source.is_ok_and(|source| source.name() == url) {
                    return Ok(Self::Chart { url, version });
                }
                let (what, name) = ("the chart", url.escape_debug().to_string());
                Err(BundleFormatError::Name { what, name, reason: "is not the URL of a chart" })
            }
            SIGNATURE => Ok(Self::Signature { signed_entry: needed(SIGNED)? }),
            IMAGE => {
                let (reference, platform) = (needed(NAME)?, annotation(PLATFORM));
                let flaw = |what, name: &str, reason| BundleFormatError::Name {
                    what,
                    name: name.escape_debug().to_string(),
                    reason,
                };
                if ImageAddress::parse(&reference).is_err() {
                    return Err(flaw("the image", &reference, "is not an image reference"));
                }
                let is_plain = |name: &str| {
                    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte))
                };
                match platform {
                    Some(platform) if !is_plain(&platform) => {
                        Err(flaw("the platform", &platform, "is not the platform of an image"))
                    }
                    platform => Ok(Self::Image { reference, platform }),
                }
            }
            _ => Err(BundleFormatError::Manifest { digest, reason: "has an unknown kind" }),
        }
    }
}

/// Checks a name that becomes the name of a folder.
fn check_name(what: &'static str, name: &str) -> Result<(), BundleFormatError> {
    let flaw = |reason| BundleFormatError::Name { what, name: name.escape_debug().to_string(), reason };
    if check_version(name).is_err() || name.starts_with('.') {
        return Err(flaw("is not a plain name"));
    }
    if RESERVED_NAMES.contains(&name.to_ascii_lowercase().as_str()) {
        return Err(flaw("is a reserved name"));
    }
    Ok(())
}
