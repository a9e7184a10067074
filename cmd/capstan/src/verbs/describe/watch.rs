//! `describe cluster --watch`: prints a tree after every change. On a terminal, each tree overwrites the previous
//! one.

use std::{
    fmt::Write as _,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::{StreamExt as _, future::Either, stream::BoxStream};
use inventory::ManagementCluster;
use jiff::Timestamp;
use workload::{ClusterEvent, ClusterHealth, ClusterTree, DescribeError, DescribeRequest, ShownConditions};

use super::{draw::draw, report::report};
use crate::{
    Failure,
    failure::Kind,
    session::Session,
    settings::OutputFormat,
    ui::{Interruption, Keyboard, interruption},
};

/// The redraw interval of a terminal, because ages grow and windows change their size.
const REDRAW: Duration = Duration::from_millis(500);

/// The verbosity at which every request is logged.
const REQUEST_VERBOSITY: u8 = 5;

pub(super) struct ClusterWatch<'a> {
    pub(super) request: &'a DescribeRequest,
    pub(super) conditions: &'a ShownConditions,
    pub(super) format: OutputFormat,
    pub(super) until_healthy: bool,
    pub(super) timeout: Option<Duration>,
}

pub(super) enum WatchEnd {
    /// Ended by `q`, Ctrl-C, a timeout or a disconnected reader, with the last shown tree.
    LastTree(Arc<ClusterTree>),
    Deleted,
}

#[derive(Default)]
struct WatchState {
    tree: Option<(Arc<ClusterTree>, Timestamp)>,
    /// The start time and the reason of the current outage of the server.
    outage: Option<(Timestamp, String)>,
}

enum WatchEvent {
    News(Option<Result<ClusterEvent, DescribeError>>),
    Redraw,
    Key(Interruption),
    TimedOut,
}

impl ClusterWatch<'_> {
    /// Shows the cluster and its changes until Ctrl-C.
    pub(super) fn run(
        &self,
        cluster: &ManagementCluster,
        session: &mut Session,
    ) -> Result<WatchEnd, Failure> {
        // Ctrl-C must not interrupt a write.
        session.defer_interrupts();
        let mut news = workload::watch_cluster(cluster, self.request.clone());
        // Log lines about requests would move a drawn tree.
        let is_drawn = self.format == OutputFormat::Text
            && session.printer().is_terminal()
            && !session.messages().is_logged(REQUEST_VERBOSITY);
        let mut screen = is_drawn.then(Screen::default);
        let until = self.timeout.map(|timeout| Instant::now() + timeout);
        let mut state = WatchState::default();
        let mut keyboard = session.keyboard()?;
        loop {
            let step = session.block_on(next_event(&mut news, screen.is_some(), keyboard.as_mut(), until));
            let is_interrupted = matches!(&step, Err(failure) if failure.kind() == Kind::Interrupted);
            match (step, &state.tree) {
                (Err(_), Some((tree, _))) if is_interrupted => {
                    return Ok(WatchEnd::LastTree(Arc::clone(tree)));
                }
                (Err(failure), _) => return Err(failure),
                (Ok(WatchEvent::TimedOut | WatchEvent::Key(Interruption::Quit)), Some((tree, _))) => {
                    return Ok(WatchEnd::LastTree(Arc::clone(tree)));
                }
                (Ok(WatchEvent::Key(Interruption::Quit)), None) => return Err(Failure::interrupted()),
                // The lines above were written by other programs.
                (Ok(WatchEvent::Key(Interruption::Resumed)), _) => screen = screen.map(|_| Screen::default()),
                (Ok(WatchEvent::TimedOut), None) => return Err(self.timeout_failure()),
                (Ok(WatchEvent::News(None)), _) => return Ok(WatchEnd::Deleted),
                (Ok(WatchEvent::News(Some(news))), _) => {
                    if matches!(
                        self.show_news(news?, &mut state, screen.is_some(), session)?,
                        ClusterEvent::Deleted
                    ) {
                        return Ok(WatchEnd::Deleted);
                    }
                }
                (Ok(WatchEvent::Redraw), _) => {}
            }
            if let Some(screen) = &mut screen {
                self.draw(screen, &state, keyboard.is_some(), session)?;
            }
            session.printer().flush()?;
            if let Some((tree, _)) = state.tree.as_ref().filter(|(tree, _)| self.is_finished(tree, session)) {
                return Ok(WatchEnd::LastTree(Arc::clone(tree)));
            }
        }
    }

    fn is_finished(&self, tree: &ClusterTree, session: &mut Session) -> bool {
        !session.printer().has_reader() || (self.until_healthy && tree.health() == ClusterHealth::Healthy)
    }

    /// Records the news and prints them unless the tree is drawn.
    fn show_news(
        &self,
        news: ClusterEvent,
        state: &mut WatchState,
        is_drawn: bool,
        session: &mut Session,
    ) -> Result<ClusterEvent, Failure> {
        match &news {
            ClusterEvent::Tree(tree) => {
                let now = Timestamp::now();
                if !is_drawn {
                    let text = self.render_tree(tree, now, session)?;
                    session.printer().write(text)?;
                }
                *state = WatchState { tree: Some((Arc::clone(tree), now)), outage: None };
            }
            ClusterEvent::Unreachable { since, reason: why } => {
                if !is_drawn {
                    session.messages().warning(outage_text(*since, why));
                }
                state.outage = Some((*since, why.clone()));
            }
            ClusterEvent::Reachable => {
                if !is_drawn {
                    session.messages().status("the API server answers again");
                }
                state.outage = None;
            }
            ClusterEvent::Deleted => {
                let DescribeRequest { namespace, name, .. } = self.request;
                session.messages().status(format!("Cluster {namespace}/{name} was deleted"));
            }
        }
        Ok(news)
    }

    fn render_tree(
        &self,
        tree: &ClusterTree,
        now: Timestamp,
        session: &mut Session,
    ) -> Result<String, Failure> {
        Ok(match self.format {
            OutputFormat::Text => {
                let table =
                    draw(&tree.table(self.conditions, now), session.printer().is_stdout_coloured(), None);
                format!("--- {now:.0}\n{table}")
            }
            OutputFormat::Json => format!("{}\n", serde_json::to_string(&report(self.request, tree))?),
            OutputFormat::Yaml => {
                format!("---\n{}", self.format.render(&report(self.request, tree), |_| String::new())?)
            }
        })
    }

    fn draw(
        &self,
        screen: &mut Screen,
        state: &WatchState,
        reads_keys: bool,
        session: &mut Session,
    ) -> Result<(), Failure> {
        let Some((tree, at)) = &state.tree else { return Ok(()) };
        let (height, width) = console::Term::stdout().size();
        let size = Size { width: width.into(), height: height.into() };
        let changed = at.strftime("%Y-%m-%d %H:%M:%S UTC");
        let keys = if reads_keys { "q or Ctrl-C" } else { "Ctrl-C" };
        let mut header = vec![format!("live, last change {changed}; press {keys} to quit")];
        if let Some((since, why)) = &state.outage {
            header[0] = format!("not live, last change {changed}");
            header.push(crate::ui::sanitize(&outage_text(*since, why)).into_owned());
        }
        let colour = session.printer().is_stdout_coloured();
        let body = draw(&tree.table(self.conditions, Timestamp::now()), colour, Some(size.width));
        let text = screen.draw(frame(&header, &body, size), size);
        session.printer().write(text)
    }

    fn timeout_failure(&self) -> Failure {
        let seconds = self.timeout.unwrap_or_default().as_secs();
        Failure::new(Kind::Environment, format!("the API server did not answer within {seconds}s"))
    }
}

fn outage_text(since: Timestamp, why: &str) -> String {
    format!("no answer since {}: {why}", since.strftime("%H:%M:%S UTC"))
}

/// Waits for the next event. Later news are not lost.
async fn next_event(
    news: &mut BoxStream<'static, Result<ClusterEvent, DescribeError>>,
    redraws: bool,
    keyboard: Option<&mut Keyboard>,
    until: Option<Instant>,
) -> Result<WatchEvent, Failure> {
    let pending = || Either::Right(std::future::pending());
    let redraw = if redraws { Either::Left(tokio::time::sleep(REDRAW)) } else { pending() };
    let time_over = until.map_or_else(pending, |until| Either::Left(tokio::time::sleep_until(until.into())));
    tokio::select! {
        biased;
        key = interruption(keyboard) => Ok(WatchEvent::Key(key)),
        news = news.next() => Ok(WatchEvent::News(news)),
        () = time_over => Ok(WatchEvent::TimedOut),
        () = redraw => Ok(WatchEvent::Redraw),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    width: usize,
    height: usize,
}

#[derive(Debug, Default)]
struct Screen {
    lines: Vec<String>,
}

impl Screen {
    /// Returns the text that replaces the previous lines with the given ones. Empty if they are equal.
    /// Only overwrites drawn lines, so earlier output on the screen stays.
    fn draw(&mut self, lines: Vec<String>, size: Size) -> String {
        let mut text = String::new();
        if self.lines == lines {
            return text;
        }
        // A narrower window has wrapped lines.
        let rows: usize =
            self.lines.iter().map(|line| visible_width(line).div_ceil(size.width.max(1)).max(1)).sum();
        // Writing to a String cannot fail.
        if rows > 0 {
            let _ = write!(text, "\u{1b}[{rows}A\r");
        }
        for line in &lines {
            let _ = writeln!(text, "{line}\u{1b}[K");
        }
        text.push_str("\u{1b}[J");
        self.lines = lines;
        text
    }
}

/// Returns the part of a header and a body that fits the terminal. The last row stays free for the cursor.
fn frame(header: &[String], body: &str, size: Size) -> Vec<String> {
    let body: Vec<&str> = body.lines().collect();
    let room = size.height.saturating_sub(header.len() + 1).max(1);
    let shown = if body.len() > room { room - 1 } else { body.len() };
    let more = (shown < body.len())
        .then(|| format!("… {} more lines; enlarge the window or use --grouping", body.len() - shown));
    let lines = header.iter().map(String::as_str).chain(body[..shown].iter().copied()).chain(more.as_deref());
    lines.map(|line| truncate(line.trim_end(), size.width)).collect()
}

/// Returns the number of visible characters in a line, without colour codes.
fn visible_width(line: &str) -> usize {
    anstream::adapter::strip_str(line).map(|piece| piece.chars().count()).sum()
}

/// Cuts a line at the edge and keeps the codes that end colours.
fn truncate(line: &str, width: usize) -> String {
    let mut text = String::with_capacity(line.len());
    let (mut left, mut is_escape) = (width, false);
    for c in line.chars() {
        is_escape |= c == '\u{1b}';
        if is_escape {
            text.push(c);
            is_escape = c != 'm';
        } else if left > 0 {
            text.push(c);
            left -= 1;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;

    const SIZE: Size = Size { width: 8, height: 5 };

    fn framed(body: &str) -> Vec<String> {
        frame(&["head".to_owned()], body, SIZE)
    }

    #[test]
    fn a_long_tree_shows_its_top_and_the_number_of_hidden_lines() {
        assert_eq!(framed("1\n2\n3\n"), ["head", "1", "2", "3"]);
        let wide = Size { width: 80, ..SIZE };
        assert_data_eq!(
            frame(&["head".to_owned()], "1\n2\n3\n4\n5\n", wide).join("\n"),
            str![[r#"
head
1
2
… 3 more lines; enlarge the window or use --grouping
"#]]
        );
        assert_eq!(frame(&[], "1\n2\n", Size { width: 3, height: 0 }), ["… 2"]);
    }

    #[test]
    fn long_lines_are_truncated_with_their_colours() {
        assert_eq!(framed("12345678\n123456789  \n"), ["head", "12345678", "12345678"]);
        assert_eq!(framed("1234\u{1b}[1m56789\u{1b}[0m"), ["head", "1234\u{1b}[1m5678\u{1b}[0m"]);
    }

    // Row: D-170
    #[test]
    fn a_frame_overwrites_the_previous_one_only_if_it_differs() {
        let mut screen = Screen::default();
        let line = |text: &str| vec![text.to_owned()];
        assert_eq!(
            screen.draw(line("\u{1b}[1m123456\u{1b}[0m"), SIZE),
            "\u{1b}[1m123456\u{1b}[0m\u{1b}[K\n\u{1b}[J"
        );
        assert_eq!(screen.draw(line("\u{1b}[1m123456\u{1b}[0m"), SIZE), "");
        // In a narrower window, the previous line takes two rows.
        assert_eq!(screen.draw(line("b"), Size { width: 4, ..SIZE }), "\u{1b}[2A\rb\u{1b}[K\n\u{1b}[J");
    }
}
