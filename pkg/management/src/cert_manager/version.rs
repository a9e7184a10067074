use std::cmp::Ordering;

use api::Version;

/// The order of the version of an object and the wanted version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VersionComparison {
    Older,
    Same,
    Newer,
    /// The numbers are equal, but the builds differ and have no order.
    OtherBuild,
}

/// Compares versions including their builds.
/// Source: clusterctl v1.14 util/version (WithBuildTags). Numeric identifiers compare as numbers and precede
/// all others. Other identifiers are equal or not, and the longer build is the newer one.
pub(super) fn compare(installed: &Version, wanted: &Version) -> VersionComparison {
    let order = installed.semver().cmp_precedence(wanted.semver());
    match order {
        Ordering::Less => VersionComparison::Older,
        Ordering::Greater => VersionComparison::Newer,
        Ordering::Equal => compare_builds(&installed.semver().build, &wanted.semver().build),
    }
}

fn compare_builds(installed: &str, wanted: &str) -> VersionComparison {
    let (mut there, mut wanted) = (identifiers(installed), identifiers(wanted));
    loop {
        let order = match (there.next(), wanted.next()) {
            (None, None) => return VersionComparison::Same,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(one), Some(other)) => match (one.parse::<u64>(), other.parse::<u64>()) {
                (Ok(one), Ok(other)) => one.cmp(&other),
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) if one == other => Ordering::Equal,
                (Err(_), Err(_)) => return VersionComparison::OtherBuild,
            },
        };
        match order {
            Ordering::Less => return VersionComparison::Older,
            Ordering::Greater => return VersionComparison::Newer,
            Ordering::Equal => {}
        }
    }
}

fn identifiers(build: &str) -> impl Iterator<Item = &str> {
    build.split('.').filter(|identifier| !identifier.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_decide_between_equal_version_numbers() {
        for (there, wanted, expected) in [
            ("v1.21.0", "v1.21.1", VersionComparison::Older),
            ("v1.21.1", "v1.21.1", VersionComparison::Same),
            ("1.21.1", "v1.21.1", VersionComparison::Same),
            ("v100.0.0", "v1.21.1", VersionComparison::Newer),
            ("v1.21.1-alpha.0", "v1.21.1", VersionComparison::Older),
            ("v1.5.3", "v1.5.3+h4fd5", VersionComparison::Older),
            ("v1.5.3+h4fd5", "v1.5.3+h9a8b", VersionComparison::OtherBuild),
            ("v1.5.3+h4fd5", "v1.5.3+h4fd5", VersionComparison::Same),
            ("v1.5.3+build.2", "v1.5.3+build.1", VersionComparison::Newer),
            ("v1.5.3+build.2", "v1.5.3+build.10", VersionComparison::Older),
            ("v1.5.3+build.2", "v1.5.3+build.x", VersionComparison::Older),
            ("v1.5.3+build", "v1.5.3+build.1", VersionComparison::Older),
        ] {
            let (one, other) = (Version::parse(there).unwrap(), Version::parse(wanted).unwrap());
            assert_eq!(compare(&one, &other), expected, "{there} against {wanted}");
        }
    }
}
