//! `provider add` and `provider remove`: edits of the configuration file.

use std::{
    fs,
    path::{Path, PathBuf},
};

use api::{ProviderId, ProviderType, similar_names};
use provider::config::{Config, ConfigError, ConfigFile, ConfigFormat, ProviderConfig};
use repository::Location;
use transport::{HostKind, store::KeyLock};

use super::entry::{self, ConfigEntry, Edit, EditError, ListedEntry};
use crate::{
    Failure, WithContext as _,
    failure::Kind,
    session::Session,
    settings::{self, ConfigSource},
    ui::write_file_atomically,
    verbs::path_lock::real_path,
};

/// Add a provider to clusterctl.yaml
///
/// Keeps the comments, order and layout of the file. The command creates a missing file, and writes only a valid one.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} provider add my-cloud --type infrastructure \\
    --url https://github.com/me/my-cloud/releases/latest/components.yaml
  {bin} provider add aws --type infrastructure --replace \\
    --url /srv/infrastructure-aws/v2.9.0/infrastructure-components.yaml")]
pub(crate) struct Add {
    /// Provider name
    #[arg(value_name = "NAME", required = true)]
    name: String,

    /// Type: core, bootstrap, control-plane, infrastructure, ipam, runtime-extension or addon
    #[arg(long = "type", value_name = "TYPE", default_value = "", hide_default_value = true)]
    provider_type: String,

    /// Components file: a GitHub release, a GitLab package, a web folder or a local path
    #[arg(long, value_name = "URL", default_value = "", hide_default_value = true)]
    url: String,

    /// Kind of the host, if the URL does not show it: github, gitlab or folder
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,

    /// Replace an entry with the same name and type and another URL
    #[arg(long)]
    replace: bool,
}

pub(crate) fn add(args: &Add, session: &mut Session) -> Result<(), Failure> {
    let entry = ConfigEntry {
        name: args.name.clone(),
        provider_type: required_type(&args.provider_type)?,
        url: url(args)?,
        kind: args.kind.as_deref().map(parse_host_kind).transpose()?,
    };
    let file = EditedFile::open(session)?;
    let shown = file.path.display();
    let label = ProviderId::new(entry.provider_type, &entry.name).label();
    validate(&entry, &file, session)?;
    let edit = entry::add_entry(&file.text, &entry, args.replace)
        .map_err(|refusal| refusal_failure(&refusal, &entry, &file.path))?;
    let (edited, done) = match edit {
        Edit::Unchanged => {
            session
                .messages()
                .status(format!("`{shown}` already contains `{label}` with this URL; nothing was written"));
            return Ok(());
        }
        Edit::Added(edited) => (edited, "added"),
        Edit::Replaced(edited) => (edited, "replaced"),
    };
    // A file with errors stays unchanged.
    file.providers(edited.clone(), session)
        .with_context(|| "cannot add a provider to this file".to_owned())?;
    file.write(&edited)?;
    session.messages().status(format!("{done} `{label}` in `{shown}`:\n{}", entry.lines("  ").trim_end()));
    Ok(())
}

fn required_type(text: &str) -> Result<ProviderType, Failure> {
    if text.is_empty() {
        let types = ProviderType::ALL.map(ProviderType::flag).join(", ");
        return Err(Failure::user("the type of the provider is missing")
            .hint(format!("add `--type TYPE`, with one of {types}")));
    }
    parse_type(text)
}

fn parse_host_kind(text: &str) -> Result<HostKind, Failure> {
    text.parse().map_err(|error| Failure::user("cannot use `--kind`").because(&error))
}

fn url(args: &Add) -> Result<String, Failure> {
    match args.url.trim() {
        "" => Err(Failure::user("the URL of the provider is missing")
            .hint("add `--url URL` with the address or path of the components file")),
        url => Ok(url.to_owned()),
    }
}

/// Checks one entry alone, so that the message is about this entry.
fn validate(entry: &ConfigEntry, file: &EditedFile, session: &Session) -> Result<(), Failure> {
    let text = format!("providers:\n{}", entry.lines(""));
    match file.providers(text, session) {
        Ok(providers) => check_url(entry, &providers),
        Err(ConfigError::Providers { problems, .. }) => {
            let failure = Failure::user(format!("cannot add the provider `{}`", entry.name));
            Err(problems.iter().fold(failure, |failure, problem| failure.because_foreign(&problem.reason)))
        }
        Err(other) => Err(other.into()),
    }
}

/// Fails for an unusable URL before the file is written. Other commands would only fail when they read from the URL.
fn check_url(entry: &ConfigEntry, providers: &[ProviderConfig]) -> Result<(), Failure> {
    let id = ProviderId::new(entry.provider_type, &entry.name);
    let Some(written) = providers.iter().find(|provider| provider.id == id) else { return Ok(()) };
    match Location::parse(&written.url, &id.label(), written.kind) {
        Ok(_) => Ok(()),
        Err(error) => {
            let url = transport::address::redact_text(&entry.url);
            Err(Failure::user(format!("cannot use `{url}` for the provider `{}`", entry.name))
                .because(&error))
        }
    }
}

fn refusal_failure(refusal: &EditError, entry: &ConfigEntry, path: &Path) -> Failure {
    let kind = if matches!(refusal, EditError::OtherUrl { .. } | EditError::OtherKind { .. }) {
        Kind::Conflict
    } else {
        Kind::User
    };
    let failure =
        Failure::new(kind, format!("cannot add the provider `{}` to `{}`", entry.name, path.display()));
    let failure = failure.because_foreign(refusal);
    match refusal {
        EditError::OtherUrl { .. } => failure.hint("add `--replace` to replace the entry"),
        EditError::OtherKind { .. } => {
            failure.hint("change `kind` in the file, or use the same value for `--kind`")
        }
        EditError::Layout { .. } => {
            failure.hint(format!("add these lines manually:\nproviders:\n{}", entry.lines("")))
        }
        EditError::Invalid(_) => failure,
    }
}

/// Remove a provider from clusterctl.yaml
///
/// Keeps the comments, order and layout of the file. A built-in provider that the entry replaced becomes effective again.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} provider remove my-cloud
  {bin} provider remove kubeadm --type bootstrap")]
pub(crate) struct Remove {
    /// Provider name
    #[arg(value_name = "NAME", required = true)]
    name: String,

    /// Type, if several types have a provider of this name
    #[arg(long = "type", value_name = "TYPE")]
    provider_type: Option<String>,
}

pub(crate) fn remove(args: &Remove, session: &mut Session) -> Result<(), Failure> {
    let requested_type =
        args.provider_type.as_deref().filter(|text| !text.is_empty()).map(parse_type).transpose()?;
    let file = EditedFile::open(session)?;
    let shown = file.path.display().to_string();
    let cannot = || format!("cannot remove the provider `{}` from `{shown}`", args.name);
    let listed = entry::list_entries(&file.text)
        .map_err(|refusal| Failure::user(cannot()).because_foreign(&refusal))?;
    let of =
        type_of(&args.name, requested_type, &listed).map_err(|failure| failure.with_context(cannot()))?;
    let edited = entry::remove_entries(&file.text, &args.name, of).map_err(|refusal| {
        let failure = Failure::user(cannot()).because_foreign(&refusal);
        match refusal {
            EditError::Layout { .. } => failure.hint("remove the entry manually"),
            _ => failure,
        }
    })?;
    let left = file.providers(edited.clone(), session).with_context(cannot)?;
    file.write(&edited)?;
    let id = ProviderId::new(of, &args.name);
    let built_in = match left.iter().find(|provider| provider.id == id) {
        Some(_) => "; the built-in provider is effective again",
        None => "",
    };
    session.messages().status(format!("removed `{}` from `{shown}`{built_in}", id.label()));
    Ok(())
}

fn type_of(name: &str, given: Option<ProviderType>, listed: &[ListedEntry]) -> Result<ProviderType, Failure> {
    let is_of = |entry: &ListedEntry, of: ProviderType| entry.provider_type == of.as_str();
    let is_named = |of: &ProviderType| listed.iter().any(|entry| entry.name == name && is_of(entry, *of));
    let named: Vec<ProviderType> = ProviderType::ALL.into_iter().filter(is_named).collect();
    match (given, &*named) {
        (Some(of), _) if named.contains(&of) => Ok(of),
        (None, [of]) => Ok(*of),
        (None, [_, _, ..]) => {
            let types = named.iter().map(|of| format!("`--type {}`", of.flag())).collect::<Vec<_>>();
            Err(Failure::user("several entries have this name").hint(format!("add {}", types.join(" or "))))
        }
        (_, []) | (Some(_), _) => {
            let failure = Failure::user("the file has no such entry");
            let names = listed.iter().map(|entry| &*entry.name);
            Err(match (&*named, similar_names(name, names).first()) {
                ([of, ..], _) => failure.hint(format!("use `--type {}`", of.flag())),
                ([], Some(near)) => failure.hint(format!("did you mean `{near}`?")),
                ([], None) => failure
                    .hint("run `capstan provider list` to list providers; built-in ones cannot be removed"),
            })
        }
    }
}

/// The mode of the file. Only the owner may read the file, which may contain tokens.
const MODE: u32 = 0o600;

/// A locked clusterctl.yaml and its text. The text is empty if the file does not exist.
pub(super) struct EditedFile {
    pub(super) path: PathBuf,
    pub(super) text: String,
    lock_file: PathBuf,
    _lock: KeyLock,
}

impl Drop for EditedFile {
    fn drop(&mut self) {
        // The lock ends after this, with the process at the latest.
        let _ = fs::remove_file(&self.lock_file);
    }
}

impl EditedFile {
    /// Locks and reads the effective configuration file, or selects the path of a new one.
    pub(super) fn open(session: &Session) -> Result<Self, Failure> {
        let path = config_path(session)?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot create the folder `{}`", folder.display()))?;
        }
        // All names of the file have one lock.
        let lock_file = real_path(&path).with_added_extension("lock");
        let (messages, file) = (session.messages(), format!("that edits `{}`", path.display()));
        let lock = KeyLock::acquire(&lock_file, |holder| messages.waiting_for_run(&file, holder));
        let lock = session.block_on(lock)?;
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Failure::io("read", &path, &error)),
        };
        Ok(Self { path, text, lock_file, _lock: lock })
    }

    /// Returns the providers of the configuration if the file had this text.
    pub(super) fn providers(
        &self,
        text: String,
        session: &Session,
    ) -> Result<Vec<ProviderConfig>, ConfigError> {
        let file = ConfigFile {
            origin: self.path.display().to_string(),
            folder: self.path.parent().map(Path::to_owned),
            format: ConfigFormat::Yaml,
            text,
        };
        Config::new(Some(file), session.environment().variables())?.providers()
    }

    pub(super) fn write(&self, text: &str) -> Result<(), Failure> {
        Ok(write_file_atomically(&self.path, text.as_bytes(), MODE)?)
    }
}

fn config_path(session: &Session) -> Result<PathBuf, Failure> {
    let path = match settings::config_source(session.globals().config.as_deref(), session.environment()) {
        ConfigSource::File(path) => path,
        ConfigSource::None => settings::config_home(session.environment())
            .map(|folder| folder.join("cluster-api").join("clusterctl.yaml"))
            .ok_or_else(|| {
                Failure::user("cannot choose a folder for clusterctl.yaml")
                    .hint("set HOME, or use `--config FILE`")
            })?,
        ConfigSource::Url(url) => {
            let url = transport::address::redact_text(&url);
            return Err(
                Failure::user(format!("cannot write to `{url}`")).hint("use a file with `--config FILE`")
            );
        }
    };
    let extension = path.extension().and_then(std::ffi::OsStr::to_str);
    match extension.and_then(ConfigFormat::from_extension) {
        Some(ConfigFormat::Yaml) => Ok(path),
        _ => Err(Failure::user(format!("cannot edit `{}`: the file is not YAML", path.display()))
            .hint("edit `providers` in the file manually, or use a YAML file with `--config FILE`")),
    }
}

/// Parses the value of `--type`.
pub(super) fn parse_type(text: &str) -> Result<ProviderType, Failure> {
    let types = || ProviderType::ALL.map(ProviderType::flag);
    let known = |candidate: &ProviderType| candidate.flag() == text || candidate.as_str() == text;
    ProviderType::ALL.into_iter().find(known).ok_or_else(|| {
        let failure = Failure::user(format!("unknown provider type `{text}`"));
        match similar_names(text, types()).first() {
            Some(near) => failure.hint(format!("did you mean `--type {near}`?")),
            None => failure.hint(format!("use `--type` with one of {}", types().join(", "))),
        }
    })
}
