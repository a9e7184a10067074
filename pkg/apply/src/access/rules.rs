//! What a user may do in a namespace, all in one answer.

use serde::Deserialize;

use super::Permission;

/// What a SelfSubjectRulesReview answers.
#[derive(Deserialize)]
pub(super) struct RulesReview {
    #[serde(default)]
    pub(super) status: Rules,
}

/// The rules for one namespace, those of the whole cluster among them.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Rules {
    resource_rules: Vec<Rule>,
    /// An authorizer does not tell its rules: it may allow more, and forbid what the others allow.
    incomplete: bool,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Rule {
    verbs: Vec<String>,
    api_groups: Vec<String>,
    /// Plurals, `plural/subresource`, `*/subresource`.
    resources: Vec<String>,
    /// Only objects with these names, when there are any.
    resource_names: Vec<String>,
}

impl Rules {
    /// Whether it is certain that something is allowed in the namespace. What is not may be allowed all the same.
    pub(super) fn surely_allow(&self, wanted: &Permission) -> bool {
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
