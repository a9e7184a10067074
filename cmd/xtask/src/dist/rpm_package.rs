//! A package of rpm, format 4.

use anyhow::{Context as _, Result};
use rpm::{BuildConfig, CompressionType, Dependency, FileOptions, PackageBuilder};

use super::{
    archive::Archive,
    file_tree::Entry,
    package_tree::{package_tree, package_version},
    product::{PRODUCT, RPM_ALTERNATIVES, install_alternatives, remove_alternatives},
    source::Source,
};

/// The number of this packaging of a version.
const RELEASE: &str = "1";

/// Folders that rpm removes with the last package that lists them.
const FOLDERS: [&str; 9] = [
    "usr/share/capstan",
    "usr/share/capstan/clusterctl",
    "usr/share/doc/capstan",
    "usr/share/fish",
    "usr/share/fish/vendor_completions.d",
    "usr/share/licenses",
    "usr/share/licenses/capstan",
    "usr/share/zsh",
    "usr/share/zsh/site-functions",
];

/// Returns the file name and the bytes of the package.
pub(super) fn rpm(archive: &Archive, source: &Source) -> Result<(String, Vec<u8>)> {
    let (architecture, version) = (archive.target.architecture.rust, package_version(&source.version));
    let time = u32::try_from(source.time).context("the time of the source is after 2106")?;
    let config = BuildConfig::v4().source_date(time).compression(CompressionType::Gzip).reserved_space(None);
    let mut builder =
        PackageBuilder::new(PRODUCT.name, &version, PRODUCT.licence, architecture, PRODUCT.summary);
    builder
        .using_config(config)
        .release(RELEASE)
        .url(PRODUCT.repository)
        .vendor(PRODUCT.vendor)
        .packager(PRODUCT.maintainer())
        .description(PRODUCT.description.join("\n\n"))
        // The name of the machine would make each build different.
        .build_host("localhost")
        .cookie(format!("{}-{version}", PRODUCT.name))
        .post_install_script(if_available(&install_alternatives(&RPM_ALTERNATIVES)))
        .pre_uninstall_script(if_available(&on_removal(&remove_alternatives(&RPM_ALTERNATIVES))));
    for package in PRODUCT.recommends {
        builder.recommends(Dependency::any(package));
    }
    for folder in FOLDERS {
        builder.with_dir_entry(FileOptions::dir(format!("/{folder}")).permissions(0o755))?;
    }
    let files = package_tree(archive, |placement| placement.rpm)?;
    for (path, entry) in files.entries() {
        let path = format!("/{path}");
        match entry {
            Entry::Link { target } => builder.with_symlink(FileOptions::symlink(path, target))?,
            Entry::Folder { mode } => {
                builder.with_dir_entry(FileOptions::dir(path).permissions(u16::try_from(*mode)?))?
            }
            Entry::File { content, .. } => {
                let options = FileOptions::new(&path).permissions(u16::try_from(entry.mode())?);
                let options = match path.as_str() {
                    doc if doc.starts_with("/usr/share/doc/") || doc.starts_with("/usr/share/man/") => {
                        options.doc()
                    }
                    licence if licence.starts_with("/usr/share/licenses/") => options.license(),
                    _ => options,
                };
                builder.with_file_contents(content.to_vec(), options)?
            }
        };
    }
    let package = builder.build().context("cannot make the rpm package")?;
    let mut bytes = Vec::new();
    package.write(&mut bytes).context("cannot write the rpm package")?;
    Ok((format!("{}-{version}-{RELEASE}.{architecture}.rpm", PRODUCT.name), bytes))
}

/// Some distributions of rpm have no `update-alternatives` by default.
fn if_available(work: &str) -> String {
    format!("if command -v update-alternatives >/dev/null; then\n{work}fi\n")
}

/// The argument of the script is the number of versions that stay.
fn on_removal(work: &str) -> String {
    format!("if [ \"$1\" = 0 ]; then\n{work}fi\n")
}
