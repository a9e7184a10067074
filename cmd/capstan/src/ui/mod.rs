//! All output of the program: data on stdout, everything else on stderr.

mod colour;
mod keyboard;
mod messages;
mod output_file;
mod printer;
mod progress;
mod prompt;
mod streams;
mod table;
mod text;

pub(crate) use colour::{ColourChoice, Label};
pub(crate) use keyboard::{Interruption, Keyboard, interruption, restore_terminal, wait_for_quit};
pub(crate) use messages::{ErrorFormat, Messages};
pub(crate) use output_file::{write_file_atomically, write_private_file};
pub(crate) use printer::Printer;
pub(crate) use progress::{Progress, TICK, WaitLine};
pub(crate) use prompt::{ask_secret, confirm};
pub(crate) use streams::Input;
pub use streams::Streams;
pub(crate) use table::{NarrowingStep, first_chars, fit_columns, removed_middle, table};
pub(crate) use text::{
    closing_line, format_age, format_bytes, format_count, format_duration, sanitize, sanitize_line,
};
