#!/usr/bin/env bash
# Downloads one version of capstan, verifies its digest, and unpacks it.
# Usage: install.sh VERSION SHA256 FOLDER
# CAPSTAN_RELEASES replaces the address of the releases.
set -euo pipefail

if [ $# != 3 ]; then
  echo "usage: install.sh VERSION SHA256 FOLDER" >&2
  exit 2
fi
version=${1#v} sha256=$2 folder=$3
releases=${CAPSTAN_RELEASES:-https://github.com/capstan-dev/capstan/releases/download}

case "$(uname -m)" in
  x86_64 | amd64) processor=x86_64 ;;
  aarch64 | arm64) processor=aarch64 ;;
  *) echo "error: there is no release for the processor $(uname -m)" >&2 && exit 1 ;;
esac
case "$(uname -s)" in
  Linux) target=$processor-unknown-linux-musl ;;
  Darwin) target=$processor-apple-darwin ;;
  *) echo "error: there is no archive for the system $(uname -s)" >&2 && exit 1 ;;
esac

archive=capstan-$version-$target.tar.gz
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
curl --fail --silent --show-error --location --retry 3 --output "$temporary/$archive" "$releases/v$version/$archive"
if command -v sha256sum > /dev/null; then
  actual=$(sha256sum "$temporary/$archive" | cut -d ' ' -f 1)
else
  actual=$(shasum -a 256 "$temporary/$archive" | cut -d ' ' -f 1)
fi
if [ "$actual" != "$sha256" ]; then
  echo "error: the digest of $archive is $actual, not $sha256; compare it with SHA256SUMS of the release" >&2
  exit 1
fi
mkdir -p "$folder"
tar --extract --gzip --file "$temporary/$archive" --directory "$folder" --strip-components 1
"$folder/bin/capstan" --version
