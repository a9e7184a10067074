//! Runs the cases of pages against a server.

mod case_run;
mod watch;

use std::{
    fmt,
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering},
};

use futures::{StreamExt as _, stream};
use similar::TextDiff;

use super::{Case, Page, Server, Step};
use case_run::CaseRun;

/// The number of cases that run concurrently.
const PARALLEL_CASES: usize = 8;

/// A step that failed, or whose answer differs from the recorded answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The name of the page.
    pub page: String,
    /// The heading of the case.
    pub heading: String,
    /// The line of the step.
    pub line: usize,
    /// A unified diff, or the failure.
    pub text: String,
}

/// The result of a run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The number of cases that ran.
    pub case_count: usize,
    /// The number of cases skipped because the server has no controllers.
    pub skipped: usize,
    /// The differences, in page order.
    pub differences: Vec<Difference>,
}

/// The failure that ended a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseFailure {
    /// The line of the step.
    pub line: usize,
    /// The problem.
    pub problem: String,
}

/// The answers of a case, and the failure that ended it, if any.
struct CaseAnswers<'p> {
    steps: Vec<(&'p Step, String)>,
    failure: Option<CaseFailure>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}:{}: {}", self.page, self.line, self.heading)?;
        f.write_str(&self.text)
    }
}

/// Runs the selected cases and compares the answers with the recorded answers.
pub async fn compare(
    pages: &[Page],
    server: &dyn Server,
    has_controllers: bool,
    wanted: impl Fn(&Page, &Case) -> bool,
) -> Report {
    let mut report = Report::default();
    let mut cases: Vec<_> =
        pages.iter().flat_map(|page| page.cases.iter().map(move |case| (page, case))).collect();
    cases.retain(|(page, case)| wanted(page, case));
    let all = cases.len();
    cases.retain(|(_, case)| has_controllers || !case.needs_controllers);
    report.case_count = cases.len();
    report.skipped = all - cases.len();
    let differences = stream::iter(cases).map(|(page, case)| async move {
        let answers = run_case(page, case, server).await;
        differences(page, case, &answers)
    });
    report.differences = differences.buffered(PARALLEL_CASES).concat().await;
    report
}

/// Runs the selected cases. Returns the pages with the answers of this server, and the cases that could not be
/// recorded.
pub async fn record(
    pages: &[Page],
    server: &dyn Server,
    wanted: impl Fn(&Page, &Case) -> bool,
) -> (Vec<(String, String)>, Vec<Difference>) {
    let mut written = Vec::new();
    let mut problems = Vec::new();
    for page in pages {
        let cases = page.cases.iter().filter(|case| wanted(page, case));
        let request =
            stream::iter(cases).map(|case| async move { (case, run_case(page, case, server).await) });
        let mut answers: Vec<(Range<usize>, String)> = Vec::new();
        for (case, found) in request.buffered(PARALLEL_CASES).collect::<Vec<_>>().await {
            problems.extend(found.failure.map(|broken| broken.into_difference(page, case)));
            answers.extend(found.steps.into_iter().map(|(step, text)| (step.answer_lines.clone(), text)));
        }
        written.push((page.name.clone(), page.with_answers(answers)));
    }
    (written, problems)
}

async fn run_case<'p>(page: &'p Page, case: &'p Case, server: &dyn Server) -> CaseAnswers<'p> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let mut world = CaseRun::new(server, NUMBER.fetch_add(1, Ordering::Relaxed));
    let mut steps = Vec::new();
    let mut broken = None;
    if let Err(problem) = world.prepare(page, case).await {
        broken = Some(CaseFailure { line: case.line, problem });
    }
    for step in page.fixture.iter().chain(&case.steps) {
        if broken.is_some() {
            break;
        }
        match world.run_step(step).await {
            Ok(Some(text)) => steps.push((step, text)),
            Ok(None) => {}
            Err(problem) => broken = Some(CaseFailure { line: step.line, problem }),
        }
    }
    world.delete_created().await;
    CaseAnswers { steps, failure: broken }
}

fn differences(page: &Page, case: &Case, answers: &CaseAnswers<'_>) -> Vec<Difference> {
    let at = |line: usize, text: String| Difference {
        page: page.name.clone(),
        heading: case.heading.clone(),
        line,
        text,
    };
    let mut differences = Vec::new();
    for (step, found) in &answers.steps {
        match &step.recorded {
            None => differences.push(at(step.line, "no answer is recorded for this step\n".to_owned())),
            Some(recorded) if recorded != found => {
                let diff = TextDiff::from_lines(recorded, found);
                let diff = diff.unified_diff().context_radius(2).header("recorded", "answered").to_string();
                differences.push(at(step.line, diff));
            }
            Some(_) => {}
        }
    }
    differences.extend(answers.failure.clone().map(|broken| broken.into_difference(page, case)));
    differences
}

impl CaseFailure {
    fn into_difference(self, page: &Page, case: &Case) -> Difference {
        let text = format!("the case ends here: {}\n", self.problem);
        Difference { page: page.name.clone(), heading: case.heading.clone(), line: self.line, text }
    }
}
