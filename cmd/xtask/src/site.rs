//! `site`: the documentation of a version as a web site, with a recorded tour.
//!
//! ```text
//! docs ─► mdbook ─► target/site/VERSION        (book with search and reference)
//! a built binary ─► tour ─► quickstart.svg, graph.html
//! all versions in target/site ─► index.html
//! ```

mod ansi;
mod recording;
mod svg;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail};

use self::{recording::Tour, svg::svg};
use crate::{golden::built_binary, print::print_line, workspace};

const LANDING_PAGE: &str = include_str!("site/index.html");

/// Build the documentation as a web site in `target/site`, with a picture of the tour. Needs mdbook.
#[derive(clap::Args)]
pub(crate) struct Site {
    /// The binary that takes the tour. Default: the release build.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

/// Builds the site. Books of other versions stay, so that a site grows with each release.
pub(crate) fn run(args: &Site) -> Result<bool> {
    let folder = workspace::target().join("site");
    let version = env!("CARGO_PKG_VERSION");
    build_book(&folder.join(version))?;
    let binary = args.binary.clone().or_else(built_binary);
    let tour = Tour::new(&binary.context("no binary is built; run `cargo build --release --bin capstan`")?)?;
    let lines = tour.record()?;
    write(&folder.join("quickstart.svg"), &svg(Tour::COMMAND, &lines))?;
    write(&folder.join("graph.html"), &tour.graph()?)?;
    write(&folder.join("index.html"), &landing_page(&versions(&folder)?, version))?;
    print_line(&format!("site: wrote `{}`", folder.join("index.html").display()));
    Ok(true)
}

fn build_book(folder: &Path) -> Result<()> {
    let mut command = Command::new("mdbook");
    command.arg("build").arg(workspace::root().join("docs")).arg("--dest-dir").arg(folder);
    let output = command.output().context("cannot run `mdbook`; install it with `cargo install mdbook`")?;
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() || messages.contains("WARN") {
        bail!("`mdbook` found problems:\n{}", messages.trim());
    }
    replace_wildcards(folder)
}

/// Replaces the wildcards of tests in all pages by an ellipsis.
fn replace_wildcards(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list `{}`", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            replace_wildcards(&path)?;
        } else if path.extension().is_some_and(|found| found == "html") {
            let page =
                fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
            write(&path, &page.replace("[..]", "…").replace("\n...\n", "\n…\n"))?;
        }
    }
    Ok(())
}

/// The versions with a book, newest first.
fn versions(folder: &Path) -> Result<Vec<String>> {
    let mut versions: Vec<String> = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list `{}`", folder.display()))? {
        let path = entry?.path();
        if path.join("guide").is_dir() {
            versions.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    versions.sort_by(|one, other| numbers(other).cmp(&numbers(one)).then_with(|| other.cmp(one)));
    Ok(versions)
}

fn numbers(version: &str) -> Vec<u64> {
    version.split(['.', '-', '+']).map_while(|part| part.parse().ok()).collect()
}

fn landing_page(versions: &[String], newest: &str) -> String {
    let link = |version: &String| format!("<li><a href=\"{version}/index.html\">{version}</a></li>");
    let links: Vec<String> = versions.iter().map(link).collect();
    LANDING_PAGE.replace("{version}", newest).replace("{versions}", &links.join("\n      "))
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_listed_from_the_newest_to_the_oldest() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["0.9.0/guide", "0.10.0/guide", "0.10.1/guide", "other"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let versions = versions(folder.path()).unwrap();
        assert_eq!(versions, ["0.10.1", "0.10.0", "0.9.0"]);
        let page = landing_page(&versions, "0.10.1");
        assert!(page.contains("<li><a href=\"0.10.0/index.html\">0.10.0</a></li>"), "{page}");
        assert!(!page.contains("{version"), "{page}");
    }

    #[test]
    fn pages_show_an_ellipsis_instead_of_wildcards() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("guide")).unwrap();
        let page = folder.path().join("guide/sandbox.html");
        fs::write(&page, "<code>serves at https://127.0.0.1:[..]\n...\ndone in [..]</code>").unwrap();
        replace_wildcards(folder.path()).unwrap();
        let shown = fs::read_to_string(&page).unwrap();
        assert_eq!(shown, "<code>serves at https://127.0.0.1:…\n…\ndone in …</code>");
    }

    #[test]
    fn the_landing_page_links_to_pages_of_the_book() {
        let docs = workspace::root().join("docs");
        let targets = LANDING_PAGE.split("href=\"{version}/").skip(1);
        let targets: Vec<&str> =
            targets.filter_map(|rest| rest.split_once(".html").map(|(page, _)| page)).collect();
        assert!(targets.len() >= 4, "{targets:?}");
        for page in targets {
            assert!(docs.join(format!("{page}.md")).is_file(), "{page}");
        }
    }
}
