use std::path::Path;

use api::{ProviderId, ProviderType};
use provider::config::{ConfigError, ProviderConfig};
use repository::{HostKind, Location};

use super::{
    config_file::{self, EditedFile},
    entry::{self, Edit, Entry, Refusal},
};
use crate::{Failure, Within as _, failure::Kind, session::Session};

/// Write a provider into clusterctl.yaml
///
/// Nothing else in the file changes: comments, order and layout stay. The file is made when there is none, and written
/// only when it is right as a whole. Doing it again changes nothing.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} provider add my-cloud --type infrastructure \\
    --url https://github.com/me/my-cloud/releases/latest/components.yaml
  {bin} provider add aws --type infrastructure --replace \\
    --url /srv/infrastructure-aws/v2.9.0/infrastructure-components.yaml")]
pub(crate) struct Add {
    /// Name of the provider
    #[arg(value_name = "NAME", required = true)]
    name: String,

    /// Type: core, bootstrap, control-plane, infrastructure, ipam, runtime-extension or addon
    #[arg(long = "type", value_name = "TYPE", default_value = "", hide_default_value = true)]
    provider_type: String,

    /// Where its components file is: a GitHub release, a GitLab package, a web folder or a local path
    #[arg(long, value_name = "URL", default_value = "", hide_default_value = true)]
    url: String,

    /// What the host of the url is, where its form does not say it: github, gitlab or folder
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,

    /// Take the place of an entry of this name and type with another url
    #[arg(long)]
    replace: bool,
}

pub(crate) fn run(args: &Add, session: &mut Session) -> Result<(), Failure> {
    let entry = Entry {
        name: args.name.clone(),
        provider_type: provider_type(&args.provider_type)?,
        url: url(args)?,
        kind: args.kind.as_deref().map(kind).transpose()?,
    };
    let file = EditedFile::read(session)?;
    let shown = file.path.display();
    let label = ProviderId::new(entry.provider_type, &entry.name).label();
    validate(&entry, &file, session)?;
    let edit = entry::put(&file.text, &entry, args.replace)
        .map_err(|refusal| refused(&refusal, &entry, &file.path))?;
    let (edited, done) = match edit {
        Edit::AlreadyThere => {
            session
                .messages()
                .status(format!("`{label}` is already in `{shown}` with this url; nothing was written"));
            return Ok(());
        }
        Edit::Added(edited) => (edited, "added"),
        Edit::Replaced(edited) => (edited, "replaced"),
    };
    // A file that was wrong before is left as it is.
    file.providers(edited.clone(), session).within(|| "cannot add a provider to this file".to_owned())?;
    file.write(&edited)?;
    session.messages().status(format!("{done} `{label}` in `{shown}`:\n{}", entry.lines("  ").trim_end()));
    Ok(())
}

fn provider_type(text: &str) -> Result<ProviderType, Failure> {
    if text.is_empty() {
        let types = ProviderType::ALL.map(ProviderType::flag).join(", ");
        return Err(Failure::user("the type of the provider is missing")
            .hint(format!("add `--type` with one of {types}")));
    }
    config_file::provider_type(text)
}

fn kind(text: &str) -> Result<HostKind, Failure> {
    text.parse().map_err(|error| Failure::user("cannot use `--kind`").because(&error))
}

fn url(args: &Add) -> Result<String, Failure> {
    match args.url.trim() {
        "" => Err(Failure::user("the url of the provider is missing")
            .hint("add `--url` with the address or path of its components file")),
        url => Ok(url.to_owned()),
    }
}

/// The rules every entry is held to, on this one alone, so that the message is about it.
fn validate(entry: &Entry, file: &EditedFile, session: &Session) -> Result<(), Failure> {
    let text = format!("providers:\n{}", entry.lines(""));
    match file.providers(text, session) {
        Ok(providers) => check_url(entry, &providers),
        Err(ConfigError::Providers { problems, .. }) => {
            let failure = Failure::user(format!("cannot add the provider `{}`", entry.name));
            Err(problems.iter().fold(failure, |failure, problem| failure.because(&problem.reason)))
        }
        Err(other) => Err(other.into()),
    }
}

/// Other commands find out when they read from it; here it is known before it is written.
fn check_url(entry: &Entry, providers: &[ProviderConfig]) -> Result<(), Failure> {
    let id = ProviderId::new(entry.provider_type, &entry.name);
    let Some(written) = providers.iter().find(|provider| provider.id == id) else { return Ok(()) };
    match Location::parse(&written.url, &id.label(), written.kind) {
        Ok(_) => Ok(()),
        Err(error) => {
            let url = repository::shown_text(&entry.url);
            Err(Failure::user(format!("cannot use `{url}` for the provider `{}`", entry.name))
                .because(&error))
        }
    }
}

fn refused(refusal: &Refusal, entry: &Entry, path: &Path) -> Failure {
    let kind = if matches!(refusal, Refusal::OtherUrl { .. } | Refusal::OtherKind { .. }) {
        Kind::Conflict
    } else {
        Kind::User
    };
    let failure =
        Failure::new(kind, format!("cannot add the provider `{}` to `{}`", entry.name, path.display()));
    let failure = failure.because(refusal);
    match refusal {
        Refusal::OtherUrl { .. } => failure.hint("add `--replace` to take its place"),
        Refusal::OtherKind { .. } => {
            failure.hint("change `kind` in the file, or give the same with `--kind`")
        }
        Refusal::Layout { .. } => {
            failure.hint(format!("write these lines into it by hand:\nproviders:\n{}", entry.lines("")))
        }
        Refusal::Invalid(_) => failure,
    }
}
