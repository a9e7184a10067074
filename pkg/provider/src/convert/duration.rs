use manifest::duration::nanoseconds;

/// Parses a duration such as `1h30m` or `-1.5s` into whole seconds, rounded towards zero and limited to 32 bits.
///
/// Source: api/core/v1beta2/conversion.go (ConvertToSeconds) for the rounding and the limit.
pub(super) fn whole_seconds(text: &str) -> Option<i32> {
    let seconds = nanoseconds(text)? / 1_000_000_000;
    Some(i32::try_from(seconds).unwrap_or(if seconds < 0 { i32::MIN } else { i32::MAX }))
}
