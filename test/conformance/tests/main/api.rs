//! The cases of the API, asked of a real kube-apiserver and of the sandbox.
//!
//! - `CASES=apply` runs the cases whose page or heading contains that text.
//! - `RECORD=1` writes the answers of the real server into the pages instead of comparing them.
//! - `CONFORMANCE_KUBECONFIG=path` asks a server that runs already, instead of starting one.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use conformance::api::{self, Case, Difference, Https, InProcess, Page, Report, known_differences};
use sandbox::{Clock, ControllerSwitches, Identity, Listener, Options, Sandbox};
use support::api_server::ApiServer;

/// The cases are the contract of the sandbox: they do not become fewer.
const FEWEST_CASES: usize = 600;
/// Half of what the real server is started with: it forgets what is older than the last time.
const COMPACTION_INTERVAL: Duration = Duration::from_secs(2);

/// The pages that are asked in process as well: an answer of each sort.
const IN_PROCESS_PAGES: [&str; 3] = ["create.md", "tables.md", "update.md"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("api")
}

fn pages() -> Vec<Page> {
    let entries = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let is_page = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "md") && !path.ends_with("README.md")
    };
    let paths: BTreeSet<_> = entries.filter(is_page).collect();
    paths.iter().map(|path| Page::load(path).unwrap_or_else(|error| panic!("{error}"))).collect()
}

#[expect(clippy::disallowed_methods, reason = "whoever runs the test steers it through the environment")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn is_selected(page: &Page, case: &Case) -> bool {
    variable("CASES").is_none_or(|text| page.name.contains(&text) || case.heading.contains(&text))
}

/// A server to ask, and what keeps it running.
fn real_server() -> Option<(Https, bool, Option<ApiServer>)> {
    if let Some(kubeconfig) = variable("CONFORMANCE_KUBECONFIG") {
        return Some((Https::from_kubeconfig(Path::new(&kubeconfig)).unwrap(), true, None));
    }
    let server = ApiServer::start_or_skip()?;
    let client = Https::from_kubeconfig(server.kubeconfig()).unwrap();
    Some((client, server.has_controllers(), Some(server)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_api_server_matches_the_recorded_cases() {
    let pages = pages();
    let Some((client, has_controllers, _running)) = real_server() else { return };
    if variable("RECORD").is_some() {
        let (written, problems) = api::record(&pages, &client, is_selected).await;
        for (name, text) in written {
            fs::write(folder().join(name), text).unwrap();
        }
        assert!(problems.is_empty(), "{}", list_differences(&problems));
        return;
    }
    let report = api::compare(&pages, &client, has_controllers, is_selected).await;
    check_report(&report, &BTreeMap::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sandbox_matches_the_recorded_cases() {
    let sandbox = sandbox().await;
    let identity = Identity::generate().unwrap();
    let listener = Listener::bind(sandbox.clone(), &identity, 0).await.unwrap();
    let kubeconfig = tempfile::NamedTempFile::new().unwrap();
    let text = sandbox::kubeconfig("test", &listener.url(), &identity).to_string();
    fs::write(kubeconfig.path(), text).unwrap();
    let client = Https::from_kubeconfig(kubeconfig.path()).unwrap();
    let forgetting = tokio::spawn(compact_repeatedly(sandbox));
    let report = api::compare(&pages(), &client, true, is_selected).await;
    forgetting.abort();
    check_report(&report, &sandbox_departures());
}

/// What does not depend on who asks is the same without a wire.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_in_process_sandbox_answers_like_a_networked_one() {
    let sandbox = sandbox().await;
    let is_wanted = |page: &Page, _: &Case| IN_PROCESS_PAGES.contains(&page.name.as_str());
    let report = api::compare(&pages(), &InProcess(sandbox), true, is_wanted).await;
    assert!(
        report.case_count > 0 && report.differences.is_empty(),
        "{}",
        list_differences(&report.differences)
    );
}

async fn sandbox() -> Sandbox {
    // Deployments must not change under the cases: the controllers of the real server are these as well.
    let controllers = ControllerSwitches { garbage_collection: true, ..ControllerSwitches::none() };
    // The order of managed fields depends on their times: a case must not cross from one second into the next.
    let clock = Clock::fixed(Clock::default().timestamp());
    Sandbox::start_with_clock(Options { controllers, ..Options::default() }, clock).await.unwrap()
}

/// Forgets old revisions all the time, like the configured real server.
async fn compact_repeatedly(sandbox: Sandbox) {
    let mut before = sandbox.revision();
    loop {
        tokio::time::sleep(COMPACTION_INTERVAL).await;
        sandbox.compact(before);
        before = sandbox.revision();
    }
}

#[test]
fn every_step_of_every_case_is_recorded() {
    let pages = pages();
    let count: usize = pages.iter().map(|page| page.cases.len()).sum();
    assert!(count >= FEWEST_CASES, "{count} cases");
    for page in &pages {
        for case in &page.cases {
            let is_shown =
                |step: &api::Step| matches!(step.action, api::Action::Http(_) | api::Action::Events { .. });
            let is_open = case.steps.iter().any(|step| is_shown(step) && step.recorded.is_none());
            assert!(!is_open, "{}:{}: a step is not recorded", page.name, case.line);
            assert!(
                case.steps.iter().any(is_shown),
                "{}:{}: the case has no recorded step",
                page.name,
                case.line
            );
        }
    }
}

/// Where the sandbox differs on purpose.
fn sandbox_departures() -> BTreeMap<String, String> {
    let text = fs::read_to_string(folder().join("../sandbox-departures.txt")).unwrap();
    known_differences::read(&text).unwrap_or_else(|problem| panic!("sandbox-departures.txt: {problem}"))
}

#[test]
fn every_known_difference_is_a_documented_case() {
    let departures = sandbox_departures();
    let cases: BTreeSet<String> = pages()
        .iter()
        .flat_map(|page| page.cases.iter().map(|case| format!("{}#{}", page.name, case.heading)))
        .collect();
    let lost: Vec<_> = departures.keys().filter(|departure| !cases.contains(*departure)).collect();
    assert!(lost.is_empty(), "listed as departures but not found as cases: {lost:#?}");
    // Without departures, the page may be missing.
    let readers = fs::read_to_string(folder().join("../../../docs/sandbox.md")).unwrap_or_default();
    let undocumented = known_differences::undocumented(&departures, &readers);
    assert!(undocumented.is_empty(), "docs/sandbox.md does not name the headings of {undocumented:#?}");
}

/// Prints what happened and fails where the server is not as the pages and the list of departures say.
fn check_report(report: &Report, departures: &BTreeMap<String, String>) {
    let case = |difference: &Difference| format!("{}#{}", difference.page, difference.heading);
    let different: BTreeSet<String> = report.differences.iter().map(case).collect();
    let unexpected: Vec<_> = report
        .differences
        .iter()
        .filter(|difference| !departures.contains_key(&case(difference)))
        .cloned()
        .collect();
    let mut problems = list_differences(&unexpected);
    if variable("CASES").is_none() {
        for (case, reason) in departures.iter().filter(|(case, _)| !different.contains(*case)) {
            let _ = writeln!(
                problems,
                "{case} now matches or does not exist, but is listed as a departure: {reason}"
            );
        }
    }
    let failed: BTreeSet<_> = unexpected.iter().map(case).collect();
    let summary = format!(
        "{} cases, {} failed, {} departures, {} left out",
        report.case_count,
        failed.len(),
        departures.len(),
        report.skipped
    );
    println!("{summary}");
    assert!(problems.is_empty(), "\n{problems}{summary}");
}

fn list_differences(differences: &[Difference]) -> String {
    differences.iter().fold(String::new(), |mut text, difference| {
        let _ = writeln!(text, "{difference}");
        text
    })
}
