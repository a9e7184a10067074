use std::{ffi::OsString, path::PathBuf};

use clap::{ArgMatches, Command, FromArgMatches as _};

use super::{
    dialect::{SURPLUS, adapt},
    help::usage,
    tree::{Root, command_for_program, command_for_words},
    usage_error,
    verb_path::{VerbPath, verbs_first},
};
use crate::{
    Environment, Failure,
    program::Program,
    settings::{Globals, KubeFlags},
    suggested_commands::SuggestedCommands,
    verbs::Verb,
};

pub(crate) enum Invocation {
    Verb(Box<Verb>),
    Help(Vec<String>),
    Version,
}

impl Invocation {
    pub(crate) fn is_help_request(&self) -> bool {
        match self {
            Self::Help(_) => true,
            Self::Verb(verb) => matches!(**verb, Verb::Help(_)),
            Self::Version => false,
        }
    }
}

pub(crate) struct ParsedArgs {
    pub(crate) globals: Globals,
    source: KubeFlags,
    target: KubeFlags,
    /// The flags for the folder and the API of a catalog.
    catalog: Vec<(&'static str, String)>,
    pub(crate) invocation: Invocation,
}

impl From<Invocation> for ParsedArgs {
    fn from(invocation: Invocation) -> Self {
        let (globals, source, target, catalog) = Default::default();
        Self { globals, source, target, catalog, invocation }
    }
}

impl ParsedArgs {
    /// Returns a builder of suggested commands that repeat the flags of this run.
    pub(crate) fn suggested_commands(
        &self,
        program: Program,
        environment: &Environment,
    ) -> SuggestedCommands {
        let Globals { config, lock, .. } = &self.globals;
        let files = [("--config", config), ("--lock", lock)];
        let given = files.into_iter().filter_map(|(flag, path)| Some((flag, path.clone()?)));
        let given = given.filter(|(_, path)| !path.is_empty());
        let flags = given.chain(self.catalog.iter().cloned()).collect();
        SuggestedCommands::new(
            program,
            command_for_program,
            environment.clone(),
            self.source.clone(),
            self.target.clone(),
            flags,
        )
    }
}

/// Parses a command line. The first word is the program name.
pub(crate) fn parse(program: Program, argv: &[OsString]) -> Result<ParsedArgs, Failure> {
    let words = argv.get(1..).unwrap_or_default();
    // Errors mention flags and verbs of other commands.
    parse_with(&command_for_words(program, words), argv)
        .or_else(|_| parse_with(&command_for_program(program), argv))
}

fn parse_with(tree: &Command, argv: &[OsString]) -> Result<ParsedArgs, Failure> {
    // clusterctl sees no command after these words and shows its help.
    if argv.get(1).is_some_and(|first| first == "-" || first == "--") {
        return Ok(ParsedArgs::from(Invocation::Help(Vec::new())));
    }
    let mut dialect = adapt(tree.clone());
    let mut matches = dialect.try_get_matches_from_mut(verbs_first(tree, argv)).map_err(|error| {
        unknown_verb_failure(tree, argv).unwrap_or_else(|| usage_error::explain(&error, tree))
    })?;
    let globals = Globals::from_arg_matches(&matches).map_err(|error| usage_error::explain(&error, tree))?;
    let named = InnermostCommand::of(tree, &matches);
    let (source, target) = (named.cluster_flags(""), named.cluster_flags("to_"));
    let catalog = named.catalog_flags();
    let done = |invocation| ParsedArgs { globals, source, target, catalog, invocation };
    let is_group = is_group(named.command);
    if let Some(word) = named.surplus().filter(|_| is_group) {
        return Err(usage_error::unknown_verb(&named.path, named.command, word));
    }
    if is_group || named.matches.get_flag("help") {
        return Ok(done(Invocation::Help(named.path)));
    }
    named.check_arguments(tree)?;
    if matches.get_flag("version") && matches.subcommand().is_none() {
        return Ok(done(Invocation::Version));
    }
    if let Some((flag, word)) = find_flag_before_plugin(tree, &matches, argv) {
        return Err(usage_error::flag_before_plugin(tree, flag, word));
    }
    let root =
        Root::from_arg_matches_mut(&mut matches).map_err(|error| usage_error::explain(&error, tree))?;
    let invocation = match root.verb {
        Some(verb) => Invocation::Verb(Box::new(verb)),
        None => Invocation::Help(Vec::new()),
    };
    Ok(done(invocation))
}

/// The innermost named command and its arguments.
struct InnermostCommand<'a> {
    path: Vec<String>,
    command: &'a Command,
    matches: &'a ArgMatches,
}

impl<'a> InnermostCommand<'a> {
    fn of(tree: &'a Command, matches: &'a ArgMatches) -> Self {
        let mut named = Self { path: Vec::new(), command: tree, matches };
        while let Some((name, matches)) = named.matches.subcommand() {
            // The root passes unknown words to plugins.
            let Some(command) = named.command.find_subcommand(name) else { break };
            named.path.push(command.get_name().to_owned());
            named.command = command;
            named.matches = matches;
        }
        named
    }

    fn check_arguments(&self, tree: &Command) -> Result<(), Failure> {
        let mut required = self.command.get_positionals().filter(|arg| arg.is_required_set());
        let missing = required.find(|arg| !self.matches.contains_id(arg.get_id().as_str()));
        let failure = match (missing, self.surplus()) {
            (Some(positional), _) => usage_error::missing_argument(positional),
            (None, Some(word)) => usage_error::surplus_argument(&self.path, self.command, word),
            (None, None) => return Ok(()),
        };
        Err(failure.with_usage(usage(tree.clone(), &self.path)))
    }

    /// Returns the cluster flags of the command, or those whose ids start with `prefix`.
    fn cluster_flags(&self, prefix: &str) -> KubeFlags {
        let id = |name| format!("{prefix}{name}");
        KubeFlags {
            kubeconfig: self.one::<PathBuf>(&id("kubeconfig")).filter(|path| !path.as_os_str().is_empty()),
            kubeconfig_context: self.one::<String>(&id("kubeconfig_context")).filter(|name| !name.is_empty()),
            sandbox: self.one(&id("sandbox")),
        }
    }

    /// Returns the flags that select the folder and the API of a catalog. Addresses that may have a password are left out.
    fn catalog_flags(&self) -> Vec<(&'static str, String)> {
        let folder = |id| Some(self.one::<PathBuf>(id)?.display().to_string());
        let address = self.one::<String>("api_url").filter(|address| !address.contains(['@', '?']));
        let flags = [
            ("--working-dir", folder("working_dir")),
            ("--directory", folder("directory")),
            ("--api-url", address),
        ];
        flags.into_iter().filter_map(|(flag, value)| Some((flag, value?))).collect()
    }

    fn one<T: Clone + Send + Sync + 'static>(&self, id: &str) -> Option<T> {
        self.matches.try_get_one::<T>(id).ok().flatten().cloned()
    }

    fn surplus(&self) -> Option<&str> {
        let mut words = self.matches.try_get_many::<String>(SURPLUS).ok().flatten()?;
        words.next().map(String::as_str)
    }
}

/// True if a command needs a subcommand. The root has flags and accepts plugins, so it is not a group.
fn is_group(command: &Command) -> bool {
    command.has_subcommands() && command.get_arguments().next().is_none()
}

/// Returns the failure for a word in the place of a verb that is not a verb. `None` if there is no such word.
fn unknown_verb_failure(tree: &Command, argv: &[OsString]) -> Option<Failure> {
    let path = VerbPath::find(tree, argv.get(1..)?);
    let word = path.next_word?;
    if path.verbs.is_empty() {
        return Some(usage_error::unknown_command(tree, &word));
    }
    let verbs: Vec<String> = path.verbs.iter().map(|verb| verb.to_string_lossy().into_owned()).collect();
    is_group(path.command).then(|| usage_error::unknown_verb(&verbs, path.command, &word))
}

/// Returns a leading flag and the next word, if that word is not a verb and may be a plugin.
/// clusterctl accepts no flag before the name of a plugin, because the owner of the flag would be ambiguous.
fn find_flag_before_plugin<'a>(
    tree: &Command,
    matches: &'a ArgMatches,
    argv: &'a [OsString],
) -> Option<(&'a OsString, &'a str)> {
    let (word, _) = matches.subcommand()?;
    let is_plugin = tree.find_subcommand(word).is_none();
    let first = argv.get(1).filter(|first| is_plugin && first.to_string_lossy().starts_with('-'))?;
    Some((first, word))
}
