use crate::ui::ColourChoice;

/// The help heading of the flags of every command.
pub(crate) const GLOBAL: &str = "Global flags";
/// The help headings of flags that several commands share.
pub(crate) const CLUSTER: &str = "Management cluster";
pub(crate) const CUSTOMISATION: &str = "Customisation";
pub(crate) const PLAN: &str = "Plan";
pub(crate) const WAITING: &str = "Waiting";
pub(crate) const OTHER_RUNS: &str = "Other runs";

/// Flags every verb takes.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = GLOBAL)]
pub(crate) struct Globals {
    /// Path or URL of the configuration file [default: clusterctl.yaml in $XDG_CONFIG_HOME/cluster-api, then in
    /// $HOME/.cluster-api]
    #[arg(long, global = true, value_name = "PATH|URL")]
    pub(crate) config: Option<String>,

    /// Path of the lock, or `off` to go without one [default: capstan.lock beside the configuration file]
    #[arg(long, global = true, value_name = "PATH|off")]
    pub(crate) lock: Option<String>,

    /// Read nothing that is not in the lock
    #[arg(long, global = true)]
    pub(crate) locked: bool,

    /// How much to log, from 0 to 10: 1 shows decisions, 5 every request [env: CLUSTERCTL_LOG_LEVEL]
    #[arg(id = "verbosity", short = 'v', long = "v", global = true, value_name = "N", value_parser = verbosity)]
    pub(crate) verbosity: Option<u8>,

    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    pub(crate) color: ColourChoice,

    /// Print no status lines and draw no progress; warnings and errors stay
    #[arg(long, global = true)]
    pub(crate) quiet: bool,

    /// Open no connection for files of providers: what is not on this machine is an error [env: CAPSTAN_OFFLINE]
    #[arg(long, global = true, conflicts_with = "refresh")]
    pub(crate) offline: bool,

    /// Ask hosts again for files of pinned versions that are in the cache
    #[arg(long, global = true)]
    pub(crate) refresh: bool,
    /// PEM certificates that are trusted for hosts of repositories, besides those of the system and SSL_CERT_FILE
    /// [env: CAPSTAN_CA_BUNDLE]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) ca_bundle: Option<String>,

    /// Print help
    #[arg(short = 'h', long, global = true)]
    pub(crate) help: bool,
}

/// Parses any integer, like clusterctl, and clamps the value to the valid range.
pub(crate) fn verbosity(text: &str) -> Result<u8, String> {
    let number: i32 = text.parse().map_err(|_| "a whole number from 0 to 10 is expected".to_owned())?;
    Ok(u8::try_from(number.clamp(0, 10)).expect("a number from 0 to 10 is a u8"))
}
