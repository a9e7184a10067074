use std::rc::Rc;

use management::Sources;
use provider::config::Config;
use repository::{Context, Overrides};

use crate::{Failure, session::Session, settings};

/// Configuration, overrides and repositories of a run, held for the libraries to borrow.
pub(crate) struct OwnedSources {
    config: Rc<Config>,
    overrides: Overrides,
    repositories: Context,
}

impl OwnedSources {
    /// # Errors
    /// When the configuration cannot be read.
    pub(crate) fn of(session: &Session) -> Result<Self, Failure> {
        let config = session.config()?;
        let overrides = settings::overrides(&config, session.environment())?;
        Ok(Self { overrides, repositories: session.repositories()?, config })
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn get(&self) -> Sources<'_> {
        Sources { config: &self.config, overrides: &self.overrides, repositories: &self.repositories }
    }
}
