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
pub(crate) use keyboard::{Interruption, Keyboard, interruption, quit, restore_terminal};
pub(crate) use messages::{ErrorFormat, Messages};
pub(crate) use output_file::{write_file_atomically, write_private_file};
pub(crate) use printer::Printer;
pub(crate) use progress::{Progress, TICK, WaitLine};
pub(crate) use prompt::{ask_secret, confirm};
pub(crate) use streams::Input;
pub use streams::Streams;
pub(crate) use table::{Narrow, first_chars, fit, lost_middle, table};
pub(crate) use text::{clean, clean_line, closing_line, count_of, in_bytes, in_days, in_seconds};
