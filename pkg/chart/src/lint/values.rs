//! The rules for values: the file `values.yaml`, values that no template reads, required values without documentation.

use manifest::yaml;

use super::value_reads::{ValuePath, ValueReads, contains_word, required_values};
use super::{Findings, Severity, file};
use crate::chart::Chart;
use crate::files::{ChartFile, LoadedChart};
use crate::schema::CompiledSchema;
use crate::value_tree::{Table, ValueTree, read_table, to_map};
use crate::values::{self, Values};

const VALUES_FILE: &str = "values.yaml";

/// Checks that `values.yaml` is a mapping, and that its values with those of the user fit the schema of the chart.
pub(super) fn check_file(files: &[ChartFile], values: &Values, findings: &mut Findings) {
    let Some(values_file) = file(files, VALUES_FILE) else {
        return findings.info(VALUES_FILE, "file does not exist");
    };
    let table = match read_table(&values_file.content) {
        Ok(table) => table,
        Err(error) => return findings.error(VALUES_FILE, format!("unable to parse YAML: {error}")),
    };
    let Some(schema_file) = file(files, "values.schema.json").filter(|file| !file.content.is_empty()) else {
        return;
    };
    let mut merged = table;
    values::merge(&mut merged, values.table.clone());
    let json = template::Value::Map(to_map(&merged)).to_json().ok().flatten().unwrap_or_default();
    let reasons: Vec<String> = match CompiledSchema::new(&schema_file.content) {
        Ok(compiled) => compiled.problems(&json).iter().map(ToString::to_string).collect(),
        Err(reason) => vec![reason],
    };
    if !reasons.is_empty() {
        findings.error(VALUES_FILE, reasons.join("\n"));
    }
}

/// Reports values that no template reads, and required values that `values.yaml` does not contain.
///
/// Templates can read values in ways that the text does not show. A value counts as unread only if nothing in the chart
/// and its subcharts can read it: no template uses all values, a mapping around it, or its name.
pub(super) fn check_reads(chart: &Chart, findings: &mut Findings) {
    let loaded = &chart.loaded;
    let text = loaded.values_text.as_ref().map(|text| text.to_str()).unwrap_or_default();
    report_undocumented(loaded, &text, findings);
    if loaded.metadata.kind == "library" || chart.missing_dependencies().next().is_some() {
        return;
    }
    let mut reads = ValueReads::default();
    add_chart(loaded, &mut reads);
    if reads.reads_everything() {
        return;
    }
    let mut unread = Vec::new();
    collect_unread(&loaded.values, &mut Vec::new(), &reads, &mut |path| unread.push(path));
    let subcharts: Vec<&str> = subchart_names(loaded).collect();
    for path in unread {
        if !matches!(path[0].as_str(), "global" | "tags" | "exports")
            && !subcharts.contains(&path[0].as_str())
        {
            let path = path.join(".");
            let line = yaml::line_of(&text, &path);
            findings.add(Severity::Info, VALUES_FILE, line, format!("no template reads `{path}`"));
        }
    }
}

fn subchart_names(chart: &LoadedChart) -> impl Iterator<Item = &str> {
    let dependencies = chart.metadata.dependencies.iter().flatten();
    let listed = dependencies.flat_map(|dependency| [dependency.name.as_str(), dependency.alias.as_str()]);
    listed.chain(chart.subcharts.iter().map(|subchart| subchart.metadata.name.as_str()))
}

/// Adds everything in a chart and its subcharts that may read values.
fn add_chart(chart: &LoadedChart, reads: &mut ValueReads) {
    for template in &chart.templates {
        reads.add_text(&template.content.to_str());
    }
    // Templates may pass other files to `tpl`.
    for file in &chart.files {
        let text = file.content.to_str();
        if text.contains("{{") && !file.path.to_lowercase().ends_with(".md") {
            reads.add_text(&text);
        }
    }
    for dependency in chart.metadata.dependencies.iter().flatten() {
        reads.add_words(&dependency.condition);
        for import in &dependency.import_values {
            reads.add_words(&import.to_string());
        }
    }
    add_value_templates(&chart.values, reads);
    chart.subcharts.iter().for_each(|subchart| add_chart(subchart, reads));
}

/// Adds values that are templates themselves.
fn add_value_templates(values: &Table, reads: &mut ValueReads) {
    fn add(value: &ValueTree, reads: &mut ValueReads) {
        match value {
            ValueTree::Text(text) if text.to_str().contains("{{") => reads.add_text(&text.to_str()),
            ValueTree::List(items) => items.iter().for_each(|item| add(item, reads)),
            ValueTree::Table(table) => add_value_templates(table, reads),
            _ => {}
        }
    }
    for value in values.values() {
        add(value, reads);
    }
}

/// Calls `report` with the outermost paths that nothing reads.
fn collect_unread(
    values: &Table,
    path: &mut ValuePath,
    reads: &ValueReads,
    report: &mut impl FnMut(ValuePath),
) {
    for (key, value) in values {
        path.push(key.to_str().into_owned());
        if !reads.reads_whole(path) {
            match value {
                ValueTree::Table(inner) if reads.reads_inside(path) => {
                    collect_unread(inner, path, reads, report);
                }
                _ if !reads.reads_inside(path) && !reads.names(path) => report(path.clone()),
                _ => {}
            }
        }
        path.pop();
    }
}

fn report_undocumented(chart: &LoadedChart, values_text: &str, findings: &mut Findings) {
    for template in &chart.templates {
        let text = template.content.to_str();
        for (line, path) in required_values(&text) {
            let name = path.last().map(String::as_str).unwrap_or_default();
            if !contains_path(&chart.values, &path) && !contains_word(values_text, name) {
                let path = path.join(".");
                let message = format!("the template requires `{path}`, but values.yaml does not contain it");
                findings.add(Severity::Info, &template.path, Some(line), message);
            }
        }
    }
}

fn contains_path(values: &Table, path: &[String]) -> bool {
    let Some((first, rest)) = path.split_first() else { return true };
    match values.get(first.as_bytes()) {
        None => false,
        Some(ValueTree::Table(inner)) => contains_path(inner, rest),
        Some(_) => true,
    }
}
