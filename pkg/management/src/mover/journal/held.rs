//! Holding a journal: one run works, and says so.

use std::{sync::Arc, time::Duration};

use futures::join;
use tokio::{
    sync::Mutex,
    task::JoinSet,
    time::{Instant, sleep},
};

use super::{
    Holder, JournalError, JournalKeeper, MoveJournal, MovePhase, MoveReport, Sides,
    copy::{Content, Copy},
};
use crate::{Event, ManagementCluster};

/// How often the sign is renewed: three may be lost before another run takes over.
const SIGN_EVERY: Duration = Duration::from_secs(15);
/// How often it is looked for a sign of another holder.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// How long a write that matters is tried again.
const PATIENCE: Duration = Duration::from_mins(2);
/// How often others may be faster before this run gives up.
const ATTEMPTS: usize = 8;

/// A journal that is held: this run alone may work. A task renews the sign until it is dropped.
#[derive(Debug)]
pub(crate) struct HeldJournal {
    /// As it was written last; only the sign may have gone on.
    pub(crate) journal: MoveJournal,
    kept: Arc<Mutex<Kept>>,
    keeper: JournalKeeper,
    /// Ends with the value.
    _renewal: JoinSet<()>,
}

/// What a run and its renewals write in turn.
#[derive(Debug)]
struct Kept {
    journal: MoveJournal,
    source: Copy,
    target: Copy,
    /// Another run has taken over.
    is_lost: bool,
}

impl HeldJournal {
    /// Writes a new journal to disk, source and target, in this order; or takes an unfinished one of the same move over,
    /// at whatever phase that is. Waits up to [`Holder::SILENCE`] for the sign of a holder on another machine.
    ///
    /// A journal whose holder has given signs is a copy of what was on the clusters: when that has ended meanwhile, nothing
    /// is begun. One in phase `Aborting` takes over whatever it finds; others do not take over an `Aborting` one.
    /// # Errors
    /// `UnderWay` when its holder works; `Another`; `TakenOver` when the move has ended meanwhile; `NotKept`, `Disk`.
    pub(crate) async fn take(
        source: &ManagementCluster,
        target: &ManagementCluster,
        journal: MoveJournal,
        keeper: &JournalKeeper,
    ) -> Result<Self, JournalError> {
        let mut sides = Sides::read(source, target).await?;
        for _ in 0..ATTEMPTS {
            if let Some(found) = sides.standing().filter(|found| found.is_unfinished()) {
                found.check_same(&journal)?;
                if !keeper.may_take(&found.holder) {
                    sides = silent(sides).await?;
                }
            }
            match Self::begin(sides, &journal, keeper).await {
                // Somebody was faster, and may work now.
                Err(JournalError::TakenOver) => sides = Sides::read(source, target).await?,
                begun => return begun,
            }
        }
        Err(JournalError::TakenOver)
    }

    /// Writes the first sign of this run.
    /// # Errors
    /// `TakenOver` when what was read is no longer so: nothing was begun.
    async fn begin(sides: Sides, wanted: &MoveJournal, keeper: &JournalKeeper) -> Result<Self, JournalError> {
        let unfinished = sides.standing().filter(|found| found.is_unfinished()).cloned();
        if unfinished.is_none() && sides.standing().is_some() && wanted.holder.sign > 0 {
            return Err(JournalError::TakenOver);
        }
        let is_new = unfinished.is_none();
        let mut journal = unfinished.unwrap_or_else(|| wanted.clone());
        journal.check_same(wanted)?;
        if let Some(another) = sides.another(&journal.run) {
            another.check_same(wanted)?;
        }
        journal.holder = Holder { sign: sides.next_sign(), ..keeper.holder.clone() };
        let Sides { mut source, target } = sides;
        keeper.store(&journal, &source.cluster, is_new)?;
        source.write(&Content::of(&journal, None), PATIENCE).await?;
        let mut kept = Kept { journal, source, target, is_lost: false };
        kept.take_target(is_new).await?;
        Ok(Self::hold(kept, keeper))
    }

    fn hold(kept: Kept, keeper: &JournalKeeper) -> Self {
        let journal = kept.journal.clone();
        let kept = Arc::new(Mutex::new(kept));
        let mut renewal = JoinSet::new();
        renewal.spawn(renew(Arc::clone(&kept)));
        Self { journal, kept, keeper: keeper.clone(), _renewal: renewal }
    }

    /// Changes it on both sides and on disk. Each write names the version it is of: nobody else has written meanwhile.
    /// # Errors
    /// `TakenOver`, `NotKept`: then nothing of what the change allows may be done.
    pub(crate) async fn update(&mut self, change: impl FnOnce(&mut MoveJournal)) -> Result<(), JournalError> {
        self.write(change, None).await
    }

    /// Notes that everything is done, and keeps what became of every object.
    /// # Errors
    /// As [`HeldJournal::update`].
    pub(crate) async fn finish(&mut self, report: &MoveReport) -> Result<(), JournalError> {
        if let Err(error) = (self.keeper.store_report)(report) {
            let kept = self.kept.lock().await;
            kept.source.cluster.events.send(&not_on_disk("the report", &error));
        }
        self.write(|journal| journal.phase = MovePhase::Finished, Some(&report.packed())).await
    }

    async fn write(
        &mut self,
        change: impl FnOnce(&mut MoveJournal),
        report: Option<&[u8]>,
    ) -> Result<(), JournalError> {
        let mut kept = self.kept.lock().await;
        let mut next = kept.journal.clone();
        change(&mut next);
        // Also when it fails: part of it may have been written.
        kept.journal.holder.sign += 1;
        next.holder = kept.journal.holder.clone();
        if kept.is_lost {
            return Err(JournalError::TakenOver);
        }
        self.keeper.store(&next, &kept.source.cluster, false)?;
        kept.write(&next, report).await?;
        kept.journal.clone_from(&next);
        self.journal = next;
        Ok(())
    }
}

impl Kept {
    /// The source is the lock and comes first; it learns last that nothing is left to do.
    async fn write(&mut self, next: &MoveJournal, report: Option<&[u8]>) -> Result<(), JournalError> {
        let content = Content::of(next, report);
        let order = if next.is_unfinished() {
            [&mut self.source, &mut self.target]
        } else {
            [&mut self.target, &mut self.source]
        };
        for copy in order {
            let written = copy.write(&content, PATIENCE).await;
            if matches!(written, Err(JournalError::TakenOver)) {
                self.is_lost = true;
                return written;
            }
            written?;
        }
        Ok(())
    }

    /// Writes the target's copy when that of the source says who holds the move. A write of a former holder that was on
    /// its way is written over; the journal of another move is not, and a new one gives way to it.
    async fn take_target(&mut self, is_new: bool) -> Result<(), JournalError> {
        for _ in 0..ATTEMPTS {
            let Self { journal, target, .. } = &mut *self;
            match target.write(&Content::of(journal, None), PATIENCE).await {
                Err(JournalError::TakenOver) => {}
                written => return written,
            }
            let Some(another) = target.journal.as_ref().filter(|found| found.is_unfinished()) else {
                continue;
            };
            if another.run == journal.run {
                continue;
            }
            let refused = another.check_same(journal).err().unwrap_or(JournalError::TakenOver);
            if is_new {
                journal.phase = MovePhase::Aborted;
                journal.holder.sign += 1;
                self.source.write(&Content::of(&self.journal, None), PATIENCE).await?;
            }
            return Err(refused);
        }
        Err(JournalError::TakenOver)
    }
}

/// Renews the sign on both sides for as long as there is something to do. One that is not answered is made up for by the
/// next.
async fn renew(kept: Arc<Mutex<Kept>>) {
    loop {
        sleep(SIGN_EVERY).await;
        let mut kept = kept.lock().await;
        let Kept { journal, source, target, is_lost } = &mut *kept;
        if *is_lost || !journal.is_unfinished() {
            return;
        }
        journal.holder.sign += 1;
        let content = Content::of(journal, None);
        let written = join!(source.write(&content, SIGN_EVERY), target.write(&content, SIGN_EVERY));
        *is_lost = [written.0, written.1].iter().any(|side| matches!(side, Err(JournalError::TakenOver)));
    }
}

/// Waits until nobody has given a sign for long enough by this process's own clock; those of others say nothing.
/// Source: client-go 0.36, tools/leaderelection, which tells by what it has seen itself, too.
/// # Errors
/// `UnderWay` as soon as there is a sign.
async fn silent(mut sides: Sides) -> Result<Sides, JournalError> {
    let (signs, since) = (sides.signs(), Instant::now());
    if let Some(Holder { host, process, .. }) = sides.standing().map(|found| &found.holder) {
        let seconds = Holder::SILENCE.as_secs();
        let text = format!(
            "process {process} on `{host}` has begun this move; waiting up to {seconds} s for a sign of it"
        );
        sides.source.cluster.events.send(&Event::Warning { text });
    }
    while since.elapsed() < Holder::SILENCE {
        sleep(LOOK_EVERY).await;
        sides.read_again().await?;
        match sides.standing() {
            Some(found) if found.is_unfinished() => {
                if sides.signs() != signs {
                    return Err(JournalError::UnderWay { holder: found.holder.clone() });
                }
            }
            _ => return Ok(sides),
        }
    }
    Ok(sides)
}

fn not_on_disk(what: &str, error: &std::io::Error) -> Event {
    Event::Warning { text: format!("{what} cannot be kept on disk: {error}") }
}

impl JournalKeeper {
    /// A process that has ended works no more; and this one holds what it left off.
    fn may_take(&self, holder: &Holder) -> bool {
        holder.is_process_of(&self.holder) || (self.is_gone)(holder)
    }

    /// Keeps a journal on disk; once a move is under way it goes on without.
    fn store(
        &self,
        journal: &MoveJournal,
        cluster: &ManagementCluster,
        is_new: bool,
    ) -> Result<(), JournalError> {
        match (self.store)(journal) {
            Err(error) if is_new => Err(JournalError::Disk(error)),
            Err(error) => {
                cluster.events.send(&not_on_disk("the journal", &error));
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }
}
