use std::sync::Arc;

use chart::{Capabilities, PrintOptions, Release, RenderOptions};
use jiff::Timestamp;

use super::{
    cluster::ClusterFlags,
    output::{OutputFolder, TemplateOutput},
    source::SourceFlags,
    values::ValueFlags,
};
use crate::{
    Environment, Failure, WithContext as _,
    session::Session,
    settings::OutputFormat,
    verbs::provenance::{Provenance, ProvenanceFlag},
};

/// The name of a release without a name.
const UNNAMED: &str = "release-name";

/// Print the manifests of a chart
///
/// Renders a chart as `helm template` does, with the same flags, and installs nothing. The chart is a folder, a `.tgz` archive,
/// a chart of a repository (`--repo`), or a URL (`oci://`, `https://`). Only `--validate` and `--dry-run=server` use a cluster.
/// Hooks follow the other objects. If a template fails, nothing is printed.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} chart template web ./web -f production.yaml
  {bin} chart template web web-1.2.3.tgz --set image.tag=v2 -n shop
  {bin} chart template web oci://example.org/charts/web --version ^1.2
  {bin} chart template w web --kube-version 1.33 -a example.org/v1")]
pub(crate) struct Template {
    /// Name of the release [default: release-name], and the folder, archive, name or URL of the chart
    #[arg(value_name = "[NAME] CHART", num_args = 1..)]
    words: Vec<String>,

    #[command(flatten)]
    source: SourceFlags,

    #[command(flatten)]
    values: ValueFlags,

    /// Namespace [default: $HELM_NAMESPACE or default]
    #[arg(short, long, value_name = "NAME")]
    namespace: Option<String>,

    /// Template of the release name
    #[arg(long = "name-template", value_name = "TEXT", default_value = "")]
    name_pattern: String,

    /// Generate the name of the release
    #[arg(short, long)]
    generate_name: bool,

    /// Version of Kubernetes that templates see
    #[arg(long, value_name = "VERSION", default_value = "")]
    kube_version: String,

    /// Further API versions that templates see
    #[arg(short, long, value_name = "VERSION,…")]
    api_versions: Vec<String>,

    /// Render for an upgrade: `.Release.IsUpgrade` is true
    #[arg(long)]
    is_upgrade: bool,

    /// Skip the check by `values.schema.json`
    #[arg(long)]
    skip_schema_validation: bool,

    #[command(flatten)]
    cluster: ClusterFlags,

    #[command(flatten)]
    print: PrintFlags,

    #[command(flatten)]
    ignored: IgnoredFlags,
}

/// Flags that select the printed objects.
#[derive(clap::Args)]
struct PrintFlags {
    /// Print the files in `crds/` too
    #[arg(long)]
    include_crds: bool,

    /// Skip hooks
    #[arg(long)]
    no_hooks: bool,

    /// Skip hooks that are tests
    #[arg(long)]
    skip_tests: bool,

    /// Print only these template files; accepts `*`
    #[arg(short, long, value_name = "FILE", value_delimiter = '\0')]
    show_only: Vec<String>,

    /// Kustomization to apply to the objects
    #[arg(long, value_name = "DIR|URL")]
    kustomization: Option<String>,

    #[command(flatten)]
    provenance: ProvenanceFlag,

    /// Output format: text, json or yaml
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: String,

    /// Folder to write files to, one per template
    #[arg(long, value_name = "DIR")]
    output_dir: Option<String>,

    /// Write to a folder with the name of the release
    #[arg(long)]
    release_name: bool,
}

/// Flags of `helm template` without effect on its output, for scripts, and flags that are refused.
#[derive(clap::Args)]
struct IgnoredFlags {
    #[arg(
        long,
        hide = true,
        aliases = [
            "atomic", "create-namespace", "disable-openapi-validation", "force", "hide-notes", "render-subchart-notes",
            "replace", "skip-crds", "take-ownership", "wait-for-jobs",
        ]
    )]
    wait: bool,
    #[arg(short, long, hide = true, value_name = "VALUE", aliases = ["description", "timeout"])]
    labels: Option<String>,
    #[arg(long, hide = true)]
    enable_dns: bool,
    #[arg(long, hide = true, value_name = "PROGRAM")]
    post_renderer: Option<String>,
    #[arg(long, hide = true, value_name = "TEXT", allow_hyphen_values = true)]
    post_renderer_args: Vec<String>,
}

pub(super) fn run(args: &Template, session: &mut Session) -> Result<(), Failure> {
    let (name, place) = args.name_and_chart()?;
    args.check_flags()?;
    let output = args.print.output(&name, session.environment())?;
    let trace = output.provenance.trace();
    let cluster = args.cluster.connect(session)?;
    let mut options = RenderOptions { trace, ..args.options(&name, session.environment())? };
    if let Some(cluster) = &cluster {
        options.capabilities = cluster.capabilities(session)?.unwrap_or(options.capabilities);
    }
    let values = args.values.read(trace, session)?;
    let chart = Arc::new(args.source.load(place, session)?);
    if chart.metadata().deprecated {
        session.messages().warning("this chart is deprecated");
    }
    let context = || format!("cannot render chart `{}`", transport::address::redact_text(place));
    let namespace = options.release.namespace.clone();
    let rendered = match &cluster {
        Some(cluster) => cluster.render(&chart, values, options, session),
        None => chart.render(&values, &options).map_err(Failure::from),
    };
    let rendered = rendered.with_context(context)?;
    for warning in &rendered.warnings {
        session.messages().warning(warning);
    }
    if let Some(cluster) = &cluster {
        let installed = PrintOptions { no_hooks: true, include_crds: true, ..PrintOptions::default() };
        cluster.validate(rendered.objects(&installed).with_context(context)?, &namespace, session)?;
    }
    output.write(&rendered, &args.print.options(), session).with_context(context)?;
    // The process ends after this verb, and the system frees a chart faster than the program.
    std::mem::forget((chart, rendered));
    Ok(())
}

impl Template {
    fn check_flags(&self) -> Result<(), Failure> {
        if self.ignored.post_renderer.is_some() {
            return Err(Failure::user(
                "`--post-renderer` is not supported: capstan runs no programs on manifests",
            )
            .hint("change the objects with `--kustomization DIR`, or pipe the output to the program"));
        }
        Ok(())
    }

    fn name_and_chart(&self) -> Result<(String, &str), Failure> {
        match self.words.as_slice() {
            [] => Err(Failure::user("missing chart")
                .hint("add a folder, an archive or a reference, as in `capstan chart template NAME CHART`")),
            [chart] => Ok((self.made_up_name(chart)?, chart)),
            [_, _] if self.generate_name || !self.name_pattern.is_empty() => {
                Err(Failure::user("a name cannot be combined with `--generate-name` or `--name-template`"))
            }
            [name, chart] => Ok((name.clone(), chart)),
            [_, _, surplus, ..] => Err(Failure::user(format!("unexpected argument `{surplus}`"))
                .hint("put quotes around values with spaces, such as `--set 'name=two words'`")),
        }
    }

    fn made_up_name(&self, chart: &str) -> Result<String, Failure> {
        if !self.name_pattern.is_empty() {
            return Ok(Release::name_of_template(&self.name_pattern)?);
        }
        if !self.generate_name {
            return Ok(UNNAMED.to_owned());
        }
        Ok(Release::generated_name(chart, Timestamp::now()))
    }

    fn options(&self, name: &str, environment: &Environment) -> Result<RenderOptions, Failure> {
        let namespace = self.namespace.as_deref().or_else(|| environment.text("HELM_NAMESPACE"));
        let namespace = namespace.filter(|namespace| !namespace.is_empty()).unwrap_or("default");
        let release = Release { is_upgrade: self.is_upgrade, ..Release::new(name, namespace) };
        let capabilities = Capabilities::new(&self.kube_version, &self.api_versions)?;
        Ok(RenderOptions {
            capabilities,
            skips_schema: self.skip_schema_validation,
            enable_dns: self.ignored.enable_dns,
            now: Timestamp::now(),
            ..RenderOptions::new(release)
        })
    }
}

impl PrintFlags {
    /// Returns the requested form of the output.
    fn output(&self, release: &str, environment: &Environment) -> Result<TemplateOutput, Failure> {
        let format = OutputFormat::parse(&self.output)?;
        let provenance = self.provenance.parse(format)?;
        let kustomization = self.kustomization.clone().filter(|place| !place.is_empty());
        let Some(folder) = self.output_dir.as_deref().filter(|folder| !folder.is_empty()) else {
            return Ok(TemplateOutput { kustomization, format, provenance, folder: None });
        };
        if format == OutputFormat::Json {
            return Err(Failure::user("the files of `--output-dir` are YAML").hint("omit `--output json`"));
        }
        if provenance != Provenance::Off {
            return Err(Failure::user("`--provenance` cannot be combined with `--output-dir`")
                .hint("redirect standard output to a file instead"));
        }
        if kustomization.is_some() {
            return Err(Failure::user("`--kustomization` cannot be combined with `--output-dir`")
                .hint("redirect standard output to a file instead"));
        }
        let folder = OutputFolder {
            path: environment.resolve(folder),
            name: folder.to_owned(),
            release: self.release_name.then(|| release.to_owned()),
        };
        Ok(TemplateOutput { kustomization, format, provenance, folder: Some(folder) })
    }

    fn options(&self) -> PrintOptions {
        PrintOptions {
            include_crds: self.include_crds,
            no_hooks: self.no_hooks,
            skip_tests: self.skip_tests,
            show_only: self.show_only.clone(),
        }
    }
}
