//! The manifests of package managers that download archives.

use std::fmt::Write as _;

use super::{archive::Archive, product::PRODUCT, source::Source};

/// Returns the formula of Homebrew.
pub(super) fn homebrew_formula(archives: &[&Archive], source: &Source) -> String {
    let mut text = format!(
        "class Capstan < Formula\n  desc \"{}\"\n  homepage \"{}\"\n  version \"{}\"\n  license \"{}\"\n",
        PRODUCT.summary, PRODUCT.repository, source.version, PRODUCT.licence
    );
    for (os, block) in [("darwin", "on_macos"), ("linux", "on_linux")] {
        let of_system: Vec<_> = archives.iter().filter(|archive| archive.target.os == os).collect();
        if of_system.is_empty() {
            continue;
        }
        let _ = write!(text, "\n  {block} do\n");
        for archive in of_system {
            let processor = if archive.target.architecture.go == "arm64" { "on_arm" } else { "on_intel" };
            let _ = write!(
                text,
                "    {processor} do\n      url \"{}\"\n      sha256 \"{}\"\n    end\n",
                PRODUCT.download(&source.version, &archive.name),
                archive.digest.hex()
            );
        }
        text.push_str("  end\n");
    }
    text.push_str(
        r##"
  def install
    bin.install "bin/capstan"
    bin.install_symlink "capstan" => "kubectl-capi"
    man1.install Dir["share/man/man1/*.1"]
    bash_completion.install "share/bash-completion/completions/capstan"
    zsh_completion.install "share/zsh/site-functions/_capstan"
    fish_completion.install "share/fish/vendor_completions.d/capstan.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/capstan --version")
  end
end
"##,
    );
    text
}

/// Returns the manifest of krew for the plugin `kubectl capi`.
pub(super) fn krew_manifest(archives: &[&Archive], source: &Source) -> String {
    let mut text = format!(
        "apiVersion: krew.googlecontainertools.github.com/v1alpha2\nkind: Plugin\nmetadata:\n  name: capi\nspec:\n  \
         version: v{}\n  homepage: {}\n  shortDescription: {}\n  description: |\n",
        source.version, PRODUCT.repository, PRODUCT.summary
    );
    for paragraph in PRODUCT.description {
        let _ = writeln!(text, "    {paragraph}");
    }
    text.push_str("  platforms:\n");
    for archive in archives {
        let top = archive.name.trim_end_matches(".tar.gz");
        let program = archive.target.program(PRODUCT.name);
        let _ = write!(
            text,
            "  - selector:\n      matchLabels:\n        os: {}\n        arch: {}\n    uri: {}\n    sha256: {}\n    bin: \
             {program}\n    files:\n    - from: {top}/bin/{program}\n      to: .\n    - from: {top}/LICENSE\n      to: .\n    - \
             from: {top}/LICENSES.txt\n      to: .\n",
            archive.target.os,
            archive.target.architecture.go,
            PRODUCT.download(&source.version, &archive.name),
            archive.digest.hex(),
        );
    }
    text
}

/// Returns the flake of Nix, which unpacks the archives.
pub(super) fn nix_flake(archives: &[&Archive], source: &Source) -> String {
    let mut systems = String::new();
    for archive in archives.iter().filter(|archive| archive.target.os != "windows") {
        let _ = write!(
            systems,
            "        {}-{} = {{\n          url = \"{}\";\n          sha256 = \"{}\";\n        }};\n",
            archive.target.architecture.rust,
            archive.target.os,
            PRODUCT.download(&source.version, &archive.name),
            archive.digest.hex()
        );
    }
    NIX_FLAKE
        .replace("SUMMARY", PRODUCT.summary)
        .replace("REPOSITORY", PRODUCT.repository)
        .replace("VERSION", &source.version)
        .replace("SYSTEMS", &systems)
}

const NIX_FLAKE: &str = r#"{
  description = "SUMMARY";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      archives = {
SYSTEMS      };
      packageFor = system:
        let pkgs = nixpkgs.legacyPackages.${system}; in
        pkgs.stdenvNoCC.mkDerivation {
          pname = "capstan";
          version = "VERSION";
          src = pkgs.fetchurl archives.${system};
          nativeBuildInputs = [ pkgs.installShellFiles ];
          installPhase = ''
            install -D bin/capstan $out/bin/capstan
            ln -s capstan $out/bin/kubectl-capi
            installManPage share/man/man1/*.1
            installShellCompletion --cmd capstan \
              --bash share/bash-completion/completions/capstan \
              --zsh share/zsh/site-functions/_capstan \
              --fish share/fish/vendor_completions.d/capstan.fish
          '';
          dontStrip = true;
          meta = {
            description = "SUMMARY";
            homepage = "REPOSITORY";
            license = pkgs.lib.licenses.asl20;
            mainProgram = "capstan";
            platforms = builtins.attrNames archives;
          };
        };
    in
    {
      packages = builtins.mapAttrs (system: _: { default = packageFor system; }) archives;
    };
}
"#;
