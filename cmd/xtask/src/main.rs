//! Development tasks: `cargo xtask <task>`.
//!
//! ```text
//! Workspace (every text file, read once) ─► tidy: pure rules ─► findings
//! the code itself (command tree, tables, types) ─► gen ─► docs/reference, man pages
//! a built binary ─► golden, bench
//! a built binary, the command tree, the linked crates ─► dist: archives, packages, image of a release
//! docs, a run of a built binary ─► site
//! every test binary ─► test: results, slow tests, skipped tests; snapshots: the same, with new snapshots
//! e2e/apiserver (Go) ─► apiserver: the real API server that tests compare with
//! ```

mod apiserver;
mod bench;
mod builtin_kinds;
mod dist;
mod generate;
mod golden;
mod imports;
mod print;
mod rows;
mod rust_source;
mod site;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use crate::workspace::Workspace;

/// Development tasks.
#[derive(Parser)]
#[command(name = "xtask", bin_name = "cargo xtask")]
enum Task {
    /// Run every test, several test binaries side by side, and list slow and skipped tests.
    Test(test::Test),
    /// Overwrite the snapshots in tests and guide pages, and the generated pages, with the current output.
    Snapshots(test::Snapshots),
    /// Check the project rules, as `cargo test` does, and report large files.
    Tidy(tidy::Tidy),
    /// Write the generated pages: commands, variables, exit codes, providers, schemas, man pages.
    Gen(generate::Generate),
    /// Measure a built binary, and clusterctl for comparison if available. The results are not enforced.
    Bench(bench::Bench),
    /// Write the tables of the sandbox's built-in kinds from the API description of a real API server.
    BuiltinKinds(builtin_kinds::BuiltinKinds),
    /// Compare the output of a built binary with that of the reference release.
    Golden(golden::Golden),
    /// Make the files of a release in `target/distrib`: archives, packages, image, SBOM, provenance and checksums.
    Dist(dist::Dist),
    /// Build the documentation as a web site in `target/site`, with a picture of the tour. Needs mdbook.
    Site(site::Site),
    /// Build the real Kubernetes API server that tests compare the sandbox with.
    #[command(name = "apiserver")]
    ApiServer(apiserver::ApiServer),
}

fn main() -> ExitCode {
    match dist::link().unwrap_or_else(|| run(Task::parse())) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            print::print_error_line(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Runs a task. Returns false if the task found a fault.
fn run(task: Task) -> Result<bool> {
    match task {
        Task::Test(args) => test::run(&args),
        Task::Snapshots(args) => {
            generate::run(&generate::Generate::default())?;
            test::overwrite_snapshots(args)
        }
        Task::Tidy(args) => tidy::run(&args, &Workspace::read()?),
        Task::Gen(args) => generate::run(&args),
        Task::Bench(args) => bench::run(&args),
        Task::BuiltinKinds(args) => builtin_kinds::run(&args),
        Task::Golden(args) => golden::run(&args),
        Task::Site(args) => site::run(&args),
        Task::Dist(args) => dist::run(&args),
        Task::ApiServer(args) => apiserver::run(&args),
    }
}
