//! One object on its way through a build, with what the build must remember of it.

use std::fmt;
use std::sync::Arc;

use manifest::{Object, provenance::Setter};

use crate::{ResId, TreePath};

/// An object as it was read.
#[derive(Clone, Debug)]
pub(crate) struct ReadObject {
    pub(crate) object: Object,
    /// The fields that are null because no value is written, as JSON pointers; `None` for none, as nearly always.
    pub(crate) empty_fields: Option<Arc<[String]>>,
}

/// An object and its past.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    /// The object as it stands. Not written to, it shares its memory with what was read.
    pub(crate) object: Object,
    /// The names put in front of its name so far, outermost last.
    pub(crate) prefixes: Vec<Arc<str>>,
    /// The names put behind its name so far, outermost last.
    pub(crate) suffixes: Vec<Arc<str>>,
    /// Where it comes from.
    pub(crate) origin: Arc<Origin>,
    /// Whether its name ends in a hash of its content once all else is done.
    pub(crate) needs_hash: bool,
    /// The names of the variables that take their value from it.
    pub(crate) variables: Vec<Arc<str>>,
    /// The fields that are null because no value was written when it was read, as JSON pointers; the first strategic merge
    /// drops them.
    pub(crate) empty_fields: Option<Arc<[String]>>,
    /// What went over it, in order; kept only where `buildMetadata` asks for it.
    pub(crate) transformations: Vec<Arc<Transformation>>,
    id: ResId,
    /// Oldest first.
    previous: Vec<ResId>,
}

/// Where an object comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// It was there before the build, and comes from what is named here.
    Given(String),
    /// It was read.
    File(TreePath),
    /// It was made by a field of a kustomization.
    Field {
        /// The kustomization, or the file with the settings of a plugin.
        file: TreePath,
        /// The field of the kustomization, such as `configMapGenerator[1]`.
        field: String,
        /// What made it.
        by: Plugin,
    },
}

/// A built-in generator or transformer, as annotations tell it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plugin {
    /// Such as `ConfigMapGenerator`.
    pub(crate) kind: String,
    /// The name of its settings, empty for a field of a kustomization.
    pub(crate) name: String,
    /// The namespace of its settings.
    pub(crate) namespace: String,
}

/// A transformer that went over an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Transformation {
    /// The kustomization, or the file with the settings of a plugin.
    pub(crate) file: TreePath,
    pub(crate) by: Plugin,
}

/// The choices of `buildMetadata`: the kustomization at the top decides for all.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BuildMetadata {
    pub(crate) managed_by: bool,
    pub(crate) origins: bool,
    pub(crate) transformations: bool,
}

impl ReadObject {
    pub(crate) fn new(object: Object, empty_fields: Vec<String>) -> Self {
        Self { object, empty_fields: (!empty_fields.is_empty()).then(|| empty_fields.into()) }
    }

    /// An item of this list.
    pub(crate) fn item(&self, index: usize, object: Object) -> Self {
        let place = format!("/items/{index}/");
        let fields = self.empty_fields.iter().flat_map(|fields| fields.iter());
        let own = fields.filter_map(|field| Some(format!("/{}", field.strip_prefix(&place)?)));
        Self::new(object, own.collect())
    }
}

impl Resource {
    /// Takes up an object.
    pub(crate) fn new(object: Object, origin: Arc<Origin>) -> Self {
        let id = ResId::of(&object);
        let (prefixes, suffixes, variables, transformations, previous, empty_fields) = Default::default();
        let needs_hash = false;
        Self {
            object,
            prefixes,
            suffixes,
            origin,
            needs_hash,
            variables,
            empty_fields,
            transformations,
            id,
            previous,
        }
    }

    /// Takes up an object that was read.
    pub(crate) fn read(read: ReadObject, origin: Arc<Origin>) -> Self {
        Self { empty_fields: read.empty_fields, ..Self::new(read.object, origin) }
    }

    /// The id it has now.
    pub(crate) fn id(&self) -> &ResId {
        &self.id
    }

    /// The id it had when it was taken up.
    pub(crate) fn original_id(&self) -> &ResId {
        self.previous.first().unwrap_or(&self.id)
    }

    /// The ids it had before, oldest first.
    pub(crate) fn former_ids(&self) -> &[ResId] {
        &self.previous
    }

    /// Counts the id it has among its former ones, whether it changes or not.
    pub(crate) fn keep_id(&mut self) {
        if self.previous.last() != Some(&self.id) {
            self.previous.push(self.id.clone());
        }
    }

    /// Every id it has had and has, newest first.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &ResId> {
        std::iter::once(&self.id).chain(self.previous.iter().rev())
    }

    /// Brings the id up to date after a write; tells whether it changed.
    pub(crate) fn note_id(&mut self) -> bool {
        if self.id.is_of(&self.object) {
            return false;
        }
        self.keep_id();
        self.id = ResId::of(&self.object);
        true
    }
}

impl Plugin {
    /// The plugin a field of a kustomization stands for.
    pub(crate) fn of_field(kind: &str) -> Self {
        Self { kind: kind.to_owned(), ..Self::default() }
    }
}

impl Origin {
    /// What set the fields an object of this origin came with.
    pub(crate) fn setter(&self) -> Setter {
        let (file, field) = match self {
            Self::Given(name) => (name.clone(), String::new()),
            Self::File(file) => (file.to_string(), String::new()),
            Self::Field { file, field, .. } => (file.to_string(), field.clone()),
        };
        Setter { file, field, content: String::new() }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given(name) => write!(formatter, "`{name}`"),
            Self::File(file) => write!(formatter, "`{file}`"),
            Self::Field { file, field, .. } => write!(formatter, "{field} in `{file}`"),
        }
    }
}
