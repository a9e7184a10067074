# The menu. Each line is a plain cargo command: nothing here is needed to work on capstan.

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

# Check the rules of the house, and show what has grown large
tidy:
    cargo xtask tidy

# Write the generated reference pages again
gen:
    cargo xtask gen

# Build the real Kubernetes API server that tests compare the sandbox with, and kubectl (needs Go; some minutes once)
apiserver:
    cargo xtask apiserver

# Compare an optimised build with what the reference release prints
golden *ARGS:
    cargo build --release --bin capstan
    cargo xtask golden {{ARGS}}

# Measure an optimised build, beside clusterctl where it is on the PATH
bench *ARGS:
    cargo build --release --bin capstan
    cargo xtask bench {{ARGS}}

# Measure the sandbox, beside the real API server where CAPSTAN_TEST_APISERVER names it
bench-sandbox *ARGS:
    cargo bench -p capstan-sandbox -- {{ARGS}}

# List the rows of the contract with their tests
rows *ARGS:
    cargo xtask rows {{ARGS}}

# Build the book
docs:
    mdbook build docs

# Everything a change must pass
ci:
    .ci/run
