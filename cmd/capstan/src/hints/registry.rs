//! What to do about what a registry keeps.

use repository::OciError;

use super::rules::one_of;

pub(super) fn hint(error: &OciError) -> Option<String> {
    Some(match error {
        OciError::NotInIndex { titles, .. } if !titles.is_empty() => {
            format!("it has {}", one_of(titles))
        }
        OciError::Pinned { .. } => "change the tag and the digest in the provider url together".to_owned(),
        OciError::Unsigned { .. } | OciError::SignedByOthers { .. } | OciError::SignatureOfOther { .. } => {
            "nothing of it was used; it is checked because its entry in clusterctl.yaml says `verify`"
                .to_owned()
        }
        OciError::Key { .. } => "cosign writes such a file: `cosign generate-key-pair`".to_owned(),
        OciError::VerifyNeedsRegistry { .. } => {
            "take `verify` out of its entry in clusterctl.yaml, or give it an `oci://` url".to_owned()
        }
        _ => return None,
    })
}
