//! `describe cluster --watch`: a tree after every change.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures::{StreamExt as _, future::Either, stream::BoxStream};
use jiff::Timestamp;
use management::{
    ClusterHealth, ClusterNews, ClusterTree, DescribeError, DescribeRequest, ManagementCluster,
    ShownConditions,
};

use super::{
    draw::draw,
    report::report,
    screen::{Screen, Size, frame},
};
use crate::{
    Failure,
    failure::Kind,
    session::Session,
    settings::OutputFormat,
    ui::{Interruption, Keyboard, interruption},
};

/// How often a terminal is looked at: ages grow, and windows change their size.
const REDRAW: Duration = Duration::from_millis(500);

/// The verbosity from which on every request is told.
const REQUESTS: u8 = 5;

/// What is watched, and in which form it is told.
pub(super) struct Watching<'a> {
    pub(super) request: &'a DescribeRequest,
    pub(super) shown: &'a ShownConditions,
    pub(super) format: OutputFormat,
    /// Whether it ends as soon as the cluster is healthy.
    pub(super) until_healthy: bool,
    pub(super) timeout: Option<Duration>,
}

/// How it ended.
pub(super) enum Ended {
    /// By `q` or Ctrl-C, in time, or because nobody reads any more; with the tree that was told last.
    With(Arc<ClusterTree>),
    /// The Cluster was deleted.
    Gone,
}

/// What was told last.
#[derive(Default)]
struct Told {
    tree: Option<(Arc<ClusterTree>, Timestamp)>,
    /// Since when the server has not answered, and why.
    away: Option<(Timestamp, String)>,
}

enum Step {
    News(Option<Result<ClusterNews, DescribeError>>),
    Redraw,
    Key(Interruption),
    TimeOver,
}

impl Watching<'_> {
    /// Tells the cluster and its changes until Ctrl-C.
    /// # Errors
    /// When the cluster is not there, or cannot be read for a reason that does not pass; Ctrl-C only when nothing was told.
    pub(super) fn run(&self, cluster: &ManagementCluster, session: &mut Session) -> Result<Ended, Failure> {
        // What is printed is never cut in the middle.
        session.hold_interrupts()?;
        let mut news = management::watch_cluster(cluster, self.request.clone());
        // Among lines about requests nothing can stay in its place.
        let is_drawn = self.format == OutputFormat::Text
            && session.printer().is_terminal()
            && !session.messages().logs(REQUESTS);
        let mut screen = is_drawn.then(Screen::default);
        let until = self.timeout.map(|timeout| Instant::now() + timeout);
        let mut told = Told::default();
        let mut keyboard = session.keyboard()?;
        loop {
            let step = session.block_on(next(&mut news, screen.is_some(), keyboard.as_mut(), until));
            let is_interrupted = matches!(&step, Err(failure) if failure.kind() == Kind::Interrupted);
            match (step, &told.tree) {
                (Err(_), Some((tree, _))) if is_interrupted => return Ok(Ended::With(Arc::clone(tree))),
                (Err(failure), _) => return Err(failure),
                (Ok(Step::TimeOver | Step::Key(Interruption::Quit)), Some((tree, _))) => {
                    return Ok(Ended::With(Arc::clone(tree)));
                }
                (Ok(Step::Key(Interruption::Quit)), None) => return Err(Failure::interrupted()),
                // What stands above now is not ours.
                (Ok(Step::Key(Interruption::Resumed)), _) => screen = screen.map(|_| Screen::default()),
                (Ok(Step::TimeOver), None) => return Err(self.late()),
                (Ok(Step::News(None)), _) => return Ok(Ended::Gone),
                (Ok(Step::News(Some(news))), _) => {
                    if matches!(self.tell(news?, &mut told, screen.is_some(), session)?, ClusterNews::Gone) {
                        return Ok(Ended::Gone);
                    }
                }
                (Ok(Step::Redraw), _) => {}
            }
            if let Some(screen) = &mut screen {
                self.draw(screen, &told, keyboard.is_some(), session)?;
            }
            session.printer().flush()?;
            if let Some((tree, _)) = told.tree.as_ref().filter(|(tree, _)| self.is_enough(tree, session)) {
                return Ok(Ended::With(Arc::clone(tree)));
            }
        }
    }

    fn is_enough(&self, tree: &ClusterTree, session: &mut Session) -> bool {
        !session.printer().has_reader() || (self.until_healthy && tree.health() == ClusterHealth::Healthy)
    }

    /// Takes note of news, and prints them where they are not drawn.
    fn tell(
        &self,
        news: ClusterNews,
        told: &mut Told,
        is_drawn: bool,
        session: &mut Session,
    ) -> Result<ClusterNews, Failure> {
        match &news {
            ClusterNews::Tree(tree) => {
                let now = Timestamp::now();
                if !is_drawn {
                    let text = self.document(tree, now, session)?;
                    session.printer().data(text)?;
                }
                *told = Told { tree: Some((Arc::clone(tree), now)), away: None };
            }
            ClusterNews::Away { since, why } => {
                if !is_drawn {
                    session.messages().warning(away(*since, why));
                }
                told.away = Some((*since, why.clone()));
            }
            ClusterNews::Back => {
                if !is_drawn {
                    session.messages().status("the server answers again");
                }
                told.away = None;
            }
            ClusterNews::Gone => {
                let DescribeRequest { namespace, name, .. } = self.request;
                session.messages().status(format!("Cluster {namespace}/{name} was deleted"));
            }
        }
        Ok(news)
    }

    /// A tree as one of many on a stream.
    fn document(&self, tree: &ClusterTree, now: Timestamp, session: &mut Session) -> Result<String, Failure> {
        Ok(match self.format {
            OutputFormat::Text => {
                let table = draw(&tree.table(self.shown, now), session.printer().colours_stdout(), None);
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
        told: &Told,
        reads_keys: bool,
        session: &mut Session,
    ) -> Result<(), Failure> {
        let Some((tree, at)) = &told.tree else { return Ok(()) };
        let (height, width) = console::Term::stdout().size();
        let size = Size { width: width.into(), height: height.into() };
        let changed = at.strftime("%Y-%m-%d %H:%M:%S UTC");
        let keys = if reads_keys { "q or Ctrl-C" } else { "Ctrl-C" };
        let mut header = vec![format!("live, last change {changed}; {keys} ends it")];
        if let Some((since, why)) = &told.away {
            header[0] = format!("not live, last change {changed}");
            header.push(crate::ui::clean(&away(*since, why)).into_owned());
        }
        let colour = session.printer().colours_stdout();
        let body = draw(&tree.table(self.shown, Timestamp::now()), colour, Some(size.width));
        let text = screen.draw(frame(&header, &body, size), size);
        session.printer().data(text)
    }

    fn late(&self) -> Failure {
        let seconds = self.timeout.unwrap_or_default().as_secs();
        Failure::new(Kind::Environment, format!("the server did not answer within {seconds}s"))
    }
}

fn away(since: Timestamp, why: &str) -> String {
    format!("no answer since {}: {why}", since.strftime("%H:%M:%S UTC"))
}

/// What happens next; news that come later are not lost.
async fn next(
    news: &mut BoxStream<'static, Result<ClusterNews, DescribeError>>,
    redraws: bool,
    keyboard: Option<&mut Keyboard>,
    until: Option<Instant>,
) -> Result<Step, Failure> {
    let pending = || Either::Right(std::future::pending());
    let redraw = if redraws { Either::Left(tokio::time::sleep(REDRAW)) } else { pending() };
    let time_over = until.map_or_else(pending, |until| Either::Left(tokio::time::sleep_until(until.into())));
    tokio::select! {
        biased;
        key = interruption(keyboard) => Ok(Step::Key(key)),
        news = news.next() => Ok(Step::News(news)),
        () = time_over => Ok(Step::TimeOver),
        () = redraw => Ok(Step::Redraw),
    }
}
