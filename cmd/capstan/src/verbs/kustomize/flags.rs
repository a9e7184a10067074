use kustomize::{Helm, LoadRestrictor, Options};

use crate::{
    Failure,
    kustomizations::{HelmProgram, How},
};

/// What `build` and `lint` take alike.
#[derive(clap::Args)]
pub(super) struct LoadFlags {
    /// Which files a kustomization may name: those in its folder and below, or all, with LoadRestrictionsNone
    #[arg(long, value_name = "WHICH", default_value = ROOT_ONLY)]
    load_restrictor: String,

    /// Render charts with the program helm
    #[arg(long, help_heading = HELM)]
    enable_helm: bool,

    /// Name or path of that program
    #[arg(long, value_name = "PROGRAM", default_value = "helm", help_heading = HELM)]
    helm_command: String,

    /// Kubernetes API version the charts see, unless their kustomization names some; may be given several times
    #[arg(long, value_name = "VERSION,…", value_delimiter = ',', help_heading = HELM)]
    helm_api_versions: Vec<String>,

    /// Kubernetes version the charts see, unless their kustomization names one
    #[arg(long, value_name = "VERSION", help_heading = HELM)]
    helm_kube_version: Option<String>,

    /// Let helm tell more of what goes wrong
    #[arg(long, help_heading = HELM)]
    helm_debug: bool,
}

const HELM: &str = "Charts";

const ROOT_ONLY: &str = "LoadRestrictionsRootOnly";
const NONE: &str = "LoadRestrictionsNone";

impl LoadFlags {
    /// How to build; all else is left as it is by default.
    /// # Errors
    /// Names the values `--load-restrictor` may have, which are those of kustomize.
    pub(super) fn how(&self) -> Result<How, Failure> {
        let load_restrictor = match self.load_restrictor.as_str() {
            ROOT_ONLY => LoadRestrictor::RootOnly,
            NONE => LoadRestrictor::None,
            other => {
                return Err(Failure::user(format!("invalid value `{other}` of `--load-restrictor`"))
                    .hint(format!("take one of {ROOT_ONLY}, {NONE}")));
            }
        };
        let helm = self.enable_helm.then(|| HelmProgram {
            command: self.helm_command.clone(),
            api_versions: self.helm_api_versions.clone(),
            kube_version: self.helm_kube_version.clone(),
            debug: self.helm_debug,
        });
        let options = Options {
            load_restrictor,
            helm: if helm.is_some() { Helm::On } else { Helm::Off },
            ..Options::default()
        };
        Ok(How { options, helm })
    }
}

/// Flags for functions in containers and for programs, which are not run: scripts may give them all the same, and a
/// kustomization that needs one is told of in the build.
#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of kustomize")]
pub(super) struct FunctionFlags {
    #[arg(long, hide = true)]
    enable_alpha_plugins: bool,

    #[arg(long, hide = true)]
    enable_exec: bool,

    #[arg(long, hide = true)]
    enable_star: bool,

    #[arg(long, hide = true)]
    as_current_user: bool,

    #[arg(long, hide = true)]
    network: bool,

    #[arg(long, hide = true, value_name = "NAME")]
    network_name: Option<String>,

    #[arg(long, hide = true, value_name = "OPTIONS")]
    mount: Vec<String>,

    #[arg(short, long, hide = true, value_name = "NAME=VALUE")]
    env: Vec<String>,
}
