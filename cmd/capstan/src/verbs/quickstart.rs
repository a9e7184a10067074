//! `quickstart`: a tour of the main commands on two sandboxes.
//!
//! ```text
//! flags ─► Tour: command lines of this program and of kubectl ─┬─► --print
//!                                                              └─► each printed, and run as if typed
//! Setup: the folder with bundled providers and the rendered cluster, and the sandboxes of the tour
//! ```

mod components;
mod kubectl;
mod setup;

use std::{ffi::OsString, path::Path};

use api::ProviderType;
use transport::store::KeyLock;

use self::setup::{CONFIG, FLAVOR, INFRASTRUCTURE, SOURCE, TARGET, TourSetup, bundled_files};
use crate::{
    Environment, Failure, WithContext as _,
    failure::Kind,
    program::Program,
    session::Session,
    suggested_commands::quoted,
    ui::Label,
    verbs::{r#move::delete_moves_between, provider_flags::SeveralProviders},
};

/// Take a tour on two sandboxes: install, generate, apply, describe and move
///
/// Creates two management clusters on this machine, creates a workload cluster on the first, and moves it to the second. The
/// tour prints and runs each command; with its built-in providers it needs no network. The sandboxes keep running until
/// `--remove` or the next tour.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} quickstart
  {bin} quickstart --print
  {bin} quickstart --remove

  # Components instead of clusters
  {bin} quickstart --components

  # With other providers
  {bin} quickstart --config clusterctl.yaml --infrastructure docker \\
    --flavor development")]
pub(crate) struct Quickstart {
    /// Print the commands as a script instead, and create the files that they read
    #[arg(long)]
    print: bool,

    /// Only remove what the last tour created
    #[arg(long, conflicts_with = "print")]
    remove: bool,

    /// Show Components on one sandbox instead: apply two, edit one, list and delete them
    #[arg(long, conflicts_with_all = ["kubernetes_version", "flavor"])]
    components: bool,

    /// Kubernetes version of the workload cluster
    #[arg(long, value_name = "VERSION", default_value = "v1.35.0")]
    kubernetes_version: String,

    /// Flavor of the cluster template [default: development for the built-in providers]
    #[arg(short, long, value_name = "FLAVOR")]
    flavor: Option<String>,

    #[command(flatten)]
    providers: SeveralProviders,
}

const CLUSTER: &str = "demo";

/// The commands of a tour in order, and the suggested commands after the tour.
struct Tour {
    steps: Vec<(&'static str, CommandLine)>,
    next: Vec<CommandLine>,
    /// The files that the commands read, by their path in the folder of the tour.
    files: Vec<(String, String)>,
    /// The heading of the suggested commands.
    closing: &'static str,
}

/// The words of a command. The first word is `capstan` or `kubectl`, and kubectl gets `--kubeconfig FILE` first.
struct CommandLine(Vec<String>);

pub(crate) fn run(args: &Quickstart, session: &mut Session) -> Result<(), Failure> {
    let setup = TourSetup::of(session.environment())?;
    if args.remove {
        return remove(&setup, session);
    }
    let tour = if args.components {
        if args.providers.is_given() {
            return Err(Failure::user("`--components` cannot be combined with flags of providers"));
        }
        Tour::of_components(&setup)
    } else {
        Tour::of(args, &setup, session)?
    };
    if args.print { print(&tour, &setup, session) } else { run_tour(&tour, &setup, session) }
}

/// Prints the commands as a script. Writes the files that they read, so that the commands can be typed.
fn print(tour: &Tour, setup: &TourSetup, session: &mut Session) -> Result<(), Failure> {
    setup.write(&tour.files)?;
    let (program, home) = (session.program(), session.environment().home());
    let step = |(heading, line): &(_, CommandLine)| format!("# {heading}\n{}\n\n", line.text(program, home));
    let steps: String = tour.steps.iter().map(step).collect();
    let program = program.name();
    let mut afterwards: Vec<String> =
        tour_sandboxes(tour).iter().map(|name| format!("{program} sandbox delete {name}")).collect();
    afterwards.push(format!("{program} quickstart --remove"));
    let text = format!("{steps}# Afterwards: {}\n", afterwards.join("; "));
    session.printer().write(text)
}

/// Runs the tour after the last one is removed. A failed tour removes everything it created.
fn run_tour(tour: &Tour, setup: &TourSetup, session: &mut Session) -> Result<(), Failure> {
    setup.check_names()?;
    let lock = setup.lock()?;
    session.defer_interrupts();
    let ended = set_up(tour, setup, session).and_then(|()| run_steps(tour, session));
    let Err(failure) = ended else {
        let text = closing_text(tour, session);
        return session.printer().write(text);
    };
    let cleanup_text = match tear_down(setup, &lock, session) {
        Ok(()) => {
            "the sandboxes and files of the tour are removed; re-run `capstan quickstart` for another tour"
        }
        Err(_) => "run `capstan quickstart --remove` to remove the remaining sandboxes and files of the tour",
    };
    // The hints of the interrupted command are void, because its work is removed.
    let failure = if failure.kind() == Kind::Interrupted { Failure::interrupted() } else { failure };
    Err(failure.with_resume_hint("during the tour", cleanup_text))
}

/// Returns the sandboxes that the commands of a tour name.
fn tour_sandboxes(tour: &Tour) -> Vec<&'static str> {
    let is_named = |name: &&str| tour.steps.iter().any(|(_, line)| line.0.iter().any(|word| word == name));
    [SOURCE, TARGET].into_iter().filter(is_named).collect()
}

fn remove(setup: &TourSetup, session: &mut Session) -> Result<(), Failure> {
    if setup.is_empty()? {
        session.messages().status("nothing to remove");
        return Ok(());
    }
    let lock = setup.lock()?;
    tear_down(setup, &lock, session)
}

fn set_up(tour: &Tour, setup: &TourSetup, session: &mut Session) -> Result<(), Failure> {
    if !setup.sandboxes()?.is_empty() {
        session.messages().status("removing the last tour");
        remove_sandboxes(setup, session)?;
    }
    setup.write(&tour.files)?;
    setup.create_sandboxes()
}

fn run_steps(tour: &Tour, session: &mut Session) -> Result<(), Failure> {
    for (heading, line) in &tour.steps {
        let typed = line.text(session.program(), session.environment().home());
        let painted = Label::Command.paint(format!("$ {typed}"), session.printer().is_stdout_coloured());
        print_now(&format!("# {heading}\n{painted}\n"), session)?;
        let name = line.name(session.program());
        line.run(session).with_context(|| format!("the tour failed at `{name}`"))?;
        print_now("\n", session)?;
    }
    Ok(())
}

/// Prints a text immediately, because the messages of the next command go to another stream.
fn print_now(text: &str, session: &mut Session) -> Result<(), Failure> {
    session.printer().write(text)?;
    session.printer().flush()
}

fn tear_down(setup: &TourSetup, lock: &KeyLock, session: &mut Session) -> Result<(), Failure> {
    remove_sandboxes(setup, session)?;
    setup.remove(lock)
}

fn remove_sandboxes(setup: &TourSetup, session: &mut Session) -> Result<(), Failure> {
    if let Some([source, target]) = setup.server_addresses()? {
        delete_moves_between([&source, &target], session.environment())
            .with_context(|| "cannot remove the journal of the move".to_owned())?;
    }
    for name in setup.sandboxes()? {
        CommandLine::new(&format!("capstan sandbox delete {name}"), &[]).run(session)?;
    }
    Ok(())
}

/// Returns the suggested commands, and the command that removes everything.
fn closing_text(tour: &Tour, session: &Session) -> String {
    let (program, environment) = (session.program(), session.environment());
    let executable = std::env::current_exe().ok();
    let folder = executable.and_then(|path| {
        folder_to_add(&path, program, environment)
            .map(|folder| format!("  export PATH=\"{}:$PATH\"\n", folder.display()))
    });
    let next = tour.next.iter().map(|line| format!("  {}\n", line.text(program, environment.home())));
    format!(
        "# {}\n{}\n# Remove everything:\n  {} quickstart --remove\n",
        tour.closing,
        folder.into_iter().chain(next).collect::<String>(),
        program.name()
    )
}

/// Returns the folder of the program if a shell cannot find the program, such as after a build.
fn folder_to_add<'p>(executable: &'p Path, program: Program, environment: &Environment) -> Option<&'p Path> {
    let folder = executable.parent()?;
    let is_named_so = executable.file_stem()? == program.name();
    let mut found = environment.get("PATH").map(std::env::split_paths).into_iter().flatten();
    let is_found = found.any(|on_path| {
        // Includes links to the program.
        on_path == folder || on_path.join(program.name()).canonicalize().is_ok_and(|path| path == executable)
    });
    (is_named_so && !is_found).then_some(folder)
}

impl Tour {
    /// Returns a tour with the named providers, or with the bundled ones.
    fn of(args: &Quickstart, setup: &TourSetup, session: &Session) -> Result<Self, Failure> {
        let config = session.globals().config.clone().filter(|path| !path.is_empty());
        let uses_bundled_providers = config.is_none() && !args.providers.is_given();
        let flavor = args.flavor.clone();
        let (providers, infrastructure, config, flavor) = if uses_bundled_providers {
            let providers = ["--infrastructure", INFRASTRUCTURE].map(str::to_owned).to_vec();
            let flavor = flavor.unwrap_or_else(|| FLAVOR.to_owned());
            (providers, INFRASTRUCTURE.to_owned(), Some(setup.path_of(CONFIG)), Some(flavor))
        } else {
            let flavor = flavor.filter(|flavor| !flavor.is_empty());
            (args.providers.to_args(), args.infrastructure()?, config, flavor)
        };
        let flag = |name: &str, value: Option<String>| {
            value.map(|value| vec![name.to_owned(), value]).unwrap_or_default()
        };
        let (config, file) = (flag("--config", config), setup.path_of("demo.yaml"));
        let init = |sandbox| {
            CommandLine::new(&format!("capstan init --sandbox {sandbox}"), &[&*providers, &*config].concat())
        };
        let kubectl = |sandbox: &str, task: &str, more: &[String]| {
            let reach = ["kubectl".to_owned(), "--kubeconfig".to_owned(), setup.kubeconfig(sandbox)?];
            let task = task.split(' ').map(str::to_owned);
            let words = reach.into_iter().chain(task).chain(more.iter().cloned());
            Ok::<_, Failure>(CommandLine(words.collect()))
        };
        let own = |line: &str| CommandLine::new(line, &[]);
        let generate = [
            flag("--infrastructure", Some(infrastructure)),
            flag("--flavor", flavor),
            flag("--kubernetes-version", Some(args.kubernetes_version.clone())),
            ["--control-plane-machine-count", "1", "--worker-machine-count", "2"].map(str::to_owned).to_vec(),
            flag("--write-to", Some(file.clone())),
            config.clone(),
        ];
        let wait = kubectl::wait_until_available(CLUSTER);
        let steps = vec![
            ("Create a management cluster with cert-manager, Cluster API and providers", init(SOURCE)),
            (
                "Generate the objects of a workload cluster from a template of the infrastructure provider",
                CommandLine::new(
                    &format!("capstan generate cluster {CLUSTER} --sandbox {SOURCE}"),
                    &generate.concat(),
                ),
            ),
            ("Apply the objects (the tour does this without kubectl)", kubectl(SOURCE, "apply -f", &[file])?),
            ("Wait until the machines are available", kubectl(SOURCE, &wait, &[])?),
            (
                "Show the workload cluster",
                own(&format!("capstan describe cluster {CLUSTER} --sandbox {SOURCE}")),
            ),
            ("Create a second management cluster", init(TARGET)),
            (
                "Move the workload cluster; its machines keep running",
                own(&format!("capstan move --sandbox {SOURCE} --to-sandbox {TARGET}")),
            ),
            (
                "Wait until the second management cluster reports the cluster as available",
                kubectl(TARGET, &wait, &[])?,
            ),
            (
                "Show the same workload cluster on the second management cluster",
                own(&format!("capstan describe cluster {CLUSTER} --sandbox {TARGET}")),
            ),
        ];
        let next = vec![
            own(&format!("capstan status --sandbox {TARGET}")),
            own(&format!("capstan move --sandbox {TARGET} --to-sandbox {SOURCE} --dry-run")),
            kubectl(TARGET, "get clusters,machines", &[])?,
        ];
        let files = if uses_bundled_providers { bundled_files() } else { Vec::new() };
        Ok(Self { steps, next, files, closing: "Both management clusters keep running. Explore them:" })
    }
}

impl Quickstart {
    /// Returns the infrastructure provider of the rendered template.
    fn infrastructure(&self) -> Result<String, Failure> {
        let mut requested = self.providers.requested()?.providers.into_iter().map(|(id, _)| id);
        let found = requested.find(|id| id.provider_type == ProviderType::Infrastructure);
        found.map(|id| id.name).ok_or_else(|| {
            Failure::user("the infrastructure provider is missing")
                .hint("add a configured provider with `--infrastructure NAME`")
        })
    }
}

impl CommandLine {
    fn new(line: &str, more: &[String]) -> Self {
        Self(line.split(' ').map(str::to_owned).chain(more.iter().cloned()).collect())
    }

    /// Returns the command as typed in a shell. A long command continues on further lines, which start with flags.
    fn text(&self, program: Program, home: Option<&Path>) -> String {
        let name = |word: &String| match word.as_str() {
            "capstan" => program.name().to_owned(),
            word => quoted(word, home),
        };
        let (first, rest) = self.0.split_at(1);
        wrap(&first.iter().map(name).chain(rest.iter().map(|word| quoted(word, home))).collect::<Vec<_>>())
    }

    /// Returns the program and its verbs.
    fn name(&self, program: Program) -> String {
        if let [kubectl, _, _, verb, ..] = &*self.0
            && kubectl == "kubectl"
        {
            return format!("kubectl {verb}");
        }
        let verbs = self.0.iter().skip(1).take_while(|word| !word.starts_with('-')).take(2);
        verbs.fold(program.name().to_owned(), |name, word| format!("{name} {word}"))
    }

    /// Runs the command in this process.
    fn run(&self, session: &mut Session) -> Result<(), Failure> {
        if let [kubectl, _, kubeconfig, task @ ..] = &*self.0
            && kubectl == "kubectl"
        {
            return kubectl::run(kubeconfig, task, session);
        }
        let program = session.program();
        let words = self.0.iter().skip(1).map(String::as_str);
        let argv: Vec<OsString> = std::iter::once(program.name()).chain(words).map(Into::into).collect();
        (session.interpreter().run)(&argv, session)
    }
}

/// Joins words, with a line break before a flag that would make the line too long.
fn wrap(words: &[String]) -> String {
    const WIDTH: usize = 100;
    let (mut lines, mut line) = (String::new(), String::new());
    for flag in words.chunk_by(|_, next| !next.starts_with('-')).map(|flag| flag.join(" ")) {
        if !line.is_empty() && line.len() + flag.len() > WIDTH {
            lines.extend([&line, "\\\n    "]);
            line.clear();
        }
        line.extend([&flag, " "]);
    }
    lines + line.trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_the_program_is_shown_unless_a_shell_finds_it() {
        let reported = |path: &str, program| {
            let environment = Environment::new([("PATH", path)], "/");
            folder_to_add(Path::new("/src/target/release/capstan"), program, &environment)
        };
        assert_eq!(reported("/bin:/usr/bin", Program::Capstan), Some(Path::new("/src/target/release")));
        assert_eq!(reported("/bin:/src/target/release", Program::Capstan), None);
        assert_eq!(reported("/bin", Program::Clusterctl), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_program_that_a_shell_finds_through_a_link_needs_no_path() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let executable = root.join("target/capstan");
        for folder in ["target", "bin"] {
            std::fs::create_dir(root.join(folder)).unwrap();
        }
        std::fs::write(&executable, "").unwrap();
        std::os::unix::fs::symlink(&executable, root.join("bin/capstan")).unwrap();
        let environment = Environment::new([("PATH", root.join("bin"))], "/");
        assert_eq!(folder_to_add(&executable, Program::Capstan, &environment), None);
    }

    #[test]
    fn a_long_command_wraps_before_a_flag_with_its_value() {
        let words =
            |value: usize| ["do", "it", "--first", &"x".repeat(value), "--second", "y z"].map(str::to_owned);
        assert_eq!(wrap(&words(3)), "do it --first xxx --second y z");
        let (long, text) = ("x".repeat(90), wrap(&words(90)));
        assert_eq!(text, format!("do it \\\n    --first {long} \\\n    --second y z"));
    }

    #[test]
    fn a_command_is_named_by_its_verbs() {
        let name = |line: &str| CommandLine::new(line, &[]).name(Program::Clusterctl);
        assert_eq!(name("capstan init --sandbox a"), "clusterctl init");
        assert_eq!(name("capstan describe cluster demo"), "clusterctl describe cluster");
        assert_eq!(name("kubectl --kubeconfig a apply -f b"), "kubectl apply");
    }
}
