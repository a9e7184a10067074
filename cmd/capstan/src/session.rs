use std::{
    cell::OnceCell,
    ffi::OsString,
    future::Future,
    mem,
    pin::Pin,
    rc::Rc,
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use api::{ExitStatus, ProviderId};
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
    ui::{Input, Keyboard, Messages, Printer, closing_line, confirm},
};

/// Access to the whole command line, for verbs that show or run other commands.
#[derive(Clone, Copy)]
pub(crate) struct Interpreter {
    pub(crate) tree: CommandTree,
    /// Runs a command line inside this run, on the same streams. The first argument is the program name.
    pub(crate) run: fn(&[OsString], &mut Session) -> Result<(), Failure>,
}

/// The context of a verb: global flags, the environment, and output.
pub(crate) struct Session {
    program: Program,
    interpreter: Interpreter,
    environment: Environment,
    globals: Globals,
    printer: Printer,
    input: Input,
    runtime: Runtime,
    config: OnceCell<Rc<Config>>,
    repositories: OnceCell<repository::RepositoryContext>,
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

    /// Completes a suggested command with the name of this program and the applicable flags of this run.
    pub(crate) fn complete_command(&self, command: &str) -> String {
        self.messages().commands().complete_command(command)
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

    /// Prints the result of a verb. The text function receives the width of the terminal, if the output is a
    /// terminal.
    pub(crate) fn print<T: Serialize>(
        &mut self,
        format: OutputFormat,
        result: &T,
        text: impl FnOnce(&T, Option<usize>) -> String,
    ) -> Result<(), Failure> {
        let width = self.printer.width();
        self.printer.write(format.render(result, |result| text(result, width))?)
    }

    /// Returns the output on stderr. Events of libraries may use a clone.
    pub(crate) fn messages(&self) -> &Messages {
        self.printer.messages()
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started_at.elapsed()
    }

    /// Returns the objects that this run has changed so far.
    pub(crate) fn writes(&self) -> &Writes {
        &self.writes
    }

    /// Shows the final line of a verb that does not write to a cluster: the result and the duration.
    pub(crate) fn show_result(&self, result: impl AsRef<str>) {
        self.messages().status(closing_line(result.as_ref(), self.elapsed()));
    }

    /// Shows the final line of a verb that writes to a cluster and supports JSON progress.
    pub(crate) fn show_cluster_result(&self, format: ProgressFormat, result: impl AsRef<str>) {
        self.cluster_events(format).show_result(result.as_ref(), self.elapsed());
    }

    /// Returns the configuration overridden by the environment. The first call reads the configuration.
    pub(crate) fn config(&self) -> Result<Rc<Config>, Failure> {
        if let Some(config) = self.config.get() {
            return Ok(Rc::clone(config));
        }
        let config =
            Rc::new(settings::load_config(&self.globals, &self.environment, self.messages(), &self.runtime)?);
        Ok(Rc::clone(self.config.get_or_init(|| config)))
    }

    /// Returns the access to provider repositories, checked against the lock of this run.
    /// All calls share one context, so nothing is fetched twice.
    pub(crate) fn repositories(&self) -> Result<repository::RepositoryContext, Failure> {
        if let Some(context) = self.repositories.get() {
            return Ok(context.clone());
        }
        let lock = settings::lock_settings(&self.globals, &self.environment)?;
        if let Some(lock) = &lock {
            self.messages().log(1, format!("using the lock `{}`", lock.location));
        }
        let context = self.repositories_with(lock)?;
        Ok(self.repositories.get_or_init(|| context).clone())
    }

    /// Returns an access to provider repositories that is checked against another lock, or against none.
    pub(crate) fn repositories_with(
        &self,
        lock: Option<repository::LockSettings>,
    ) -> Result<repository::RepositoryContext, Failure> {
        let (globals, environment, messages) = (&self.globals, &self.environment, self.messages());
        Ok(settings::repositories(&*self.config()?, globals, environment, messages, lock)?)
    }

    /// Opens the releases of a configured provider, with overrides first. Reads nothing yet.
    pub(crate) fn provider_releases(&self, id: &ProviderId) -> Result<ProviderReleases, Failure> {
        let config = self.config()?;
        let provider = config.provider(id)??;
        let overrides = settings::overrides(&config, &self.environment)?;
        Ok(ProviderReleases::open(provider, overrides, &self.repositories()?)?)
    }

    /// Shows the events of a management cluster and counts its writes.
    pub(crate) fn cluster_events(&self, format: ProgressFormat) -> ClusterEvents {
        ClusterEvents::new(self.messages().clone(), format, self.writes.clone())
    }

    /// Runs a future that may write to a management cluster. `resume_hint` is the hint to resume an interrupted run.
    pub(crate) fn execute<T, E: Into<Failure>>(
        &self,
        future: impl Future<Output = Result<T, E>>,
        resume_hint: &str,
    ) -> Result<T, Failure> {
        self.block_on(future).map_err(|failure| failure.after_writes(&self.writes, resume_hint))
    }

    /// Runs a future that pushes to a Git repository.
    pub(crate) fn push<T, E: Into<Failure>>(
        &self,
        future: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Failure> {
        self.block_on(future).map_err(Failure::during_push)
    }

    pub(crate) fn read_stdin(&mut self) -> Result<Vec<u8>, Failure> {
        let limit = repository::RepositoryContext::default().max_file_bytes();
        self.input
            .read_to_end(self.printer.messages(), limit)
            .map_err(|error| Failure::new(Kind::Environment, "cannot read standard input").because(&error))
    }

    pub(crate) fn stdin(&mut self) -> &mut dyn std::io::Read {
        self.input.stream()
    }

    /// Reads single keys from now on. `None` if stdin is not a terminal.
    pub(crate) fn keyboard(&self) -> Result<Option<Keyboard>, Failure> {
        if !self.input.is_terminal() {
            return Ok(None);
        }
        self.block_on(async { Ok::<_, Failure>(Keyboard::open()) })
    }

    /// Runs a future to its end and draws the wait. Ctrl-C drops the future.
    /// The first call creates the runtime, so verbs without waits do not need one.
    pub(crate) fn block_on<T, E: Into<Failure>>(
        &self,
        future: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Failure> {
        self.runtime.block_on(future)
    }

    /// Runs a future that ends by itself after a Ctrl-C. The future receives another one, which ends at that Ctrl-C.
    pub(crate) fn block_on_to_end<T, E: Into<Failure>, F: Future<Output = Result<T, E>>>(
        &self,
        make: impl FnOnce(Pin<Box<dyn Future<Output = ()> + Send>>) -> F,
    ) -> Result<T, Failure> {
        self.runtime.block_on_to_end(make)
    }

    /// Returns the status of this process after an interruption.
    pub(crate) fn interrupted_status(&self) -> ExitStatus {
        self.runtime.interrupted_status()
    }

    /// Asks a question for a yes or no. Without a terminal, the run fails with `unanswerable`.
    pub(crate) fn confirm(&self, question: &str, unanswerable: Failure) -> Result<bool, Failure> {
        self.block_on(async { confirm(question).await.map_err(|error| unanswerable.because_foreign(&error)) })
    }

    /// Lets a run with cleanup end by itself: a Ctrl-C outside of a wait becomes an interruption of the next wait.
    /// Returns a flag that becomes true at the first Ctrl-C, for work without waits.
    pub(crate) fn defer_interrupts(&self) -> Arc<AtomicBool> {
        self.runtime.defer_interrupts()
    }

    /// Returns the interruption of the run, if there was one. It is the reason for other failures.
    pub(crate) fn interruption_or(&self, failure: Failure) -> Failure {
        if self.runtime.is_interrupted() && failure.kind() != Kind::Interrupted {
            Failure::interrupted()
        } else {
            failure
        }
    }

    /// Runs a command line inside this run, with separate flags and configuration, on the same streams.
    pub(crate) fn run_nested<T>(
        &mut self,
        globals: Globals,
        commands: SuggestedCommands,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let globals = mem::replace(&mut self.globals, globals);
        let commands = self.messages().replace_commands(commands);
        let (config, repositories) = (self.config.take(), self.repositories.take());
        let writes = mem::take(&mut self.writes);
        let started_at = mem::replace(&mut self.started_at, Instant::now());
        let result = run(self);
        self.globals = globals;
        self.messages().replace_commands(commands);
        self.config = config.map(OnceCell::from).unwrap_or_default();
        self.repositories = repositories.map(OnceCell::from).unwrap_or_default();
        self.writes = writes;
        self.started_at = started_at;
        result
    }
}
