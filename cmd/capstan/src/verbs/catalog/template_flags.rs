//! The flags of components and packages that are created from a template.

use std::collections::BTreeMap;
use std::path::PathBuf;

use catalog::WorkingFolder;
use catalog::scaffold::{CreatedDependency, DependencyKind, HookRunner, NewDependency, ScaffoldRun, create};
use repository::git::GitAuthor;

use super::{
    compilation::WorkingDirFlag,
    compile::Lines,
    program::ProgramRunner,
    tools::{SessionHooks, temporary_folder},
};
use crate::{Environment, Failure, session::Session};

/// The holder of the copyright without a flag.
const COPYRIGHT_HOLDER: &str = "VSHN AG <info@vshn.ch>";
/// The owner of the repository without a flag.
const OWNER: &str = "projectsyn";

/// The flags that components and packages have in common.
#[derive(clap::Args)]
pub(super) struct TemplateFlags {
    /// Name in the documentation [default: the slug]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Folder for the new repository [default: `dependencies` of the working folder]
    #[arg(long, value_name = "FOLDER")]
    output_dir: Option<PathBuf>,

    #[command(flatten)]
    working_dir: WorkingDirFlag,

    /// User or organization on GitHub [default: projectsyn]
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,

    /// Holder of the copyright [default: VSHN AG <info@vshn.ch>]
    #[arg(long, value_name = "HOLDER")]
    copyright: Option<String>,

    /// Leave out golden tests
    #[arg(long, overrides_with = "golden_tests")]
    no_golden_tests: bool,

    #[arg(long, hide = true, overrides_with = "no_golden_tests")]
    golden_tests: bool,

    /// Test case in addition to `defaults`; repeatable
    #[arg(short = 't', long, value_name = "CASE")]
    additional_test_case: Vec<String>,

    /// Git repository of the template [default: that of Project Syn on GitHub]
    #[arg(long, value_name = "URL")]
    template_url: Option<String>,

    /// Branch, tag or hash of the template [default: main]
    #[arg(long, value_name = "REVISION")]
    template_version: Option<String>,

    #[command(flatten)]
    hooks: HookFlag,
}

/// The permission of the hooks of templates.
#[derive(clap::Args)]
pub(super) struct HookFlag {
    /// Run the hooks of the template, which are programs
    #[arg(long)]
    allow_external: bool,
}

impl HookFlag {
    /// Returns what runs the hooks. None if they may not run.
    pub(super) fn runner<'s>(&self, session: &'s Session) -> Result<Option<SessionHooks<'s>>, Failure> {
        self.allow_external.then(|| ProgramRunner::new(session).map(SessionHooks)).transpose()
    }
}

/// The environment variables of a command, such as `COMMODORE_COMPONENT_NEW_OWNER`.
pub(super) struct CommandVariables<'s> {
    environment: &'s Environment,
    prefix: &'static str,
}

impl<'s> CommandVariables<'s> {
    pub(super) fn new(prefix: &'static str, environment: &'s Environment) -> Self {
        Self { environment, prefix }
    }

    /// Returns the value of a flag, or else of its variable.
    pub(super) fn text(&self, flag: Option<&str>, name: &str) -> Option<String> {
        let variable = || self.environment.text(&format!("{}{name}", self.prefix));
        flag.or_else(variable).map(str::to_owned)
    }

    /// Returns the value of a pair of flags, or else of their variable, or else the default.
    pub(super) fn switch(&self, flags: (bool, bool), name: &str, default: bool) -> bool {
        self.choice(flags, name).unwrap_or(default)
    }

    /// Returns the value of a pair of flags, or else of their variable. None if neither is set.
    pub(super) fn choice(&self, (yes, no): (bool, bool), name: &str) -> Option<bool> {
        if yes || no {
            return Some(yes);
        }
        let text = self.text(None, name).map(|text| text.to_ascii_lowercase());
        match text.as_deref() {
            Some("1" | "true" | "t" | "yes" | "y" | "on") => Some(true),
            Some("0" | "false" | "f" | "no" | "n" | "off") => Some(false),
            _ => None,
        }
    }

    /// Returns the values of a repeatable flag, or else the words of its variable.
    pub(super) fn list(&self, flags: &[String], name: &str) -> Vec<String> {
        if !flags.is_empty() {
            return flags.to_vec();
        }
        let text = self.text(None, name).unwrap_or_default();
        text.split_whitespace().map(str::to_owned).collect()
    }
}

/// Names the hooks of a template, which did not run.
pub(super) fn warn_of_hooks(hooks: &[String], session: &Session) {
    for hook in hooks {
        session.messages().warning(format!(
            "hook `{hook}` of the template did not run: check the files that it would change, or allow it with \
             `--allow-external`, if you trust the template"
        ));
    }
}

/// Returns the author of commits in the environment.
pub(super) fn author(session: &Session) -> Option<GitAuthor> {
    let environment = session.environment();
    let author = environment.text("GIT_AUTHOR_NAME").zip(environment.text("GIT_AUTHOR_EMAIL"));
    author.map(|(name, email)| GitAuthor { name: name.to_owned(), email: email.to_owned() })
}

/// Returns `y` or `n`, the values of switches in templates.
pub(super) fn letter(is_on: bool) -> String {
    if is_on { "y" } else { "n" }.to_owned()
}

impl TemplateFlags {
    /// Returns the test cases, each once.
    pub(super) fn test_cases(&self, variables: &CommandVariables<'_>) -> Vec<String> {
        let mut cases = vec!["defaults".to_owned()];
        for case in variables.list(&self.additional_test_case, "ADDITIONAL_TEST_CASE") {
            if !cases.contains(&case) {
                cases.push(case);
            }
        }
        cases
    }

    /// Creates the component or package, and prints the lines of Commodore.
    pub(super) fn create(
        &self,
        kind: DependencyKind,
        slug: &str,
        own_values: BTreeMap<String, String>,
        session: &mut Session,
    ) -> Result<(), Failure> {
        let lines = Lines::default();
        let created = self.create_with(kind, slug, own_values, &lines, session);
        lines.print(session)?;
        warn_of_hooks(&created?.hooks, session);
        Ok(())
    }

    fn create_with(
        &self,
        kind: DependencyKind,
        slug: &str,
        own_values: BTreeMap<String, String>,
        lines: &Lines,
        session: &Session,
    ) -> Result<CreatedDependency, Failure> {
        let variables = CommandVariables::new(prefix(kind), session.environment());
        let text = |flag: &Option<String>, name: &str| variables.text(flag.as_deref(), name);
        let environment = session.environment();
        let output =
            variables.text(self.output_dir.as_deref().and_then(std::path::Path::to_str), "OUTPUT_DIR");
        let output = output.filter(|output| !output.is_empty()).map(|output| environment.resolve(output));
        if let Some(output) = output.as_ref().filter(|output| !output.is_dir()) {
            return Err(Failure::user(format!("Output directory {} doesn't exist", output.display())));
        }
        let mut values = own_values;
        values.extend(
            [
                ("add_golden", letter(self.has_golden_tests(&variables))),
                (
                    "copyright_holder",
                    text(&self.copyright, "COPYRIGHT").unwrap_or_else(|| COPYRIGHT_HOLDER.to_owned()),
                ),
                ("copyright_year", jiff::Zoned::now().year().to_string()),
                ("test_cases", self.test_cases(&variables).join(" ")),
            ]
            .map(|(name, value)| (name.to_owned(), value)),
        );
        let url =
            text(&self.template_url, "TEMPLATE_URL").unwrap_or_else(|| default_template(kind).to_owned());
        // Git remotes are absolute paths or URLs.
        let local = environment.resolve(&url);
        let url = if local.is_dir() { local.display().to_string() } else { url };
        let folder = self.working_dir.folder(environment);
        let temporary = temporary_folder(session)?;
        let temporary_paths = WorkingFolder::new(temporary.path());
        let author = author(session);
        let new = NewDependency {
            kind,
            slug,
            name: self.name.as_deref(),
            owner: &text(&self.owner, "OWNER").unwrap_or_else(|| OWNER.to_owned()),
            output: output.as_deref(),
            template_url: &url,
            template_version: &text(&self.template_version, "TEMPLATE_VERSION")
                .unwrap_or_else(|| "main".to_owned()),
            values: &values,
            author: author.as_ref(),
        };
        let context = session.repositories()?;
        let report = |step| lines.add(&step);
        let hooks = self.hooks.runner(session)?;
        let run = ScaffoldRun {
            folder: &folder,
            temporary: &temporary_paths,
            context: &context,
            report: &report,
            hooks: hooks.as_ref().map(|hooks| hooks as &dyn HookRunner),
        };
        session.block_on(create(&new, run))
    }

    fn has_golden_tests(&self, variables: &CommandVariables<'_>) -> bool {
        variables.switch((self.golden_tests, self.no_golden_tests), "GOLDEN_TESTS", true)
    }
}

/// The start of the variables of a command.
pub(super) fn prefix(kind: DependencyKind) -> &'static str {
    match kind {
        DependencyKind::Component => "COMMODORE_COMPONENT_NEW_",
        DependencyKind::Package => "COMMODORE_PACKAGE_NEW_",
    }
}

fn default_template(kind: DependencyKind) -> &'static str {
    match kind {
        DependencyKind::Component => "https://github.com/projectsyn/commodore-component-template.git",
        DependencyKind::Package => "https://github.com/projectsyn/commodore-config-package-template.git",
    }
}
