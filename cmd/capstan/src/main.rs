//! The `capstan` binary; everything it does is in the library of the same name.

fn main() -> std::process::ExitCode {
    capstan::report_panics();
    capstan::run(std::env::args_os(), capstan::Environment::of_process(), capstan::Streams::of_process())
}
