mod cycles;
mod dependencies;
mod docs;
mod finding;
mod licence;
mod map;
mod members;
mod permissions;
mod places;
mod sizes;
mod words;

use anyhow::{Context as _, Result};

use self::finding::Finding;
use crate::{say::say, workspace::Workspace};

/// All rules that need only the files.
const RULES: [fn(&Workspace) -> Vec<Finding>; 18] = [
    cycles::import_cycles_are_small,
    map::crates_depend_along_the_arrows,
    map::every_crate_is_on_the_map,
    map::every_place_exists,
    map::init_passes_few_files,
    sizes::the_product_stays_small,
    members::crates_are_members,
    permissions::libraries_keep_to_their_permissions,
    places::module_lists_hold_no_code,
    places::a_verb_is_a_file,
    sizes::files_and_functions_stay_readable,
    words::the_project_speaks_of_itself_alone,
    words::open_ends_have_a_reference,
    docs::links_lead_somewhere,
    docs::every_page_is_in_the_summary,
    docs::cases_that_differ_have_rows,
    docs::rows_and_their_tests_agree,
    docs::the_changelog_is_open,
];

/// Check the project rules, as `cargo test` does, and report large files.
#[derive(clap::Args)]
pub(crate) struct Tidy {
    /// List only the imports inside the largest import cycle of a crate.
    #[arg(long, value_name = "FOLDER")]
    cycle: Option<String>,
}

/// Prints all findings. Returns false if a finding is a fault.
pub(crate) fn run(args: &Tidy, workspace: &Workspace) -> Result<bool> {
    if let Some(folder) = &args.cycle {
        let lines = cycles::listing(workspace, folder);
        lines.with_context(|| format!("there is no crate `{folder}`"))?.iter().for_each(|line| say(line));
        return Ok(true);
    }
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
