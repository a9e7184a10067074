use super::{helm_flags::HelmFlags, source::SourceFlags};
use crate::{Failure, session::Session};

/// Print a part of a chart
///
/// Prints a file of a chart as `helm show` does. The chart is a folder, a `.tgz` archive, a chart of a repository
/// (`--repo`), or a URL (`oci://`, `https://`).
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} chart show values ./web > values.yaml
  {bin} chart show chart web-1.2.3.tgz
  {bin} chart show values oci://example.org/charts/web --version ~1.2")]
pub(crate) struct Show {
    /// Part of the chart: chart (its metadata), values, crds, readme or all
    #[arg(value_name = "PART")]
    part: String,

    /// Folder, archive, name or URL of the chart
    #[arg(value_name = "CHART")]
    chart: String,

    #[command(flatten)]
    source: SourceFlags,

    #[command(flatten)]
    helm: HelmFlags,

    #[arg(short, long, hide = true, aliases = ["kubeconfig", "kube-context"])]
    namespace: Option<String>,
}

pub(super) fn run(args: &Show, session: &mut Session) -> Result<(), Failure> {
    let parts: &[&str] = match args.part.as_str() {
        "all" => &["chart", "values", "readme", "crds"],
        part @ ("chart" | "values" | "readme" | "crds") => &[part],
        other => {
            return Err(Failure::user(format!("invalid part `{other}` of a chart"))
                .hint("use `chart`, `values`, `crds`, `readme` or `all`"));
        }
    };
    let chart = args.source.load(&args.chart, session)?;
    let mut out = String::new();
    for part in parts {
        let text = match *part {
            "chart" => chart.show_metadata(),
            "values" => chart.show_values(),
            "readme" => chart.show_readme(),
            _ => chart.show_crds(),
        };
        let is_marked = *part == "crds" && text.starts_with("---");
        if !out.is_empty() && !text.is_empty() && !is_marked {
            out.push_str("---\n");
        }
        out.push_str(&text);
    }
    session.printer().write(out)
}
