//! The cases of the API, asked of a real kube-apiserver.
//!
//! - `CASES=apply` runs the cases whose page or heading contains that text.
//! - `RECORD=1` writes the answers of the real server into the pages instead of comparing them.
//! - `CONFORMANCE_KUBECONFIG=path` asks a server that runs already, instead of starting one.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use conformance::api::{self, Case, Difference, Https, Page, Report};
use support::api_server::{ASSETS_VARIABLE, ApiServer, SERVER_VARIABLE, Source};

/// They do not become fewer.
const FEWEST_CASES: usize = 600;
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

fn is_wanted(page: &Page, case: &Case) -> bool {
    variable("CASES").is_none_or(|text| page.name.contains(&text) || case.heading.contains(&text))
}

/// A server to ask, and what keeps it running.
fn real_server() -> Option<(Https, bool, Option<ApiServer>)> {
    if let Some(kubeconfig) = variable("CONFORMANCE_KUBECONFIG") {
        return Some((Https::from_kubeconfig(Path::new(&kubeconfig)).unwrap(), true, None));
    }
    let Some(source) = Source::find() else {
        println!(
            "skipped: no API server; run `cargo xtask apiserver`, or set {SERVER_VARIABLE} or {ASSETS_VARIABLE}"
        );
        return None;
    };
    let server = ApiServer::start(&source).unwrap_or_else(|error| panic!("{source}: {error}"));
    let client = Https::from_kubeconfig(server.kubeconfig()).unwrap();
    Some((client, server.has_controllers(), Some(server)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_api_server_answers_as_the_pages_say() {
    let pages = pages();
    let Some((client, has_controllers, _running)) = real_server() else { return };
    if variable("RECORD").is_some() {
        let (written, problems) = api::record(&pages, &client, is_wanted).await;
        for (name, text) in written {
            fs::write(folder().join(name), text).unwrap();
        }
        assert!(problems.is_empty(), "{}", listed(&problems));
        return;
    }
    let report = api::compare(&pages, &client, has_controllers, is_wanted).await;
    conclude(&report);
}

#[test]
fn the_pages_have_enough_cases_and_every_step_of_them_is_recorded() {
    let pages = pages();
    let count: usize = pages.iter().map(|page| page.cases.len()).sum();
    assert!(count >= FEWEST_CASES, "{count} cases");
    for page in &pages {
        for case in &page.cases {
            let is_shown =
                |step: &api::Step| matches!(step.action, api::Action::Http(_) | api::Action::Events { .. });
            let is_open = case.steps.iter().any(|step| is_shown(step) && step.recorded.is_none());
            assert!(!is_open, "{}:{}: a step is not recorded", page.name, case.line);
            assert!(case.steps.iter().any(is_shown), "{}:{}: nothing is shown", page.name, case.line);
        }
    }
}

/// Prints what happened and fails where the server is not as the pages say.
fn conclude(report: &Report) {
    let case = |difference: &Difference| format!("{}#{}", difference.page, difference.heading);
    let failed: BTreeSet<_> = report.differences.iter().map(case).collect();
    let summary = format!("{} cases, {} failed, {} left out", report.asked, failed.len(), report.left_out);
    println!("{summary}");
    assert!(failed.is_empty(), "\n{}{summary}", listed(&report.differences));
}

fn listed(differences: &[Difference]) -> String {
    differences.iter().fold(String::new(), |mut text, difference| {
        let _ = writeln!(text, "{difference}");
        text
    })
}
