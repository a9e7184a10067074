use api::output::{BuildInfo, VersionReport};

use crate::{
    Failure, program,
    session::Session,
    settings::{to_json, to_yaml},
};

/// Print the version
///
/// Prints the version of the clusterctl release that this binary replaces, because scripts compare it. JSON, YAML and
/// `--version` also show the version of capstan.
#[derive(clap::Args)]
pub(crate) struct Version {
    /// Output format: short, yaml or json [default: one line with all fields]
    #[arg(short, long, value_name = "FORMAT", default_value = "", hide_default_value = true)]
    output: String,
}

const MATCHED_CLUSTERCTL: (&str, &str, &str) = ("1", "14", "v1.14.0");

/// Prints the version in the requested format. Scripts read `.clusterctl.gitVersion`, or the quoted text after
/// `GitVersion:`.
/// Source: clusterctl v1.14 cmd/version.go; differs: no field contains a Go version.
pub(crate) fn run(args: &Version, session: &mut Session) -> Result<(), Failure> {
    let report = VersionReport { clusterctl: build_info() };
    let text = match args.output.as_str() {
        "" => format!("clusterctl version: {}\n", one_line(&report.clusterctl)),
        "short" => format!("{}\n", report.clusterctl.git_version),
        "json" => to_json(&report)?,
        "yaml" => to_yaml(&report)?,
        other => {
            return Err(Failure::user(format!("invalid output format `{other}`"))
                .hint("use short, yaml or json, or omit `--output`"));
        }
    };
    session.printer().write(text)
}

/// Prints the version of this binary for `--version`.
pub(crate) fn show_version(session: &mut Session) -> Result<(), Failure> {
    session.printer().write(format!(
        "capstan {} (as clusterctl {})\n",
        env!("CARGO_PKG_VERSION"),
        MATCHED_CLUSTERCTL.2
    ))
}

fn build_info() -> BuildInfo {
    BuildInfo {
        major: MATCHED_CLUSTERCTL.0.to_owned(),
        minor: MATCHED_CLUSTERCTL.1.to_owned(),
        git_version: MATCHED_CLUSTERCTL.2.to_owned(),
        git_tree_state: "clean".to_owned(),
        capstan: concat!("v", env!("CARGO_PKG_VERSION")).to_owned(),
        compiler: "rustc".to_owned(),
        platform: format!("{}/{}", program::operating_system(), program::architecture()),
    }
}

fn one_line(info: &BuildInfo) -> String {
    format!(
        "&version.Info{{Major:{:?}, Minor:{:?}, GitVersion:{:?}, GitCommit:\"\", GitTreeState:{:?}, BuildDate:\"\", \
         GoVersion:\"\", Compiler:{:?}, Platform:{:?}}}",
        info.major, info.minor, info.git_version, info.git_tree_state, info.compiler, info.platform
    )
}
