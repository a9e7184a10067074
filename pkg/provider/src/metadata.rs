//! Strict parsing of `metadata.yaml`, and lookup of contracts.

use api::{Contract, Metadata, ProviderId, ReleaseSeries, Version};
use manifest::{Map, Value, YamlLimits, yaml};

/// A metadata file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum MetadataError {
    #[error("`{file}` is not valid YAML")]
    Yaml {
        file: String,
        #[source]
        source: yaml::YamlError,
    },
    #[error("`{file}` is not UTF-8 text")]
    NotText { file: String },
    #[error("{field} in `{file}` must be `{expected}`, not {found:?}")]
    NotMetadata { file: String, field: &'static str, found: String, expected: &'static str },
    #[error("`{field}` in `{file}` must be {expected}")]
    Field { file: String, field: String, expected: &'static str },
    #[error("`{file}` of `{provider}` lists no release series")]
    Empty { file: String, provider: ProviderId },
}

/// A version that the metadata of its provider rules out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum UnusableVersion {
    #[error("metadata.yaml of `{provider}` does not list release series {series}, only {}", list(known))]
    UnknownSeries {
        provider: ProviderId,
        series: String,
        /// The listed series, in file order.
        known: Vec<String>,
    },
    #[error("`{provider}` {version} implements contract {contract}; this version of capstan supports {}", list(&Contract::COMPATIBLE.map(str::to_owned)))]
    Contract {
        provider: ProviderId,
        version: String,
        contract: Contract,
        /// The newest series with a supported contract, if any.
        newest_fitting: Option<String>,
    },
}

fn list(words: &[String]) -> String {
    words.join(", ")
}

/// Parses a metadata file.
///
/// Shape: only the first document is read, and unknown fields are ignored. `kind` may be missing or empty, as in files
/// of old providers. A missing number is 0, even if its key is present in another case.
/// Source: clusterctl v1.14 client/repository (metadata client), measured. Its field names are case-sensitive, too.
pub fn read_metadata(provider: &ProviderId, file: &str, bytes: &[u8]) -> Result<Metadata, MetadataError> {
    let named = || file.to_owned();
    let text = std::str::from_utf8(bytes).map_err(|_| MetadataError::NotText { file: named() })?;
    let first = yaml::read_value(text, &YamlLimits::default())
        .map_err(|source| MetadataError::Yaml { file: named(), source })?;
    let empty = Map::new();
    let fields = first.as_object().unwrap_or(&empty);
    expect_text(file, fields, "apiVersion", Metadata::API_VERSION)?;
    let has_kind = fields.get("kind").is_some_and(|kind| !kind.is_null() && kind.as_str() != Some(""));
    if has_kind {
        expect_text(file, fields, "kind", Metadata::KIND)?;
    }
    let entries = match fields.get("releaseSeries") {
        None | Some(Value::Null) => &[][..],
        Some(Value::Array(entries)) => entries,
        Some(_) => return Err(field_error(file, "releaseSeries", "a list")),
    };
    if entries.is_empty() {
        return Err(MetadataError::Empty { file: named(), provider: provider.clone() });
    }
    let series = entries.iter().enumerate().map(|(index, entry)| read_series(file, index, entry));
    Ok(Metadata { release_series: series.collect::<Result<_, _>>()? })
}

fn expect_text(
    file: &str,
    fields: &Map<String, Value>,
    field: &'static str,
    expected: &'static str,
) -> Result<(), MetadataError> {
    let found = fields.get(field).and_then(Value::as_str).unwrap_or_default();
    if found == expected {
        return Ok(());
    }
    Err(MetadataError::NotMetadata { file: file.to_owned(), field, found: found.to_owned(), expected })
}

fn read_series(file: &str, index: usize, entry: &Value) -> Result<ReleaseSeries, MetadataError> {
    let path = |field: &str| format!("releaseSeries[{index}].{field}");
    let Some(fields) = entry.as_object() else {
        return Err(field_error(
            file,
            &format!("releaseSeries[{index}]"),
            "a mapping with major, minor and contract",
        ));
    };
    let number = |field: &str| match fields.get(field) {
        None | Some(Value::Null) => Ok(0),
        Some(value) => value
            .as_u64()
            .filter(|number| i32::try_from(*number).is_ok())
            .ok_or_else(|| field_error(file, &path(field), "an unquoted integer")),
    };
    let contract = match fields.get("contract") {
        None | Some(Value::Null) => "",
        Some(value) => value.as_str().ok_or_else(|| field_error(file, &path("contract"), "text"))?,
    };
    Ok(ReleaseSeries { major: number("major")?, minor: number("minor")?, contract: Contract::new(contract) })
}

fn field_error(file: &str, field: &str, expected: &'static str) -> MetadataError {
    MetadataError::Field { file: file.to_owned(), field: field.to_owned(), expected }
}

/// The contract of a version. It must be a contract that this binary supports.
/// # Errors
/// `UnknownSeries` if the metadata does not list the series. Use a listed version or a newer repository.
/// `Contract` if the contract is too old or too new.
pub fn find_contract<'m>(
    provider: &ProviderId,
    metadata: &'m Metadata,
    version: &Version,
) -> Result<&'m Contract, UnusableVersion> {
    let name = |series: &ReleaseSeries| format!("{}.{}", series.major, series.minor);
    let Some(series) = metadata.series_of(version) else {
        return Err(UnusableVersion::UnknownSeries {
            provider: provider.clone(),
            series: format!("{}.{}", version.semver().major, version.semver().minor),
            known: metadata.release_series.iter().map(name).collect(),
        });
    };
    if series.contract.is_compatible() {
        return Ok(&series.contract);
    }
    let fitting = Contract::COMPATIBLE.iter().find_map(|contract| metadata.newest_series_of(contract));
    Err(UnusableVersion::Contract {
        provider: provider.clone(),
        version: version.as_str().to_owned(),
        contract: series.contract.clone(),
        newest_fitting: fitting.map(name),
    })
}

#[cfg(test)]
mod tests {
    use api::ProviderType;
    use snapbox::{assert_data_eq, str};

    use super::*;

    fn read(text: &str) -> Result<Metadata, MetadataError> {
        read_metadata(&ProviderId::new(ProviderType::Infrastructure, "aws"), "metadata.yaml", text.as_bytes())
    }

    const HEADER: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\n";

    // Row: PRV-18
    #[test]
    fn release_series_are_read_with_their_contract() {
        let metadata =
            read(&format!("{HEADER}releaseSeries:\n- {{major: 2, minor: 1, contract: v1beta1, more: x}}\n"))
                .unwrap();
        assert_eq!(
            metadata.release_series,
            [ReleaseSeries { major: 2, minor: 1, contract: Contract::new("v1beta1") }]
        );
    }

    #[test]
    fn a_missing_kind_is_accepted_for_old_providers() {
        let text = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nreleaseSeries: [{major: 1}]\n";
        assert_eq!(read(text).unwrap().release_series[0].contract.as_str(), "");
        for kind in ["\"\"", "null"] {
            assert!(read(&format!("kind: {kind}\n{text}")).is_ok(), "{kind}");
        }
    }

    // Row: PRV-18
    #[test]
    fn another_kind_or_version_is_refused_by_name() {
        let message = |text: &str| read(text).unwrap_err().to_string();
        let reported = [
            message("apiVersion: v1\nkind: Metadata\n"),
            message("apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Provider\n"),
            message(""),
            message(&format!("{HEADER}releaseSeries: []\n")),
            message("a: [\n"),
        ];
        assert_data_eq!(
            reported.join("\n"),
            str![[r#"
apiVersion in `metadata.yaml` must be `clusterctl.cluster.x-k8s.io/v1alpha3`, not "v1"
kind in `metadata.yaml` must be `Metadata`, not "Provider"
apiVersion in `metadata.yaml` must be `clusterctl.cluster.x-k8s.io/v1alpha3`, not ""
`metadata.yaml` of `infrastructure-aws` lists no release series
`metadata.yaml` is not valid YAML
"#]]
        );
    }

    #[test]
    fn a_quoted_number_is_named_with_its_path() {
        let error = read(&format!("{HEADER}releaseSeries:\n- major: 1\n- major: \"2\"\n")).unwrap_err();
        assert_data_eq!(
            error.to_string(),
            str!["`releaseSeries[1].major` in `metadata.yaml` must be an unquoted integer"]
        );
    }

    // Row: PRV-19
    // Row: PRV-20
    #[test]
    fn versions_of_unlisted_series_or_unknown_contracts_are_refused() {
        let id = ProviderId::new(ProviderType::Infrastructure, "aws");
        let metadata = read(&format!(
            "{HEADER}releaseSeries:\n- {{major: 1, minor: 0, contract: v1alpha4}}\n- {{major: 2, minor: 0, contract: v1beta1}}\n"
        ))
        .unwrap();
        let check = |version: &str| find_contract(&id, &metadata, &Version::parse(version).unwrap()).cloned();
        assert_eq!(check("v2.0.7"), Ok(Contract::new("v1beta1")));
        let refused = ["v2.1.0", "v1.0.0"].map(|version| check(version).unwrap_err().to_string());
        assert_data_eq!(
            refused.join("\n"),
            str![[r#"
metadata.yaml of `infrastructure-aws` does not list release series 2.1, only 1.0, 2.0
`infrastructure-aws` v1.0.0 implements contract v1alpha4; this version of capstan supports v1beta2, v1beta1
"#]]
        );
    }
}
