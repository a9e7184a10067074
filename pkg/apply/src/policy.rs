//! What is done about objects that exist, change, or are no longer wanted; and the options of an engine.

use std::{
    fmt::Write,
    num::{IntErrorKind, ParseIntError},
    time::Duration,
};

use manifest::{Object, duration};
use serde::{Deserialize, Serialize};

use crate::GroupKind;

/// What becomes of an object that is there already and was not applied by this owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AdoptionPolicy {
    /// It stops the run.
    Never,
    /// It is taken when nobody owns it.
    #[default]
    IfUnowned,
    /// It is taken, whoever owns it.
    Always,
}

/// When an object is written again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReconcilePolicy {
    /// When its manifest has changed.
    #[default]
    OnObjectChange,
    /// Also when anything about its component has.
    OnObjectOrComponentChange,
    /// Never, once it was created.
    Once,
}

/// How an object that is there is changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum UpdatePolicy {
    /// Deleted and created anew.
    Recreate,
    /// PUT: what the manifest does not say is gone.
    #[default]
    Replace,
    /// Server-side apply: fields of others stay.
    SsaMerge,
    /// Server-side apply that takes over the fields written by the tools of [`Options::take_over`].
    SsaOverride,
}

/// What becomes of an object that is no longer wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeletePolicy {
    /// It is deleted.
    #[default]
    Delete,
    /// It stays, and is forgotten.
    Orphan,
    /// It stays when it is no longer part of the set; deleted when all of the set is.
    OrphanOnApply,
    /// It stays when all of the set is deleted; deleted when it is no longer part of it.
    OrphanOnDelete,
}

impl DeletePolicy {
    /// Whether what is no longer part of its set stays.
    pub(crate) fn orphans_redundant(self) -> bool {
        matches!(self, Self::Orphan | Self::OrphanOnApply)
    }

    /// True if the object stays when all of its set is deleted.
    pub fn orphans_all(self) -> bool {
        matches!(self, Self::Orphan | Self::OrphanOnDelete)
    }
}

/// What becomes of namespaces that objects name, that are not in the set and not on the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingNamespaces {
    /// They are created, owned by nobody and never deleted.
    #[default]
    Create,
    /// They are an error.
    Refuse,
}

/// Policies of objects that say nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policies {
    /// Taking what is there.
    pub adoption: AdoptionPolicy,
    /// Writing again.
    pub reconcile: ReconcilePolicy,
    /// Changing.
    pub update: UpdatePolicy,
    /// Removing.
    pub delete: DeletePolicy,
}

/// The policies of one object: its annotations over the defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjectPolicies {
    /// The four that have a default.
    pub policies: Policies,
    /// Its wave; waves go upwards, each when all before is ready.
    pub apply_order: i16,
    /// The wave at whose end it is deleted again.
    pub purge_order: Option<i16>,
    /// Its wave when things are deleted; upwards too.
    pub delete_order: i16,
    /// How often it is written although nothing has changed; none for never.
    pub reapply_after: Option<Duration>,
}

/// What an engine is set up with.
#[derive(Clone, Debug)]
pub struct Options {
    /// The field manager of all writes.
    pub field_manager: String,
    /// What stands before the `/` of policy annotations.
    pub prefix: String,
    /// For objects without annotations.
    pub defaults: Policies,
    /// For namespaces nobody brings.
    pub missing_namespaces: MissingNamespaces,
    /// The namespace of namespaced objects that name none.
    pub namespace: String,
    /// Beginnings of the names of field managers whose fields are taken over, such as `kubectl`.
    pub take_over: Vec<String>,
    /// Kinds whose instances belong to the set although it does not bring their definition. Group may be `*` or
    /// `*.suffix`, kind may be `*`.
    pub additional_managed_types: Vec<GroupKind>,
    /// The digest of all a component is made of, for [`ReconcilePolicy::OnObjectOrComponentChange`].
    pub component_digest: Option<String>,
    /// How often an unchanged object is written again; none for never.
    pub reapply_after: Option<Duration>,
}

impl ObjectPolicies {
    /// The policies of an object. Values are accepted in kebab case and in CamelCase.
    ///
    /// A default of [`DeletePolicy::Orphan`] is about the deletion of the whole set; only the annotation `orphan` also
    /// keeps what is no longer part of it.
    /// # Errors
    /// Every annotation that cannot be read, as ``annotation `K`: what is wrong with V``.
    pub(crate) fn of(object: &Object, options: &Options) -> Result<Self, Vec<String>> {
        let mut reader = Reader { object, prefix: &options.prefix, problems: Vec::new() };
        let Policies { adoption, reconcile, update, delete } = options.defaults;
        let delete = if delete == DeletePolicy::Orphan { DeletePolicy::OrphanOnDelete } else { delete };
        let policies = Self {
            policies: Policies {
                adoption: reader.word("adoption-policy", ADOPTION).unwrap_or(adoption),
                reconcile: reader.word("reconcile-policy", RECONCILE).unwrap_or(reconcile),
                update: reader.word_or_default("update-policy", UPDATE).unwrap_or(update),
                delete: reader.word_or_default("delete-policy", DELETE).unwrap_or(delete),
            },
            apply_order: reader.value("apply-order", order).unwrap_or_default(),
            purge_order: reader.value("purge-order", order),
            delete_order: reader.value("delete-order", order).unwrap_or_default(),
            reapply_after: reader.value("reapply-interval", interval).or(options.reapply_after),
        };
        if reader.problems.is_empty() { Ok(policies) } else { Err(reader.problems) }
    }
}

/// The words of a policy with what they mean.
type Words<P> = &'static [(&'static str, P)];

const ADOPTION: Words<AdoptionPolicy> = &[
    ("never", AdoptionPolicy::Never),
    ("if-unowned", AdoptionPolicy::IfUnowned),
    ("always", AdoptionPolicy::Always),
];
const RECONCILE: Words<ReconcilePolicy> = &[
    ("on-object-change", ReconcilePolicy::OnObjectChange),
    ("on-object-or-component-change", ReconcilePolicy::OnObjectOrComponentChange),
    ("once", ReconcilePolicy::Once),
];
const UPDATE: Words<UpdatePolicy> = &[
    ("recreate", UpdatePolicy::Recreate),
    ("replace", UpdatePolicy::Replace),
    ("ssa-merge", UpdatePolicy::SsaMerge),
    ("ssa-override", UpdatePolicy::SsaOverride),
];
const DELETE: Words<DeletePolicy> = &[
    ("delete", DeletePolicy::Delete),
    ("orphan", DeletePolicy::Orphan),
    ("orphan-on-apply", DeletePolicy::OrphanOnApply),
    ("orphan-on-delete", DeletePolicy::OrphanOnDelete),
];
/// As if the annotation was not there; other engines know it, and say it is deprecated.
const UNSET: &[&str] = &["default", "Default"];

struct Reader<'a> {
    object: &'a Object,
    prefix: &'a str,
    problems: Vec<String>,
}

impl Reader<'_> {
    fn value<T>(&mut self, name: &str, parse: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        let key = format!("{}/{name}", self.prefix);
        let parsed = parse(self.object.annotation(&key)?);
        parsed.map_err(|problem| self.problems.push(format!("annotation `{key}`: {problem}"))).ok()
    }

    fn word<P: Copy>(&mut self, name: &str, words: Words<P>) -> Option<P> {
        self.value(name, |text| word(text, words))
    }

    fn word_or_default<P: Copy>(&mut self, name: &str, words: Words<P>) -> Option<P> {
        let parse = |text: &str| if UNSET.contains(&text) { Ok(None) } else { word(text, words).map(Some) };
        self.value(name, parse).flatten()
    }
}

fn word<P: Copy>(text: &str, words: Words<P>) -> Result<P, String> {
    if let Some((_, policy)) = words.iter().find(|(word, _)| *word == text || camel_case(word) == text) {
        return Ok(*policy);
    }
    let known = || words.iter().map(|(word, _)| *word);
    let mut problem = format!("`{text}` is none of {}", known().collect::<Vec<_>>().join(", "));
    if let [first, ..] = *api::near_names(text, known()) {
        let _ = write!(problem, "; is `{first}` meant?");
    }
    Err(problem)
}

/// `if-unowned` as `IfUnowned`.
fn camel_case(kebab: &str) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect::<String>()
    };
    kebab.split('-').map(capital).collect()
}

fn order(text: &str) -> Result<i16, String> {
    text.parse().map_err(|error: ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => {
            format!("value {text} not in allowed range [{},{}]", i16::MIN, i16::MAX)
        }
        _ => format!("`{text}` is not a whole number"),
    })
}

fn interval(text: &str) -> Result<Duration, String> {
    let nanoseconds = duration::nanoseconds(text).and_then(|nanoseconds| u64::try_from(nanoseconds).ok());
    let wrong = || format!("`{text}` is not a span of time such as 30m or 1h30m");
    nanoseconds.map(Duration::from_nanos).ok_or_else(wrong)
}

#[cfg(test)]
mod tests;
