//! The Components of a command line, with their files, sources and values.

use std::collections::BTreeMap;

use api::plan::SavedComponents;
use component::{BatchPlan, CheckedComponent, ComponentBatch, ComponentInput, Preparation};

use super::{
    files::{FileFlags, read_components},
    hub::Hub,
    source::{SourceFlag, absolute, read_given},
    values::{ValueFlags, read_values},
};
use crate::{Failure, session::Session, settings::KubeFlags, ui::Messages};

/// The flags that name Components.
#[derive(clap::Args)]
pub(super) struct InputFlags {
    #[command(flatten)]
    files: FileFlags,

    #[command(flatten)]
    source: SourceFlag,

    #[command(flatten)]
    values: ValueFlags,

    /// Namespace of Components without one [default: that of the context]
    #[arg(short, long, value_name = "NAME")]
    namespace: Option<String>,
}

impl InputFlags {
    /// True without any flag.
    pub(super) fn is_empty(&self, session: &Session) -> bool {
        self.files.is_empty()
            && self.source.resolved(session).is_none()
            && self.values.files().is_empty()
            && self.namespace.is_none()
    }

    /// Returns the request, with absolute paths.
    pub(super) fn request(&self, kube: &KubeFlags, session: &Session) -> Result<SavedComponents, Failure> {
        let path = |place: String| if place == "-" { place } else { absolute(&place, session.environment()) };
        Ok(SavedComponents {
            files: self.files.places()?.into_iter().map(path).collect(),
            source: self.source.resolved(session),
            values: self.values.files().iter().map(|file| absolute(file, session.environment())).collect(),
            namespace: kube.namespace(self.namespace.as_deref(), session.environment())?,
        })
    }
}

/// Components with their sources and values.
pub(super) struct Inputs {
    components: Vec<ComponentInput>,
    preparation: Preparation,
}

impl Inputs {
    /// Reads the files of a request.
    pub(super) fn read(request: &SavedComponents, session: &mut Session) -> Result<Self, Failure> {
        let files = read_components(&request.files, &request.namespace, session)?;
        let source = request.source.as_deref().map(|place| read_given(place, session)).transpose()?;
        let values = read_values(&request.values, session)?;
        let mut of_namespaces = BTreeMap::new();
        let input = |checked: &CheckedComponent| {
            let namespace = checked.component.namespace();
            let files =
                of_namespaces.entry(namespace.to_owned()).or_insert_with(|| files.objects_for(namespace));
            ComponentInput { files: files.clone(), checked: checked.clone() }
        };
        let components = files.components.iter().map(input).collect();
        let preparation =
            Preparation { repositories: session.repositories()?, source, values, ..Preparation::default() };
        Ok(Self { components, preparation })
    }

    /// Returns the Components for the runs of a cluster.
    pub(super) fn batch<'a>(&'a self, hub: &'a Hub) -> ComponentBatch<'a> {
        ComponentBatch { runs: hub.runs(), preparation: &self.preparation, inputs: &self.components }
    }

    /// Returns the Component of a plan.
    pub(super) fn component(&self, plan: &component::ComponentPlan) -> Option<&ComponentInput> {
        let is_same = |one: &&ComponentInput| component::ComponentKey::of(&one.checked.component) == plan.key;
        self.components.iter().find(is_same)
    }
}

/// Warns about suspended Components.
pub(super) fn warn_suspended(plan: &BatchPlan, messages: &Messages) {
    for component in plan.suspended() {
        messages.warning(format!("Component `{component}` is suspended: its objects stay as they are"));
    }
}
