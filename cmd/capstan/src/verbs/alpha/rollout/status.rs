use std::time::Duration;

use api::output::{RolloutReport, RolloutStatus};
use management::{RolloutProgress, rollout_progress, watch_rollouts};

use super::target::Target;
use crate::{
    Failure,
    failure::Kind,
    session::Session,
    settings::OutputFormat,
    ui::{Narrow, quit, table},
    verbs::lifecycle::span,
};

/// Show how far rollouts are
///
/// With `--watch` it waits until all of them are complete, and fails when they are not in time; `q` and Ctrl-C end it.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} alpha rollout status kcp/demo-control-plane md/demo-workers
  {bin} alpha rollout status md/demo-workers --watch --timeout 30m")]
pub(crate) struct Status {
    #[command(flatten)]
    target: Target,

    /// Wait until they are complete
    #[arg(short, long)]
    watch: bool,

    /// How long to wait [default: for ever]
    #[arg(long, value_name = "DURATION", requires = "watch")]
    timeout: Option<String>,

    /// Output format: text, json or yaml
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: String,
}

pub(crate) fn run(args: &Status, session: &mut Session) -> Result<(), Failure> {
    let format = OutputFormat::parse(&args.output)?;
    let timeout = args.timeout.as_deref().map(span).transpose()?;
    let (cluster, resources) = args.target.resources(session)?;
    let progress = if args.watch {
        let messages = session.messages().clone();
        let tell = |one: &RolloutProgress| messages.status(line(one));
        let mut keyboard = session.keyboard()?;
        session.block_on(async {
            tokio::select! {
                biased;
                progress = watch_rollouts(&cluster, &resources, timeout, tell) => progress.map_err(Failure::from),
                () = quit(keyboard.as_mut()) => Err(Failure::interrupted()),
            }
        })?
    } else {
        session.block_on(rollout_progress(&cluster, &resources))?
    };
    session.print(format, &printed(&progress), text)?;
    match timeout {
        Some(timeout) if !progress.iter().all(RolloutProgress::is_complete) => Err(late(timeout)),
        _ => Ok(()),
    }
}

fn late(timeout: Duration) -> Failure {
    Failure::new(Kind::Environment, format!("not complete after {}s", timeout.as_secs()))
        .hint("give it more time with `--timeout`; `kubectl describe` of the resource shows what holds it up")
}

fn printed(progress: &[RolloutProgress]) -> RolloutReport {
    let one = |one: &RolloutProgress| RolloutStatus {
        object: management::object_name(&one.object),
        state: one.state.as_str().to_owned(),
        message: one.message.clone(),
        desired: one.desired,
        replicas: one.replicas,
        up_to_date: one.up_to_date,
        available: one.available,
    };
    RolloutReport { rollouts: progress.iter().map(one).collect() }
}

/// What has changed while it is waited for.
fn line(one: &RolloutProgress) -> String {
    let state = one.state.as_str();
    let message = if one.message.is_empty() { String::new() } else { format!(", {}", one.message) };
    format!("{}: {state}{message}", one.object)
}

/// Ways to fit a terminal.
const NARROW: [Narrow; 4] = [
    Narrow::Shorten("NAME", 24),
    Narrow::Drop("AVAILABLE"),
    Narrow::Drop("REPLICAS"),
    Narrow::Drop("DESIRED"),
];

fn text(report: &RolloutReport, width: Option<usize>) -> String {
    let count = |count: Option<u64>| count.map_or_else(|| "-".to_owned(), |count| count.to_string());
    let cells: Vec<_> = report
        .rollouts
        .iter()
        .map(|one| {
            let name = format!("{}/{}", one.object.kind, one.object.name);
            let counts = [one.desired, one.replicas, one.up_to_date, one.available].map(count);
            (name, counts, one)
        })
        .collect();
    let rows: Vec<[&str; 7]> = cells
        .iter()
        .map(|(name, [desired, replicas, up_to_date, available], one)| {
            [&**name, &*one.state, &**desired, &**replicas, &**up_to_date, &**available, &*one.message]
        })
        .collect();
    let head = ["NAME", "STATE", "DESIRED", "REPLICAS", "UP TO DATE", "AVAILABLE", "MESSAGE"];
    table(width, &NARROW, head, &rows)
}
