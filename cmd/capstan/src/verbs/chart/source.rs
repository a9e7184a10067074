use std::path::Path;

use chart::{Chart, VersionRange};
use repository::{ChartSource, RepositoryContext};
use transport::{AddressOrigin, CaBundle, ClientCertificate, Credential, RegistryScheme, Secret, Settings};

use super::{dependencies, folder};
use crate::{Failure, WithContext as _, session::Session, settings::CHART_SOURCE};

/// Flags that select a chart in a repository, as in Helm.
#[derive(clap::Args)]
pub(super) struct SourceFlags {
    /// URL of the repository of the chart
    #[arg(long, value_name = "URL", default_value = "", hide_default_value = true, help_heading = CHART_SOURCE)]
    repo: String,

    /// Version of the chart, or a range such as `~1.2` or `>=1.2 <2` [default: the newest release]
    #[arg(id = "chart_version", long = "version", value_name = "RANGE", default_value = "", hide_default_value = true, help_heading = CHART_SOURCE)]
    version: String,

    /// Allow pre-releases, unless --version is set
    #[arg(long, help_heading = CHART_SOURCE)]
    devel: bool,

    /// Fetch dependencies that are missing in `charts/` of a folder, for this run only
    #[arg(long, help_heading = CHART_SOURCE)]
    dependency_update: bool,

    /// User name for the host of the chart [default: that of the host in clusterctl.yaml, ~/.netrc or docker login]
    #[arg(long, value_name = "NAME", help_heading = CHART_SOURCE)]
    username: Option<String>,

    /// Password for the host of the chart
    #[arg(long, value_name = "TEXT", help_heading = CHART_SOURCE)]
    password: Option<String>,

    /// Send the credential of the repository also to other hosts that its index names
    #[arg(long, help_heading = CHART_SOURCE)]
    pass_credentials: bool,

    /// File of additional trusted PEM certificates, as --ca-bundle
    #[arg(long, value_name = "FILE", hide = true)]
    ca_file: Option<String>,

    #[arg(long, hide = true)]
    cert_file: Option<String>,
    #[arg(long, hide = true)]
    key_file: Option<String>,
    #[arg(long, hide = true)]
    plain_http: bool,
    #[arg(long, hide = true)]
    registry_config: Option<String>,
    #[arg(long, hide = true)]
    verify: bool,
}

impl SourceFlags {
    /// Loads a chart from a folder, an archive, a repository or a registry.
    pub(super) fn load(&self, chart: &str, session: &Session) -> Result<Chart, Failure> {
        if self.verify {
            return Err(Failure::user("`--verify` is not supported: capstan reads no provenance files")
                .hint("pin the digest of the chart with `capstan lock --chart URL`"));
        }
        let chart = chart.trim();
        let path = session.environment().resolve(chart);
        let is_path = Path::new(chart).is_absolute() || chart.starts_with('.');
        if self.repo.is_empty() && !ChartSource::is_url(chart) && (is_path || path.exists()) {
            if self.dependency_update && path.is_dir() {
                return dependencies::load(chart, &path, session);
            }
            return folder::load(chart, session.environment());
        }
        let context = || format!("cannot load chart `{}`", transport::address::redact_text(chart));
        let range = VersionRange::parse(&self.version, self.devel)?;
        let source = ChartSource::parse(chart, Some(&self.repo), AddressOrigin::User)?
            .passing_credentials(self.pass_credentials);
        let repositories = self.context(&source, session)?;
        let fetched = session.block_on(source.fetch(&range, &repositories)).with_context(context)?;
        let messages = session.messages();
        match &fetched.version {
            Some(version) => {
                messages.log(1, format!("using version {version} of the chart, {}", fetched.address));
            }
            None => messages.log(1, format!("using the chart {}", fetched.address)),
        }
        Chart::from_archive(&fetched.bytes).with_context(context)
    }

    /// Returns the access to repositories, with the credential and the certificates of the flags.
    fn context(&self, source: &ChartSource, session: &Session) -> Result<RepositoryContext, Failure> {
        let context = session.repositories()?;
        let credential = match (&self.username, &self.password) {
            (Some(user), Some(password)) => Secret::new("--password", password.as_str())
                .map(|password| Credential::Basic { user: user.clone(), password }),
            _ => None,
        };
        let path = |flag: &Option<String>| {
            let file = flag.as_deref().filter(|file| !file.is_empty())?;
            Some(session.environment().resolve(file))
        };
        let mut settings: Settings = context.settings().clone();
        settings.credentials.auth_files.splice(..0, path(&self.registry_config));
        let named_by = "--ca-file".to_owned();
        settings.ca_bundles.extend(path(&self.ca_file).map(|path| CaBundle { path, named_by }));
        settings.hosts = settings.hosts.with_host(&source.host(), |host| {
            host.credential = credential.or(host.credential.take());
            if let (Some(certificate), Some(key)) = (path(&self.cert_file), path(&self.key_file)) {
                host.client_certificate = Some(ClientCertificate { certificate, key });
            }
            if self.plain_http {
                host.registry_scheme = RegistryScheme::Http;
            }
        });
        let host = settings.hosts.registry(&source.host());
        let sends_password = (self.password.is_some() || self.plain_http)
            && host.is_some_and(|host| host.credential.is_some());
        if sends_password && !source.is_private(&settings.hosts) {
            return Err(Failure::user("cannot send the password: the connection is not encrypted")
                .hint("use a URL with `https://`, or a registry without `--plain-http` and `plainHttp`"));
        }
        Ok(RepositoryContext::with_release_settings(settings, context.release_settings().clone()))
    }
}
