use serde::{Deserialize, Serialize};

use crate::{Contract, Version};

/// `metadata.yaml` of a provider release: the contract of each release series.
///
/// Source: seed document of the provider contract; `clusterctl.cluster.x-k8s.io/v1alpha3`, kind `Metadata`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// Release series in file order. If a series is listed twice, the first entry counts.
    pub release_series: Vec<ReleaseSeries>,
}

/// A release series of a provider: all versions with one major and minor number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ReleaseSeries {
    /// Major version number.
    pub major: u64,
    /// Minor version number.
    pub minor: u64,
    /// The contract that all releases of the series implement.
    pub contract: Contract,
}

impl Metadata {
    /// API group and version of the file.
    pub const API_VERSION: &'static str = "clusterctl.cluster.x-k8s.io/v1alpha3";
    /// Kind of the file.
    pub const KIND: &'static str = "Metadata";
    /// Name of the file in a provider repository.
    pub const FILE: &'static str = "metadata.yaml";

    /// Returns the series of a version. None if the file does not list the series.
    pub fn series_of(&self, version: &Version) -> Option<&ReleaseSeries> {
        let version = version.semver();
        self.release_series.iter().find(|s| s.major == version.major && s.minor == version.minor)
    }

    /// Returns the newest series that implements a contract; of two equal entries, the later one.
    /// Source: clusterctl v1.14 api/v1alpha3 (GetReleaseSeriesForContract).
    pub fn newest_series_of(&self, contract: &str) -> Option<&ReleaseSeries> {
        self.release_series
            .iter()
            .filter(|series| series.contract.as_str() == contract)
            .max_by_key(|series| (series.major, series.minor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(series: &[(u64, u64, &str)]) -> Metadata {
        let one = |&(major, minor, contract): &(u64, u64, &str)| ReleaseSeries {
            major,
            minor,
            contract: Contract::new(contract),
        };
        Metadata { release_series: series.iter().map(one).collect() }
    }

    // Row: PRV-19
    #[test]
    fn a_version_takes_the_contract_of_its_release_series() {
        let metadata = metadata(&[(1, 10, "v1beta1"), (1, 11, "v1beta2"), (2, 0, "v1beta2")]);
        let contract = |version: &str| {
            metadata.series_of(&Version::parse(version).unwrap()).map(|series| series.contract.as_str())
        };
        assert_eq!(contract("v1.10.4"), Some("v1beta1"));
        assert_eq!(contract("2.0.0-rc.1"), Some("v1beta2"));
        assert_eq!(contract("v1.12.0"), None);
    }

    #[test]
    fn the_newest_series_is_chosen_by_number() {
        let metadata = metadata(&[(1, 11, "v1beta2"), (1, 9, "v1beta1"), (1, 10, "v1beta1")]);
        let newest = metadata.newest_series_of("v1beta1").map(|series| (series.major, series.minor));
        assert_eq!(newest, Some((1, 10)));
        assert_eq!(metadata.newest_series_of("v1alpha4"), None);
    }
}
