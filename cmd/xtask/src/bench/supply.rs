//! The transport of releases to a closed site: folders, a web server, the cache, a bundle, a registry.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result};
use support::registry::{Guests, Registry, Transport};

use super::{
    figures::Figures,
    judge::Target,
    providers,
    sample::{self, Programs},
    table::{self, Row},
    web::Web,
};
use crate::workspace::beside;

/// All providers of the corpus.
const PROVIDERS: usize = 5;
/// The number of concurrent first runs.
const AT_ONCE: usize = 8;
const SECOND: Target = Target::Time(Duration::from_secs(1));
/// The maximum cost of the cache in addition to reading the cached files.
const LOOKING_UP: Target = Target::Beyond(Duration::from_millis(10));
const SMALL_LAYER_BYTES: usize = 1024;
const LARGE_LAYER_BYTES: usize = 300 * 1024 * 1024;

/// The setup of the measurements.
struct Bench<'a> {
    program: &'a Path,
    folder: &'a Path,
    /// The configuration that uses folders.
    folders: String,
    runs: usize,
}

/// Measures all steps. `None` without a corpus.
///
/// # Errors
/// Fails if a command fails, because figures for incomplete work would be meaningless.
pub(super) fn run(programs: &Programs, folder: &Path, runs: usize) -> Result<Option<String>> {
    let corpus = beside("CAPSTAN_CORPUS", "corpus").join("providers");
    if !corpus.is_dir() {
        return Ok(None);
    }
    let corpus = corpus.canonicalize()?;
    let folders = providers::configuration(corpus.display(), &folder.join("folders.yaml"))?;
    let bench = Bench { program: &programs.ours, folder, folders, runs: runs.max(1) };
    let registry = Registry::start(Transport::Plain, Guests::Anybody);
    let mut rows = bench.reading(&Web::of_releases(&corpus)?)?;
    rows.extend(bench.bundle(registry.as_ref())?);
    let images = bench.images(registry.as_ref())?;
    Ok(Some(format!(
        "\nFive providers and cert-manager; requests are those for files:\n{}\n\
         With images, of which one has a layer of 300 MiB:\n{}",
        table::render(&rows),
        table::render(&images)
    )))
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn create(file: &Path, config: &str, more: &str) -> Vec<String> {
    let settings = words(&format!("--config {config} --file {} {more}", file.display()));
    [words("bundle create"), providers::flags(PROVIDERS), settings].concat()
}

fn row(name: &str, ours: Figures, targets: Vec<Target>) -> Row {
    Row { name: name.to_owned(), ours, theirs: None, alone: None, targets }
}

impl Bench<'_> {
    fn median(&self, arguments: &[String]) -> Result<Figures> {
        self.median_prepared(arguments, || Ok(self.folder.to_owned()))
    }

    /// Runs a command several times, each time with the home folder that `prepare` returns.
    fn median_prepared(
        &self,
        arguments: &[String],
        prepare: impl Fn() -> Result<PathBuf>,
    ) -> Result<Figures> {
        let once = |_| sample::once(self.program, arguments, &prepare()?);
        let runs: Vec<Figures> =
            (0..self.runs).map(once).collect::<Result<_>>().with_context(|| arguments.join(" "))?;
        Ok(Figures::median(&runs))
    }

    /// Creates an empty folder.
    fn fresh(&self, name: &str) -> Result<PathBuf> {
        let folder = self.folder.join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// Reads releases from folders, from a web server, and from the cache.
    fn reading(&self, web: &Web) -> Result<Vec<Row>> {
        let list = |config: &str, more: &str| {
            let settings = words(&format!("--config {config} {more}"));
            [words("init list-images"), providers::flags(PROVIDERS), settings].concat()
        };
        let from_folders = self.median(&list(&self.folders, ""))?;
        let config = web.configuration(self.folder)?;
        let files = web.files();
        let asked =
            |runs: usize, figures: Figures| Figures { requests: Some(web.asked().div_ceil(runs)), ..figures };
        let first = self.median_prepared(&list(&config, ""), || self.fresh("first"))?;
        let first = asked(self.runs, first);
        let kept = self.folder.join("first");
        web.forget();
        let again = asked(1, self.median_prepared(&list(&config, "--offline"), || Ok(kept.clone()))?);
        web.forget();
        let at_once = asked(1, self.at_once(&list(&config, ""))?);
        Ok(vec![
            row("init list-images, from folders", from_folders, Vec::new()),
            row("the same from a web server, first run", first, vec![Target::Requests(files)]),
            Row {
                alone: Some(from_folders),
                ..row("the same again, offline", again, vec![LOOKING_UP, Target::Requests(0)])
            },
            row("eight first runs at once", at_once, vec![Target::Requests(files)]),
        ])
    }

    /// Runs a command several times concurrently with one home folder. Returns the longest wall time and the total
    /// processor time.
    fn at_once(&self, arguments: &[String]) -> Result<Figures> {
        let home = self.fresh("at-once")?;
        let runs: Vec<Figures> = thread::scope(|scope| {
            let run = |_| scope.spawn(|| sample::once(self.program, arguments, &home));
            let started: Vec<_> = (0..AT_ONCE).map(run).collect();
            started
                .into_iter()
                .map(|run| run.join().expect("a measurement does not panic"))
                .collect::<Result<_>>()
        })?;
        Ok(Figures {
            wall: runs.iter().map(|run| run.wall).max().unwrap_or_default(),
            cpu: runs.iter().map(|run| run.cpu).sum(),
            memory: runs.iter().map(|run| run.memory).max().unwrap_or_default(),
            requests: None,
        })
    }

    /// Measures a bundle without images.
    fn bundle(&self, registry: Option<&Registry>) -> Result<Vec<Row>> {
        let file = self.folder.join("lab.tar");
        let create = self.median(&create(&file, &self.folders, ""))?;
        let of = |verb: &str| words(&format!("bundle {verb} {}", file.display()));
        let mut rows = vec![
            row("bundle create", create, vec![SECOND]),
            row("bundle inspect", self.median(&of("inspect"))?, Vec::new()),
            row("bundle verify", self.median(&of("verify"))?, Vec::new()),
            row("bundle load, to a folder", self.load_to_folder(&file)?, vec![SECOND]),
        ];
        if let Some(registry) = registry {
            rows.push(row(
                "bundle load, to a registry",
                self.load_to_registry(&file, registry)?,
                vec![SECOND],
            ));
        }
        Ok(rows)
    }

    /// Measures a bundle with large images and one with small images. Memory must not grow, because images are
    /// streamed.
    fn images(&self, registry: Option<&Registry>) -> Result<Vec<Row>> {
        let [small, large] =
            [SMALL_LAYER_BYTES, LARGE_LAYER_BYTES].map(|bytes| self.way_of_images(bytes, registry));
        let names = ["bundle create", "bundle load, to a folder", "bundle load, to a registry"];
        let pairs = names.into_iter().zip(small?.into_iter().zip(large?));
        Ok(pairs
            .map(|(name, (small, large))| Row {
                alone: Some(small),
                ..row(name, large, vec![Target::FlatMemory])
            })
            .collect())
    }

    fn way_of_images(&self, layer_bytes: usize, registry: Option<&Registry>) -> Result<Vec<Figures>> {
        let web = Web::of_images(layer_bytes);
        let config = self.folder.join("images.yaml");
        let folders = fs::read_to_string(&self.folders)?;
        fs::write(
            &config,
            format!("{folders}images: {{all: {{repository: {}, tag: v1}}}}\n", web.authority()),
        )?;
        let file = self.folder.join("images.tar");
        let arguments = create(&file, &config.display().to_string(), "--with-images");
        let mut figures = vec![self.median(&arguments)?, self.load_to_folder(&file)?];
        if let Some(registry) = registry {
            figures.push(self.load_to_registry(&file, registry)?);
        }
        Ok(figures)
    }

    fn load_to_folder(&self, file: &Path) -> Result<Figures> {
        let site = self.folder.join("site");
        let arguments = words(&format!("bundle load {} --to-folder {}", file.display(), site.display()));
        self.median_prepared(&arguments, || {
            self.fresh("site")?;
            Ok(self.folder.to_owned())
        })
    }

    /// Loads to a different repository each time, because existing content would not be sent again.
    fn load_to_registry(&self, file: &Path, registry: &Registry) -> Result<Figures> {
        let bundle = file.file_stem().unwrap_or_default().display();
        let size_bytes = fs::metadata(file)?.len();
        let once = |run: usize| {
            let target = format!("oci://{}/{bundle}-{size_bytes}/{run}", registry.host());
            let arguments = words(&format!("bundle load {} --to-registry {target}", file.display()));
            sample::once(self.program, &arguments, self.folder).with_context(|| arguments.join(" "))
        };
        let runs: Vec<Figures> = (0..self.runs).map(once).collect::<Result<_>>()?;
        Ok(Figures::median(&runs))
    }
}
