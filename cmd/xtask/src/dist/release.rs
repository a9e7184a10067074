//! The files of a release, from the archives of its targets.

use std::{collections::BTreeMap, fmt::Write as _};

use anyhow::{Context as _, Result};
use transport::Digest;

use super::{
    archive::{Archive, run_capstan, stem},
    deb::deb,
    file_tree::FileTree,
    image::image,
    package_managers::{homebrew_formula, krew_manifest, nix_flake},
    product::{PRODUCT, SBOM},
    provenance::provenance,
    rpm_package::rpm,
    source::Source,
    target::Target,
};

/// The names of files without a version.
pub(super) const CHECKSUMS: &str = "SHA256SUMS";

/// Adds to the archives everything that is made from them. `files` contains the archives themselves.
pub(super) fn complete(mut files: FileTree, archives: &[Archive], source: &Source) -> Result<FileTree> {
    let stem = stem(source);
    for archive in archives {
        let bill =
            archive.files.content(SBOM).with_context(|| format!("`{}` lacks `{SBOM}`", archive.name))?;
        files.add(format!("{stem}-{}.cdx.json", archive.target.triple()), bill.clone());
    }
    let chosen = preferred(archives);
    let linux: Vec<&Archive> = chosen.iter().copied().filter(|archive| archive.target.is_linux()).collect();
    for archive in &linux {
        let (name, package) = deb(archive, source)?;
        files.add(name, package);
        let (name, package) = rpm(archive, source)?;
        files.add(name, package);
    }
    if !linux.is_empty() {
        let image = image(&linux, source)?;
        files.add(format!("{stem}-image.tar"), image.layout.to_tar("", source.time)?);
        files.add(format!("{stem}-controller.yaml"), controller_manifests(image.digest)?);
    }
    files.add_text("capstan.rb", homebrew_formula(&chosen, source));
    files.add_text("capi.yaml", krew_manifest(&chosen, source));
    files.add_text("flake.nix", nix_flake(&chosen, source));
    let triples: Vec<&str> = archives.iter().map(|archive| archive.target.triple()).collect();
    let statement = provenance(&digests(&files), &triples, source);
    files.add_text(format!("{stem}.intoto.json"), statement);
    files.add_text(CHECKSUMS, checksums(&files));
    Ok(files)
}

/// Returns one archive for each platform: on Linux, musl instead of glibc.
fn preferred(archives: &[Archive]) -> Vec<&Archive> {
    let mut chosen: BTreeMap<(&str, &str), &Archive> = BTreeMap::new();
    for archive in archives {
        let Target { os, architecture, .. } = &archive.target;
        let current = chosen.entry((os, architecture.go)).or_insert(archive);
        if archive.target.is_musl() {
            *current = archive;
        }
    }
    chosen.into_values().collect()
}

/// The objects that run the controller, with the image by digest.
fn controller_manifests(digest: Digest) -> Result<Vec<u8>> {
    let image = format!("{}@{digest}", PRODUCT.image);
    run_capstan(&["capstan", "controller", "manifests", "--image", &image])
}

fn digests(files: &FileTree) -> Vec<(String, Digest)> {
    let digest = |path: &str| Some((path.to_owned(), Digest::of(files.content(path)?)));
    files.entries().filter_map(|(path, _)| digest(path)).collect()
}

/// Returns the lines that `sha256sum --check` reads.
fn checksums(files: &FileTree) -> String {
    digests(files).iter().fold(String::new(), |mut text, (name, digest)| {
        let _ = writeln!(text, "{}  {name}", digest.hex());
        text
    })
}
