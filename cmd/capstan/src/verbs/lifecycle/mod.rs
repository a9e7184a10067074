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

pub(crate) use change::{
    ChangeResult, LifecycleChange, ReleaseSources, ResultWords, check_unchanged, print_executed, result_text,
    run,
};
pub(crate) use flags::{
    PlanFlags, RemovalFlags, ShowFlags, WaitFlags, check_plan_alone, duration_of, parse_duration,
    planned_references, providers_request, saved_references, wait_until_done, wrong_command,
};
pub(crate) use text::{plan as plan_text, steps as steps_text};
pub(crate) use unfinished::{
    init_text, lease_report, lease_text, move_text, unfinished_init, upgrade_text, upgrade_versions,
};
