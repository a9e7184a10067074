//! Helm charts: each template becomes a file.
//!
//! Source: Kapitan 0.36 inputs/helm.py, and Helm 3.22 for the names of files.

use std::path::Path;

use api::error_chain;
use chart::{Capabilities, Chart, PrintOptions, Release, RenderOptions, Rendered, Values};
use serde_json::{Map, Value};

use crate::compile::context::TargetContext;
use crate::compile::error::InputError;
use crate::compile::output_tree::OutputTree;
use crate::compile::settings::Input;
use crate::file_reading::{MAX_FILE_BYTES, read_file};
use crate::yaml::read_documents;

/// The name of a release without a name.
const UNNAMED: &str = "release-name";

/// The flags of `helm template` in `helm_params`.
#[derive(Default)]
struct Flags {
    name: Option<String>,
    namespace: Option<String>,
    output_file: Option<String>,
    kube_version: String,
    api_versions: Vec<String>,
    /// Puts the files into a folder with the name of the release.
    in_release_folder: bool,
    is_upgrade: bool,
    skips_schema: bool,
    print: PrintOptions,
}

/// Renders a chart.
pub(in crate::compile) fn compile(
    context: &TargetContext<'_>,
    input: &Input,
    path: &Path,
    output: &OutputTree,
) -> Result<(), InputError> {
    let fail = |reason: String, hints| InputError::Helm { path: path.to_owned(), reason, hints };
    for file in input.helm_values_files.iter().flatten() {
        context.reads.note_tree(Path::new(file));
    }
    let flags = Flags::read(input).map_err(InputError::HelmParameter)?;
    let files = context.tools.read_chart(path).map_err(|error| fail(error.reason, error.hints))?;
    let rendered = render(files, input, &flags).map_err(|(reason, hints)| fail(reason, hints))?;
    for (name, text) in flags.files(&rendered).map_err(|reason| fail(reason, Vec::new()))? {
        let documents =
            read_documents(&text).map_err(|error| InputError::Yaml { path: name.clone(), error })?;
        let documents = documents.into_iter().filter(|document| !document.is_null()).collect();
        let (name, content) = context.format(input).file(&name, Value::Array(documents))?;
        output.write(&name, content.as_bytes())?;
    }
    Ok(())
}

type Failure = (String, Vec<String>);

fn render(files: Vec<chart::ChartFile>, input: &Input, flags: &Flags) -> Result<Rendered, Failure> {
    let plain = |reason: String| (reason, Vec::new());
    let explain = |error: &dyn api::Explain| {
        let chain = error_chain(error);
        (chain.lines.join("; "), chain.hints)
    };
    let chart = Chart::from_files(files).map_err(|error| explain(&error))?;
    let mut values = Values::default();
    // A chart reads these values as JSON, which has no ambiguous texts.
    if let Some(own) = input.helm_values.as_ref().filter(|values| !values.is_empty()) {
        let text = Value::Object(own.clone()).to_string();
        values.merge_file("helm_values", text.as_bytes()).map_err(|error| explain(&error))?;
    }
    for file in input.helm_values_files.iter().flatten() {
        let text = read_file(Path::new(file), MAX_FILE_BYTES);
        let text = text.map_err(|error| plain(format!("cannot read `{file}`: {error}")))?;
        values.merge_file(file, &text).map_err(|error| explain(&error))?;
    }
    let namespace = flags.namespace.as_deref().unwrap_or("default");
    let release = Release {
        is_upgrade: flags.is_upgrade,
        ..Release::new(flags.name.as_deref().unwrap_or(UNNAMED), namespace)
    };
    let capabilities =
        Capabilities::new(&flags.kube_version, &flags.api_versions).map_err(|error| explain(&error))?;
    let options =
        RenderOptions { capabilities, skips_schema: flags.skips_schema, ..RenderOptions::new(release) };
    chart.render(&values, &options).map_err(|error| explain(&error))
}

impl Flags {
    fn read(input: &Input) -> Result<Self, String> {
        let mut flags = Self {
            print: PrintOptions { include_crds: true, skip_tests: true, ..PrintOptions::default() },
            ..Self::default()
        };
        // The original passes the version as an API version.
        flags.api_versions.extend(input.kube_version.clone());
        let empty = Map::new();
        let mut release_name = None;
        for (name, value) in input.helm_params.as_ref().unwrap_or(&empty) {
            let text = || value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let flag = value.as_bool() == Some(true);
            match name.as_str() {
                "name" => flags.name = Some(text()),
                "release_name" if value.is_boolean() => flags.in_release_folder = flag,
                "release_name" => release_name = Some(text()),
                "namespace" => flags.namespace = Some(text()),
                "output_file" => flags.output_file = Some(text()),
                "kube_version" => flags.kube_version = text(),
                "api_versions" => flags.api_versions.extend(text().split(',').map(str::to_owned)),
                "include_crds" => flags.print.include_crds = flag,
                "skip_tests" => flags.print.skip_tests = flag,
                "is_upgrade" => flags.is_upgrade = flag,
                "no_hooks" => flags.print.no_hooks = flag,
                "skip_schema_validation" => flags.skips_schema = flag,
                "validate" | "debug" | "create_namespace" | "dependency_update" | "skip_crds" | "atomic"
                | "wait" | "version" | "description" | "repo" | "devel" => {}
                other => return Err(unknown_parameter(other)),
            }
        }
        flags.name = flags.name.or(release_name);
        Ok(flags)
    }

    /// Returns the names and texts of files: one for each template, or one for all.
    fn files(&self, rendered: &Rendered) -> Result<Vec<(String, String)>, String> {
        let documents = rendered.documents(&self.print).map_err(|error| error.to_string())?;
        let mut files: Vec<(String, String)> = Vec::new();
        for document in documents {
            let name = match (&self.output_file, &self.name) {
                (Some(file), _) => file.clone(),
                (None, Some(name)) if self.in_release_folder => format!("{name}/{}", document.source),
                (None, _) => document.source.to_owned(),
            };
            let text = format!("---\n{}\n", document.content);
            match files.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => known.push_str(&text),
                None => files.push((name, text)),
            }
        }
        Ok(files)
    }
}

/// Returns the reason why a parameter is refused, in the words of Kapitan where it has some.
fn unknown_parameter(name: &str) -> String {
    let flag = name.replace('_', "-");
    match flag.as_str() {
        flag if flag.len() == 1 => {
            format!("invalid helm flag: '{flag}'. helm_params supports only long flag names")
        }
        _ if name.contains('-') => format!("helm flag names must use '_' and not '-': {name}"),
        "set" | "set-file" | "set-string" => {
            format!("helm '{flag}' flag is not supported. Use 'helm_values' to specify template values")
        }
        "values" => format!(
            "helm '{flag}' flag is not supported. Use 'helm_values_files' to specify template values files"
        ),
        _ => format!("helm flag '{flag}' is not supported."),
    }
}
