//! Everything a person or a script sees: data on stdout, all else on stderr.

mod amount;
mod clean;
mod colour;
mod input;
mod messages;
mod output_file;
mod printer;
mod progress;
mod prompt;
mod streams;
mod table;

pub(crate) use amount::{in_bytes, in_days};
pub(crate) use clean::clean;
pub(crate) use colour::{ColourChoice, Label};
pub(crate) use input::Input;
pub(crate) use messages::{ErrorFormat, Messages};
pub(crate) use output_file::{write_file_atomically, write_private_file};
pub(crate) use printer::Printer;
pub(crate) use progress::{Progress, TICK, WaitLine};
pub(crate) use prompt::{ask_secret, confirm};
pub use streams::Streams;
pub(crate) use table::table;
