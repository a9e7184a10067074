//! What to do about a bundle.

use std::{error::Error, io::ErrorKind};

use bundle::{BundleError, BundleFlaw};

use super::rules::as_error;

pub(super) fn hints(error: &(dyn Error + 'static)) -> Vec<String> {
    let Some(error) = as_error::<BundleError>(error) else { return Vec::new() };
    let hint = match error {
        BundleError::Exists { .. } => {
            "look at what is there; `--force` puts the content of the bundle in its place"
        }
        BundleError::TagTaken { .. } => {
            "publish it under a new version, or let the tag stand for it with `--force`"
        }
        BundleError::Unsent { .. } => {
            "what has arrived stays there, and is not sent again when you run it again"
        }
        BundleError::Write { source, .. } if source.kind() == ErrorKind::StorageFull => {
            "make room and run it again"
        }
        BundleError::NoImage { platform: Some(_), .. } => {
            "leave `--platform` out to copy images for all platforms they are made for"
        }
        BundleError::Flawed { flaw, .. } => match flaw {
            BundleFlaw::NoBundle => "other layouts are read by `oras` and `skopeo`",
            BundleFlaw::Form { .. } | BundleFlaw::Layout { .. } => "use the program that made it",
            _ => "nothing of it was used; carry it over again, or make it again with `capstan bundle create`",
        },
        _ => return Vec::new(),
    };
    vec![hint.to_owned()]
}
