mod cycles;
mod dependencies;
mod docs;
mod finding;
mod licence;
mod map;
mod members;
mod module_files;
mod permissions;
mod prose;
mod sizes;
mod words;

use anyhow::{Context as _, Result};

use self::finding::Finding;
use crate::{print::print_line, workspace::Workspace};

/// All rules that need only the files.
const RULES: [fn(&Workspace) -> Vec<Finding>; 22] = [
    cycles::import_cycles_are_small,
    map::crates_depend_along_the_arrows,
    map::every_crate_is_on_the_map,
    map::mapped_paths_exist,
    map::init_uses_few_files,
    sizes::product_size_is_limited,
    members::crates_are_members,
    permissions::libraries_respect_permissions,
    module_files::module_files_contain_no_code,
    module_files::one_verb_per_file,
    sizes::files_and_functions_stay_readable,
    words::no_foreign_texts,
    words::todos_have_references,
    docs::links_resolve,
    docs::every_page_is_in_the_summary,
    docs::cases_that_differ_have_rows,
    docs::rows_and_their_tests_agree,
    docs::changelog_has_unreleased_section,
    prose::doc_comments_name_things,
    prose::public_items_have_more_than_fragments,
    prose::texts_use_plain_phrases,
    prose::sentences_are_short,
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
        lines
            .with_context(|| format!("there is no crate `{folder}`"))?
            .iter()
            .for_each(|line| print_line(line));
        return Ok(true);
    }
    let mut findings: Vec<_> = RULES.iter().flat_map(|rule| rule(workspace)).collect();
    findings.extend(dependencies::check(workspace)?);
    for finding in &findings {
        print_line(&finding.to_string());
    }
    let faults = findings.iter().filter(|finding| finding.is_fault).count();
    print_line(&format!("tidy: {faults} faults, {} remarks", findings.len() - faults));
    Ok(faults == 0)
}

#[cfg(test)]
mod tests;
