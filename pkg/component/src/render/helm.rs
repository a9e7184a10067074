//! Helm charts, as the runtime of components renders them.
//!
//! ```text
//! folder ─► ChartSource ─► enabled subcharts, values ─► crds/, templates/*.yaml ─► objects ─► hooks become waves
//! ```
//!
//! Source: component-operator-runtime 0.3.158. The order, the files and the values differ from Helm's, so only the
//! parts of `pkg/chart` that are alike are used: `Chart.yaml`, `.Files`, `.Capabilities`.

mod hooks;
mod scope;
mod source;

use std::sync::Arc;

use chart::TreePath;
use manifest::provenance::FieldOrigin;
use manifest::{Object, YamlLimits, read_stream};
use serde_json::Map;

use super::Generator;
use super::error::{RenderError, RenderProblem};
use super::files::FileReader;
use super::request::RenderRequest;

use scope::ChartRenderer;
use source::ChartSource;

/// Renders a folder as a Helm chart.
#[derive(Clone, Copy, Debug)]
pub struct ChartGenerator;

impl Generator for ChartGenerator {
    fn generate(&self, request: &RenderRequest<'_>) -> Result<Vec<Object>, RenderError> {
        let folder = request.folder()?;
        let files = FileReader::new(request).read_folder(&folder)?;
        let chart = ChartSource::load(&folder, files, None)?;
        let none = Map::new();
        let values = request.values.as_object().unwrap_or(&none);
        let root = template_name(&folder, "");
        let mut renderer = ChartRenderer::new(request, &chart, root.trim_end_matches('/'))?;
        renderer.render(&chart, None, values);
        let ChartRenderer { objects, mut problems, .. } = renderer;
        let mut kept = Vec::with_capacity(objects.len());
        for FileObject { file, mut object } in objects {
            match hooks::apply(&mut object, request) {
                Ok(true) => {
                    let field = "annotations of Helm hooks".to_owned();
                    object.record_provenance(&Arc::new(FieldOrigin { field, ..FieldOrigin::default() }));
                    kept.push(object);
                }
                Ok(false) => {}
                Err(reason) => {
                    let object = manifest::ObjectRef::of(&object);
                    problems.push(RenderProblem::Annotation { file, object, reason });
                }
            }
        }
        RenderError::check(problems)?;
        Ok(kept)
    }
}

/// An object with its file.
struct FileObject {
    file: String,
    object: Object,
}

/// Parses the documents of a file.
fn objects(file: &str, content: &[u8]) -> Result<Vec<FileObject>, RenderProblem> {
    let stream = read_stream(content, &YamlLimits::default())
        .map_err(|error| RenderProblem::Output { file: file.to_owned(), error })?;
    Ok(stream.objects.into_iter().map(|object| FileObject { file: file.to_owned(), object }).collect())
}

/// Returns the path of a file of a chart from the root of the source, which is the name of its template.
fn template_name(folder: &TreePath, path: &str) -> String {
    folder.join(path).as_str().trim_start_matches('/').to_owned()
}
