//! Shows the objects that a run waits for: as a tree on a terminal, elsewhere as lines after some time.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use apply::Blocker;
use tokio::runtime::Handle;

use crate::ui::WaitLine;

/// The limit of objects that are shown. The others are counted.
const MAX_SHOWN: usize = 12;

pub(super) fn wait_lines(blockers: &[Blocker]) -> Vec<WaitLine> {
    let mut all = Vec::new();
    for blocker in blockers {
        add(blocker, 0, &mut all);
    }
    let more = all.len().saturating_sub(MAX_SHOWN);
    all.truncate(MAX_SHOWN);
    if more > 0 {
        all.push(WaitLine { text: format!("and {more} more"), since: None });
    }
    all
}

fn add(blocker: &Blocker, depth: usize, to: &mut Vec<WaitLine>) {
    let text = format!("{}{}", "  ".repeat(depth), blocker.describe());
    to.push(WaitLine { text, since: Instant::now().checked_sub(blocker.since) });
    for below in &blocker.children {
        add(below, depth + 1, to);
    }
}

/// Returns the unreported messages of objects that have blocked for `at_least`: new objects and changed messages.
pub(super) fn new_messages(
    blockers: &[Blocker],
    at_least: Duration,
    logged: &mut BTreeMap<String, String>,
) -> Vec<String> {
    let now: BTreeMap<String, &Blocker> =
        blockers.iter().map(|blocker| (blocker.object.to_string(), blocker)).collect();
    logged.retain(|object, _| now.contains_key(object));
    let mut news = Vec::new();
    for (object, blocker) in now.into_iter().filter(|(_, blocker)| blocker.since >= at_least) {
        let text = blocker.one_line();
        if logged.get(&object) != Some(&text) {
            news.push(format!("waiting for {text}"));
            logged.insert(object, text);
        }
    }
    let more = news.len().saturating_sub(MAX_SHOWN);
    news.truncate(MAX_SHOWN);
    if more > 0 {
        news.push(format!("waiting for {more} more"));
    }
    news
}

/// The minimum wait before a line is logged, which keeps short waits out of the log.
pub(super) const LOG_AFTER: Duration = Duration::from_secs(3);

/// Logs long waits if nothing can be drawn. Clones share their state.
#[derive(Clone, Default)]
pub(super) struct WaitLog(Arc<Mutex<WaitState>>);

#[derive(Default)]
struct WaitState {
    blockers: Vec<Blocker>,
    updated_at: Option<Instant>,
    logged: BTreeMap<String, String>,
    is_logging: bool,
}

impl WaitLog {
    /// Records the blockers. Returns the runtime for [`WaitLog::log_waits`] if the task does not run yet.
    pub(super) fn update(&self, blockers: &[Blocker]) -> Option<Handle> {
        let mut seen = self.lock();
        seen.blockers = blockers.to_vec();
        seen.updated_at = Some(Instant::now());
        if seen.is_logging || blockers.is_empty() {
            return None;
        }
        let runtime = Handle::try_current().ok()?;
        seen.is_logging = true;
        Some(runtime)
    }

    /// Logs long waits until no blocker is left.
    pub(super) async fn log_waits(&self, say: impl Fn(String)) {
        loop {
            tokio::time::sleep(LOG_AFTER).await;
            let lines = {
                let mut seen = self.lock();
                if seen.blockers.is_empty() {
                    seen.is_logging = false;
                    return;
                }
                seen.new_messages()
            };
            lines.into_iter().for_each(&say);
        }
    }

    /// Clears the blockers, because another step has begun.
    pub(super) fn clear(&self) {
        self.lock().blockers.clear();
    }

    fn lock(&self) -> MutexGuard<'_, WaitState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WaitState {
    fn new_messages(&mut self) -> Vec<String> {
        let passed = self.updated_at.map(|at| at.elapsed()).unwrap_or_default();
        new_messages(&self.blockers, LOG_AFTER.saturating_sub(passed), &mut self.logged)
    }
}

#[cfg(test)]
mod tests {
    use apply::{Health, ObjectKey, Status};
    use snapbox::{assert_data_eq, str};

    use super::*;

    fn blocker(name: &str, message: &str, below: Vec<Blocker>) -> Blocker {
        let object = ObjectKey {
            group: "apps".to_owned(),
            kind: "Deployment".to_owned(),
            namespace: "ns".to_owned(),
            name: name.to_owned(),
        };
        let status = Status { health: Health::InProgress, message: message.to_owned() };
        Blocker { object, status, since: Duration::from_secs(3), children: below }
    }

    fn texts(lines: &[WaitLine]) -> Vec<&str> {
        lines.iter().map(|line| line.text.as_str()).collect()
    }

    #[test]
    fn the_children_of_a_blocker_follow_it_with_indentation() {
        let tree =
            [blocker("a", "Available: 0 of 1", vec![blocker("pod", "image cannot be pulled", vec![])])];
        assert_eq!(
            texts(&wait_lines(&tree)),
            ["Deployment ns/a: Available: 0 of 1", "  Deployment ns/pod: image cannot be pulled"]
        );
    }

    #[test]
    fn many_blockers_are_partly_shown_and_counted() {
        let many: Vec<Blocker> = (0..30).map(|at| blocker(&at.to_string(), "x", vec![])).collect();
        let shown = wait_lines(&many);
        assert_eq!(shown.len(), MAX_SHOWN + 1);
        assert_data_eq!(shown[MAX_SHOWN].text.as_str(), str!["and 18 more"]);
        assert_data_eq!(
            new_messages(&many, Duration::ZERO, &mut BTreeMap::new())[MAX_SHOWN].as_str(),
            str!["waiting for 18 more"]
        );
    }

    #[test]
    fn without_a_terminal_only_changes_of_long_waits_are_logged() {
        let mut logged = BTreeMap::new();
        let first = [blocker("a", "0 of 1", vec![]), blocker("b", "", vec![])];
        assert_eq!(new_messages(&first, Duration::from_secs(4), &mut logged), Vec::<String>::new());
        let mut news = |blockers: &[Blocker]| new_messages(blockers, Duration::from_secs(3), &mut logged);
        let waiting = news(&first);
        assert_data_eq!(
            waiting.join("\n"),
            str![[r#"
waiting for Deployment ns/a: 0 of 1
waiting for Deployment ns/b: InProgress
"#]]
        );
        assert_eq!(news(&first), Vec::<String>::new());
        let second = [blocker("a", "0 of 1", vec![blocker("pod", "no image", vec![])])];
        assert_data_eq!(
            news(&second).join("\n"),
            str!["waiting for Deployment ns/a: 0 of 1; Deployment ns/pod: no image"]
        );
        assert_eq!(news(&first), waiting);
    }
}
