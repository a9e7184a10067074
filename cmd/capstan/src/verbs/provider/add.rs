use std::{
    fs,
    path::{Path, PathBuf},
};

use api::{ProviderId, ProviderType, near_names};
use provider::config::{Config, ConfigError, ConfigFile, ConfigFormat, ProviderConfig};
use repository::{HostKind, Location};

use super::entry::{self, Edit, Entry, Refusal};
use crate::{
    Failure, Within as _,
    failure::Kind,
    session::Session,
    settings::{self, Source},
    ui::write_file_atomically,
};

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

/// A file that may hold tokens is its owner's alone.
const MODE: u32 = 0o600;

pub(crate) fn run(args: &Add, session: &mut Session) -> Result<(), Failure> {
    let entry = Entry {
        name: args.name.clone(),
        provider_type: provider_type(&args.provider_type)?,
        url: url(args)?,
        kind: args.kind.as_deref().map(kind).transpose()?,
    };
    let path = file_to_edit(session)?;
    let shown = path.display();
    let label = ProviderId::new(entry.provider_type, &entry.name).label();
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => {
            return Err(Failure::new(Kind::Environment, format!("cannot read `{shown}`")).because(&error));
        }
    };
    validate(&entry, &path, session)?;
    let edit = entry::put(&text, &entry, args.replace).map_err(|refusal| refused(&refusal, &entry, &path))?;
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
    still_loads(&edited, &path, session)?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).within(|| format!("cannot make the folder `{}`", folder.display()))?;
    }
    write_file_atomically(&path, edited.as_bytes(), MODE)?;
    session.messages().status(format!("{done} `{label}` in `{shown}`:\n{}", entry.lines("  ").trim_end()));
    Ok(())
}

fn provider_type(text: &str) -> Result<ProviderType, Failure> {
    let types = || ProviderType::ALL.map(ProviderType::flag);
    if text.is_empty() {
        return Err(Failure::user("the type of the provider is missing")
            .hint(format!("add `--type` with one of {}", types().join(", "))));
    }
    let known = |candidate: &ProviderType| candidate.flag() == text || candidate.as_str() == text;
    ProviderType::ALL.into_iter().find(known).ok_or_else(|| {
        let failure = Failure::user(format!("unknown provider type `{text}`"));
        match near_names(text, types()).first() {
            Some(near) => failure.hint(format!("did you mean `--type {near}`?")),
            None => failure.hint(format!("take one of {} with `--type`", types().join(", "))),
        }
    })
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

/// The file that is read, or the one that will be found once it is there.
fn file_to_edit(session: &Session) -> Result<PathBuf, Failure> {
    let path = match settings::source(session.globals().config.as_deref(), session.environment()) {
        Source::File(path) => path,
        Source::None => settings::config_home(session.environment())
            .map(|folder| folder.join("cluster-api").join("clusterctl.yaml"))
            .ok_or_else(|| {
                Failure::user("there is no home folder to keep clusterctl.yaml in")
                    .hint("set HOME, or name a file with `--config`")
            })?,
        Source::Url(url) => {
            let url = repository::shown_text(&url);
            return Err(Failure::user(format!("cannot write to `{url}`")).hint("name a file with `--config`"));
        }
    };
    let extension = path.extension().and_then(std::ffi::OsStr::to_str);
    match extension.and_then(ConfigFormat::from_extension) {
        Some(ConfigFormat::Yaml) => Ok(path),
        _ => Err(Failure::user(format!("cannot edit `{}`: it is not YAML", path.display()))
            .hint("add the provider by hand, or name a YAML file with `--config`")),
    }
}

/// The rules every entry is held to, on this one alone, so that the message is about it.
fn validate(entry: &Entry, path: &Path, session: &Session) -> Result<(), Failure> {
    let text = format!("providers:\n{}", entry.lines(""));
    match providers(text, path, session) {
        Ok(providers) => check_url(entry, &providers),
        Err(ConfigError::Providers { problems, .. }) => {
            let failure = Failure::user(format!("cannot add the provider `{}`", entry.name));
            Err(problems.iter().fold(failure, |failure, problem| failure.because(&problem.reason)))
        }
        Err(other) => Err(other.into()),
    }
}

/// What was wrong in the file before is wrong still, and is said before anything is written.
fn still_loads(text: &str, path: &Path, session: &Session) -> Result<(), Failure> {
    providers(text.to_owned(), path, session).within(|| "cannot add a provider to this file".to_owned())?;
    Ok(())
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

fn providers(text: String, path: &Path, session: &Session) -> Result<Vec<ProviderConfig>, ConfigError> {
    let file = ConfigFile {
        origin: path.display().to_string(),
        folder: path.parent().map(Path::to_owned),
        format: ConfigFormat::Yaml,
        text,
    };
    Config::new(Some(file), session.environment().variables())?.providers()
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
