use std::collections::BTreeMap;

use catalog::scaffold::DependencyKind;

use crate::verbs::catalog::template_flags::TemplateFlags;
use crate::{Failure, session::Session};

/// Create a package from a template
///
/// Renders a template of cookiecutter in a Git repository, and commits its files as the first commit of a new repository,
/// like `commodore package new`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} catalog package new monitoring
  {bin} catalog package new monitoring --output-dir . -t openshift")]
pub(crate) struct New {
    /// Name of the package in hierarchies, such as monitoring
    #[arg(value_name = "SLUG")]
    slug: String,

    #[command(flatten)]
    template: TemplateFlags,
}

pub(super) fn run(args: &New, session: &mut Session) -> Result<(), Failure> {
    args.template.create(DependencyKind::Package, &args.slug, BTreeMap::new(), session)
}
