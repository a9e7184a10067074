//! Hints of manifests for reading the status of an object.

/// The hints in the annotation of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusHints {
    /// True if a missing `status.observedGeneration` means not ready.
    pub has_observed_generation: bool,
    /// True if a missing Ready condition means not ready.
    pub has_ready_condition: bool,
    /// Conditions that must exist and be True.
    pub conditions: Vec<String>,
}

impl StatusHints {
    /// Reads `has-observed-generation,has-ready-condition,conditions=A;B`, in kebab case or CamelCase.
    /// Source: component-operator-runtime v0.3 (status analyzer). differs: `conditions=` without a name is an error;
    /// component-operator-runtime expects a condition that no object has.
    /// # Errors
    /// The invalid hint, with the reason.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut hints = Self::default();
        for hint in text.split(',') {
            let (key, value) = match hint.split_once('=') {
                Some((key, value)) => (key.trim(), Some(value)),
                None => (hint.trim(), None),
            };
            hints.add(key, value)?;
        }
        Ok(hints)
    }

    fn add(&mut self, key: &str, value: Option<&str>) -> Result<(), String> {
        let name = kebab(key);
        match (name.as_str(), value) {
            ("has-observed-generation", None) => self.has_observed_generation = true,
            ("has-ready-condition", None) => self.has_ready_condition = true,
            ("has-observed-generation" | "has-ready-condition", Some(_)) => {
                return Err(format!("status hint {name} does not take a value"));
            }
            ("conditions", value) => {
                let names = value.unwrap_or_default().split(';').map(str::trim);
                let before = self.conditions.len();
                self.conditions.extend(names.filter(|name| !name.is_empty()).map(str::to_owned));
                if self.conditions.len() == before {
                    return Err("status hint conditions requires a value".to_owned());
                }
            }
            _ => return Err(format!("unknown status hint {key}")),
        }
        Ok(())
    }
}

/// Converts `HasReadyCondition` and `hasReadyCondition` to `has-ready-condition`.
fn kebab(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for character in name.chars() {
        if character.is_ascii_uppercase() && !out.is_empty() {
            out.push('-');
        }
        out.push(character.to_ascii_lowercase());
    }
    out
}
