# Shortcuts for cargo commands. `just` is optional.

# List the tasks
default:
    @just --list

# Build the binary for use
build:
    cargo build --release --bin capstan

# Run every test
test:
    cargo xtask test

# Check format and lints
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings

# Check the project rules, and report large files
tidy:
    cargo xtask tidy

# Regenerate the reference pages
gen:
    cargo xtask gen

# Build the real Kubernetes API server that tests compare the sandbox with, and kubectl (needs Go; some minutes once)
apiserver:
    cargo xtask apiserver

# Compare an optimised build with the recorded output of clusterctl
golden *ARGS:
    cargo build --release --bin capstan
    cargo xtask golden {{ARGS}}

# Measure an optimised build, and clusterctl if it is on the PATH
bench *ARGS:
    cargo build --release --bin capstan
    cargo xtask bench {{ARGS}}

# Measure the sandbox, and a real API server if CAPSTAN_TEST_APISERVER is set
bench-sandbox *ARGS:
    cargo bench -p capstan-sandbox -- {{ARGS}}

# Make the files of a release in `target/distrib`: archives, packages, image, checksums
dist *ARGS:
    cargo xtask dist {{ARGS}}

# Install the programs that check a release (Debian and Ubuntu, as root)
dist-programs:
    .ci/run programs

# Search for inputs that make a parser panic: a crate and its target, such as `manifest/yaml` (needs nightly, cargo-fuzz)
fuzz TARGET SECONDS="60":
    cd pkg/{{parent_directory(TARGET)}} && cargo +nightly fuzz run {{file_name(TARGET)}} -- -max_total_time={{SECONDS}}

# Compare the dependencies with security advisories (needs the network, cargo-deny)
advisories:
    cargo deny --locked check advisories

# Build the book
docs:
    mdbook build docs

# Build the web site with a recorded tour in `target/site` (needs mdbook)
site *ARGS:
    cargo build --release --bin capstan
    cargo xtask site {{ARGS}}

# Run all checks of CI
ci:
    .ci/run
