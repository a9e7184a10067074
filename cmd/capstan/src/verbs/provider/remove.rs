use api::{ProviderType, near_names};

use super::{
    config_file::{EditedFile, provider_type},
    entry::{self, ListedEntry, Refusal},
};
use crate::{Failure, Within as _, session::Session};

/// Take a provider out of clusterctl.yaml
///
/// Nothing else in the file changes: comments, order and layout stay. A built-in provider that the entry replaced counts
/// again.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} provider remove my-cloud
  {bin} provider remove kubeadm --type bootstrap")]
pub(crate) struct Remove {
    /// Name of the provider
    #[arg(value_name = "NAME", required = true)]
    name: String,

    /// Type, where several have a provider of this name [default: the only one]
    #[arg(long = "type", value_name = "TYPE")]
    provider_type: Option<String>,
}

pub(crate) fn run(args: &Remove, session: &mut Session) -> Result<(), Failure> {
    let asked =
        args.provider_type.as_deref().filter(|text| !text.is_empty()).map(provider_type).transpose()?;
    let file = EditedFile::read(session)?;
    let shown = file.path.display().to_string();
    let cannot = || format!("cannot remove the provider `{}` from `{shown}`", args.name);
    let listed = entry::listed(&file.text).map_err(|refusal| Failure::user(cannot()).because(&refusal))?;
    let of = type_of(&args.name, asked, &listed).map_err(|failure| failure.within(cannot()))?;
    let edited = entry::without(&file.text, &args.name, of).map_err(|refusal| {
        let failure = Failure::user(cannot()).because(&refusal);
        match refusal {
            Refusal::Layout { .. } => failure.hint("take the entry out by hand"),
            _ => failure,
        }
    })?;
    let left = file.providers(edited.clone(), session).within(cannot)?;
    file.write(&edited)?;
    let id = api::ProviderId::new(of, &args.name);
    let built_in = match left.iter().find(|provider| provider.id == id) {
        Some(_) => "; the built-in one counts again",
        None => "",
    };
    session.messages().status(format!("removed `{}` from `{shown}`{built_in}", id.label()));
    Ok(())
}

/// The type of the entry that is meant.
fn type_of(name: &str, asked: Option<ProviderType>, listed: &[ListedEntry]) -> Result<ProviderType, Failure> {
    let is_of = |entry: &ListedEntry, of: ProviderType| entry.provider_type == of.as_str();
    let is_named = |of: &ProviderType| listed.iter().any(|entry| entry.name == name && is_of(entry, *of));
    let named: Vec<ProviderType> = ProviderType::ALL.into_iter().filter(is_named).collect();
    match (asked, &*named) {
        (Some(of), _) if named.contains(&of) => Ok(of),
        (None, [of]) => Ok(*of),
        (None, [_, _, ..]) => {
            let types = named.iter().map(|of| format!("`--type {}`", of.flag())).collect::<Vec<_>>();
            Err(Failure::user("several of its entries have this name")
                .hint(format!("add {}", types.join(" or "))))
        }
        (_, []) | (Some(_), _) => {
            let failure = Failure::user("it has no such entry");
            let names = listed.iter().map(|entry| &*entry.name);
            Err(match (&*named, near_names(name, names).first()) {
                ([of, ..], _) => failure.hint(format!("it has one of type {}", of.flag())),
                ([], Some(near)) => failure.hint(format!("did you mean `{near}`?")),
                ([], None) => failure,
            })
        }
    }
}
