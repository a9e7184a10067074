//! Image digests from registries, for verbs that show them.

use std::collections::{BTreeMap, BTreeSet};

use repository::RepositoryContext;
use transport::Digest;

use crate::Failure;

#[derive(Default)]
pub(super) struct ImageDigests {
    pub(super) digests: BTreeMap<String, Digest>,
    /// One line per image without a digest, with the reason.
    pub(super) failures: Vec<String>,
}

impl ImageDigests {
    /// Requests the digest of each image once. A failure for one image does not affect the others.
    pub(super) async fn fetch(context: &RepositoryContext, references: BTreeSet<&str>) -> Self {
        let references: Vec<&str> = references.into_iter().collect();
        let mut image_digests = Self::default();
        let answers = bundle::image_digests(context, &references).await;
        for (reference, answer) in references.into_iter().zip(answers) {
            match answer {
                Ok(digest) => {
                    image_digests.digests.insert(reference.to_owned(), digest);
                }
                Err(error) => {
                    let failure = Failure::from(error);
                    let why = [&[failure.message().to_owned()], failure.causes()].concat().join(": ");
                    image_digests.failures.push(format!("cannot read the digest of `{reference}`: {why}"));
                }
            }
        }
        image_digests
    }
}
