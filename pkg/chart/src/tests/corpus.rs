//! Charts with the output of helm v3.22.0, or with the fact that it refused.

use std::fs;
use std::path::Path;

use support::folder::{files, folders};

use crate::{
    Capabilities, Chart, KubeVersion, MemoryTree, PrintOptions, Release, RenderOptions, TreePath, Values,
    read_folder,
};

#[test]
fn every_chart_prints_what_helm_printed() {
    let Some(corpus) = support::skip::corpus() else { return };
    let mut failed = Vec::new();
    let mut count = 0;
    for chart in folders(&corpus.join("charts")) {
        for case in folders(&chart.join("cases")) {
            count += 1;
            if let Err(reason) = compare(&chart.join("chart"), &case) {
                failed.push(format!("{}: {reason}", case.display()));
            }
        }
    }
    assert!(failed.is_empty(), "{} of {count} charts differ:\n{}", failed.len(), failed.join("\n"));
}

fn compare(chart: &Path, case: &Path) -> Result<(), String> {
    let rendered = render(chart, case);
    match (fs::read_to_string(case.join("expected.yaml")), rendered) {
        (Ok(expected), Ok(printed)) if expected == printed => Ok(()),
        (Ok(expected), Ok(printed)) => {
            let differs = expected.lines().zip(printed.lines()).enumerate().find(|(_, (a, b))| a != b);
            Err(format!("first difference {differs:?}"))
        }
        (Ok(_), Err(error)) => Err(error),
        (Err(_), Err(error)) => {
            let expected = fs::read_to_string(case.join("expected.err")).unwrap();
            // The words of the YAML parser may differ.
            let is_yaml = expected.contains("error converting YAML to JSON");
            if is_yaml || expected.contains(error.trim()) {
                Ok(())
            } else {
                Err(format!("refused because {error}"))
            }
        }
        (Err(_), Ok(_)) => Err("helm refused this".to_owned()),
    }
}

fn render(chart: &Path, case: &Path) -> Result<String, String> {
    let tree: MemoryTree = files(chart).into_iter().collect();
    let chart_files = read_folder(&tree, &TreePath::new("/"), None).map_err(|error| error.to_string())?;
    let mut values = Values::default();
    let text = fs::read(case.join("values.yaml")).unwrap();
    values.merge_file("values.yaml", &text).map_err(|error| error.to_string())?;
    let mut options = RenderOptions::new(Release::new("release", "ns"));
    options.capabilities =
        Capabilities { kube_version: KubeVersion::parse("1.36.0").unwrap(), ..Capabilities::default() };
    let chart = Chart::from_files(chart_files).map_err(|error| error.to_string())?;
    let rendered = chart.render(&values, &options).map_err(|error| error.to_string())?;
    rendered.print(&PrintOptions::default()).map_err(|error| error.to_string())
}
