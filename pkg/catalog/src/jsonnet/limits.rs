//! Limits of the functions of `std` that make large values from small arguments.
//!
//! The evaluator has no such limits. Each source begins with a line that replaces `std`.

use super::imports::SourcePath;

/// The source that replaces functions of `std`.
pub(super) const LIMITS: SourcePath = SourcePath::Embedded("capstan/limits.libsonnet");
/// The text of that source.
pub(super) const LIMITS_TEXT: &str = include_str!("limits.libsonnet");
/// The text before the text of every other source.
pub(super) const PREFIX: &str =
    "local unlimitedStd = std; local std = (import 'capstan/limits.libsonnet')(unlimitedStd);\n";
