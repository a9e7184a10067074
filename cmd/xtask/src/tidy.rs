mod dependencies;
mod docs;
mod edges;
mod licence;
mod members;
mod permissions;
mod places;
mod sizes;
mod words;

use std::fmt;

use anyhow::Result;

use crate::{say::say, workspace::Workspace};

/// Something a rule has to say about a place.
#[derive(Debug)]
pub(crate) struct Finding {
    path: String,
    line: Option<usize>,
    text: String,
    /// Whether `cargo test` fails on it.
    grave: bool,
}

impl Finding {
    fn fault(path: &str, line: impl Into<Option<usize>>, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: line.into(), text: text.into(), grave: true }
    }

    fn remark(path: &str, line: impl Into<Option<usize>>, text: impl Into<String>) -> Self {
        Self { grave: false, ..Self::fault(path, line, text) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.grave { "" } else { "(remark) " };
        match self.line {
            Some(line) => write!(f, "{}:{line}: {mark}{}", self.path, self.text),
            None => write!(f, "{}: {mark}{}", self.path, self.text),
        }
    }
}

/// Every rule that needs nothing but the files.
const RULES: [fn(&Workspace) -> Vec<Finding>; 12] = [
    edges::dependencies_point_down,
    members::crates_are_members,
    permissions::libraries_keep_to_their_permissions,
    places::module_lists_hold_no_code,
    places::a_verb_is_a_file,
    sizes::files_and_functions_stay_readable,
    words::the_project_speaks_of_itself_alone,
    words::open_ends_have_a_reference,
    docs::links_lead_somewhere,
    docs::every_page_is_in_the_summary,
    docs::departures_are_documented_and_tested,
    docs::the_changelog_is_open,
];

/// Shows every finding; `false` when one is a fault.
pub(crate) fn run(workspace: &Workspace) -> Result<bool> {
    let mut findings: Vec<_> = RULES.iter().flat_map(|rule| rule(workspace)).collect();
    findings.extend(dependencies::check(workspace)?);
    for finding in &findings {
        say(&finding.to_string());
    }
    let faults = findings.iter().filter(|finding| finding.grave).count();
    say(&format!("tidy: {faults} faults, {} remarks", findings.len() - faults));
    Ok(faults == 0)
}

#[cfg(test)]
mod tests;
