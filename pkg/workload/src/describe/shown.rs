use std::str::FromStr;

/// The objects whose conditions are shown: `all`, kinds and `kind/name`, separated by commas. A `+` limits a choice to
/// conditions with information.
/// Source: clusterctl v1.14 client/tree/tree.go (showConditions).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownConditions(Vec<Choice>);

/// One element of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Choice {
    of: Of,
    which: Which,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Of {
    All,
    Kind(String),
    Object { kind: String, name: String },
}

/// The conditions of an object to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    All,
    /// Conditions that deviate from the healthy state, or have a message.
    Telling,
}

/// A choice of conditions that contains white space.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the choice of conditions `{choice}` has white space around a comma or at an end")]
pub struct BadChoice {
    /// The invalid choice.
    pub choice: String,
}

impl FromStr for ShownConditions {
    type Err = BadChoice;

    fn from_str(text: &str) -> Result<Self, BadChoice> {
        if text.split(',').any(|choice| choice.trim() != choice) {
            return Err(BadChoice { choice: text.to_owned() });
        }
        Ok(Self(text.split(',').filter(|choice| !choice.is_empty()).map(Choice::parse).collect()))
    }
}

impl ShownConditions {
    /// Returns the conditions to show for an object; the first matching choice decides.
    pub(super) fn of(&self, kind: &str, name: &str) -> Option<Which> {
        self.0.iter().find(|choice| choice.means(kind, name)).map(|choice| choice.which)
    }
}

impl Choice {
    fn parse(text: &str) -> Self {
        let split = |text: &str| match text.strip_suffix('+') {
            Some(rest) => (rest.to_lowercase(), Which::Telling),
            None => (text.to_lowercase(), Which::All),
        };
        let parts: Vec<&str> = text.split('/').collect();
        if let [kind, name] = parts[..] {
            let (name, which) = split(name);
            return Self { of: Of::Object { kind: kind.to_lowercase(), name }, which };
        }
        // With several slashes, clusterctl uses the text before the first one.
        let (kind, which) = split(parts[0]);
        Self { of: if kind == "all" { Of::All } else { Of::Kind(kind) }, which }
    }

    fn means(&self, kind: &str, name: &str) -> bool {
        match &self.of {
            Of::All => true,
            Of::Kind(wanted) => *wanted == kind.to_lowercase(),
            Of::Object { kind: wanted, name: called } => {
                *wanted == kind.to_lowercase() && *called == name.to_lowercase()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_choice_that_means_an_object_counts() {
        for (choice, machine, cluster) in [
            ("", None, None),
            ("all", Some(Which::All), Some(Which::All)),
            ("ALL+", Some(Which::Telling), Some(Which::Telling)),
            ("machine", Some(Which::All), None),
            ("Machine/M1+", Some(Which::Telling), None),
            ("machine/m2", None, None),
            ("machine+,machine/m1,,cluster", Some(Which::Telling), Some(Which::All)),
            ("cluster/c,all+", Some(Which::Telling), Some(Which::All)),
            ("machine/a/b", Some(Which::All), None),
            ("machines", None, None),
        ] {
            let shown: ShownConditions = choice.parse().unwrap();
            assert_eq!(shown.of("Machine", "m1"), machine, "{choice}");
            assert_eq!(shown.of("Cluster", "c"), cluster, "{choice}");
        }
    }

    #[test]
    fn white_space_is_refused() {
        for choice in ["a, b", " all", "all ", "a,b ", "a\t,b"] {
            assert!(choice.parse::<ShownConditions>().is_err(), "{choice:?}");
        }
    }
}
