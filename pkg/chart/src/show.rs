//! The parts of a chart as `helm show` prints them.
//!
//! Source: Helm 3.22 pkg/action/show.go.

use manifest::yaml;

use crate::chart::Chart;
use crate::files::{ChartFile, LoadedChart, is_crd};
use crate::objects;

const README_FILES: [&str; 3] = ["readme.md", "readme.txt", "readme"];

impl Chart {
    /// Returns `Chart.yaml` with sorted keys and without empty fields.
    pub fn show_metadata(&self) -> String {
        let metadata = &self.loaded.metadata;
        let value = objects::metadata(metadata, &metadata.name, metadata.dependencies.as_deref());
        // Metadata is neither deep nor infinite.
        let json = value.to_json().ok().flatten().unwrap_or_default();
        yaml::write(&json) + "\n"
    }

    /// Returns the text of `values.yaml`; empty without the file.
    pub fn show_values(&self) -> String {
        self.loaded.values_text.as_ref().map_or_else(String::new, |text| format!("{}\n", text.to_str()))
    }

    /// Returns the file `README.md`; empty without the file.
    pub fn show_readme(&self) -> String {
        let is_readme = |file: &&ChartFile| README_FILES.contains(&file.path.to_lowercase().as_str());
        let readme = self.loaded.files.iter().find(is_readme);
        readme.map_or_else(String::new, |file| format!("{}\n", file.content.to_str()))
    }

    /// Returns the files in `crds/` of the chart and all its subcharts.
    pub fn show_crds(&self) -> String {
        fn add(chart: &LoadedChart, out: &mut String) {
            for file in chart.files.iter().filter(|file| is_crd(&file.path)) {
                out.push_str(&file.content.to_str());
                out.push('\n');
            }
            chart.subcharts.iter().for_each(|subchart| add(subchart, out));
        }
        let mut out = String::new();
        add(&self.loaded, &mut out);
        out
    }
}
