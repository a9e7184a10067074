//! The files of a distribution's package, from those of an archive.

use anyhow::Result;

use super::{
    archive::Archive,
    file_tree::{Entry, FileTree, gzip},
    product::{MAN, PLACEMENTS, PRODUCT, Placement},
};

/// Returns the files of a package by path, placed by the table of the product.
pub(super) fn package_tree(archive: &Archive, path_in: fn(&Placement) -> &'static str) -> Result<FileTree> {
    let mut files = FileTree::default();
    for (path, entry) in archive.files.entries() {
        let Some((placement, rest)) = PLACEMENTS.iter().find_map(|it| Some((it, it.rest(path)?))) else {
            continue;
        };
        let mut path = format!("{}{rest}", path_in(placement));
        let mut entry = entry.clone();
        if placement.is_compressed
            && let Entry::File { content, .. } = &mut entry
        {
            *content = gzip(content)?.into();
            // The path of a single file already has the extension.
            if !rest.is_empty() {
                path.push_str(".gz");
            }
        }
        files.add_entry(path, entry);
    }
    let page = format!("usr/{MAN}{}.1.gz", PRODUCT.name);
    if files.content(&page).is_some() {
        files.add_link(format!("usr/{MAN}kubectl-capi.1.gz"), format!("{}.1.gz", PRODUCT.name));
    }
    Ok(files)
}

/// Returns a version in the order of dpkg and rpm, where `~` sorts before a release.
pub(super) fn package_version(version: &str) -> String {
    version.replace('-', "~")
}

/// Breaks a text into lines of at most `width` characters.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_sorts_before_its_release() {
        assert_eq!(package_version("1.2.3-rc.1"), "1.2.3~rc.1");
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two  three\nfour", 9), ["one two", "three", "four"]);
    }
}
