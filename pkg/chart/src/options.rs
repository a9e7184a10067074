//! The settings of one render.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use manifest::provenance::Trace;
use template::Limits;

use crate::capabilities::Capabilities;
use crate::lookup::ObjectLookup;
use crate::release::Release;

/// The settings of one render.
#[derive(Clone, Debug)]
pub struct RenderOptions {
    /// The release to render.
    pub release: Release,
    /// The cluster to render for.
    pub capabilities: Capabilities,
    /// The cluster whose objects `lookup` finds; `None` to find nothing.
    pub lookup: Option<Arc<dyn ObjectLookup>>,
    /// Renders without a check of the values against `values.schema.json`.
    pub skips_schema: bool,
    /// Lets `required` and `fail` pass, as `helm lint` does.
    pub lint: bool,
    /// Records the origin of each rendered field for [`Rendered::objects`](crate::Rendered::objects).
    pub trace: Trace,
    /// Adds the notes of subcharts to the notes of the chart.
    pub subchart_notes: bool,
    /// The seed of random values and keys; `None` asks the system.
    pub seed: Option<u64>,
    /// The time that `now` returns.
    pub now: Timestamp,
    /// The local time zone.
    pub zone: TimeZone,
    /// The limits of each template.
    pub limits: Limits,
}

impl RenderOptions {
    /// Creates the settings of Helm for a release, at the start of 1970 in UTC.
    pub fn new(release: Release) -> Self {
        Self {
            release,
            capabilities: Capabilities::default(),
            lookup: None,
            skips_schema: false,
            lint: false,
            trace: Trace::Off,
            subchart_notes: false,
            seed: None,
            now: Timestamp::UNIX_EPOCH,
            zone: TimeZone::UTC,
            limits: Limits::default(),
        }
    }
}
