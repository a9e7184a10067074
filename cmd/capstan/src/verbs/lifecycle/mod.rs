//! The common steps of `init`, `upgrade apply` and `delete`: plan, then show, save or execute.
//!
//! ```text
//! flags ─┐
//!        ├─► Change ─► plan ─┬─► --dry-run, --diff, --out: shown, saved
//! --plan ┘                   └─► executed, unless the saved plan is no longer valid
//! ```

mod change;
mod flags;
mod summary;
mod text;
mod unfinished;

pub(crate) use change::{Change, Done, OwnedSources, Words, carried_out, in_words, run};
pub(crate) use flags::{
    PlanFlags, ShowFlags, WaitFlags, nothing_beside_a_plan, plan_of_another, references, requested, settled,
    span, wait_until_done,
};
pub(crate) use text::plan as plan_text;
pub(crate) use unfinished::{
    init_text, lease, lease_text, move_text, unfinished_init, unfinished_upgrade, upgrade_text,
    upgrade_versions,
};
