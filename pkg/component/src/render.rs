//! Renders the files of a source to objects.
//!
//! ```text
//! files ─► decrypt ─┬─ Chart.yaml ─► chart: templates, hooks become waves ──────────┬─► transformers ─► objects
//!                   └─ otherwise ─► templates ─► kustomization (or a generated one) ─┘
//! ```

mod cluster;
mod config;
mod error;
mod files;
mod functions;
mod go_struct;
mod helm;
mod hints;
mod ignore;
mod kustomization;
mod provenance;
mod request;
mod template_set;
#[cfg(test)]
mod tests;
mod transform;
mod values;

use chart::{ResolvedPath, TreePath};
use manifest::Object;

pub use cluster::{ClusterReader, LookupCluster};
pub use error::{DecryptError, RenderError, RenderProblem};
pub use helm::ChartGenerator;
pub use kustomization::KustomizationGenerator;
pub use request::RenderRequest;
pub use transform::{KustomizeTransformer, Substitution, Transformer};

use files::FileReader;

/// Creates objects from the files of a source.
pub trait Generator {
    /// Renders the objects, in the order of the source.
    ///
    /// # Errors
    /// All problems that were found.
    fn generate(&self, request: &RenderRequest<'_>) -> Result<Vec<Object>, RenderError>;
}

/// Renders the files of a folder to objects: a Helm chart if the folder has a `Chart.yaml`, otherwise a kustomization
/// whose files are Go templates.
///
/// # Errors
/// All problems that were found.
pub fn render(request: &RenderRequest<'_>) -> Result<Vec<Object>, RenderError> {
    generator_of(request)?.generate(request)
}

/// Returns the generator for the folder of a request.
///
/// # Errors
/// A folder that does not exist or cannot be read.
pub fn generator_of(request: &RenderRequest<'_>) -> Result<Box<dyn Generator>, RenderError> {
    let folder = request.folder()?;
    Ok(match request.tree.resolve(&folder.join("Chart.yaml")).map_err(RenderProblem::Tree)? {
        ResolvedPath::File(_) => Box::new(ChartGenerator),
        ResolvedPath::Folder(_) | ResolvedPath::Missing => Box::new(KustomizationGenerator),
    })
}

/// Renders one template with the functions of a kustomization, and returns its text.
///
/// The tree of the request has the file and those that the template reads.
///
/// # Errors
/// The problem of the template.
pub fn render_template(request: &RenderRequest<'_>, file: &str) -> Result<Vec<u8>, RenderError> {
    let mut reader = FileReader::new(request);
    let files = reader.read_folder(&TreePath::new("/"))?;
    let set = template_set::TemplateSet::new(request, &files, template::Delimiters::default());
    let text = files.iter().find(|source| source.path == file).map(|source| &*source.content);
    let Some(text) = text else {
        return Err(RenderProblem::PathMissing { path: TreePath::new(file) }.into());
    };
    let mut set = set;
    set.parse(file, text)?;
    let values = request.values.clone();
    Ok(set.renderer(&values).render(file)?.bytes)
}
