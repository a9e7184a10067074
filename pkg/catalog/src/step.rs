//! The steps of a compilation, as a user sees them. The texts are those of Commodore.

use std::fmt;

/// A step of a compilation, or a notice about it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Step {
    DiscardLocalChanges,
    CleanWorkingTree,
    UpdateTarget(String),
    UpdateParameters,
    UpdateGlobalConfig,
    UpdateTenantConfig,
    DiscoverPackages,
    DiscoverComponents,
    RegisterAliases,
    FetchComponents,
    UpdateCatalog,
    InstallLibraryAliases,
    UpdateReferences,
    CleanCatalog,
    Compile,
    Postprocess,
    UpdateCatalogRepository,
    Compiled,
    LocalMode,
    RegisterConfig,
    ResetTargets,
    ResetLinks,
    CreateBootstrapTarget,
    DiscoverIncludedComponents,
    RegisterComponents,
    ConfigureCatalog,
    /// A notice below a step.
    Notice(String),
    /// A warning below a step.
    Warning(String),
    /// A text without further form, such as a diff.
    Text(String),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DiscardLocalChanges => "Discarding local changes, if there are any",
            Self::CleanWorkingTree => "Cleaning working tree",
            Self::UpdateTarget(target) => return write!(f, "Updating Kapitan target for {target}..."),
            Self::UpdateParameters => "Updating cluster parameters...",
            Self::UpdateGlobalConfig => "Updating global config...",
            Self::UpdateTenantConfig => "Updating customer config...",
            Self::DiscoverPackages => "Discovering config packages...",
            Self::DiscoverComponents => "Discovering components...",
            Self::RegisterAliases => "Registering component aliases...",
            Self::FetchComponents => "Fetching components...",
            Self::UpdateCatalog => "Updating cluster catalog...",
            Self::InstallLibraryAliases => "Installing component library aliases",
            Self::UpdateReferences => "Updating Kapitan secret references...",
            Self::CleanCatalog => "Cleaning catalog repository...",
            Self::Compile => "Compiling catalog...",
            Self::Postprocess => "Postprocessing...",
            Self::UpdateCatalogRepository => "Updating catalog repository...",
            Self::Compiled => "Catalog compiled! 🎉",
            Self::LocalMode => "Running in local mode",
            Self::RegisterConfig => "Registering config...",
            Self::ResetTargets => "Resetting targets...",
            Self::ResetLinks => "Resetting component symlinks in inventory...",
            Self::CreateBootstrapTarget => "Creating bootstrap target...",
            Self::DiscoverIncludedComponents => "Discovering included components...",
            Self::RegisterComponents => "Registering components and aliases...",
            Self::ConfigureCatalog => "Configuring catalog repo...",
            Self::Notice(text) | Self::Warning(text) => return write!(f, " > {text}"),
            Self::Text(text) => text,
        })
    }
}

/// The receiver of steps.
pub type StepSink<'a> = &'a dyn Fn(Step);
