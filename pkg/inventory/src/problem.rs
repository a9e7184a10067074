use std::fmt;

/// Something that stands in the way of an installation or an upgrade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong, as a sentence without a full stop.
    pub text: String,
    /// What to do about it, when that can be said.
    pub hint: Option<String>,
    /// Whether `--validate=false` lets it pass, as it does with the peer: contracts, instances, names of definitions.
    pub can_be_ignored: bool,
}

/// All of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
pub struct Problems {
    /// In the order they were found.
    pub problems: Vec<Problem>,
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.problems {
            [only] => f.write_str(&only.text),
            several => write!(f, "{} problems were found before anything was written", several.len()),
        }
    }
}

impl Problem {
    /// One that `--validate=false` lets pass.
    pub fn ignorable(text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { text: text.into(), hint: Some(hint.into()), can_be_ignored: true }
    }

    /// One that nothing lets pass.
    pub fn fatal(text: impl Into<String>) -> Self {
        Self { text: text.into(), hint: None, can_be_ignored: false }
    }
}
