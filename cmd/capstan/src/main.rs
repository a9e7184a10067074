//! The `capstan` binary. The library of the same name contains all code.

fn main() -> std::process::ExitCode {
    capstan::report_panics();
    capstan::run(std::env::args_os(), capstan::Environment::of_process(), capstan::Streams::of_process())
}
