mod commands;
mod environment_variables;
mod schemas;
mod tables;

use std::{fs, path::PathBuf};

use anyhow::{Context as _, Result};
use clap::Command;
use clap_mangen::Man;

use crate::{
    print::print_line,
    workspace::{self, Workspace},
};

/// Write the generated pages: commands, variables, exit codes, providers, schemas, man pages.
#[derive(Default, clap::Args)]
pub(crate) struct Generate {
    /// Write nothing. Fail if a page differs from the code.
    #[arg(long)]
    check: bool,
}

/// A generated file: its path from the root, and its text.
pub(crate) type Page = (String, String);

const REFERENCE: &str = "docs/reference";

/// Writes every page and the man pages. With `--check`, writes nothing and returns false if a page differs.
pub(crate) fn run(args: &Generate) -> Result<bool> {
    let pages = pages()?;
    if args.check {
        let stale = stale(&pages);
        for path in &stale {
            print_line(&format!("{path}: stale; run `cargo xtask gen`"));
        }
        return Ok(stale.is_empty());
    }
    for (path, text) in &pages {
        let path = workspace::root().join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
        }
        fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    let man = write_man_pages()?;
    print_line(&format!("{} pages in {REFERENCE}, man pages in {}", pages.len(), man.display()));
    Ok(true)
}

/// Writes a man page for every command into `target/man`. Returns the folder.
fn write_man_pages() -> Result<PathBuf> {
    let folder = workspace::root().join("target/man");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
    for (name, page) in man_pages()? {
        let path = folder.join(name);
        fs::write(&path, page).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    Ok(folder)
}

/// Returns the name and the text of the man page of every command.
pub(crate) fn man_pages() -> Result<Vec<Page>> {
    fn add(command: &Command, pages: &mut Vec<Page>) -> Result<()> {
        for subcommand in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
            add(subcommand, pages)?;
        }
        let man = Man::new(command.clone()).source(format!("capstan {}", env!("CARGO_PKG_VERSION")));
        let mut page = Vec::new();
        man.render(&mut page)?;
        let page = String::from_utf8(page)?;
        pages.push((man.get_filename(), with_usage(&page, &command.clone().render_usage().to_string())));
        Ok(())
    }

    let mut tree = capstan::command().disable_help_subcommand(true);
    tree.build();
    let mut pages = Vec::new();
    add(&tree, &mut pages).context("cannot make the man pages")?;
    Ok(pages)
}

/// Replaces the synopsis of a man page, which lists every flag, by the usage of the help.
fn with_usage(page: &str, usage: &str) -> String {
    let usage = usage.trim_start_matches("Usage: ").replace('\\', "\\\\").replace('-', "\\-");
    let mut is_synopsis = false;
    let lines = page.lines().map(|line| {
        let replaced = if is_synopsis { &usage } else { line };
        is_synopsis = line == ".SH SYNOPSIS";
        format!("{replaced}\n")
    });
    lines.collect()
}

/// All pages. The text depends only on the code, not on the machine.
fn pages() -> Result<Vec<Page>> {
    let mut pages = vec![
        commands::page(),
        environment_variables::page(),
        tables::exit_codes(),
        tables::built_in_providers()?,
        tables::tests_of_rows(&Workspace::read()?),
    ];
    pages.extend(schemas::pages()?);
    Ok(pages)
}

/// The paths of missing or different files.
fn stale(pages: &[Page]) -> Vec<&str> {
    let is_stale = |path: &str, text: &str| {
        fs::read_to_string(workspace::root().join(path)).ok().as_deref() != Some(text)
    };
    pages.iter().filter(|(path, text)| is_stale(path, text)).map(|(path, _)| path.as_str()).collect()
}

/// The heading of a page, with a note that the page is generated.
fn heading(title: &str) -> String {
    format!("<!-- Written by `cargo xtask gen`. -->\n# {title}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_pages_match_the_code() {
        let pages = pages().unwrap();
        assert_eq!(stale(&pages), Vec::<&str>::new(), "run `cargo xtask gen`");
    }

    #[test]
    fn every_reference_page_is_generated() {
        let pages = pages().unwrap();
        let workspace = Workspace::read().unwrap();
        let folder = format!("{REFERENCE}/");
        let of_reference = workspace.files().iter().filter(|file| file.path.starts_with(&folder));
        let unused: Vec<_> = of_reference
            .filter(|file| !pages.iter().any(|(path, _)| *path == file.path))
            .map(|file| &file.path)
            .collect();
        assert!(unused.is_empty(), "{unused:?}");
    }
}
