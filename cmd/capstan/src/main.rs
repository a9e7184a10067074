//! The `capstan` binary. The library of the same name contains all code.

fn main() -> std::process::ExitCode {
    capstan::report_panics();
    capstan::run(std::env::args_os(), capstan::Environment::from_process(), capstan::Streams::from_process())
}
