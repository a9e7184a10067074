use std::cmp::Ordering;

use api::Version;

/// The order of the version of an object and the wanted version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Older,
    Same,
    Newer,
    /// The numbers are equal, but the builds differ and have no order.
    OtherBuild,
}

/// Compares versions including their builds.
/// Source: clusterctl v1.14 util/version (WithBuildTags). Numeric identifiers compare as numbers and precede
/// all others. Other identifiers are equal or not, and the longer build is the newer one.
pub(super) fn compare(there: &Version, wanted: &Version) -> Comparison {
    let order = there.semver().cmp_precedence(wanted.semver());
    match order {
        Ordering::Less => Comparison::Older,
        Ordering::Greater => Comparison::Newer,
        Ordering::Equal => compare_builds(&there.semver().build, &wanted.semver().build),
    }
}

fn compare_builds(there: &str, wanted: &str) -> Comparison {
    let (mut there, mut wanted) = (identifiers(there), identifiers(wanted));
    loop {
        let order = match (there.next(), wanted.next()) {
            (None, None) => return Comparison::Same,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(one), Some(other)) => match (one.parse::<u64>(), other.parse::<u64>()) {
                (Ok(one), Ok(other)) => one.cmp(&other),
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) if one == other => Ordering::Equal,
                (Err(_), Err(_)) => return Comparison::OtherBuild,
            },
        };
        match order {
            Ordering::Less => return Comparison::Older,
            Ordering::Greater => return Comparison::Newer,
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
    fn builds_count_where_the_numbers_are_the_same() {
        for (there, wanted, expected) in [
            ("v1.21.0", "v1.21.1", Comparison::Older),
            ("v1.21.1", "v1.21.1", Comparison::Same),
            ("1.21.1", "v1.21.1", Comparison::Same),
            ("v100.0.0", "v1.21.1", Comparison::Newer),
            ("v1.21.1-alpha.0", "v1.21.1", Comparison::Older),
            ("v1.5.3", "v1.5.3+h4fd5", Comparison::Older),
            ("v1.5.3+h4fd5", "v1.5.3+h9a8b", Comparison::OtherBuild),
            ("v1.5.3+h4fd5", "v1.5.3+h4fd5", Comparison::Same),
            ("v1.5.3+build.2", "v1.5.3+build.1", Comparison::Newer),
            ("v1.5.3+build.2", "v1.5.3+build.10", Comparison::Older),
            ("v1.5.3+build.2", "v1.5.3+build.x", Comparison::Older),
            ("v1.5.3+build", "v1.5.3+build.1", Comparison::Older),
        ] {
            let (one, other) = (Version::parse(there).unwrap(), Version::parse(wanted).unwrap());
            assert_eq!(compare(&one, &other), expected, "{there} against {wanted}");
        }
    }
}
