//! The `capstan` binary. The library of the same name contains all code.

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    capstan::report_panics();
    capstan::run(std::env::args_os(), capstan::Environment::from_process(), capstan::Streams::from_process())
}
