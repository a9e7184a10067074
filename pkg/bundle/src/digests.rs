//! Image digests from registries, without copies of the images.

use api::{ErrorExplanation, Explain};
use futures::{StreamExt as _, stream};
use transport::{
    Context, Digest,
    registry::{Reference, Registry},
};

use crate::ImageAddress;

/// The number of concurrent requests.
const MAX_IMAGES_AT_ONCE: usize = 8;

/// The reason for an unknown image digest.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of a variant names its fields")]
pub enum ImageDigestError {
    #[error("it is not an image reference")]
    Name,
    #[error("{registry} does not have this image")]
    Missing { registry: String },
    #[error(transparent)]
    Repository(#[from] transport::Error),
}

impl Explain for ImageDigestError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Repository(inner) => inner.explain(),
            Self::Name | Self::Missing { .. } => ErrorExplanation::default(),
        }
    }
}

/// Fetches the digests of image references, in the order of the references.
///
/// The digest of a multi-platform image is the digest of its index. A digest in a reference is returned without a
/// request. A manifest is downloaded only if the registry does not report its digest.
pub async fn image_digests(context: &Context, references: &[&str]) -> Vec<Result<Digest, ImageDigestError>> {
    let each = references.iter().map(|reference| image_digest(context, reference));
    stream::iter(each).buffered(MAX_IMAGES_AT_ONCE).collect().await
}

async fn image_digest(context: &Context, reference: &str) -> Result<Digest, ImageDigestError> {
    let address = ImageAddress::parse(reference).map_err(|_| ImageDigestError::Name)?;
    let reference = address.reference();
    if let Reference::Digest(digest) = reference {
        return Ok(digest);
    }
    let registry = Registry::new(address.registry(), context);
    let found = registry.digest(address.repository(), &reference).await?;
    found.ok_or_else(|| ImageDigestError::Missing { registry: address.registry().to_owned() })
}

#[cfg(test)]
mod tests {
    use api::with_causes;
    use support::host::{FakeHost, ReceivedRequest, Reply};

    use super::*;
    use crate::tests::{context, settings};
    use transport::{NetworkAccess, Settings, registry::INDEX_MEDIA_TYPE};

    const HOST: &str = "ghe.example.org";
    const TEXT: &str = r#"{"schemaVersion": 2, "manifests": []}"#;

    fn image(host: &FakeHost, name: &str, reply: Reply) -> String {
        host.on(format!("{HOST}/v2/lab/{name}/manifests/v1"), reply.header("content-type", INDEX_MEDIA_TYPE));
        format!("{HOST}/lab/{name}:v1")
    }

    #[tokio::test]
    async fn a_digest_comes_from_the_header_or_from_the_manifest() {
        let host = FakeHost::internet();
        let digest = Digest::of(TEXT.as_bytes());
        let told_of = Reply::status(200).header("docker-content-digest", &digest.to_string()).body(TEXT);
        let (first, second) =
            (image(&host, "first", told_of), image(&host, "second", Reply::status(200).body(TEXT)));
        let written = format!("{HOST}/lab/none@{digest}");
        let found = image_digests(&context(&host), &[&first, &second, &written]).await;
        let found: Vec<Digest> = found.into_iter().map(Result::unwrap).collect();
        assert_eq!(found, [digest; 3]);
        let gets: Vec<String> =
            host.received().iter().filter(|it| it.method == "GET").map(ReceivedRequest::address).collect();
        assert_eq!(gets, [format!("{HOST}/v2/lab/second/manifests/v1")]);
    }

    #[tokio::test]
    async fn a_missing_image_does_not_affect_the_others() {
        let host = FakeHost::internet();
        let good = image(&host, "good", Reply::status(200).body(TEXT));
        let missing = format!("{HOST}/lab/missing:v1");
        let refused = image(&host, "refused", Reply::status(403));
        let found = image_digests(&context(&host), &[&missing, &refused, "No Image", &good]).await;
        let errors: Vec<&ImageDigestError> = found.iter().filter_map(|it| it.as_ref().err()).collect();
        assert!(matches!(errors[0], ImageDigestError::Missing { .. }), "{errors:?}");
        assert!(with_causes(errors[1]).contains("403"), "{errors:?}");
        assert!(matches!(errors[2], ImageDigestError::Name), "{errors:?}");
        assert!(found[3].is_ok());
    }

    #[tokio::test]
    async fn offline_no_registry_is_asked() {
        let host = FakeHost::internet();
        let good = image(&host, "good", Reply::status(200).body(TEXT));
        let offline = Context::new(Settings { network: NetworkAccess::Forbidden, ..settings(&host) });
        let found = image_digests(&offline, &[&good]).await;
        assert!(
            matches!(found[..], [Err(ImageDigestError::Repository(transport::Error::Offline { .. }))]),
            "{found:?}"
        );
        assert!(host.received().is_empty());
    }
}
