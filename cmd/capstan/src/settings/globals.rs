use crate::cli;
use crate::ui::ColourChoice;

/// The help heading of the flags of every command.
pub(crate) const GLOBAL: &str = "Global flags";
/// The help headings of flags that several commands share.
pub(crate) const CLUSTER: &str = "Management cluster";
pub(crate) const CUSTOMISATION: &str = "Customisation";
pub(crate) const PLAN: &str = "Plan";
pub(crate) const WAITING: &str = "Waiting";
pub(crate) const OTHER_RUNS: &str = "Other runs";
pub(crate) const CHART_VALUES: &str = "Values";
pub(crate) const CHART_SOURCE: &str = "Chart source";

/// Flags every verb takes.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = GLOBAL)]
pub(crate) struct Globals {
    /// Path or URL of the configuration file [default: $XDG_CONFIG_HOME/cluster-api/clusterctl.yaml, then
    /// ~/.cluster-api/clusterctl.yaml]
    #[arg(long, global = true, value_name = "PATH|URL")]
    pub(crate) config: Option<String>,

    /// Path of the lock file, or `off` [default: capstan.lock beside the configuration file]
    #[arg(long, global = true, value_name = "PATH|off")]
    pub(crate) lock: Option<String>,

    /// Fail if a release is not in the lock file
    #[arg(long, global = true)]
    pub(crate) locked: bool,

    /// Log level from 0 to 10: 1 shows decisions, 5 every request [env: CLUSTERCTL_LOG_LEVEL]
    #[arg(id = "verbosity", short = 'v', long = "v", global = true, value_name = "N", value_parser = verbosity)]
    pub(crate) verbosity: Option<u8>,

    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    pub(crate) color: ColourChoice,

    /// Print only warnings and errors, without status lines and progress
    #[arg(long, global = true)]
    pub(crate) quiet: bool,

    /// Read provider files only from this machine; fail if one is missing [env: CAPSTAN_OFFLINE]
    #[arg(long, global = true, conflicts_with = "refresh")]
    pub(crate) offline: bool,

    /// Fetch files of pinned versions again, even if they are in the cache
    #[arg(long, global = true)]
    pub(crate) refresh: bool,
    /// File of additional trusted PEM certificates for repository hosts [env: CAPSTAN_CA_BUNDLE]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) ca_bundle: Option<String>,

    /// Print help
    #[arg(short = 'h', long, global = true)]
    pub(crate) help: bool,
}

/// Parses any integer, like clusterctl, and clamps the value to the valid range.
pub(crate) fn verbosity(text: &str) -> Result<u8, String> {
    let number = cli::integer(text).map_err(|_| "expected a whole number from 0 to 10".to_owned())?;
    Ok(u8::try_from(number.clamp(0, 10)).expect("a number from 0 to 10 is a u8"))
}
