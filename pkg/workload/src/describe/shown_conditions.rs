use std::str::FromStr;

/// The objects whose conditions are shown: `all`, kinds and `kind/name`, separated by commas. A `+` limits a choice to
/// conditions with information.
/// Source: clusterctl v1.14 client/tree/tree.go (showConditions).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownConditions(Vec<ConditionChoice>);

/// One element of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ConditionChoice {
    target: ChoiceTarget,
    filter: ConditionFilter,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ChoiceTarget {
    All,
    Kind(String),
    Object { kind: String, name: String },
}

/// The conditions of an object to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConditionFilter {
    All,
    /// Conditions that deviate from the healthy state, or have a message.
    Informative,
}

/// A choice of conditions that contains white space.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot parse conditions `{choice}`: white space is not allowed around commas or at the ends")]
pub struct ConditionChoiceError {
    /// The invalid choice.
    pub choice: String,
}

impl FromStr for ShownConditions {
    type Err = ConditionChoiceError;

    fn from_str(text: &str) -> Result<Self, ConditionChoiceError> {
        if text.split(',').any(|choice| choice.trim() != choice) {
            return Err(ConditionChoiceError { choice: text.to_owned() });
        }
        Ok(Self(text.split(',').filter(|choice| !choice.is_empty()).map(ConditionChoice::parse).collect()))
    }
}

impl ShownConditions {
    /// Returns the conditions to show for an object; the first matching choice decides.
    pub(super) fn filter_for(&self, kind: &str, name: &str) -> Option<ConditionFilter> {
        self.0.iter().find(|choice| choice.matches(kind, name)).map(|choice| choice.filter)
    }
}

impl ConditionChoice {
    fn parse(text: &str) -> Self {
        let split = |text: &str| match text.strip_suffix('+') {
            Some(rest) => (rest.to_lowercase(), ConditionFilter::Informative),
            None => (text.to_lowercase(), ConditionFilter::All),
        };
        let parts: Vec<&str> = text.split('/').collect();
        if let [kind, name] = parts[..] {
            let (name, which) = split(name);
            return Self { target: ChoiceTarget::Object { kind: kind.to_lowercase(), name }, filter: which };
        }
        // With several slashes, clusterctl uses the text before the first one.
        let (kind, which) = split(parts[0]);
        Self {
            target: if kind == "all" { ChoiceTarget::All } else { ChoiceTarget::Kind(kind) },
            filter: which,
        }
    }

    fn matches(&self, kind: &str, name: &str) -> bool {
        match &self.target {
            ChoiceTarget::All => true,
            ChoiceTarget::Kind(wanted) => *wanted == kind.to_lowercase(),
            ChoiceTarget::Object { kind: wanted, name: called } => {
                *wanted == kind.to_lowercase() && *called == name.to_lowercase()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_matching_condition_filter_wins() {
        for (choice, machine, cluster) in [
            ("", None, None),
            ("all", Some(ConditionFilter::All), Some(ConditionFilter::All)),
            ("ALL+", Some(ConditionFilter::Informative), Some(ConditionFilter::Informative)),
            ("machine", Some(ConditionFilter::All), None),
            ("Machine/M1+", Some(ConditionFilter::Informative), None),
            ("machine/m2", None, None),
            ("machine+,machine/m1,,cluster", Some(ConditionFilter::Informative), Some(ConditionFilter::All)),
            ("cluster/c,all+", Some(ConditionFilter::Informative), Some(ConditionFilter::All)),
            ("machine/a/b", Some(ConditionFilter::All), None),
            ("machines", None, None),
        ] {
            let shown: ShownConditions = choice.parse().unwrap();
            assert_eq!(shown.filter_for("Machine", "m1"), machine, "{choice}");
            assert_eq!(shown.filter_for("Cluster", "c"), cluster, "{choice}");
        }
    }

    #[test]
    fn white_space_is_refused() {
        for choice in ["a, b", " all", "all ", "a,b ", "a\t,b"] {
            assert!(choice.parse::<ShownConditions>().is_err(), "{choice:?}");
        }
    }
}
