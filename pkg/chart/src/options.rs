//! The settings of one render.

use std::sync::Arc;

use jiff::Timestamp;
use manifest::provenance::Trace;

use crate::capabilities::Capabilities;
use crate::lookup::ObjectLookup;
use crate::release::Release;

/// The settings of one render.
#[derive(Clone, Debug, Default)]
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
    /// Lets templates that ask for the address of a host fail; otherwise the address is empty, as in Helm.
    pub enable_dns: bool,
    /// Records the origin of each rendered field for [`Rendered::objects`](crate::Rendered::objects).
    pub trace: Trace,
    /// The seed of random values and keys; `None` asks the system.
    pub seed: Option<u64>,
    /// The time that `now` returns.
    pub now: Timestamp,
}

impl RenderOptions {
    /// Creates the settings of Helm for a release, at the start of 1970 in UTC.
    pub fn new(release: Release) -> Self {
        Self { release, ..Self::default() }
    }
}
