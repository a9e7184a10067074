use std::{
    ffi::OsString,
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
    sync::Arc,
};

use api::ExitStatus;

use crate::{
    Environment, Failure, Streams,
    cli::{self, Invocation, ParsedArgs},
    completion,
    failure::Kind,
    program::Program,
    session::{Interpreter, Session},
    settings::{self, Globals},
    suggested_commands::SuggestedCommands,
    ui::{ErrorFormat, Input, Messages, Printer},
    verbs,
};

/// Runs one command line from start to end.
/// Shape: the first argument is the program name.
pub fn run(args: impl IntoIterator<Item = OsString>, environment: Environment, streams: Streams) -> ExitCode {
    let argv: Vec<OsString> = args.into_iter().collect();
    let messages = Messages::new(streams.stderr, streams.stderr_is_terminal);
    let progress = messages.progress().clone();
    let program = Program::from_argument(argv.first().map(OsString::as_os_str));
    let error_format = cli::error_format(program, &argv);
    let panic_messages = messages.clone();
    let status = catch_unwind(AssertUnwindSafe(|| {
        let terminals = (streams.stdout_is_terminal, streams.stderr_is_terminal);
        let printer = Printer::new(streams.stdout, messages).with_terminal(streams.stdout_is_terminal);
        let input = Input::new(streams.stdin, streams.stdin_is_terminal);
        CommandRun { program, environment, terminals, error_format }.start(&argv, printer, input)
    }));
    // The panic hook has shown the message. The terminal must be restored.
    progress.end();
    let status = status.unwrap_or_else(|_| {
        if error_format != ErrorFormat::Text {
            panic_messages.failure(&Failure::new(Kind::Bug, "this is a bug in capstan"), error_format);
        }
        ExitStatus::Bug
    });
    ExitCode::from(status.code())
}

const INTERPRETER: Interpreter = Interpreter { tree: cli::tree_of, run: run_nested };

/// Runs a command line inside another run.
fn run_nested(argv: &[OsString], session: &mut Session) -> Result<(), Failure> {
    let program = session.program();
    let parsed = cli::parse(program, argv)?;
    let commands = parsed.suggested_commands(program, session.environment());
    let Invocation::Verb(verb) = parsed.invocation else {
        let line: Vec<_> = argv.iter().map(|word| word.to_string_lossy()).collect();
        return Err(Failure::new(Kind::Bug, format!("`{}` is not a valid command", line.join(" "))));
    };
    session.run_nested(parsed.globals, commands, |session| verb.run(session))
}

struct CommandRun {
    program: Program,
    environment: Environment,
    terminals: (bool, bool),
    error_format: ErrorFormat,
}

impl CommandRun {
    fn start(self, argv: &[OsString], mut printer: Printer, stdin: Input) -> ExitStatus {
        if let Some(shell) =
            self.environment.text(completion::COMPLETION_VARIABLE).and_then(completion::Shell::parse)
        {
            let words = argv.iter().skip_while(|word| *word != "--").skip(1).cloned().collect();
            let answered = self.complete(shell, words).and_then(|answer| printer.write(answer));
            return self.finish(printer, answered);
        }
        if let Some(with_descriptions) = completion::requested_by_cobra(argv) {
            let words = argv.iter().take(1).chain(argv.iter().skip(2)).cloned().collect();
            let answered = self.complete(completion::Shell::Fish, words).and_then(|answer| {
                printer.write(completion::cobra_answer(&String::from_utf8_lossy(&answer), with_descriptions))
            });
            return self.finish(printer, answered);
        }
        if self.program == Program::Clusterctl
            && let Some((path, arguments)) = verbs::plugin::find_before_verbs(argv, &self.environment)
        {
            return self.finish(printer, verbs::plugin::hand_over(&path, arguments));
        }
        let parsed = match cli::parse(self.program, argv) {
            Ok(parsed) => parsed,
            Err(failure) => {
                self.configure(
                    &mut printer,
                    &Globals::default(),
                    SuggestedCommands::of_program(self.program),
                );
                return self.finish(printer, Err(failure));
            }
        };
        self.configure(
            &mut printer,
            &parsed.globals,
            parsed.suggested_commands(self.program, &self.environment),
        );
        let ParsedArgs { globals, invocation, .. } = parsed;
        match settings::verbosity(globals.verbosity, &self.environment) {
            Ok(verbosity) => printer.messages().raise_verbosity(verbosity),
            // Help logs nothing, and the user may be looking for the correct syntax of the variable.
            Err(_) if invocation.is_help_request() => {}
            Err(failure) => return self.finish(printer, Err(failure)),
        }
        let mut session =
            Session::new(self.program, INTERPRETER, self.environment.clone(), globals, printer, stdin);
        let result = match invocation {
            Invocation::Help(path) => verbs::help::show(&path, &mut session),
            Invocation::Version => verbs::version::show_version(&mut session),
            Invocation::Verb(verb) => verb.run(&mut session),
        };
        let interrupted_status = session.interrupted_status();
        match self.finish(session.into_printer(), result) {
            ExitStatus::Interrupted => interrupted_status,
            status => status,
        }
    }

    /// Returns the candidates for a typed command line.
    fn complete(&self, shell: completion::Shell, words: Vec<OsString>) -> Result<Vec<u8>, Failure> {
        let environment = self.environment.clone();
        let current_dir = environment.current_dir().to_owned();
        let candidates = Arc::new(completion::Candidates::new(environment, &words));
        let answer =
            completion::complete(shell, cli::tree_of(self.program), words, &current_dir, &candidates);
        answer.map_err(|error| {
            Failure::new(Kind::Environment, "cannot complete the command line").because(&error)
        })
    }

    fn configure(&self, printer: &mut Printer, globals: &Globals, commands: SuggestedCommands) {
        let (stdout, stderr) = self.terminals;
        let colour = |is_terminal| globals.color.is_enabled(&self.environment, is_terminal);
        printer.configure(colour(stdout), |messages| {
            messages.configure(colour(stderr), globals.quiet, commands);
        });
    }

    /// Prints data first, then the failure, so that the last lines on a terminal show the failure.
    fn finish(&self, mut printer: Printer, result: Result<(), Failure>) -> ExitStatus {
        let result = printer.finish().and(result);
        let Err(failure) = result else { return ExitStatus::Success };
        printer.messages().failure(&failure, self.error_format);
        failure.kind().exit_status()
    }
}
