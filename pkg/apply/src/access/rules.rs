//! All permissions of a user in a namespace, from one answer.

use serde::Deserialize;

use super::Permission;

/// The answer to a SelfSubjectRulesReview.
#[derive(Deserialize)]
pub(super) struct RulesReview {
    #[serde(default)]
    pub(super) status: Rules,
}

/// The rules for one namespace, including the rules of the whole cluster.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Rules {
    resource_rules: Vec<Rule>,
    /// True if an authorizer does not report its rules: it may allow more, or deny permissions that other authorizers
    /// allow.
    incomplete: bool,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Rule {
    verbs: Vec<String>,
    api_groups: Vec<String>,
    /// Plurals, `plural/subresource`, `*/subresource`.
    resources: Vec<String>,
    /// Names of the only objects that the rule is about; empty for all objects.
    resource_names: Vec<String>,
}

impl Rules {
    /// True if the rules certainly allow the permission. Other permissions may be allowed as well.
    pub(super) fn certainly_allow(&self, wanted: &Permission) -> bool {
        !self.incomplete && self.resource_rules.iter().any(|rule| rule.allows(wanted))
    }
}

impl Rule {
    /// Source: kubernetes 1.36 `pkg/apis/rbac/v1/evaluation_helpers.go`.
    fn allows(&self, wanted: &Permission) -> bool {
        let has = |words: &[String], word: &str| words.iter().any(|one| one == "*" || one == word);
        let subresource = wanted.resource.split_once('/').map(|(_, subresource)| format!("*/{subresource}"));
        self.resource_names.is_empty()
            && has(&self.verbs, &wanted.verb)
            && has(&self.api_groups, &wanted.group)
            && (has(&self.resources, &wanted.resource)
                || subresource.is_some_and(|any| self.resources.contains(&any)))
    }
}
