//! A package of Debian: an `ar` archive of two compressed tar archives.
//! Source: deb(5), deb-control(5), Debian policy 4.7.

use std::fmt::Write as _;

use anyhow::Result;
use data_encoding::HEXLOWER;
use md5::{Digest as _, Md5};

use super::{
    archive::Archive,
    file_tree::{Entry, FileTree, gzip},
    package_tree::{package_tree, package_version, wrap},
    product::{DEB_ALTERNATIVES, PRODUCT, install_alternatives, remove_alternatives},
    source::Source,
};

/// Reasons for the findings of lintian that do not apply.
const LINTIAN_OVERRIDES: &str = "\
# The binary runs on every Linux, whatever its C library.
capstan: statically-linked-binary [usr/bin/capstan]
";

/// The width of lines in a control file.
const WIDTH: usize = 78;

/// Returns the file name and the bytes of the package.
pub(super) fn deb(archive: &Archive, source: &Source) -> Result<(String, Vec<u8>)> {
    let architecture = archive.target.architecture.go;
    let mut files = package_tree(archive, |placement| placement.deb)?;
    let name = PRODUCT.name;
    files.add_text(format!("usr/share/doc/{name}/copyright"), copyright(source));
    files.add(format!("usr/share/doc/{name}/changelog.gz"), gzip(changelog(source).as_bytes())?);
    files.add_text(format!("usr/share/lintian/overrides/{name}"), LINTIAN_OVERRIDES);
    let mut control = FileTree::default();
    control.add_text("control", control_file(architecture, source, &files));
    control.add_text("md5sums", checksums(&files));
    control.add_program("postinst", script("configure", &install_alternatives(&DEB_ALTERNATIVES)).as_bytes());
    control.add_program("prerm", script("remove", &remove_alternatives(&DEB_ALTERNATIVES)).as_bytes());
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", gzip(&control.to_tar("./", source.time)?)?),
        ("data.tar.gz", gzip(&files.to_tar("./", source.time)?)?),
    ];
    let file = format!("{name}_{}_{architecture}.deb", package_version(&source.version));
    Ok((file, ar(&members, source.time)))
}

/// Writes an archive of ar(5) in its common format: a header of 60 bytes before each member, which has an even length.
fn ar(members: &[(&str, Vec<u8>)], time: u64) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, content) in members {
        let header = format!("{name:<16}{time:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 100_644, content.len());
        archive.extend_from_slice(header.as_bytes());
        archive.extend_from_slice(content);
        if content.len() % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

fn control_file(architecture: &str, source: &Source, files: &FileTree) -> String {
    let bytes: usize =
        files.entries().map(|(path, _)| files.content(path).map_or(0, |content| content.len())).sum();
    let mut text = format!(
        "Package: {}\nVersion: {}\nArchitecture: {architecture}\nMaintainer: {}\nInstalled-Size: {}\nRecommends: {}\n\
         Section: admin\nPriority: optional\nHomepage: {}\nDescription: {}\n",
        PRODUCT.name,
        package_version(&source.version),
        PRODUCT.maintainer(),
        bytes.div_ceil(1024),
        PRODUCT.recommends.join(", "),
        PRODUCT.repository,
        PRODUCT.summary,
    );
    let paragraphs = PRODUCT.description.map(|paragraph| wrap(paragraph, WIDTH).join("\n "));
    let _ = writeln!(text, " {}", paragraphs.join("\n .\n "));
    text
}

/// The digests by which `dpkg --verify` compares installed files.
fn checksums(files: &FileTree) -> String {
    let mut text = String::new();
    for (path, entry) in files.entries() {
        if let Entry::File { content, .. } = entry {
            let _ = writeln!(text, "{}  {path}", HEXLOWER.encode(&Md5::digest(content)));
        }
    }
    text
}

/// Returns a maintainer script that does its work for one action.
fn script(action: &str, work: &str) -> String {
    format!("#!/bin/sh\nset -e\nif [ \"$1\" = {action} ]; then\n{work}fi\n")
}

fn changelog(source: &Source) -> String {
    let Source { version, .. } = source;
    format!(
        "{} ({}) unstable; urgency=medium\n\n  * Release {version}; CHANGELOG.md of the project lists the changes.\n\n -- {}  {}\n",
        PRODUCT.name,
        package_version(version),
        PRODUCT.maintainer(),
        source.changelog_date(),
    )
}

fn copyright(source: &Source) -> String {
    format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: {name}\nSource: {}\n\
         Comment: The binary contains libraries of others; their licences are in\n \
         /usr/share/doc/{name}/licenses.txt.gz.\n\nFiles: *\nCopyright: {} {}\nLicense: {}\n On Debian systems, the text of the \
         Apache License 2.0 is in\n /usr/share/common-licenses/Apache-2.0.\n",
        PRODUCT.repository,
        source.year(),
        PRODUCT.vendor,
        PRODUCT.licence,
        name = PRODUCT.name,
    )
}
