//! Showing the commands of the tour, and running them.

use super::{
    closing::closing,
    command::Command,
    stage::{SOURCE, Stage, StageLock, TARGET},
    tour::{Step, Tour},
};
use crate::{
    Failure, Within as _, failure::Kind, session::Session, ui::Label, verbs::r#move::forget_moves_between,
};

/// Prints the commands as a script. What they read is written, so that they can be typed.
pub(super) fn print(tour: &Tour, stage: &Stage, session: &mut Session) -> Result<(), Failure> {
    stage.write(tour.is_carried)?;
    let program = session.program();
    let home = session.environment().home();
    let step = |step: &Step| format!("# {}\n{}\n\n", step.heading, step.command.typed(program, home));
    let steps: String = tour.steps.iter().map(step).collect();
    let program = program.name();
    let text = format!(
        "{steps}# Afterwards: {program} sandbox delete {SOURCE}; {program} sandbox delete {TARGET}; {program} \
         quickstart --remove\n"
    );
    session.printer().data(text)
}

/// Runs the tour from an empty stage. When it ends half-way, nothing is left of it.
pub(super) fn conduct(tour: &Tour, stage: &Stage, session: &mut Session) -> Result<(), Failure> {
    stage.check_names()?;
    let lock = stage.lock()?;
    session.hold_interrupts()?;
    let ended = set_up(tour, stage, session).and_then(|()| run_steps(tour, session));
    let Err(failure) = ended else {
        let text = closing(tour, session);
        return session.printer().data(text);
    };
    // The failure of the tour is what there is to tell.
    let left = match strike(stage, &lock, session) {
        Ok(()) => "what the tour had made is removed again",
        Err(_) => "some of what the tour had made is left; `capstan quickstart --remove` removes it",
    };
    // What the command says of going on is over with what it began.
    let failure = if failure.kind() == Kind::Interrupted { Failure::interrupted() } else { failure };
    Err(failure.half_way("in the middle of the tour", left))
}

/// Removes what a tour left.
pub(super) fn remove(stage: &Stage, session: &mut Session) -> Result<(), Failure> {
    if stage.is_empty()? {
        session.messages().status("nothing is left of a tour");
        return Ok(());
    }
    let lock = stage.lock()?;
    strike(stage, &lock, session)
}

/// Makes an empty stage.
fn set_up(tour: &Tour, stage: &Stage, session: &mut Session) -> Result<(), Failure> {
    if !stage.sandboxes()?.is_empty() {
        session.messages().status("removing the last tour");
        remove_sandboxes(stage, session)?;
    }
    stage.write(tour.is_carried)?;
    stage.make_sandboxes()
}

fn run_steps(tour: &Tour, session: &mut Session) -> Result<(), Failure> {
    for step in &tour.steps {
        let program = session.program();
        let typed = step.command.typed(program, session.environment().home());
        let colour = session.printer().colours_stdout();
        let line = Label::Command.paint(format!("$ {typed}"), colour);
        say(&format!("# {}\n{line}\n", step.heading), session)?;
        step.command.run(session).within(|| format!("the tour ended at `{}`", step.command.name(program)))?;
        say("\n", session)?;
    }
    Ok(())
}

/// Says it at once: what commands have to say follows on another stream.
fn say(text: &str, session: &mut Session) -> Result<(), Failure> {
    session.printer().data(text)?;
    session.printer().flush()
}

fn strike(stage: &Stage, lock: &StageLock, session: &mut Session) -> Result<(), Failure> {
    remove_sandboxes(stage, session)?;
    stage.remove(lock)
}

fn remove_sandboxes(stage: &Stage, session: &mut Session) -> Result<(), Failure> {
    if let Some([source, target]) = stage.servers()? {
        forget_moves_between([&source, &target], session.environment())
            .within(|| "cannot remove what is kept of the move".to_owned())?;
    }
    for name in stage.sandboxes()? {
        Command::own(["sandbox", "delete", name]).run(session)?;
    }
    Ok(())
}
