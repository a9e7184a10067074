use std::collections::BTreeMap;

use bytes::Bytes;
use transport::{
    Digest,
    names::check_file,
    registry::{
        Descriptor, FetchedManifest, Index, Manifest, ManifestDocument, Reference, Registry, TITLE_ANNOTATION,
    },
};

use super::{OciError, archive, file_names::type_and_name};
use crate::Error;

/// Annotations for type and name of the provider.
/// Source: cluster-api proposal 20260804-provider-manifests-as-oci-artifacts.
const PROVIDER_TYPE: &str = "cluster-api.sigs.k8s.io/provider-type";
const PROVIDER_NAME: &str = "cluster-api.sigs.k8s.io/provider-name";

/// The files of one artifact.
#[derive(Debug)]
pub(crate) struct Artifact {
    address: String,
    digest: Digest,
    files: BTreeMap<String, Content>,
}

#[derive(Debug)]
enum Content {
    /// A separate layer, read on demand.
    Layer(Descriptor),
    /// A file unpacked from a packed layer.
    Unpacked(Bytes),
}

impl Artifact {
    /// Reads the files of a manifest, or of the one artifact in an index that belongs to the provider of this label.
    ///
    /// A layer with a title is one file, as cluster-api-operator and `oras push` create. A packed layer without a title
    /// is unpacked, as in the cluster-api proposal.
    /// # Errors
    /// An [`OciError`] if the manifest or index is not an artifact of this provider; any failure of a request.
    pub(crate) async fn of(
        registry: &Registry,
        repository: &str,
        address: String,
        found: FetchedManifest,
        label: &str,
    ) -> Result<Self, Error> {
        let (manifest, digest) = match found.document {
            ManifestDocument::Manifest(manifest) => (*manifest, found.digest),
            ManifestDocument::Index(index) => {
                let chosen = choose_manifest(&index, &address, label)?;
                (read_inner_manifest(registry, repository, &address, chosen).await?, chosen.digest)
            }
        };
        check_provider(&manifest, &address, label)?;
        let files = read_layers(registry, repository, &address, manifest.layers).await?;
        if files.is_empty() {
            return Err(OciError::NoFiles { address }.into());
        }
        Ok(Self { address, digest, files })
    }

    /// The address of the artifact.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The names of the files, sorted.
    pub(crate) fn titles(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    pub(crate) fn has(&self, title: &str) -> bool {
        self.files.contains_key(title)
    }

    /// Reads the content of a file.
    /// # Errors
    /// [`Error::NoFile`]; the errors of [`Registry::small_blob`].
    pub(crate) async fn read(
        &self,
        registry: &Registry,
        repository: &str,
        title: &str,
    ) -> Result<Bytes, Error> {
        match self.files.get(title) {
            Some(Content::Unpacked(bytes)) => Ok(bytes.clone()),
            Some(Content::Layer(layer)) => Ok(registry.small_blob(repository, layer).await?),
            None => Err(Error::UnknownFile {
                file: title.to_owned(),
                version: self.digest.to_string(),
                place: self.address.clone(),
                looked_at: self.address.clone(),
                available: self.titles().map(str::to_owned).collect(),
            }),
        }
    }
}

/// Fetches a manifest from an index, and checks its size and media type.
pub(crate) async fn read_inner_manifest(
    registry: &Registry,
    repository: &str,
    outer: &str,
    descriptor: &Descriptor,
) -> Result<Manifest, Error> {
    let reference = Reference::Digest(descriptor.digest);
    let address = registry.address(repository, Some(&reference));
    let Some(found) = registry.manifest(repository, &reference).await? else {
        let (version, place) = (reference.to_string(), outer.to_owned());
        return Err(Error::UnknownRelease { version, place, available: Vec::new() });
    };
    let ManifestDocument::Manifest(manifest) = found.document else {
        return Err(OciError::NestedIndex { address }.into());
    };
    let actual_bytes = found.bytes.len() as u64;
    if actual_bytes != descriptor.size {
        return Err(transport::Error::Size { address, expected_bytes: descriptor.size, actual_bytes }.into());
    }
    if found.media_type != descriptor.media_type {
        return Err(transport::Error::MediaType { address, media_type: found.media_type }.into());
    }
    Ok(*manifest)
}

async fn read_layers(
    registry: &Registry,
    repository: &str,
    address: &str,
    layers: Vec<Descriptor>,
) -> Result<BTreeMap<String, Content>, Error> {
    let mut files = BTreeMap::new();
    let mut remaining_bytes = registry.context().max_file_bytes();
    for layer in layers {
        let new = match layer.title().map(str::to_owned) {
            Some(title) => vec![(title, Content::Layer(layer))],
            None if is_packed(&layer.media_type) => {
                let packed = registry.small_blob(repository, &layer).await?;
                let unpacked = archive::unpack(&packed, &mut remaining_bytes);
                let unpacked =
                    unpacked.map_err(|reason| OciError::Archive { address: address.to_owned(), reason })?;
                unpacked.into_iter().map(|(name, bytes)| (name, Content::Unpacked(bytes))).collect()
            }
            None => continue,
        };
        for (file, content) in new {
            check_file(&file)?;
            if files.contains_key(&file) {
                return Err(OciError::DuplicateFile { address: address.to_owned(), file }.into());
            }
            files.insert(file, content);
        }
    }
    Ok(files)
}

pub(super) fn is_packed(media_type: &str) -> bool {
    media_type.ends_with(".tar+gzip") || media_type.ends_with(".tar.gzip")
}

/// Selects the artifact of the provider by annotation or title, or the only artifact of the index.
fn choose_manifest<'a>(index: &'a Index, address: &str, label: &str) -> Result<&'a Descriptor, OciError> {
    let says_so = |entry: &&Descriptor| match provider_of(&entry.annotations) {
        Some(provider) => provider == provider_of_label(label),
        None => entry.title() == Some(label),
    };
    let named: Vec<&Descriptor> = index.manifests.iter().filter(says_so).collect();
    match (named.as_slice(), index.manifests.as_slice()) {
        ([one], _) => Ok(one),
        ([], [one]) if one.title().is_none() && one.platform.is_none() => Ok(one),
        _ => Err(OciError::NotInIndex {
            address: address.to_owned(),
            label: label.to_owned(),
            found: named.len(),
            titles: index.manifests.iter().filter_map(Descriptor::title).map(str::to_owned).collect(),
        }),
    }
}

fn check_provider(manifest: &Manifest, address: &str, label: &str) -> Result<(), OciError> {
    match provider_of(&manifest.annotations) {
        Some(found) if found != provider_of_label(label) => Err(OciError::WrongProvider {
            address: address.to_owned(),
            label: label.to_owned(),
            found: manifest
                .annotations
                .get(TITLE_ANNOTATION)
                .cloned()
                .unwrap_or_else(|| format!("{} {}", found.0, found.1)),
        }),
        _ => Ok(()),
    }
}

/// The provider type and name. The type is in lower case without dashes, so that `controlPlane` equals `control-plane`.
fn provider_of(annotations: &BTreeMap<String, String>) -> Option<(String, String)> {
    let provider_type = annotations.get(PROVIDER_TYPE)?.to_ascii_lowercase().replace('-', "");
    Some((provider_type, annotations.get(PROVIDER_NAME)?.clone()))
}

fn provider_of_label(label: &str) -> (String, String) {
    let (provider_type, name) = type_and_name(label);
    (provider_type.flag().replace('-', ""), name.to_owned())
}
