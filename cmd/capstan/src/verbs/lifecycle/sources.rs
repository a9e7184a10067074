use std::rc::Rc;

use management::Sources;
use manifest::provenance::Trace;
use provider::config::Config;
use repository::{Context, Overrides};

use crate::{
    Failure,
    kustomizations::{Around, KustomizationFlags, RunLayers},
    session::Session,
    settings,
};

/// Configuration, overrides and repositories of a run, held for the libraries to borrow.
pub(crate) struct OwnedSources {
    config: Rc<Config>,
    overrides: Overrides,
    repositories: Context,
    layers: RunLayers,
}

impl OwnedSources {
    /// # Errors
    /// When the configuration cannot be read; `interrupted`.
    pub(crate) fn of(session: &Session) -> Result<Self, Failure> {
        Self::with(&KustomizationFlags::default(), Around::default(), session)
    }

    /// The same with kustomizations of a command line, and of the plan it carries out.
    /// # Errors
    /// As for [`OwnedSources::of`]; when a flag is for no provider.
    pub(crate) fn with(
        flags: &KustomizationFlags,
        around: Around<'_>,
        session: &Session,
    ) -> Result<Self, Failure> {
        let config = session.config()?;
        let overrides = settings::overrides(&config, session.environment())?;
        let layers = RunLayers::of(flags, around, session)?;
        Ok(Self { overrides, repositories: session.repositories()?, config, layers })
    }

    pub(crate) fn layers(&self) -> &RunLayers {
        &self.layers
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn get(&self) -> Sources<'_> {
        Sources {
            config: &self.config,
            overrides: &self.overrides,
            repositories: &self.repositories,
            layers: self.layers.get(),
            trace: Trace::Off,
        }
    }
}
