use api::ProviderId;
use provider::ProviderReleases;

use crate::{Failure, session::Session};

/// The releases of a configured provider, overrides in front. Nothing is read yet.
/// # Errors
/// When nobody configured the provider, or its url is of no known form.
pub(crate) fn provider_releases(id: &ProviderId, session: &Session) -> Result<ProviderReleases, Failure> {
    let config = session.config()?;
    let provider = config.provider(id)??;
    let overrides = super::overrides(&config, session.environment())?;
    Ok(ProviderReleases::open(provider, overrides, &session.repositories()?)?)
}
