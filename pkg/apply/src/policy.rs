//! Policies for existing, changed and redundant objects, and the options of an engine.

use std::{
    fmt::Write,
    num::{IntErrorKind, ParseIntError},
    time::Duration,
};

use manifest::{Object, duration};
use serde::{Deserialize, Serialize};

use crate::{FormerTool, GroupKind};

/// The policy for an existing object that this owner did not apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AdoptionPolicy {
    /// The object stops the run.
    Never,
    /// The object is adopted if it has no owner.
    #[default]
    IfUnowned,
    /// The object is adopted from any owner.
    Always,
}

/// The policy for writing an object again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReconcilePolicy {
    /// Write the object when its manifest has changed.
    #[default]
    OnObjectChange,
    /// Write the object when its manifest or any other part of its component has changed.
    OnObjectOrComponentChange,
    /// Never write the object after its creation.
    Once,
}

/// The policy for updates of an existing object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum UpdatePolicy {
    /// Delete the object and create it again.
    Recreate,
    /// PUT: fields that are not in the manifest are removed.
    #[default]
    Replace,
    /// Server-side apply: fields of other managers stay.
    SsaMerge,
    /// Server-side apply that takes over the fields of the managers in [`ApplyOptions::take_over`].
    SsaOverride,
}

/// The policy for an object that is no longer desired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeletePolicy {
    /// The object is deleted.
    #[default]
    Delete,
    /// The object stays, and its item is removed.
    Orphan,
    /// The object stays if it leaves the set; it is deleted with the whole set.
    OrphanOnApply,
    /// The object stays if the whole set is deleted; it is deleted if it leaves the set.
    OrphanOnDelete,
}

impl DeletePolicy {
    /// True if the object stays when it leaves its set.
    pub(crate) fn orphans_on_apply(self) -> bool {
        matches!(self, Self::Orphan | Self::OrphanOnApply)
    }

    /// True if the object stays when its whole set is deleted.
    pub fn orphans_on_delete(self) -> bool {
        matches!(self, Self::Orphan | Self::OrphanOnDelete)
    }
}

/// The policy for namespaces that objects name, and that exist neither in the set nor on the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingNamespacePolicy {
    /// Create the namespaces, without an owner. They are never deleted.
    #[default]
    Create,
    /// Fail.
    Refuse,
}

/// The policies of objects without annotations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policies {
    /// The policy for existing objects.
    pub adoption: AdoptionPolicy,
    /// The policy for repeated writes.
    pub reconcile: ReconcilePolicy,
    /// The policy for updates.
    pub update: UpdatePolicy,
    /// The policy for deletions.
    pub delete: DeletePolicy,
}

/// The policies of one object: its annotations over the defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjectPolicies {
    /// The policies with defaults.
    pub policies: Policies,
    /// The wave of the object. Waves run in ascending order, each after all objects of the earlier waves are ready.
    pub apply_order: i16,
    /// The wave at whose end the object is deleted.
    pub purge_order: Option<i16>,
    /// The wave of the object in a deletion, in ascending order too.
    pub delete_order: i16,
    /// The interval at which an unchanged object is written again. None for never.
    pub reapply_after: Option<Duration>,
}

/// The options of an engine.
#[derive(Clone, Debug)]
pub struct ApplyOptions {
    /// The field manager of all writes.
    pub field_manager: String,
    /// The prefix of policy annotations, without the `/`.
    pub prefix: String,
    /// The policies of objects without annotations.
    pub defaults: Policies,
    /// The policy for missing namespaces.
    pub missing_namespaces: MissingNamespacePolicy,
    /// The namespace of namespaced objects without one.
    pub namespace: String,
    /// The tools whose fields are taken over.
    pub take_over: Vec<FormerTool>,
    /// Kinds whose instances belong to the set although the set does not define the kinds. The group may be `*` or
    /// `*.suffix`, the kind may be `*`.
    pub additional_managed_types: Vec<GroupKind>,
    /// The digest of a whole component, for [`ReconcilePolicy::OnObjectOrComponentChange`].
    pub component_digest: Option<String>,
    /// The interval at which an unchanged object is written again. None for never.
    pub reapply_after: Option<Duration>,
    /// True to remove the marks of the owner from objects that leave the set and stay, so that other sets can adopt them.
    pub release_orphans: bool,
}

impl ApplyOptions {
    /// The options of a set: server-side apply by force, for which missing namespaces are created. `prefix` is that of the
    /// annotations with policies, `namespace` that of namespaced objects without one.
    pub fn new(field_manager: &str, prefix: &str, namespace: &str) -> Self {
        Self {
            field_manager: field_manager.to_owned(),
            prefix: prefix.to_owned(),
            defaults: Policies { update: UpdatePolicy::SsaOverride, ..Policies::default() },
            missing_namespaces: MissingNamespacePolicy::Create,
            namespace: namespace.to_owned(),
            take_over: Vec::new(),
            additional_managed_types: Vec::new(),
            component_digest: None,
            reapply_after: None,
            release_orphans: false,
        }
    }
}

impl ObjectPolicies {
    /// Returns the policies of an object. Values are accepted in kebab case and in CamelCase.
    ///
    /// A default of [`DeletePolicy::Orphan`] only applies to the deletion of the whole set. The annotation `orphan`
    /// also keeps an object that leaves the set.
    /// # Errors
    /// Every invalid annotation, as ``annotation `K`: <problem of V>``.
    pub(crate) fn of(object: &Object, options: &ApplyOptions) -> Result<Self, Vec<String>> {
        let mut reader = Reader { object, prefix: &options.prefix, problems: Vec::new() };
        let Policies { adoption, reconcile, update, delete } = options.defaults;
        let delete = if delete == DeletePolicy::Orphan { DeletePolicy::OrphanOnDelete } else { delete };
        let policies = Self {
            policies: Policies {
                adoption: reader.policy("adoption-policy", ADOPTION).unwrap_or(adoption),
                reconcile: reader.policy("reconcile-policy", RECONCILE).unwrap_or(reconcile),
                update: reader.policy_or_default("update-policy", UPDATE).unwrap_or(update),
                delete: reader.policy_or_default("delete-policy", DELETE).unwrap_or(delete),
            },
            apply_order: reader.value("apply-order", order).unwrap_or_default(),
            purge_order: reader.value("purge-order", order),
            delete_order: reader.value("delete-order", order).unwrap_or_default(),
            reapply_after: reader.value("reapply-interval", interval).or(options.reapply_after),
        };
        if reader.problems.is_empty() { Ok(policies) } else { Err(reader.problems) }
    }
}

/// The values of a policy annotation.
type PolicyNames<P> = &'static [(&'static str, P)];

const ADOPTION: PolicyNames<AdoptionPolicy> = &[
    ("never", AdoptionPolicy::Never),
    ("if-unowned", AdoptionPolicy::IfUnowned),
    ("always", AdoptionPolicy::Always),
];
const RECONCILE: PolicyNames<ReconcilePolicy> = &[
    ("on-object-change", ReconcilePolicy::OnObjectChange),
    ("on-object-or-component-change", ReconcilePolicy::OnObjectOrComponentChange),
    ("once", ReconcilePolicy::Once),
];
const UPDATE: PolicyNames<UpdatePolicy> = &[
    ("recreate", UpdatePolicy::Recreate),
    ("replace", UpdatePolicy::Replace),
    ("ssa-merge", UpdatePolicy::SsaMerge),
    ("ssa-override", UpdatePolicy::SsaOverride),
];
const DELETE: PolicyNames<DeletePolicy> = &[
    ("delete", DeletePolicy::Delete),
    ("orphan", DeletePolicy::Orphan),
    ("orphan-on-apply", DeletePolicy::OrphanOnApply),
    ("orphan-on-delete", DeletePolicy::OrphanOnDelete),
];
/// Values that mean a missing annotation. Other engines accept them as deprecated.
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

    fn policy<P: Copy>(&mut self, name: &str, words: PolicyNames<P>) -> Option<P> {
        self.value(name, |text| parse_policy(text, words))
    }

    fn policy_or_default<P: Copy>(&mut self, name: &str, words: PolicyNames<P>) -> Option<P> {
        let parse =
            |text: &str| if UNSET.contains(&text) { Ok(None) } else { parse_policy(text, words).map(Some) };
        self.value(name, parse).flatten()
    }
}

fn parse_policy<P: Copy>(text: &str, words: PolicyNames<P>) -> Result<P, String> {
    if let Some((_, policy)) = words.iter().find(|(word, _)| *word == text || camel_case(word) == text) {
        return Ok(*policy);
    }
    let known = || words.iter().map(|(word, _)| *word);
    let mut problem = format!("`{text}` is not one of {}", known().collect::<Vec<_>>().join(", "));
    if let [first, ..] = *api::similar_names(text, known()) {
        let _ = write!(problem, "; did you mean `{first}`?");
    }
    Err(problem)
}

/// Converts `if-unowned` to `IfUnowned`.
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
        _ => format!("`{text}` is not an integer"),
    })
}

fn interval(text: &str) -> Result<Duration, String> {
    let nanoseconds = duration::nanoseconds(text).and_then(|nanoseconds| u64::try_from(nanoseconds).ok());
    let wrong = || format!("`{text}` is not a duration such as 30m or 1h30m");
    nanoseconds.map(Duration::from_nanos).ok_or_else(wrong)
}

#[cfg(test)]
mod tests;
