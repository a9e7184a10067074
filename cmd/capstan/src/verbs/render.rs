use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use api::ProviderId;
use management::{RenderedPart, Sources};
use manifest::{Object, Value};

use super::generate::print::{self, write_objects};
use crate::{
    Failure, WithContext as _,
    kustomizations::{FileNames, KustomizationFlags, RunScope},
    session::Session,
    settings::OutputFormat,
    ui::Messages,
    verbs::{
        lifecycle::ReleaseSources,
        provenance::{Provenance, ProvenanceFlag},
        provider_flags::SeveralProviders,
    },
};

/// Render all objects of a first installation, for GitOps
///
/// Prints cert-manager, the providers and the provider inventory in a fixed order. The command needs no management cluster.
/// With `--output-dir`, apply the folders of cert-manager and the inventory first, wait for cert-manager, and then apply
/// everything with `kubectl apply -R -f`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} render --infrastructure aws:v2.11.1 --output-dir management-cluster
  {bin} render --infrastructure docker > all.yaml")]
pub(crate) struct Render {
    #[command(flatten)]
    providers: SeveralProviders,

    #[command(flatten)]
    customisation: KustomizationFlags,

    /// Namespace of all providers [default: a namespace per provider]
    #[arg(short = 'n', long, value_name = "NAMESPACE", help_heading = HEADING)]
    target_namespace: Option<String>,

    #[command(flatten, next_help_heading = HEADING)]
    provenance: ProvenanceFlag,

    /// Folder to write files to, one per kind [default: standard output]
    #[arg(long, value_name = "DIR", help_heading = HEADING)]
    output_dir: Option<PathBuf>,

    /// Output format: text (YAML documents), yaml or json (one List)
    #[arg(short, long, value_name = "FORMAT", default_value = "text", help_heading = HEADING)]
    output: String,
}

const HEADING: &str = "Output";

pub(crate) fn run(args: &Render, session: &mut Session) -> Result<(), Failure> {
    let format = OutputFormat::parse(&args.output)?;
    let provenance = args.provenance.parse(format)?;
    if args.output_dir.is_some() && provenance == Provenance::Json {
        return Err(Failure::user("the files of `--output-dir` contain only objects")
            .hint("use `--provenance` for comments in the files, or omit `--output-dir`"));
    }
    if args.output_dir.is_some() && format == OutputFormat::Json {
        return Err(Failure::user("the files of `--output-dir` are YAML").hint("omit `--output json`"));
    }
    let request = args.providers.first_installation()?;
    let named: Vec<ProviderId> =
        args.providers.requested()?.providers.into_iter().map(|(id, _)| id).collect();
    let owned = ReleaseSources::with_kustomizations(
        &args.customisation,
        RunScope { named_providers: &named, saved_kustomizations: &[] },
        session,
    )?;
    let sources = Sources { trace: provenance.trace(), ..owned.sources() };
    let namespace = args.target_namespace.as_deref().filter(|namespace| !namespace.is_empty());
    let parts = session.block_on(Box::pin(management::render_installation(&sources, &request, namespace)))?;
    owned.overlays().warn_unused(session.messages());
    let Some(folder) = &args.output_dir else {
        let objects = parts.into_iter().flat_map(|part| part.objects).collect();
        return print::print_objects(objects, format, provenance, None, session);
    };
    let folder = session.environment().resolve(folder);
    let names = FileNames::relative_to(session.environment().current_dir());
    for mut part in parts {
        names.rename_origins(&mut part.objects);
        write_part(&folder.join(&part.name), part, session)?;
    }
    Ok(())
}

/// The folder of objects whose kind the same part defines. kubectl rejects such objects together with their
/// definition.
const CUSTOM_RESOURCES: &str = "custom-resources";

fn write_part(folder: &Path, part: RenderedPart, session: &Session) -> Result<(), Failure> {
    let (custom, objects) = custom_resources(part.objects);
    write_folder(folder, &objects, session.messages())?;
    if custom.is_empty() {
        Ok(())
    } else {
        write_folder(&folder.join(CUSTOM_RESOURCES), &custom, session.messages())
    }
}

/// Splits objects into those whose kind is defined among them, and the others.
fn custom_resources(objects: Vec<Object>) -> (Vec<Object>, Vec<Object>) {
    let text = |definition: &Object, path| definition.get(path).and_then(Value::as_str).map(str::to_owned);
    let definitions = objects.iter().filter(|object| object.is_crd());
    let defined: BTreeSet<_> = definitions
        .filter_map(|one| Some((text(one, &["spec", "group"])?, text(one, &["spec", "names", "kind"])?)))
        .collect();
    let is_custom =
        |object: &Object| defined.contains(&(object.group().to_owned(), object.kind().to_owned()));
    objects.into_iter().partition(is_custom)
}

/// Writes a folder of files. Warns about other files in the folder, but never deletes them, because they may belong
/// to the user.
fn write_folder(folder: &Path, objects: &[Object], messages: &Messages) -> Result<(), Failure> {
    let cannot = || format!("cannot write `{}`", folder.display());
    fs::create_dir_all(folder).with_context(cannot)?;
    let files = files(objects);
    for (name, objects) in &files {
        let text = manifest::write_traced_stream(objects) + "\n";
        write_objects(&folder.join(name), &text)?;
    }
    for entry in fs::read_dir(folder).with_context(cannot)? {
        let name = entry.with_context(cannot)?.file_name().to_string_lossy().into_owned();
        let is_ours = name.strip_suffix(".yaml").is_some_and(|stem| stem != "kustomization");
        if is_ours && !files.contains_key(&name) {
            messages.warning(format!(
                "`{}` is no longer part of the output; delete the file unless it is yours",
                folder.join(&name).display()
            ));
        }
    }
    Ok(())
}

/// Returns the objects by file, with one file per kind. The name includes the group if two kinds share a name.
/// kubectl creates objects in the order of file names. Stable numbers put prerequisites first.
fn files(objects: &[Object]) -> BTreeMap<String, Vec<Object>> {
    let mut groups: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for object in objects {
        groups.entry(object.kind()).or_default().insert(object.group());
    }
    let mut files: BTreeMap<String, Vec<Object>> = BTreeMap::new();
    for object in objects {
        let kind = object.kind().to_lowercase();
        let is_shared = groups[object.kind()].len() > 1 && !object.group().is_empty();
        let number = match (object.group(), object.kind()) {
            ("", "Namespace") => "000-",
            _ if object.is_crd() => "001-",
            _ => "",
        };
        let group = if is_shared { format!(".{}", object.group()) } else { String::new() };
        let name = format!("{number}{kind}{group}.yaml");
        files.entry(name).or_default().push(object.clone());
    }
    files
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_kind_has_its_own_file() {
        let object = |api_version: &str, kind: &str| {
            Object::try_from(json!({"apiVersion": api_version, "kind": kind})).unwrap()
        };
        let objects = [
            object("v1", "Secret"),
            object("v1", "Service"),
            object("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
            object("v1", "Namespace"),
            object("v1", "Secret"),
            object("serving.example.com/v1", "Service"),
        ];
        let files = files(&objects);
        let counted: Vec<(&str, usize)> =
            files.iter().map(|(name, objects)| (name.as_str(), objects.len())).collect();
        assert_eq!(
            counted,
            [
                ("000-namespace.yaml", 1),
                ("001-customresourcedefinition.yaml", 1),
                ("secret.yaml", 2),
                ("service.serving.example.com.yaml", 1),
                ("service.yaml", 1)
            ]
        );
    }
}
