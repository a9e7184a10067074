use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use anyhow::{Context as _, Result, bail};

use super::{linked_crates::LinkedCrate, target::Target};
use crate::workspace;

const MIT: &str = include_str!("licences/mit.txt");
const BSD_3_CLAUSE: &str = include_str!("licences/bsd-3-clause.txt");
/// The licence of the GNU C library. Debian and Ubuntu have this file.
const LGPL: &str = "/usr/share/common-licenses/LGPL-2.1";
const LGPL_ADDRESS: &str = "https://www.gnu.org/licenses/old-licenses/lgpl-2.1.txt";

const LINE: &str = "--------------------------------------------------------------------------------";

/// Returns the licences of everything in the binary and the image: each distinct text once, with the crates that it covers.
///
/// # Errors
/// Fails for a crate without a licence text, unless its licence has a fixed text.
pub(super) fn licences(crates: &[LinkedCrate], target: &Target) -> Result<String> {
    let mut covered: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for linked in crates.iter().filter(|linked| !linked.is_own()) {
        let name = format!("{} {} ({})", linked.name, linked.version, linked.licence);
        for text in texts(linked)? {
            covered.entry(text).or_default().push(name.clone());
        }
    }
    let mut sections: Vec<(Vec<String>, String)> =
        covered.into_iter().map(|(text, names)| (names, text)).collect();
    sections.sort();
    let mut document =
        "capstan is under the Apache License 2.0; see the file LICENSE. Its binary and its image contain these works of others.\n"
            .to_owned();
    document.push_str(&runtime(target));
    for (names, text) in sections {
        let _ = write!(document, "\n{LINE}\n{}\n\n{}\n", names.join("\n"), text.trim_end());
    }
    Ok(document)
}

/// The licences of the parts that are not crates.
fn runtime(target: &Target) -> String {
    let mut text = format!(
        "\n{LINE}\nThe standard library of Rust (MIT OR Apache-2.0)\nCopyright (c) The Rust Project Contributors\n"
    );
    if target.is_musl() {
        let _ = write!(
            text,
            "\n{LINE}\nmusl (MIT)\n\n{}",
            MIT.replace("HOLDERS", "2005-2020 Rich Felker, et al.")
        );
    }
    if target.is_glibc() {
        let licence =
            fs::read_to_string(LGPL).unwrap_or_else(|_| format!("The text is in {LGPL_ADDRESS}.\n"));
        let _ = write!(
            text,
            "\n{LINE}\nThe GNU C library (LGPL-2.1-or-later). To link capstan with another version of it, build capstan from \
             its sources.\n\n{licence}"
        );
    }
    text
}

/// The licence texts of a crate: its own files, else the fixed text of its licence.
fn texts(linked: &LinkedCrate) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    let failed = || format!("cannot list `{}`", linked.folder.display());
    for entry in fs::read_dir(&linked.folder).with_context(failed)? {
        let path = entry.with_context(failed)?.path();
        if path.is_file() && is_licence_file(&path) {
            paths.push(path);
        }
    }
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let bytes = fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
        Ok(normalized(&String::from_utf8_lossy(&bytes)))
    };
    let texts: Vec<String> = paths.iter().map(read).collect::<Result<_>>()?;
    if texts.is_empty() { Ok(vec![fixed_text(linked)?]) } else { Ok(texts) }
}

fn is_licence_file(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_uppercase();
    let is_code = [".RS", ".TOML", ".JSON"].iter().any(|extension| name.ends_with(extension));
    let prefixes = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
    !is_code && prefixes.iter().any(|prefix| name.starts_with(prefix))
}

/// Returns the text of a licence that every project words alike.
fn fixed_text(linked: &LinkedCrate) -> Result<String> {
    let holders = match linked.authors.as_slice() {
        [] => format!("the authors of {}", linked.name),
        authors => authors.join(", "),
    };
    let has = |name: &str| linked.licence.split(['/', ' ']).any(|word| word == name);
    if has("Apache-2.0") {
        let path = workspace::root().join("LICENSE");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        Ok(normalized(&text))
    } else if has("MIT") {
        Ok(MIT.replace("HOLDERS", &holders))
    } else if has("BSD-3-Clause") {
        Ok(BSD_3_CLAUSE.replace("HOLDERS", &holders))
    } else {
        bail!("the crate `{}` contains no text of its licence `{}`", linked.name, linked.licence)
    }
}

/// Removes differences that only formatting makes, so that equal texts are written once.
fn normalized(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn linked(name: &str, licence: &str, folder: &Path) -> LinkedCrate {
        LinkedCrate {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            licence: licence.to_owned(),
            authors: vec!["A. Uthor".to_owned()],
            repository: None,
            folder: folder.to_owned(),
            checksum: Some(String::new()),
            dependencies: BTreeSet::new(),
        }
    }

    #[test]
    fn equal_texts_are_written_once() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("LICENSE-MIT"), "One text.\r\n").unwrap();
        fs::write(folder.path().join("licence.rs"), "not a text").unwrap();
        let crates = [linked("a", "MIT", folder.path()), linked("b", "MIT OR Zlib", folder.path())];
        let target = Target::parse("x86_64-apple-darwin").unwrap();
        let document = licences(&crates, &target).unwrap();
        assert_eq!(document.matches("One text.").count(), 1);
        assert!(document.contains("a 1.0.0 (MIT)\nb 1.0.0 (MIT OR Zlib)\n\nOne text.\n"), "{document}");
    }

    #[test]
    fn a_crate_without_a_text_gets_that_of_its_licence_or_fails() {
        let folder = tempfile::tempdir().unwrap();
        let text = |licence| fixed_text(&linked("a", licence, folder.path()));
        assert!(text("MIT/Apache-2.0").unwrap().contains("Apache License"));
        assert!(text("MIT").unwrap().contains("Copyright (c) A. Uthor"));
        assert!(text("BSD-3-Clause").unwrap().contains("Neither the name"));
        assert_eq!(
            text("Zlib").unwrap_err().to_string(),
            "the crate `a` contains no text of its licence `Zlib`"
        );
    }
}
