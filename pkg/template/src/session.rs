//! The state of one run over several templates: limits, options, randomness, and the maps that templates changed.

use std::any::Any;
use std::collections::HashMap;
use std::rc::Rc;

use jiff::Timestamp;
use regex::bytes::Regex;

use crate::error::RenderError;
use crate::limits::{Limit, Limits};
use crate::random::Random;
use crate::reads::Reads;
use crate::value::{Map, Str, Value};

/// The result of a key that a map does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingKey {
    /// No value: further fields have no value either. Go's default.
    #[default]
    NoValue,
    /// The zero value of the element type: a further field of nil is an error. Helm's choice.
    Zero,
    /// An error. Helm's `--strict`.
    Error,
}

/// The options of a session. By default those of Go, at the start of 1970 in UTC.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The limits of each render.
    pub limits: Limits,
    /// The result of a key that a map does not have.
    pub missing_key: MissingKey,
    /// Removes `<no value>` from the output, as Helm does.
    pub omit_no_value: bool,
    /// Lets `fail` and `required` return an empty text, as Helm's lint does.
    pub lint: bool,
    /// Lets `required` return an empty text without a value, and records the error in the session.
    pub collects_required: bool,
    /// The seed of random values and keys. Two runs with the same seed give the same output. `None` asks the system.
    pub seed: Option<u64>,
    /// The time that `now` returns.
    pub now: Timestamp,
    /// Lets `getHostByName` fail instead of returning an empty text, since the name server is never asked.
    pub enable_dns: bool,
    /// Records the template position of each piece of output, and the entries of maps behind it.
    pub trace: bool,
}

impl Settings {
    /// The settings that Helm uses.
    pub fn helm() -> Self {
        Self { missing_key: MissingKey::Zero, omit_no_value: true, ..Self::default() }
    }
}

/// The state of one run. Templates that are rendered in one session share random values and changed maps.
///
/// When the session ends, the maps that templates changed are emptied, so that maps which contain themselves are freed.
pub struct Session {
    pub(crate) settings: Settings,
    pub(crate) steps: u64,
    pub(crate) created: u64,
    /// The current nesting of templates.
    pub(crate) depth: usize,
    /// The current nesting of each included template.
    pub(crate) included: HashMap<Str, usize>,
    pub(crate) random: Random,
    pub(crate) required: Vec<RenderError>,
    pub(crate) reads: Reads,
    /// Compiled patterns, by pattern; with Unicode, and for texts in ASCII.
    regexes: [HashMap<Str, Rc<Regex>>; 2],
    changed: Vec<Map>,
    host: Option<Rc<dyn Any>>,
}

impl Session {
    /// Starts a session.
    pub fn new(settings: Settings) -> Self {
        Self {
            random: Random::new(settings.seed),
            settings,
            steps: 0,
            created: 0,
            depth: 0,
            included: HashMap::new(),
            required: Vec::new(),
            reads: Reads::default(),
            regexes: Default::default(),
            changed: Vec::new(),
            host: None,
        }
    }

    /// Starts a session with a value that functions of the host find with [`Session::host`].
    #[must_use]
    pub fn with_host(mut self, host: Rc<dyn Any>) -> Self {
        self.host = Some(host);
        self
    }

    /// Returns the value of the host, if it has this type.
    pub fn host<T: 'static>(&self) -> Option<Rc<T>> {
        self.host.clone()?.downcast().ok()
    }

    /// The settings of this session.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Takes the errors of `required` that were recorded instead of ending a render.
    pub fn take_required(&mut self) -> Vec<RenderError> {
        std::mem::take(&mut self.required)
    }

    /// Sets an entry of a map.
    pub fn set(&mut self, map: &Map, key: Str, value: Value) {
        if matches!(value, Value::Map(_) | Value::List(_)) && map.record() {
            self.changed.push(map.clone());
        }
        map.insert(key, value);
    }

    /// Resets the counters before a render.
    pub(crate) fn start(&mut self) {
        (self.steps, self.created, self.depth) = (0, 0, 0);
        self.included.clear();
        self.reads = Reads::new(self.settings.trace);
    }

    /// Counts one step.
    #[inline]
    pub(crate) fn step(&mut self) -> Result<(), Limit> {
        self.steps += 1;
        if self.steps > self.settings.limits.steps {
            return Err(Limit::Steps(self.settings.limits.steps));
        }
        Ok(())
    }

    /// Counts bytes before a function creates them.
    ///
    /// # Errors
    /// The limit, if the result would be too long.
    pub fn create(&mut self, bytes: usize) -> Result<(), Limit> {
        if bytes > self.settings.limits.output_bytes {
            return Err(Limit::Output(self.settings.limits.output_bytes));
        }
        self.created = self.created.saturating_add(bytes as u64);
        if self.created > self.settings.limits.created_bytes {
            return Err(Limit::Created(self.settings.limits.created_bytes));
        }
        Ok(())
    }

    pub(crate) fn regex(&self, pattern: &[u8], is_ascii: bool) -> Option<Rc<Regex>> {
        self.regexes[usize::from(is_ascii)].get(pattern).cloned()
    }

    pub(crate) fn keep_regex(&mut self, pattern: &[u8], is_ascii: bool, regex: Regex) -> Rc<Regex> {
        const MOST: usize = 256;
        let kept = &mut self.regexes[usize::from(is_ascii)];
        if kept.len() >= MOST {
            kept.clear();
        }
        let regex = Rc::new(regex);
        kept.insert(pattern.into(), regex.clone());
        regex
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        for map in self.changed.drain(..) {
            map.clear();
        }
    }
}
