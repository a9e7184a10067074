//! Kustomizations whose files are Go templates.
//!
//! ```text
//! folder ─► files ─► templates ─► rendered files in memory ─► kustomization.yaml, or a generated one ─► objects
//!             └ included kustomizations: the same, at their own paths
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use chart::{MemoryTree, OutputPieces, ResolvedPath, Tree, TreePath};
use kustomize::{
    Build, BuildOptions, BuildReport, FILE_NAMES, FetchRequest, FetchResults, LoadRestrictor, Reorder,
};
use manifest::provenance::{FieldOrigin, Trace};
use manifest::{Object, yaml};
use serde_json::{Map, Value, json};
use template::Delimiters;

use super::Generator;
use super::config::{CONFIG_FILE, Config};
use super::error::{RenderError, RenderProblem};
use super::files::{FileReader, SourceFile, has_extension, text};
use super::ignore::{IGNORE_FILE, IgnorePatterns};
use super::provenance::{DefaultValues, TracedFile, TracedTree, ValueReads};
use super::request::RenderRequest;
use super::template_set::TemplateSet;
use super::values::merged;
use crate::ValueSource;

/// Renders a folder of templates as a kustomization. Without a `kustomization.yaml` all manifests are its resources.
#[derive(Clone, Copy, Debug)]
pub struct KustomizationGenerator;

impl Generator for KustomizationGenerator {
    fn generate(&self, request: &RenderRequest<'_>) -> Result<Vec<Object>, RenderError> {
        let folder = request.folder()?;
        let mut loader = Loader { request, reader: FileReader::new(request), problems: Vec::new() };
        let kustomization = loader.load(folder.clone(), &mut Vec::new());
        RenderError::check(loader.problems)?;
        let mut files = RenderedFiles::default();
        if let Some(kustomization) = kustomization {
            kustomization.render(request, &mut files);
        }
        RenderError::check(files.problems)?;
        if request.trace.is_none() {
            return build(&files.tree, &folder, Vec::new(), Trace::Off);
        }
        let tree = TracedTree { tree: &files.tree, files: &files.traced };
        let mut objects = build(&tree, &folder, Vec::new(), Trace::On)?;
        for object in &mut objects {
            let relative = |file: &str| file.trim_start_matches('/').to_owned();
            object.map_origins(|origin| FieldOrigin {
                file: relative(&origin.file),
                field: origin.field.clone(),
                content: relative(&origin.content),
            });
        }
        Ok(objects)
    }
}

/// Builds a kustomization onto objects, without remote content.
pub(super) fn build(
    tree: &dyn Tree,
    folder: &TreePath,
    objects: Vec<Object>,
    trace: Trace,
) -> Result<Vec<Object>, RenderError> {
    let options = BuildOptions {
        load_restrictor: LoadRestrictor::None,
        reorder: Reorder::None,
        trace,
        ..BuildOptions::default()
    };
    let build = Build { tree, fetch_results: &FetchResults::new(), options };
    let base = kustomize::BaseObjects { objects, name: "rendered objects".to_owned() };
    match build.run_onto(folder, None, base) {
        Ok(output) => Ok(output.objects),
        Err(BuildReport { errors, requests, .. }) => {
            let remote = requests.iter().map(|request| RenderProblem::Remote { entry: entry(request) });
            // Errors may follow from missing content.
            let errors = if requests.is_empty() { errors } else { Vec::new() };
            let problems = remote.chain(errors.into_iter().map(RenderProblem::Kustomization)).collect();
            Err(RenderError { problems })
        }
    }
}

fn entry(request: &FetchRequest) -> String {
    match request {
        FetchRequest::Remote(entry) => entry.redacted(),
        FetchRequest::Chart(chart) => chart.to_string(),
    }
}

/// A kustomization with its parsed templates.
struct Kustomization {
    folder: TreePath,
    set: TemplateSet,
    /// The templates, by the name in the set and the path of the rendered file.
    templates: Vec<(String, String)>,
    /// The files that are no templates.
    plain: Vec<(String, Arc<[u8]>)>,
    /// All files that templates read, by name.
    files: Vec<SourceFile>,
    delimiters: Delimiters,
    default_values: Map<String, Value>,
    included: Vec<Self>,
}

struct Loader<'a> {
    request: &'a RenderRequest<'a>,
    reader: FileReader<'a>,
    problems: Vec<RenderProblem>,
}

impl Loader<'_> {
    /// Loads a kustomization with those that it includes. `chain` has the folders of the kustomizations around it.
    fn load(&mut self, folder: TreePath, chain: &mut Vec<TreePath>) -> Option<Kustomization> {
        if let Some(outer) = chain.iter().find(|outer| is_part_of(&folder, outer)) {
            let part_of = outer.clone();
            chain.push(folder);
            self.problems.push(RenderProblem::Cycle { chain: chain.clone(), part_of });
            chain.pop();
            return None;
        }
        match self.try_load(folder, chain) {
            Ok(kustomization) => Some(kustomization),
            Err(problem) => {
                self.problems.push(problem);
                None
            }
        }
    }

    fn try_load(
        &mut self,
        folder: TreePath,
        chain: &mut Vec<TreePath>,
    ) -> Result<Kustomization, RenderProblem> {
        let config_file = folder.join(CONFIG_FILE);
        let config = match self.reader.read_optional(&config_file)? {
            Some(content) => Config::parse(&config_file, &content)?,
            None => Config::default(),
        };
        let ignored = self.reader.read_optional(&folder.join(IGNORE_FILE))?;
        let ignored = ignored.map(|content| IgnorePatterns::parse(&text(&content))).unwrap_or_default();
        let mut files = self.reader.read_folder(&folder)?;
        let own = files.len();
        for entry in &config.included_files {
            match self.included_files(&folder, entry) {
                Ok(included) => files.extend(included),
                Err(problem) => self.problems.push(problem),
            }
        }
        let mut kustomization = Kustomization {
            set: TemplateSet::new(self.request, &files, config.delimiters.clone()),
            folder,
            templates: Vec::new(),
            plain: Vec::new(),
            files: Vec::new(),
            delimiters: config.delimiters,
            default_values: config.values,
            included: Vec::new(),
        };
        for file in &files[..own] {
            let name = file.path.rsplit('/').next().unwrap_or_default();
            if name != CONFIG_FILE && name != IGNORE_FILE && !ignored.ignores(&file.path) {
                self.problems.extend(kustomization.add(file, &config.template_suffix).err());
            }
        }
        kustomization.files = files;
        chain.push(kustomization.folder.clone());
        for entry in &config.included_kustomizations {
            match included_path(&kustomization.folder, entry).and_then(|path| self.existing_folder(path)) {
                Ok(path) => kustomization.included.extend(self.load(path, chain)),
                Err(problem) => self.problems.push(problem),
            }
        }
        chain.pop();
        Ok(kustomization)
    }

    /// Reads the files of an entry of `includedFiles`, under the paths that templates use.
    fn included_files(&mut self, folder: &TreePath, entry: &str) -> Result<Vec<SourceFile>, RenderProblem> {
        let path = included_path(folder, entry)?;
        match self.request.tree.resolve(&path)? {
            ResolvedPath::File(file) => {
                Ok(vec![SourceFile { path: entry.to_owned(), content: self.reader.read(&file)? }])
            }
            ResolvedPath::Folder(found) => {
                let mut files = self.reader.read_folder(&found)?;
                for file in &mut files {
                    file.path = format!("{}/{}", entry.trim_end_matches('/'), file.path);
                }
                Ok(files)
            }
            ResolvedPath::Missing => Err(RenderProblem::PathMissing { path }),
        }
    }

    fn existing_folder(&self, path: TreePath) -> Result<TreePath, RenderProblem> {
        match self.request.tree.resolve(&path)? {
            ResolvedPath::Folder(folder) => Ok(folder),
            ResolvedPath::File(_) => Err(RenderProblem::PathNotAFolder { path }),
            ResolvedPath::Missing => Err(RenderProblem::PathMissing { path }),
        }
    }
}

/// Resolves an entry of `includedFiles` or `includedKustomizations`.
fn included_path(folder: &TreePath, entry: &str) -> Result<TreePath, RenderProblem> {
    let refuse = |reason| RenderProblem::Include { folder: folder.clone(), entry: entry.to_owned(), reason };
    if entry.starts_with('/') {
        return Err(refuse("the path must be relative"));
    }
    let mut depth = folder.as_str().split('/').filter(|name| !name.is_empty()).count();
    for name in entry.split('/') {
        match name {
            "" | "." => {}
            ".." => depth = depth.checked_sub(1).ok_or_else(|| refuse("the path leaves the source"))?,
            _ => depth += 1,
        }
    }
    let path = folder.join(entry);
    if is_part_of(&path, folder) { Err(refuse("the path is inside the kustomization")) } else { Ok(path) }
}

/// True for a path inside a kustomization. Nothing counts as inside of the root, so that it can include its folders.
fn is_part_of(path: &TreePath, folder: &TreePath) -> bool {
    path == folder || (folder.as_str() != "/" && path.is_in(folder))
}

/// The rendered files of all kustomizations.
#[derive(Default)]
struct RenderedFiles {
    tree: MemoryTree,
    /// The templates of files, if provenance is recorded.
    traced: BTreeMap<TreePath, TracedFile>,
    problems: Vec<RenderProblem>,
}

impl RenderedFiles {
    fn insert(&mut self, path: TreePath, content: impl Into<Arc<[u8]>>) {
        if path.as_str().bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/-_.:#".contains(&byte)) {
            self.tree.insert(path, content);
        } else {
            self.problems.push(RenderProblem::FileName { path });
        }
    }
}

impl Kustomization {
    /// Adds a file, as a template if its name has the suffix of templates.
    fn add(&mut self, file: &SourceFile, suffix: &str) -> Result<(), RenderProblem> {
        let Some(output) = file.path.strip_suffix(suffix) else {
            self.plain.push((file.path.clone(), file.content.clone()));
            return Ok(());
        };
        self.templates.push((file.path.clone(), output.to_owned()));
        self.set.parse(&file.path, &file.content)
    }

    /// Renders the templates of this kustomization and of those that it includes.
    fn render(&self, request: &RenderRequest<'_>, files: &mut RenderedFiles) {
        for (name, content) in &self.plain {
            files.insert(self.folder.join(name), content.clone());
            if request.trace.is_some() {
                self.trace(name, name, OutputPieces::literal(), files);
            }
        }
        let none = Map::new();
        let values = merged(&self.default_values, request.values.as_object().unwrap_or(&none));
        let mut renderer = self.set.renderer(&Value::Object(values));
        for (name, output) in &self.templates {
            match renderer.render(name) {
                Ok(content) => {
                    if let Some(sources) = request.trace {
                        let pieces = self.value_reads(sources).pieces(name, &content);
                        self.trace(name, output, pieces, files);
                    }
                    files.insert(self.folder.join(output), content.bytes);
                }
                Err(problem) => {
                    let is_limit = problem.limit().is_some();
                    files.problems.push(problem);
                    if is_limit {
                        return;
                    }
                }
            }
        }
        self.add_kustomization(files);
        for included in &self.included {
            included.render(request, files);
        }
    }

    fn value_reads<'a>(&'a self, sources: &'a [ValueSource]) -> ValueReads<'a> {
        let file = self.folder.join(CONFIG_FILE).as_str().trim_start_matches('/').to_owned();
        ValueReads {
            texts: self.files.iter().map(|file| (file.path.clone(), &*file.content)).collect(),
            sources,
            defaults: vec![DefaultValues { file, path: Vec::new(), values: &self.default_values }],
            delimiters: &self.delimiters,
            chart: None,
        }
    }

    /// Notes the template of a rendered file.
    fn trace(&self, template: &str, output: &str, pieces: OutputPieces, files: &mut RenderedFiles) {
        let traced = TracedFile { folder: self.folder.clone(), template: template.to_owned(), pieces };
        files.traced.insert(self.folder.join(output), traced);
    }

    /// Adds a `kustomization.yaml` with all manifests, if there is none.
    fn add_kustomization(&self, files: &mut RenderedFiles) {
        let names = || {
            let outputs = self.templates.iter().map(|(_, output)| output.as_str());
            outputs.chain(self.plain.iter().map(|(name, _)| name.as_str()))
        };
        if names().any(|name| FILE_NAMES.contains(&name)) {
            return;
        }
        let is_resource = |path: &&str| {
            let name = path.rsplit('/').next().unwrap_or_default();
            !name.starts_with('.') && (has_extension(name, "yaml") || has_extension(name, "yml"))
        };
        let mut resources: Vec<&str> = names().filter(is_resource).collect();
        resources.sort_by(|left, right| left.split('/').cmp(right.split('/')));
        resources.dedup();
        // A kustomization without any field is an error; the namespace has no effect.
        let fields = if resources.is_empty() {
            json!({ "namespace": "none" })
        } else {
            json!({ "resources": resources })
        };
        files.tree.insert(self.folder.join(FILE_NAMES[0]), yaml::write(&fields).into_bytes());
    }
}
