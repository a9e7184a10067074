use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use apply::{Event, RequestEffect, Written};

use crate::ui::format_count;

#[derive(Clone, Debug, Default)]
pub(crate) struct Writes(Arc<WriteCounts>);

#[derive(Debug, Default)]
struct WriteCounts {
    created: AtomicUsize,
    changed: AtomicUsize,
    deleted: AtomicUsize,
    any_sent: AtomicBool,
}

impl Writes {
    pub(crate) fn count(&self) -> usize {
        let WriteCounts { created, changed, deleted, .. } = &*self.0;
        [created, changed, deleted].map(|count| count.load(Ordering::Relaxed)).iter().sum()
    }

    pub(crate) fn any_sent(&self) -> bool {
        self.0.any_sent.load(Ordering::Relaxed)
    }

    /// Returns the counts for the end of a result: `; 3 objects created, 1 changed`. Empty without writes.
    pub(crate) fn suffix(&self) -> String {
        let WriteCounts { created, changed, deleted, .. } = &*self.0;
        let counts = [("created", created), ("changed", changed), ("deleted", deleted)];
        let counts = counts.map(|(verb, count)| (verb, count.load(Ordering::Relaxed)));
        let mut some = counts.iter().filter(|(_, count)| *count > 0);
        let Some((verb, count)) = some.next() else { return String::new() };
        let first = format!("; {} {verb}", format_count(*count, "object"));
        some.fold(first, |text, (verb, count)| format!("{text}, {count} {verb}"))
    }

    /// Counts an event of a server if the event is a write.
    pub(super) fn record(&self, event: &Event) {
        let count = match event {
            Event::Wrote { how: Written::Created, .. } => &self.0.created,
            Event::Wrote { how: Written::Changed, .. } => &self.0.changed,
            Event::Deleted { .. } => &self.0.deleted,
            Event::Requested { effect: RequestEffect::Write, .. } => {
                return self.0.any_sent.store(true, Ordering::Relaxed);
            }
            _ => return,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    #[cfg(test)]
    pub(crate) fn of(created: usize) -> Self {
        let (created, any_sent) = (created.into(), true.into());
        Self(Arc::new(WriteCounts { created, any_sent, ..WriteCounts::default() }))
    }
}

#[cfg(test)]
mod tests {
    use apply::ObjectKey;
    use snapbox::{assert_data_eq, str};

    use super::*;

    #[test]
    fn the_summary_counts_writes_by_effect() {
        let writes = Writes::default();
        assert_eq!(writes.suffix(), "");
        let object = ObjectKey::default();
        for how in [Written::Created, Written::Created, Written::Changed, Written::Unchanged] {
            writes.record(&Event::Wrote { object: object.clone(), how });
        }
        assert_data_eq!(writes.suffix(), str!["; 2 objects created, 1 changed"]);
        let writes = Writes::default();
        writes.record(&Event::Deleted { object });
        assert_data_eq!(writes.suffix(), str!["; 1 object deleted"]);
    }
}
