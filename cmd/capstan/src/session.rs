use std::{
    cell::OnceCell,
    ffi::OsString,
    future::Future,
    mem,
    rc::Rc,
    time::{Duration, Instant},
};

use api::ProviderId;
use provider::{ProviderReleases, config::Config};
use serde::Serialize;

use crate::{
    Environment, Failure,
    events::{ClusterEvents, ProgressFormat, Writes},
    failure::Kind,
    program::{CommandTree, Program},
    runtime::Runtime,
    settings::{self, Globals, OutputFormat},
    suggested_commands::SuggestedCommands,
    ui::{Input, Keyboard, Messages, Printer, closing_line},
};

/// The command line as a whole, for verbs that show or run other commands.
#[derive(Clone, Copy)]
pub(crate) struct Interpreter {
    pub(crate) tree: CommandTree,
    /// Runs a command line inside this run, on the same streams. The first argument is the name of the program.
    pub(crate) run: fn(&[OsString], &mut Session) -> Result<(), Failure>,
}

/// What a verb is handed beside its own flags: settled flags, the environment, the way out.
pub(crate) struct Session {
    program: Program,
    interpreter: Interpreter,
    environment: Environment,
    globals: Globals,
    printer: Printer,
    input: Input,
    runtime: Runtime,
    config: OnceCell<Rc<Config>>,
    repositories: OnceCell<repository::Context>,
    writes: Writes,
    started_at: Instant,
}

impl Session {
    pub(crate) fn new(
        program: Program,
        interpreter: Interpreter,
        environment: Environment,
        globals: Globals,
        printer: Printer,
        input: Input,
    ) -> Self {
        let runtime = Runtime::new(printer.messages().progress().clone());
        Self {
            program,
            interpreter,
            environment,
            globals,
            printer,
            input,
            runtime,
            config: OnceCell::new(),
            repositories: OnceCell::new(),
            writes: Writes::default(),
            started_at: Instant::now(),
        }
    }

    pub(crate) fn into_printer(self) -> Printer {
        self.printer
    }

    pub(crate) fn program(&self) -> Program {
        self.program
    }

    pub(crate) fn interpreter(&self) -> Interpreter {
        self.interpreter
    }

    /// Completes a command that is suggested: with the name of this program, and the flags of this run that it takes.
    pub(crate) fn suggested(&self, command: &str) -> String {
        self.messages().commands().command(command)
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    pub(crate) fn globals(&self) -> &Globals {
        &self.globals
    }

    pub(crate) fn printer(&mut self) -> &mut Printer {
        &mut self.printer
    }

    /// Prints the result of a verb. The text gets the width of the terminal it goes to, if it goes to one.
    pub(crate) fn print<T: Serialize>(
        &mut self,
        format: OutputFormat,
        result: &T,
        text: impl FnOnce(&T, Option<usize>) -> String,
    ) -> Result<(), Failure> {
        let width = self.printer.width();
        self.printer.data(format.render(result, |result| text(result, width))?)
    }

    /// The way out on stderr; a clone of it can go into a library's events.
    pub(crate) fn messages(&self) -> &Messages {
        self.printer.messages()
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started_at.elapsed()
    }

    /// The objects that this run has changed so far.
    pub(crate) fn writes(&self) -> &Writes {
        &self.writes
    }

    /// Ends a verb that writes something else than a cluster with one line: its result, and the time it took.
    pub(crate) fn done(&self, result: impl AsRef<str>) {
        self.messages().status(closing_line(result.as_ref(), self.elapsed()));
    }

    /// The same for a verb that writes to a cluster, which also shows its progress as JSON.
    pub(crate) fn done_on_cluster(&self, format: ProgressFormat, result: impl AsRef<str>) {
        self.cluster_events(format).done(result.as_ref(), self.elapsed());
    }

    /// The configuration with the environment on top; read by the first call.
    pub(crate) fn config(&self) -> Result<Rc<Config>, Failure> {
        if let Some(config) = self.config.get() {
            return Ok(Rc::clone(config));
        }
        let config =
            Rc::new(settings::load(&self.globals, &self.environment, self.messages(), &self.runtime)?);
        Ok(Rc::clone(self.config.get_or_init(|| config)))
    }

    /// How provider repositories are reached, under the lock of this run; one for the whole run, so that nothing is
    /// fetched twice.
    pub(crate) fn repositories(&self) -> Result<repository::Context, Failure> {
        if let Some(context) = self.repositories.get() {
            return Ok(context.clone());
        }
        let lock = settings::lock_settings(&self.globals, &self.environment)?;
        if let Some(lock) = &lock {
            self.messages().log(1, format!("reading what is locked in `{}`", lock.place));
        }
        let context = settings::repositories(
            &*self.config()?,
            &self.globals,
            &self.environment,
            self.messages(),
            lock,
        )?;
        Ok(self.repositories.get_or_init(|| context).clone())
    }

    /// The releases of a configured provider, overrides in front. Nothing is read yet.
    pub(crate) fn provider_releases(&self, id: &ProviderId) -> Result<ProviderReleases, Failure> {
        let config = self.config()?;
        let provider = config.provider(id)??;
        let overrides = settings::overrides(&config, &self.environment)?;
        Ok(ProviderReleases::open(provider, overrides, &self.repositories()?)?)
    }

    /// Shows what happens on a management cluster, and counts what is written there.
    pub(crate) fn cluster_events(&self, format: ProgressFormat) -> ClusterEvents {
        ClusterEvents::new(self.messages().clone(), format, self.writes.clone())
    }

    /// Runs what may write to a management cluster. `goes_on` is what to do when it ends half-way.
    pub(crate) fn carry_out<T, E: Into<Failure>>(
        &self,
        future: impl Future<Output = Result<T, E>>,
        goes_on: &str,
    ) -> Result<T, Failure> {
        self.block_on(future).map_err(|failure| failure.after_writes(&self.writes, goes_on))
    }

    pub(crate) fn read_stdin(&mut self) -> Result<Vec<u8>, Failure> {
        let limit = repository::Context::default().max_file_bytes();
        self.input
            .read_to_end(self.printer.messages(), limit)
            .map_err(|error| Failure::new(Kind::Environment, "cannot read standard input").because(&error))
    }

    pub(crate) fn stdin(&mut self) -> &mut dyn std::io::Read {
        self.input.stream()
    }

    /// Reads keys one by one from now on, if a person sits at the terminal.
    pub(crate) fn keyboard(&self) -> Result<Option<Keyboard>, Failure> {
        if !self.input.is_terminal() {
            return Ok(None);
        }
        self.block_on(async { Ok::<_, Failure>(Keyboard::open()) })
    }

    /// Runs a future to its end, drawing what is waited for; Ctrl-C drops it.
    /// The runtime is made by the first call: a verb that never waits never pays for it.
    pub(crate) fn block_on<T, E: Into<Failure>>(
        &self,
        future: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Failure> {
        self.runtime.block_on(future)
    }

    /// Lets a run that has something to undo end by itself: from now on a Ctrl-C that comes while nothing is waited for
    /// is `interrupted` at the next wait.
    pub(crate) fn hold_interrupts(&self) {
        self.runtime.hold_interrupts();
    }

    /// Runs a command line inside this one: with its own flags and configuration, on the same streams.
    pub(crate) fn within<T>(
        &mut self,
        globals: Globals,
        commands: SuggestedCommands,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let globals = mem::replace(&mut self.globals, globals);
        let commands = self.messages().suggest(commands);
        let (config, repositories) = (self.config.take(), self.repositories.take());
        let writes = mem::take(&mut self.writes);
        let started_at = mem::replace(&mut self.started_at, Instant::now());
        let result = run(self);
        self.globals = globals;
        self.messages().suggest(commands);
        self.config = config.map(OnceCell::from).unwrap_or_default();
        self.repositories = repositories.map(OnceCell::from).unwrap_or_default();
        self.writes = writes;
        self.started_at = started_at;
        result
    }
}
