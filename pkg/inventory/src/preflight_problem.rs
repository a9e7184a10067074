use std::fmt;

use api::{ErrorExplanation, Explain};

/// A problem that prevents an installation or an upgrade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreflightProblem {
    /// Description of the problem, as a sentence without a full stop.
    pub text: String,
    /// Suggested solution. None if there is no general solution.
    pub hint: Option<String>,
    /// True if `--validate=false` ignores the problem, as in clusterctl: contracts, instances, names of definitions.
    pub can_be_ignored: bool,
}

/// All problems of an installation or an upgrade.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
pub struct PreflightProblems {
    /// Problems in the order of the checks.
    pub problems: Vec<PreflightProblem>,
}

impl fmt::Display for PreflightProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.problems {
            [only] => f.write_str(&only.text),
            several => write!(f, "found {} problems; nothing was written", several.len()),
        }
    }
}

impl Explain for PreflightProblems {
    fn explain(&self) -> ErrorExplanation<'_> {
        // A single one is the message itself.
        let several = self.problems.iter().filter(|_| self.problems.len() > 1);
        let members = ErrorExplanation::texts(several.map(|problem| problem.text.clone()));
        self.problems
            .iter()
            .filter_map(|problem| problem.hint.as_deref())
            .fold(members, ErrorExplanation::with_hint)
    }
}

impl PreflightProblem {
    /// Creates a problem that `--validate=false` ignores.
    pub fn ignorable(text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { text: text.into(), hint: Some(hint.into()), can_be_ignored: true }
    }

    /// Creates a problem that cannot be ignored.
    pub fn fatal(text: impl Into<String>) -> Self {
        Self { text: text.into(), hint: None, can_be_ignored: false }
    }
}

#[cfg(test)]
mod tests {
    use api::error_chain;

    use super::*;

    #[test]
    fn a_single_problem_is_shown_once() {
        let problem = |text: &str| PreflightProblem::ignorable(text, format!("mend {text}"));
        let explained = |texts: &[&str]| {
            error_chain(&PreflightProblems { problems: texts.iter().map(|text| problem(text)).collect() })
        };
        assert_eq!(explained(&["one"]).lines, ["one"]);
        assert_eq!(explained(&["one", "two"]).lines[1..], ["one", "two"]);
        assert_eq!(explained(&["one", "two"]).hints, ["mend one", "mend two"]);
    }
}
