use snapbox::{assert_data_eq, str};

use super::*;

/// An index as `helm repo index` prints it.
const HELM: &str = r#"apiVersion: v1
entries:
  db:
  - apiVersion: v2
    description: |
      entries:
        web: none
    name: db
    urls: [db-1.0.0.tgz]
    version: 1.0.0
  web:
  - apiVersion: v2
    created: "2026-01-01T00:00:00Z"
    digest: 0bd2
    name: web
    urls:
    - charts/web-1.10.0.tgz
    version: 1.10.0
  - name: web
    urls:
    - https://files.example.org/web-1.2.0.tgz
    version: 1.2
  - name: web
    version: not a version
  - null
generated: "2026-01-01T00:00:00Z"
"#;

fn show(index: &str, chart: &str) -> String {
    match chart_versions(index.as_bytes(), chart) {
        Ok(versions) => versions
            .iter()
            .map(|version| format!("{} {:?} {:?}", version.version, version.urls, version.digest))
            .collect::<Vec<_>>()
            .join("\n"),
        Err(error) => api::error_chain(&error)
            .lines
            .into_iter()
            .chain(api::error_chain(&error).hints)
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

fn as_json(index: &str) -> String {
    yaml::read_value(index, &YamlLimits::default()).unwrap().to_string()
}

/// The same index in a layout that is not Helm's.
fn as_flow(index: &str) -> String {
    format!("# flow\n{}", as_json(index))
}

#[test]
fn versions_are_read_from_every_layout() {
    assert_data_eq!(
        show(HELM, "web"),
        str![[r#"
1.10.0 ["charts/web-1.10.0.tgz"] "0bd2"
1.2 ["https://files.example.org/web-1.2.0.tgz"] ""
"#]]
    );
    for other in
        [as_json(HELM), as_flow(HELM), HELM.replace('\n', "\r\n"), format!("---\n{HELM}---\nentries: []\n")]
    {
        assert_eq!(show(&other, "web"), show(HELM, "web"), "{other}");
        assert_eq!(show(&other, "wed"), show(HELM, "wed"));
        assert_eq!(show(&other, "db"), show(HELM, "db"));
    }
}

#[test]
fn lines_and_values_find_the_same() {
    let layouts = [
        HELM.to_owned(),
        // Lists deeper than their keys.
        "apiVersion: v1\nentries:\n    web:\n        - name: web\n          version: 1.0.0\n".to_owned(),
        // Quoted names, a comment, no generation time.
        "entries: # all\n  # web\n  \"web\":\n  - {name: web, version: 1.0.0}\n  'db':\n  - {name: db, version: 1.0.0}\napiVersion: v1\n".to_owned(),
        // A repeated chart.
        "apiVersion: v1\nentries:\n  web:\n  - {name: web, version: 1.0.0}\n  web:\n  - {name: web, version: 2.0.0}\n".to_owned(),
        "apiVersion: v1\nentries:\n".to_owned(),
        "apiVersion: ''\nentries:\n  web: []\n".to_owned(),
    ];
    for index in layouts {
        for chart in ["web", "db", "no"] {
            let (lines, values) =
                (lines::find(&index, chart).unwrap(), find_in_values(&index, chart).unwrap());
            assert_eq!(lines.versions, values.versions, "{index}");
            assert_eq!(lines.has_api_version, values.has_api_version, "{index}");
        }
    }
}

#[test]
fn anchors_across_charts_are_resolved() {
    let index = "apiVersion: v1\nentries:\n  db:\n  - &a {name: web, version: 1.0.0}\n  web:\n  - *a\n";
    assert!(lines::find(index, "web").is_none());
    assert_data_eq!(show(index, "web"), str![[r#"1.0.0 [] """#]]);
}

#[test]
fn an_index_that_cannot_be_used_is_an_error() {
    let shown = [
        "",
        "# nothing\n",
        "- apiVersion: v1\n",
        "entries:\n  web: []\n",
        "apiVersion: v1\nentries:\n- web\n",
        "apiVersion: v1\nentries:\n  web: 1\n",
        "apiVersion: v1\nentries:\n  web:\n  - version: {}\n",
        "apiVersion: v1\nentries:\n  web:\n  - version: 'x\n",
        "{\"apiVersion\": \"v1\", \"entries\": [}",
        "apiVersion: v1\nentries:\n  web-app:\n  - {}\n  wep:\n  - {}\n",
        "apiVersion: v1\nentries: {}\n",
    ]
    .map(|index| show(index, "web"));
    assert_data_eq!(
        shown.join("\n\n"),
        str![[r#"
the index is empty
check that the URL belongs to a chart repository

the index has no `apiVersion`
check that the URL belongs to a chart repository

the index is a list, not a mapping
check that the URL belongs to a chart repository

the index has no `apiVersion`
check that the URL belongs to a chart repository

`entries` of the index is a list, not a mapping
check that the URL belongs to a chart repository

cannot read the versions of chart `web` in the index: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal number into Go struct field IndexFile.entries of type repo.ChartVersions
check that the URL belongs to a chart repository

cannot read the versions of chart `web` in the index: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal object into Go struct field ChartVersion.version of type string
check that the URL belongs to a chart repository

cannot parse the index: line 4, column 14: found the end of the text inside quotes
check that the URL belongs to a chart repository

cannot parse the index: line 1, column 33: found a closing bracket that does not match
check that the URL belongs to a chart repository

the index has no chart `web`
did you mean `wep` or `web-app`?

the index has no chart `web`
the index has 0 charts
"#]]
    );
}

#[test]
fn a_large_index_is_read_by_lines_only() {
    use std::fmt::Write as _;

    let mut index = "apiVersion: v1\nentries:\n".to_owned();
    for chart in 0..2_000 {
        writeln!(index, "  chart-{chart}:").unwrap();
        for version in 0..100 {
            writeln!(
                index,
                "  - name: chart-{chart}\n    description: {:150}\n    version: 1.{version}.0",
                "x"
            )
            .unwrap();
        }
    }
    assert!(index.len() > MAX_OTHER_BYTES);
    assert_eq!(chart_versions(index.as_bytes(), "chart-1999").unwrap().len(), 100);
    index.push_str("entries: {}\n");
    let error = chart_versions(index.as_bytes(), "chart-1999").unwrap_err();
    assert!(matches!(error, IndexError::TooLarge { .. }), "{error}");
}
