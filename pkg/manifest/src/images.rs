//! Container images: parsing references, listing the images of an object, and replacing them.

use serde_json::Value;

use crate::{Object, ObjectRef};

mod occurrences;
#[cfg(test)]
mod tests;

pub use occurrences::{ImageLocation, ImageOccurrence, find_images, override_text_images};

/// The parts of a canonical image reference, such as `registry.k8s.io/cluster-api/manager:v1.14.0@sha256:…`.
///
/// The form is `repository/name[:tag][@digest]`. The registry and all path elements but the last form the repository.
/// Source: distribution/reference v0.6.0 (grammar), clusterctl v1.14 util/container/image.go (the four parts).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageReference<'a> {
    /// Everything before the last path element, such as `registry.k8s.io/cluster-api`.
    pub repository: &'a str,
    /// The last path element, such as `manager`.
    pub name: &'a str,
    /// The tag, if any.
    pub tag: Option<&'a str>,
    /// The digest with its algorithm, if any.
    pub digest: Option<&'a str>,
}

/// A text that is no canonical image reference.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum ImageReferenceError {
    /// The text is empty.
    #[error("the reference is empty")]
    Empty,
    /// The registry or path is missing; container runtimes complete them differently.
    #[error("the name is not fully qualified; use `{canonical}`")]
    NotCanonical {
        /// The completed reference of the same image.
        canonical: String,
    },
    /// A path element has capital letters.
    #[error("repository names must be in lower case")]
    Uppercase,
    /// The path exceeds the limit of registries.
    #[error("the path has {length} characters; the limit is {limit}")]
    TooLong {
        /// The number of characters in the path, without the registry.
        length: usize,
        limit: usize,
    },
    /// The part after `@` is no sha256, sha384 or sha512 digest in lower-case hexadecimal.
    #[error("`{digest}` is not a valid digest")]
    Digest { digest: String },
    /// The part after `:` is no valid tag.
    #[error("`{tag}` is not a valid tag")]
    Tag { tag: String },
    /// The registry or path violates the grammar.
    #[error("`{part}` is not a valid image name")]
    Name { part: String },
}

/// The replacements for the parts of an image reference; an empty field keeps its part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageOverride {
    /// The text to replace everything before the last path element; one trailing `/` is ignored.
    pub repository: String,
    /// The text to replace the last path element.
    pub name: String,
    /// The new tag; a digest stays.
    pub tag: String,
    /// The new digest, with its algorithm.
    pub digest: String,
}

/// A container with an invalid image reference.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("image `{image}` of container `{container}` in `{object}` is not valid")]
pub struct InvalidImage {
    /// The object that holds the container.
    pub object: ObjectRef,
    /// The name of the container; empty if it has none.
    pub container: String,
    /// The invalid reference.
    pub image: String,
    /// The reason why the reference is invalid.
    #[source]
    pub reason: ImageReferenceError,
}

/// The maximum number of characters in the path of a repository.
const PATH_LIMIT: usize = 255;
const TAG_LIMIT: usize = 128;
const DEFAULT_REGISTRY: &str = "docker.io";
const LEGACY_REGISTRY: &str = "index.docker.io";
const CONTAINER_FIELDS: [&str; 2] = ["containers", "initContainers"];

impl<'a> ImageReference<'a> {
    /// Parses a reference that is complete.
    /// Source: distribution/reference v0.6.0 (`ParseNamed`).
    /// # Errors
    /// [`ImageReferenceError`] names the invalid part; `NotCanonical` has the canonical form.
    pub fn parse(text: &'a str) -> Result<Self, ImageReferenceError> {
        if text.is_empty() {
            return Err(ImageReferenceError::Empty);
        }
        let (domain, remainder) = split_domain(text);
        let (path, tag, digest) = split_remainder(remainder);
        check_name(domain, path)?;
        if let Some(tag) = tag.filter(|tag| !is_tag(tag)) {
            return Err(ImageReferenceError::Tag { tag: tag.to_owned() });
        }
        if let Some(digest) = digest.filter(|digest| !is_digest(digest)) {
            return Err(ImageReferenceError::Digest { digest: digest.to_owned() });
        }
        match domain {
            None => return Err(not_canonical(&format!("{DEFAULT_REGISTRY}/{text}"))),
            Some(DEFAULT_REGISTRY) if !path.contains('/') => return Err(not_canonical(text)),
            Some(LEGACY_REGISTRY) => {
                return Err(not_canonical(&format!("{DEFAULT_REGISTRY}/{remainder}")));
            }
            Some(_) => {}
        }
        let whole = &text[..text.len() - (remainder.len() - path.len())];
        // The domain ends in a slash, so a canonical reference always has one.
        let (repository, name) = whole.rsplit_once('/').unwrap_or(("", whole));
        Ok(Self { repository, name, tag, digest })
    }

    /// Returns the reference with some parts replaced.
    ///
    /// The result is not validated, as private registries may have other rules.
    /// Source: clusterctl v1.14 client/config/imagemeta_client.go (`ApplyToImage`).
    pub fn with_override(&self, change: &ImageOverride) -> String {
        let repository = change.repository.strip_suffix('/').unwrap_or(&change.repository);
        let repository = if change.repository.is_empty() { self.repository } else { repository };
        let name = if change.name.is_empty() { self.name } else { &change.name };
        let tag = if change.tag.is_empty() { self.tag } else { Some(change.tag.as_str()) };
        let digest = if change.digest.is_empty() { self.digest } else { Some(change.digest.as_str()) };
        let mut text = format!("{repository}/{name}");
        for (separator, part) in [(':', tag), ('@', digest)] {
            if let Some(part) = part {
                text.push(separator);
                text.push_str(part);
            }
        }
        text
    }
}

/// Lists the images of a Deployment or DaemonSet; other kinds have none.
///
/// Containers come in their order, then init containers. Duplicates stay. A missing image is the empty text.
/// Source: clusterctl v1.14 internal/util/objs.go (`InspectImages`).
pub fn images_of(object: &Object) -> Vec<&str> {
    containers(object).map(|(_, _, container)| text_field(container, "image")).collect()
}

/// Replaces the images of a Deployment or DaemonSet; other kinds stay unchanged.
///
/// Parses every image and calls `lookup` with it. An object without a new image is not copied.
/// Source: clusterctl v1.14 internal/util/objs.go (`FixImages`).
/// # Errors
/// One entry for each image that is no canonical reference; the object then stays unchanged.
pub fn override_images(
    object: &mut Object,
    lookup: &dyn Fn(&ImageReference<'_>) -> Option<ImageOverride>,
) -> Result<(), Vec<InvalidImage>> {
    let mut changes = Vec::new();
    let mut invalid = Vec::new();
    for (field, index, container) in containers(object) {
        let image = text_field(container, "image");
        match ImageReference::parse(image) {
            Ok(reference) => {
                let new = lookup(&reference).map(|change| reference.with_override(&change));
                changes.extend(new.filter(|new| new != image).map(|new| (field, index, new)));
            }
            Err(reason) => invalid.push(InvalidImage {
                object: ObjectRef::of(object),
                container: text_field(container, "name").to_owned(),
                image: image.to_owned(),
                reason,
            }),
        }
    }
    if !invalid.is_empty() {
        return Err(invalid);
    }
    for (field, index, image) in changes {
        let list = object.get_mut(&["spec", "template", "spec", field]);
        if let Some(Value::Object(container)) = list.and_then(|list| list.get_mut(index)) {
            container.insert("image".to_owned(), image.into());
        }
    }
    Ok(())
}

/// Iterates over the containers of a Deployment or DaemonSet: field, index in the list, container.
fn containers(object: &Object) -> impl Iterator<Item = (&'static str, usize, &Value)> {
    let runs_pods = matches!(object.kind(), "Deployment" | "DaemonSet");
    let fields = if runs_pods { &CONTAINER_FIELDS[..] } else { &[] };
    fields.iter().flat_map(|&field| {
        let list = object.get(&["spec", "template", "spec", field]).and_then(Value::as_array);
        list.into_iter().flatten().enumerate().map(move |(index, container)| (field, index, container))
    })
}

fn text_field<'a>(container: &'a Value, field: &str) -> &'a str {
    container.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Splits off the registry: text before the first `/` that cannot be the first path element on Docker Hub.
fn split_domain(text: &str) -> (Option<&str>, &str) {
    match text.split_once('/') {
        Some((first, rest))
            if first == "localhost"
                || first.contains(['.', ':'])
                || first.bytes().any(|byte| byte.is_ascii_uppercase()) =>
        {
            (Some(first), rest)
        }
        _ => (None, text),
    }
}

/// Splits the text behind the registry into path, tag and digest. A path and a tag cannot contain `@`, a path cannot
/// contain `:`.
fn split_remainder(remainder: &str) -> (&str, Option<&str>, Option<&str>) {
    let (named, digest) = split_off(remainder, '@');
    let (path, tag) = split_off(named, ':');
    (path, tag, digest)
}

fn split_off(text: &str, separator: char) -> (&str, Option<&str>) {
    text.split_once(separator).map_or((text, None), |(before, after)| (before, Some(after)))
}

/// Makes the error with the reference that Docker would use for the text.
fn not_canonical(text: &str) -> ImageReferenceError {
    let path = text.strip_prefix(DEFAULT_REGISTRY).and_then(|rest| rest.strip_prefix('/')).unwrap_or(text);
    let library = if path.contains('/') { "" } else { "library/" };
    ImageReferenceError::NotCanonical { canonical: format!("{DEFAULT_REGISTRY}/{library}{path}") }
}

fn check_name(domain: Option<&str>, path: &str) -> Result<(), ImageReferenceError> {
    if path.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Err(ImageReferenceError::Uppercase);
    }
    let is_domain = domain.is_none_or(is_registry);
    // The grammar accepts `a_b.c/image` as a path without registry, as host names have no underscore.
    if let Some(part) = domain.filter(|domain| !is_domain && !is_path_element(domain)) {
        return Err(ImageReferenceError::Name { part: part.to_owned() });
    }
    if let Some(part) = path.split('/').find(|part| !is_path_element(part)) {
        let part = if part.is_empty() { path } else { part };
        return Err(ImageReferenceError::Name { part: part.to_owned() });
    }
    let outside = domain.filter(|_| !is_domain).map_or(0, |domain| domain.len() + 1);
    let length = path.len() + outside;
    if length > PATH_LIMIT {
        return Err(ImageReferenceError::TooLong { length, limit: PATH_LIMIT });
    }
    Ok(())
}

/// True for a host name, an IPv4 address or an IPv6 address in brackets, with or without a port.
fn is_registry(text: &str) -> bool {
    let (host, port) =
        if let Some((address, rest)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            let hexadecimal = |byte: u8| byte.is_ascii_hexdigit() || byte == b':';
            if address.is_empty() || !address.bytes().all(hexadecimal) {
                return false;
            }
            (None, (!rest.is_empty()).then(|| rest.strip_prefix(':').unwrap_or_default()))
        } else {
            let (host, port) = split_off(text, ':');
            (Some(host), port)
        };
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let is_part = |part: &str| {
        !part.is_empty()
            && !part.starts_with('-')
            && !part.ends_with('-')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    host.is_none_or(|host| host.split('.').all(is_part)) && port.is_none_or(is_port)
}

/// True for lower-case letters and digits, joined by one `.`, one or two `_`, or any number of `-`.
fn is_path_element(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let ends = |byte: Option<&u8>| byte.is_some_and(|byte| is_inner(*byte));
    ends(text.as_bytes().first())
        && ends(text.as_bytes().last())
        && text.split(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit()).all(|separator| {
            matches!(separator, "" | "." | "_" | "__") || separator.bytes().all(|byte| byte == b'-')
        })
}

/// True for the tag of an image or artifact. Source: OCI distribution specification 1.1, "Pull".
pub fn is_tag(text: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.len() <= TAG_LIMIT
        && text.bytes().next().is_some_and(is_word)
        && text.bytes().all(|byte| is_word(byte) || matches!(byte, b'.' | b'-'))
}

/// True if a text is a sha256, sha384 or sha512 digest, as written behind the `@` of a reference.
pub fn is_digest(text: &str) -> bool {
    let Some((algorithm, hash)) = text.split_once(':') else { return false };
    let length = match algorithm {
        "sha256" => 64,
        "sha384" => 96,
        "sha512" => 128,
        _ => return false,
    };
    hash.len() == length && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
