use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Mutex,
    thread,
    time::Instant,
};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use support::skip::RECORD_VARIABLE;

use crate::{
    print::print_line,
    workspace::{self, cargo, variable},
};

/// Run every test, several test binaries side by side, and list slow and skipped tests.
#[derive(clap::Args)]
pub(crate) struct Test {
    /// Fail if a test was skipped because a program is missing on this machine.
    #[arg(long)]
    strict: bool,
    /// The number of slow tests to list.
    #[arg(long, value_name = "N", default_value_t = 20)]
    slowest: usize,
    /// Run only tests whose name contains this text.
    filter: Option<String>,
    /// Overwrite each snapshot that differs from the current output.
    #[arg(skip)]
    overwrite_snapshots: bool,
}

/// Overwrite the snapshots in tests and guide pages, and the generated pages, with the current output.
#[derive(clap::Args)]
pub(crate) struct Snapshots {
    /// Run only tests whose name contains this text.
    filter: Option<String>,
}

/// The slowest test binaries, which start first.
const SLOWEST_BINARIES: [&str; 6] = ["e2e", "verbs", "management", "guide", "sandbox", "main"];

/// A test binary, or all examples of the documentation.
struct Job {
    name: String,
    command: Command,
}

/// The result of a job.
struct Outcome {
    name: String,
    succeeded: bool,
    /// The output of both streams.
    output: String,
}

/// Returns false if a test failed, or if a test was skipped although `--strict` is set.
pub(crate) fn run(args: &Test) -> Result<bool> {
    let folder = workspace::target().join("tests");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
    let record = folder.join("skipped");
    fs::write(&record, "").with_context(|| format!("cannot write `{}`", record.display()))?;
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut jobs = jobs(args.filter.as_deref())?;
    for Job { command, .. } in &mut jobs {
        command.env(RECORD_VARIABLE, &record).stdin(Stdio::null());
        if args.overwrite_snapshots {
            command.env("SNAPSHOTS", "overwrite");
        }
        if variable("RUST_TEST_THREADS").is_none() {
            // Many tests wait for a server, a lease or a process.
            command.env("RUST_TEST_THREADS", (3 * cores).to_string());
        }
    }
    let start = Instant::now();
    let outcomes = run_jobs(cores, jobs, &folder)?;
    let (mut passed, mut failed) = (0, 0);
    for Outcome { succeeded, output, .. } in &outcomes {
        passed += count(output, "passed");
        // A binary may exit without a result.
        failed += count(output, "failed").max(usize::from(!succeeded));
    }
    print_line(&slow_tests(&outcomes, args.slowest));
    let skipped =
        fs::read_to_string(&record).with_context(|| format!("cannot read `{}`", record.display()))?;
    let (line, is_complete) = skip_line(&skipped);
    let (verdict, seconds) = (if failed == 0 { "ok" } else { "FAILED" }, start.elapsed().as_secs());
    print_line(&line);
    print_line(&format!("test result: {verdict}. {passed} passed; {failed} failed; finished in {seconds}s"));
    Ok(failed == 0 && (is_complete || !args.strict))
}

/// Runs the tests with new snapshots. Returns false if a test failed for another reason.
pub(crate) fn overwrite_snapshots(Snapshots { filter }: Snapshots) -> Result<bool> {
    let succeeded = run(&Test { strict: false, slowest: 0, filter, overwrite_snapshots: true })?;
    if !cargo(&["fmt", "--all"]).status().context("cannot run cargo")?.success() {
        bail!("cannot format the new snapshots");
    }
    Ok(succeeded)
}

/// Builds all tests. Returns the jobs, longest first.
fn jobs(filter: Option<&str>) -> Result<Vec<Job>> {
    let cargo = || cargo(&["test", "--workspace", "--locked"]);
    let mut build = cargo();
    build.args(["--no-run", "--message-format=json-render-diagnostics"]).stderr(Stdio::inherit());
    let output = build.output().context("cannot run cargo")?;
    if !output.status.success() {
        bail!("cannot build the tests");
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let binaries = messages.lines().filter_map(|line| binary(&serde_json::from_str(line).ok()?));
    let mut jobs: Vec<Job> = binaries.collect();
    for Job { command, .. } in &mut jobs {
        // Times of single tests are an unstable feature of the test runner. The toolchain is pinned, so the feature is
        // safe to use.
        command.args(["-Zunstable-options", "--report-time"]).args(filter).env("RUSTC_BOOTSTRAP", "1");
    }
    let mut examples = cargo();
    examples.args(["--doc", "--quiet", "--"]).args(filter);
    jobs.push(Job { name: "documentation".to_owned(), command: examples });
    jobs.sort_by_key(|job| {
        SLOWEST_BINARIES.iter().position(|name| *name == job.name).unwrap_or(SLOWEST_BINARIES.len())
    });
    Ok(jobs)
}

/// Parses a message of cargo. `None` if the message is not about a test binary.
fn binary(message: &Value) -> Option<Job> {
    let executable = message["executable"].as_str().filter(|_| message["profile"]["test"] == true)?;
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
    let mut name = message["target"]["name"].as_str()?.to_owned();
    if message["target"]["kind"][0] == "bin" {
        name.push_str(" (program)");
    }
    let mut command = Command::new(executable);
    command.current_dir(folder).env("CARGO_MANIFEST_DIR", folder);
    Some(Job { name, command })
}

/// Runs this many jobs concurrently, and prints each result when it arrives. Prints the whole output of a failed job.
fn run_jobs(width: usize, jobs: Vec<Job>, folder: &Path) -> Result<Vec<Outcome>> {
    let queue = Mutex::new(jobs.into_iter());
    let work = || {
        let mut outcomes = Vec::new();
        // The lock is held for this statement only.
        while let Some(job) = { queue.lock().expect("no other thread panics with the lock").next() } {
            let start = Instant::now();
            let outcome = execute(job, folder)?;
            let seconds = start.elapsed().as_secs_f64();
            let Outcome { name, succeeded, output } = &outcome;
            let result = if *succeeded { "ok" } else { "FAILED" };
            print_line(&format!("{seconds:7.1} s  {result}  {name}: {} passed", count(output, "passed")));
            if !succeeded {
                print_line(output);
            }
            outcomes.push(outcome);
        }
        Ok(outcomes)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..width).map(|_| scope.spawn(work)).collect();
        let ended = threads.into_iter().map(|thread| thread.join().expect("a job does not panic"));
        ended.collect::<Result<Vec<_>>>().map(|all| all.into_iter().flatten().collect())
    })
}

/// Runs a job with its output in a file, because a process left behind by a test may keep a pipe open.
fn execute(Job { name, mut command }: Job, folder: &Path) -> Result<Outcome> {
    let path: PathBuf = folder.join(format!("{name}.log"));
    let log = File::create(&path).with_context(|| format!("cannot write `{}`", path.display()))?;
    command.stdout(log.try_clone()?).stderr(log);
    let status = command.status().with_context(|| format!("cannot run the tests `{name}`"))?;
    Ok(Outcome {
        name,
        succeeded: status.success(),
        output: String::from_utf8_lossy(&fs::read(&path)?).into(),
    })
}

/// The sum of a count over all result lines: `test result: ok. 12 passed; 0 failed; …`.
fn count(output: &str, what: &str) -> usize {
    let results = output.lines().filter(|line| line.starts_with("test result: "));
    let counts =
        results.flat_map(|line| line.split(['.', ';'])).filter_map(|part| part.trim().strip_suffix(what));
    counts.filter_map(|number| number.trim().parse::<usize>().ok()).sum()
}

/// The slowest tests, from lines such as `test name ... ok <1.250s>`.
fn slow_tests(outcomes: &[Outcome], limit: usize) -> String {
    let mut tests: Vec<(f64, String)> = Vec::new();
    for Outcome { name, output, .. } in outcomes {
        tests.extend(output.lines().filter_map(|line| {
            let (test, rest) = line.strip_prefix("test ")?.split_once(" ... ")?;
            let (_, time) = rest.rsplit_once('<')?;
            Some((time.strip_suffix("s>")?.parse().ok()?, format!("{name}: {test}")))
        }));
    }
    tests.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    tests.iter().take(limit).fold("slowest tests:".to_owned(), |mut text, (seconds, test)| {
        let _ = write!(text, "\n{seconds:7.1} s  {test}");
        text
    })
}

/// Counts the skipped tests by requirement. Returns false if a requirement could be met on a machine.
fn skip_line(record: &str) -> (String, bool) {
    let mut counts: BTreeMap<(bool, &str, &str), usize> = BTreeMap::new();
    for line in record.lines() {
        if let [origin, need, remedy, _] = line.split('\t').collect::<Vec<_>>()[..] {
            *counts.entry((origin == "reference", need, remedy)).or_default() += 1;
        }
    }
    let total: usize = counts.values().sum();
    let is_complete = counts.keys().all(|(is_reference, ..)| *is_reference);
    let mut text = format!("{total} skipped");
    for ((is_reference, need, remedy), count) in counts {
        let reason = if is_reference { "not part of the project" } else { "missing here" };
        let _ = write!(text, "\n  {count} without {need}, {reason}: {remedy}");
    }
    (text, is_complete)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_skipped_for_a_missing_program_makes_the_run_incomplete() {
        let corpus = "reference\tthe corpus\tset CORPUS\ta::b\n";
        assert_eq!(skip_line(""), ("0 skipped".to_owned(), true));
        let line = "2 skipped\n  2 without the corpus, not part of the project: set CORPUS";
        assert_eq!(skip_line(&corpus.repeat(2)), (line.to_owned(), true));
        let (_, is_complete) = skip_line(&format!("{corpus}machine\tnode\tinstall it\tc\n"));
        assert!(!is_complete);
    }

    #[test]
    fn slow_tests_come_first() {
        let output = "test a::b ... ok <0.500s>\ntest c ... FAILED <2.000s>\ntest d ... ignored\n\
                      test result: FAILED. 1 passed; 1 failed; 0 ignored; finished in 2.50s\n";
        let outcomes = [Outcome { name: "lib".to_owned(), succeeded: false, output: output.to_owned() }];
        assert_eq!(slow_tests(&outcomes, 1), "slowest tests:\n    2.0 s  lib: c");
        assert_eq!((count(output, "passed"), count(output, "failed")), (1, 1));
    }
}
