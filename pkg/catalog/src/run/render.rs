//! Renders several targets at the same time.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::error::CatalogError;
use crate::reclass::{Inventory, KeyOrders, Node, RenderError};

/// The stack of a thread. Deeply nested parameters need more than the default of some systems.
const STACK_BYTES: usize = 16 << 20;

/// Renders targets on several threads.
///
/// # Errors
/// The problems of the first target that has any, in the order of the names.
pub(crate) fn render_all(
    inventory: &Inventory,
    targets: &[String],
) -> Result<BTreeMap<String, Node>, CatalogError> {
    let node = |(target, result): (String, Result<Node, RenderError>)| match result {
        Ok(node) => Ok((target, node)),
        Err(source) => Err(CatalogError::Render { target, source }),
    };
    on_targets(targets, |target| inventory.render(target)).into_iter().map(node).collect()
}

/// Returns the order of the keys of rendered targets. Targets are rendered again if a template needs it.
pub(crate) fn key_orders(inventory: Inventory, targets: Vec<String>) -> KeyOrders {
    KeyOrders::new(move || on_targets(&targets, |target| inventory.key_order(target)))
}

/// Calls a function with each target on several threads.
fn on_targets<T: Send>(targets: &[String], function: impl Fn(&str) -> T + Sync) -> BTreeMap<String, T> {
    let next = AtomicUsize::new(0);
    let results: Mutex<BTreeMap<String, T>> = Mutex::default();
    let call = || {
        while let Some(target) = targets.get(next.fetch_add(1, Ordering::Relaxed)) {
            let result = function(target);
            if let Ok(mut results) = results.lock() {
                results.insert(target.clone(), result);
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(targets.len());
    thread::scope(|scope| {
        for _ in 0..threads {
            let started = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, call);
            if started.is_err() {
                call();
            }
        }
    });
    results.into_inner().unwrap_or_default()
}
