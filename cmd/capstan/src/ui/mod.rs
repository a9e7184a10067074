//! Everything a person or a script sees: data on stdout, all else on stderr.

mod amount;
mod clean;
mod colour;
mod input;
mod keyboard;
mod messages;
mod narrow;
mod output_file;
mod printer;
mod progress;
mod prompt;
mod streams;
mod table;

pub(crate) use amount::{closing_line, count_of, in_bytes, in_days, in_seconds};
pub(crate) use clean::{clean, clean_line};
pub(crate) use colour::{ColourChoice, Label};
pub(crate) use input::Input;
pub(crate) use keyboard::{Interruption, Keyboard, interruption, quit, restore_terminal};
pub(crate) use messages::{ErrorFormat, Messages};
pub(crate) use narrow::{Narrow, first_chars, fit, lost_middle};
pub(crate) use output_file::{write_file_atomically, write_private_file};
pub(crate) use printer::Printer;
pub(crate) use progress::{Progress, TICK, WaitLine};
pub(crate) use prompt::{ask_secret, confirm};
pub use streams::Streams;
pub(crate) use table::table;
