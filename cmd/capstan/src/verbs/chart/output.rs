use std::path::PathBuf;

use api::output::{ChartObject, ChartObjects};
use chart::{PrintOptions, Rendered, RenderedDocument};
use manifest::{Object, write_traced_stream};
use provider::Overlay as _;

use super::output_folder;
use crate::{
    Failure,
    kustomizations::KustomizationOverlay,
    session::Session,
    settings::{OutputFormat, to_json},
    verbs::provenance::{self, Provenance},
};

/// The form and the target of rendered objects.
pub(super) struct TemplateOutput {
    /// The folder or URL of a kustomization to apply to the objects.
    pub(super) kustomization: Option<String>,
    pub(super) format: OutputFormat,
    pub(super) provenance: Provenance,
    /// The folder for files; `None` for standard output.
    pub(super) folder: Option<OutputFolder>,
}

/// The folder for one file per template.
pub(super) struct OutputFolder {
    pub(super) path: PathBuf,
    /// The folder as the user wrote it.
    pub(super) name: String,
    /// The folder for everything but files in `crds/`.
    pub(super) release: Option<String>,
}

impl TemplateOutput {
    /// Writes the selected documents of a chart.
    pub(super) fn write(
        &self,
        rendered: &Rendered,
        options: &PrintOptions,
        session: &mut Session,
    ) -> Result<(), Failure> {
        if let Some(place) = &self.kustomization {
            let objects = kustomize(rendered.objects(options)?, place, session)?;
            return self.write_objects(objects, rendered, session);
        }
        if self.provenance != Provenance::Off {
            return self.write_objects(rendered.objects(options)?, rendered, session);
        }
        if let Some(folder) = &self.folder {
            let lines = output_folder::write(folder, &rendered.documents(options)?)?;
            return session.printer().write(format!("{lines}\n"));
        }
        if self.format != OutputFormat::Json {
            return session.printer().write(rendered.print(options)?);
        }
        let mut objects = Vec::new();
        for document in rendered.documents(options)? {
            let RenderedDocument { source, hook, .. } = document;
            let events = hook.iter().flat_map(|hook| &hook.events);
            let hook_events: Vec<String> = events.map(|event| event.as_str().to_owned()).collect();
            objects.extend(document.objects()?.into_iter().map(|object| ChartObject {
                source: Some(source.to_owned()),
                hook_events: hook_events.clone(),
                object,
            }));
        }
        session.printer().write(to_json(&ChartObjects { objects, notes: notes(rendered) })?)
    }

    fn write_objects(
        &self,
        objects: Vec<Object>,
        rendered: &Rendered,
        session: &mut Session,
    ) -> Result<(), Failure> {
        if self.provenance == Provenance::Json {
            return session.printer().write(provenance::report(&objects)?);
        }
        if self.format != OutputFormat::Json {
            return session.printer().write(write_traced_stream(&objects) + "\n");
        }
        let object = |object: Object| ChartObject {
            source: None,
            hook_events: Vec::new(),
            object: object.into_value(),
        };
        let objects = objects.into_iter().map(object).collect();
        session.printer().write(to_json(&ChartObjects { objects, notes: notes(rendered) })?)
    }
}

fn notes(rendered: &Rendered) -> Option<String> {
    Some(rendered.notes.clone()).filter(|notes| !notes.is_empty())
}

/// Applies a kustomization to rendered objects.
fn kustomize(objects: Vec<Object>, place: &str, session: &Session) -> Result<Vec<Object>, Failure> {
    let overlay = KustomizationOverlay::of_template(place, session)?;
    let result = overlay.apply(objects, "the rendered chart")?;
    for warning in &result.warnings {
        session.messages().warning(warning);
    }
    Ok(result.objects)
}
