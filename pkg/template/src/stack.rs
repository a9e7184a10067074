//! Room on the stack for recursion, whose depth is limited elsewhere.

/// The free stack below which a new piece is allocated.
const RED_ZONE: usize = 96 << 10;
/// The size of a new piece.
const PIECE: usize = 1 << 20;

/// Calls a function with enough stack for one level of recursion.
#[inline]
pub(crate) fn grow<R>(function: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(RED_ZONE, PIECE, function)
}

/// Calls a function that recurses up to a thousand levels by itself.
pub(crate) fn with_room<R>(function: impl FnOnce() -> R) -> R {
    const ROOM: usize = 2 << 20;
    stacker::maybe_grow(ROOM / 2, ROOM, function)
}

#[cfg(test)]
mod tests {
    /// Recurses with frames that are larger than the stack of a test thread.
    fn depth(levels: usize) -> usize {
        let frame = [levels; 64];
        if levels == 0 { 0 } else { super::grow(|| depth(levels - 1)) + usize::from(frame[63] == levels) }
    }

    #[test]
    fn deep_recursion_gets_more_stack() {
        assert_eq!(depth(100_000), 100_000);
    }
}
