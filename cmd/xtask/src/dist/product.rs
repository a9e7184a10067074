//! The table that every package is made from.

use std::fmt::Write as _;

/// The facts about capstan in packages, images and manifests of package managers.
pub(super) struct Product {
    pub(super) name: &'static str,
    /// One line of at most 50 characters, without a final dot.
    pub(super) summary: &'static str,
    /// Paragraphs.
    pub(super) description: [&'static str; 2],
    pub(super) licence: &'static str,
    pub(super) vendor: &'static str,
    /// Name and address.
    pub(super) maintainer: (&'static str, &'static str),
    /// The address of the project, whose releases are below `/releases/download`.
    pub(super) repository: &'static str,
    /// The repository of the container image, without a tag.
    pub(super) image: &'static str,
    /// Packages that some commands use.
    pub(super) recommends: [&'static str; 2],
}

/// The facts, once.
pub(super) const PRODUCT: Product = Product {
    name: "capstan",
    summary: "Cluster API management clusters, by one binary",
    description: [
        "capstan installs, upgrades, moves and removes everything that a Cluster API management cluster runs. It is a drop-in \
         for clusterctl, shows a plan before it writes, and resumes interrupted work.",
        "It also builds kustomizations, renders charts, applies declarative Components and compiles catalogs.",
    ],
    licence: "Apache-2.0",
    vendor: "The capstan authors",
    maintainer: ("The capstan authors", "maintainers@capstan.dev"),
    repository: env!("CARGO_PKG_REPOSITORY"),
    image: "ghcr.io/capstan-dev/capstan",
    // Certificates of hosts, and providers in Git repositories.
    recommends: ["ca-certificates", "git"],
};

impl Product {
    /// Returns the address of a file of a release.
    pub(super) fn download(&self, version: &str, file: &str) -> String {
        format!("{}/releases/download/v{version}/{file}", self.repository)
    }

    /// Returns the maintainer as `name <address>`.
    pub(super) fn maintainer(&self) -> String {
        format!("{} <{}>", self.maintainer.0, self.maintainer.1)
    }
}

/// The path of a file of an archive in the packages of distributions. A path that ends with `/` is a folder.
pub(super) struct Placement {
    /// The path in the archive.
    pub(super) archive: &'static str,
    /// The path in the deb package, without a leading `/`.
    pub(super) deb: &'static str,
    /// The path in the rpm package, without a leading `/`.
    pub(super) rpm: &'static str,
    /// True if packages contain the file compressed.
    pub(super) is_compressed: bool,
}

impl Placement {
    /// Returns the rest of a path of the archive below this placement.
    pub(super) fn rest<'p>(&self, path: &'p str) -> Option<&'p str> {
        let rest = path.strip_prefix(self.archive)?;
        (self.archive.ends_with('/') || rest.is_empty()).then_some(rest)
    }
}

const fn placement(archive: &'static str, deb: &'static str, rpm: &'static str) -> Placement {
    Placement { archive, deb, rpm, is_compressed: false }
}

const fn compressed(archive: &'static str, deb: &'static str, rpm: &'static str) -> Placement {
    Placement { archive, deb, rpm, is_compressed: true }
}

/// Every path of an archive that a package contains. The first match wins; other files are only in the archive.
pub(super) const PLACEMENTS: [Placement; 9] = [
    placement("bin/", "usr/bin/", "usr/bin/"),
    compressed("share/man/man1/", "usr/share/man/man1/", "usr/share/man/man1/"),
    placement(BASH, "usr/share/bash-completion/completions/", "usr/share/bash-completion/completions/"),
    placement(ZSH, "usr/share/zsh/vendor-completions/", "usr/share/zsh/site-functions/"),
    placement(FISH, "usr/share/fish/vendor_completions.d/", "usr/share/fish/vendor_completions.d/"),
    placement(CLUSTERCTL, "usr/share/capstan/clusterctl/", "usr/share/capstan/clusterctl/"),
    compressed(SBOM, "usr/share/doc/capstan/sbom.cdx.json.gz", "usr/share/doc/capstan/sbom.cdx.json.gz"),
    compressed(
        LICENCES,
        "usr/share/doc/capstan/licenses.txt.gz",
        "usr/share/licenses/capstan/licenses.txt.gz",
    ),
    placement("README.md", "usr/share/doc/capstan/README.md", "usr/share/doc/capstan/README.md"),
];

/// Folders and files of an archive.
pub(super) const MAN: &str = "share/man/man1/";
pub(super) const BASH: &str = "share/bash-completion/completions/";
pub(super) const ZSH: &str = "share/zsh/site-functions/";
pub(super) const FISH: &str = "share/fish/vendor_completions.d/";
pub(super) const POWERSHELL: &str = "share/powershell/";
/// Completions and the man page for the name clusterctl, which another package may own.
pub(super) const CLUSTERCTL: &str = "share/capstan/clusterctl/";
pub(super) const SBOM: &str = "sbom.cdx.json";
pub(super) const LICENCES: &str = "LICENSES.txt";

/// A name that a package offers through `update-alternatives`: the link, its key, and the file that it points to. The first
/// one is the master, and the others follow it.
pub(super) type Alternative = (&'static str, &'static str, &'static str);

/// The priority of capstan as clusterctl.
pub(super) const PRIORITY: u32 = 50;

/// The files of the name clusterctl in a deb package.
pub(super) const DEB_ALTERNATIVES: [Alternative; 5] = [
    ("/usr/bin/clusterctl", "clusterctl", "/usr/bin/capstan"),
    ("/usr/share/man/man1/clusterctl.1.gz", "clusterctl.1.gz", "/usr/share/man/man1/capstan.1.gz"),
    (
        "/usr/share/bash-completion/completions/clusterctl",
        "clusterctl.bash",
        "/usr/share/capstan/clusterctl/clusterctl.bash",
    ),
    (
        "/usr/share/zsh/vendor-completions/_clusterctl",
        "clusterctl.zsh",
        "/usr/share/capstan/clusterctl/_clusterctl",
    ),
    (
        "/usr/share/fish/vendor_completions.d/clusterctl.fish",
        "clusterctl.fish",
        "/usr/share/capstan/clusterctl/clusterctl.fish",
    ),
];

/// The files of the name clusterctl in an rpm package.
pub(super) const RPM_ALTERNATIVES: [Alternative; 5] = [
    DEB_ALTERNATIVES[0],
    DEB_ALTERNATIVES[1],
    DEB_ALTERNATIVES[2],
    (
        "/usr/share/zsh/site-functions/_clusterctl",
        "clusterctl.zsh",
        "/usr/share/capstan/clusterctl/_clusterctl",
    ),
    DEB_ALTERNATIVES[4],
];

/// Returns the script that takes the name clusterctl, unless the administrator has given it to another program.
pub(super) fn install_alternatives(alternatives: &[Alternative]) -> String {
    let [(link, key, file), followers @ ..] = alternatives else { return String::new() };
    let mut script = format!("update-alternatives --quiet --install {link} {key} {file} {PRIORITY}");
    for (link, key, file) in followers {
        // Writing to a String cannot fail.
        let _ = write!(script, " \\\n    --slave {link} {key} {file}");
    }
    script + "\n"
}

/// Returns the script that gives the name clusterctl back.
pub(super) fn remove_alternatives(alternatives: &[Alternative]) -> String {
    let first = alternatives.first();
    first.map_or_else(String::new, |(_, key, file)| {
        format!("update-alternatives --quiet --remove {key} {file}\n")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_an_archive_has_one_place_in_a_package() {
        let placed = |path: &str| {
            let mut placements = PLACEMENTS.iter();
            placements.find_map(|placement| Some(format!("{}{}", placement.deb, placement.rest(path)?)))
        };
        assert_eq!(placed("bin/capstan").unwrap(), "usr/bin/capstan");
        assert_eq!(placed("README.md").unwrap(), "usr/share/doc/capstan/README.md");
        assert_eq!(placed("share/powershell/capstan.ps1"), None);
        assert_eq!(placed("README.md.old"), None);
    }

    #[test]
    fn the_summary_fits_every_package_manager() {
        assert!(PRODUCT.summary.len() <= 50 && !PRODUCT.summary.ends_with('.'));
    }
}
