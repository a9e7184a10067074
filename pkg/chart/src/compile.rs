//! The templates of a render, and the parsed files that a chart keeps for further renders.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use template::{Functions, Map, Output, ParsedText, Session, Str, Templates, Value};

use crate::error::ChartError;
use crate::files::LoadedChart;
use crate::lookup;

/// The functions that templates call.
static FUNCTIONS: LazyLock<Arc<Functions>> = LazyLock::new(|| {
    let mut functions = Functions::helm();
    lookup::add(&mut functions);
    Arc::new(functions)
});

/// The set of all templates; the name occurs in errors.
const SET: &str = "gotpl";

/// A template of one render.
pub(crate) struct Job {
    /// The file with the path of its chart, which is the name of the template.
    pub(crate) name: String,
    pub(crate) chart: Arc<LoadedChart>,
    /// The index of the file in the templates of the chart.
    pub(crate) index: usize,
    /// The data of its chart.
    pub(crate) data: Map,
    pub(crate) base_path: String,
}

impl Job {
    /// True for files such as `_helpers.tpl`, which only define templates.
    pub(crate) fn is_partial(&self) -> bool {
        self.name.rsplit('/').next().is_some_and(|name| name.starts_with('_'))
    }

    fn text(&self) -> &Str {
        &self.chart.templates[self.index].content
    }

    fn parse(
        &self,
        parse: fn(&str, &Str, &Functions) -> Result<ParsedText, template::Error>,
    ) -> Result<ParsedText, ChartError> {
        parse(&self.name, self.text(), &FUNCTIONS).map_err(|error| ChartError::of_template(&self.name, error))
    }

    /// Renders the template.
    pub(crate) fn render(&self, templates: &Templates, session: &mut Session) -> Result<Output, ChartError> {
        self.announce();
        let output = templates.render(&self.name, &Value::Map(self.data.clone()), session);
        output.map_err(|error| ChartError::of_template(&self.name, error))
    }

    /// Sets `.Template`.
    fn announce(&self) {
        let entries = [("Name", self.name.as_str().into()), ("BasePath", self.base_path.as_str().into())];
        let map: Map = entries.into_iter().collect();
        self.data.insert("Template", Value::Map(map.with_elem(template::Elem::Values)));
    }
}

/// The templates of one render in the order in which Helm parses and renders them: deep files first, then backwards by
/// name.
#[derive(Default)]
pub(crate) struct Jobs(BTreeMap<(Reverse<usize>, Reverse<String>), Job>);

impl Jobs {
    pub(crate) fn add(&mut self, job: Job) {
        let key = (Reverse(job.name.matches('/').count()), Reverse(job.name.clone()));
        self.0.insert(key, job);
    }

    /// Returns the text of a template.
    pub(crate) fn source(&self, name: &str) -> Option<Cow<'_, str>> {
        let job = self.iter().find(|job| job.name == name)?;
        Some(job.text().to_str())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Job> {
        self.0.values()
    }

    /// Returns the error that Helm reports: that of the first file that cannot be parsed, even if another one failed
    /// before it was parsed.
    pub(crate) fn first_error(&self, error: ChartError) -> ChartError {
        self.iter().find_map(|job| job.parse(ParsedText::parse).err()).unwrap_or(error)
    }
}

/// The parsed files of a chart, by the address of the chart, the name and the index of the file. The address is stable
/// as long as the cache, which the chart owns.
#[derive(Debug, Default)]
pub(crate) struct Cache(Mutex<HashMap<(usize, String), Arc<ParsedText>>>);

impl Cache {
    /// Returns the set of templates of a render. The first render parses most files when it executes them and keeps
    /// nothing of them, which saves memory; the second keeps the parsed files for all later ones.
    pub(crate) fn templates(&self, jobs: &Jobs) -> Result<Templates, ChartError> {
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut templates = Templates::new(SET, FUNCTIONS.clone());
        // Subcharts often have equal copies of a library chart. The templates of the last copy replace those of the others.
        let partials = jobs.iter().filter(|job| job.is_partial());
        let last: BTreeMap<&Str, &Job> = partials.map(|job| (job.text(), job)).collect();
        for job in jobs.iter() {
            let key = (Arc::as_ptr(&job.chart).addr(), job.name.clone());
            let known = cache.get(&key);
            if let Some(parsed) = known.filter(|parsed| !parsed.is_deferred()) {
                templates.add(parsed);
                continue;
            }
            let is_first = known.is_none() && !templates.contains(&job.name);
            let is_last = || last.get(job.text()).is_some_and(|it| it.name == job.name);
            let parsed = match (is_first, job.is_partial()) {
                (true, false) => job.parse(ParsedText::deferred),
                (true, true) if !is_last() => job.parse(ParsedText::without_definitions),
                _ => job.parse(ParsedText::parse),
            };
            let parsed = Arc::new(parsed?);
            templates.add(&parsed);
            cache.insert(key, parsed);
        }
        Ok(templates)
    }
}
