use std::fmt::Display;

use anstyle::{AnsiColor, Style};

use crate::Environment;

/// `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ColourChoice {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always, even in files and pipes.
    Always,
    /// Never.
    Never,
}

impl ColourChoice {
    /// Decides if a stream is coloured: by the flag, then NO_COLOR, then CLICOLOR_FORCE, then the capability of the
    /// terminal.
    pub(crate) fn is_enabled(self, environment: &Environment, is_terminal: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto if environment.text("NO_COLOR").is_some() => false,
            Self::Auto if environment.text("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
            Self::Auto => is_terminal && environment.text("TERM") != Some("dumb"),
        }
    }
}

/// The role of a text. The role defines the colour, which adds no information to the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Label {
    /// `error:`
    Error,
    /// `warning:`
    Warning,
    /// `hint:`
    Hint,
    /// `cause:`
    Cause,
    /// `usage:`
    Usage,
    Log,
    Command,
}

impl Label {
    fn style(self) -> Style {
        match self {
            Self::Error => AnsiColor::Red.on_default().bold(),
            Self::Warning => AnsiColor::Yellow.on_default().bold(),
            Self::Hint => AnsiColor::Cyan.on_default().bold(),
            Self::Cause | Self::Usage | Self::Command => Style::new().bold(),
            Self::Log => Style::new().dimmed(),
        }
    }

    /// Returns the text in the colour of the label, or unchanged.
    pub(crate) fn paint(self, text: impl Display, colour: bool) -> String {
        if colour {
            let style = self.style();
            format!("{style}{text}{style:#}")
        } else {
            text.to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        Environment::new(variables.iter().copied(), "/")
    }

    // Row: D-138
    #[test]
    fn the_flag_wins_over_no_color_and_no_color_over_the_terminal() {
        let no_colour = environment(&[("NO_COLOR", "1")]);
        assert!(ColourChoice::Always.is_enabled(&no_colour, false));
        assert!(!ColourChoice::Auto.is_enabled(&no_colour, true));
        assert!(ColourChoice::Auto.is_enabled(&environment(&[("NO_COLOR", "")]), true));
        assert!(!ColourChoice::Never.is_enabled(&environment(&[("CLICOLOR_FORCE", "1")]), true));
        assert!(ColourChoice::Auto.is_enabled(&environment(&[("CLICOLOR_FORCE", "1")]), false));
    }

    #[test]
    fn a_pipe_or_a_dumb_terminal_gets_no_colour() {
        assert!(!ColourChoice::Auto.is_enabled(&environment(&[]), false));
        assert!(!ColourChoice::Auto.is_enabled(&environment(&[("TERM", "dumb")]), true));
    }
}
