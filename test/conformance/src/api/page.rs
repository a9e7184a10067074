//! Parses Markdown pages into cases.

use std::{fs, io, ops::Range, path::Path};

use thiserror::Error;

use super::BodyFilter;

/// A page of cases.
#[derive(Clone, Debug)]
pub struct Page {
    /// The file name, such as `create.md`.
    pub name: String,
    /// The lines of the file.
    pub lines: Vec<String>,
    /// The steps above the first heading, which run before each case.
    pub fixture: Vec<Step>,
    /// The cases, in page order.
    pub cases: Vec<Case>,
}

/// A test case for one behaviour.
#[derive(Clone, Debug)]
pub struct Case {
    /// The sentence that describes the behaviour.
    pub heading: String,
    /// The line of the heading, from 1.
    pub line: usize,
    /// The steps of the case.
    pub steps: Vec<Step>,
    /// True if the case needs garbage collection and namespace deletion: the text contains `needs: controllers`.
    pub needs_controllers: bool,
}

/// A step of a case.
#[derive(Clone, Debug)]
pub struct Step {
    /// The line of the block, from 1.
    pub line: usize,
    /// The action.
    pub action: Action,
    /// The parts of the answer to show.
    pub filter: BodyFilter,
    /// The lines of the answer in the page, from 0. Empty at the position of a future answer.
    pub answer_lines: Range<usize>,
    /// The recorded answer. `None` for steps without an answer and for unrecorded answers.
    pub recorded: Option<String>,
}

/// The action of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Sends a request that must succeed, without showing the answer.
    Given(RequestTemplate),
    /// Sends a request and shows the answer.
    Http(RequestTemplate),
    /// Opens a named watch, which must succeed.
    Watch(RequestTemplate),
    /// Shows the next events of a watch. Without a count, shows all events until the server ends the watch.
    Events {
        /// The name of the watch.
        watch: String,
        /// The number of events.
        count: Option<usize>,
    },
    /// Repeats a request until the answer meets a condition.
    Wait(RequestTemplate, WaitCondition),
}

/// A request as written in the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestTemplate {
    /// The name for references in later steps. Empty if there is none.
    pub name: String,
    /// The text of the request, before substitution.
    pub text: String,
    /// True if the body is sent as written.
    pub raw: bool,
}

/// The condition of a wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitCondition {
    /// The answer has this status code.
    Status(u16),
    /// The field exists.
    Present(String),
    /// The field does not exist.
    Absent(String),
    /// The field has this text. The text of a list is its length.
    Equal(String, String),
}

/// The reason why a page cannot be used.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum PageError {
    #[error("cannot read {0}")]
    File(String, #[source] io::Error),
    #[error("{page}:{line}: {problem}")]
    Line { page: String, line: usize, problem: String },
}

/// A fenced block: its info string and the lines inside, from 0.
struct Block<'l> {
    info: &'l str,
    start: usize,
    content: Range<usize>,
}

impl Page {
    /// Reads a page from a file.
    pub fn load(path: &Path) -> Result<Self, PageError> {
        let text =
            fs::read_to_string(path).map_err(|error| PageError::File(path.display().to_string(), error))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Self::parse(&name, &text)
    }

    /// Parses a page from text.
    pub fn parse(name: &str, text: &str) -> Result<Self, PageError> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut page =
            Self { name: name.to_owned(), lines: Vec::new(), fixture: Vec::new(), cases: Vec::new() };
        let fail =
            |line: usize, problem: String| PageError::Line { page: name.to_owned(), line: line + 1, problem };
        let mut at = 0;
        while at < lines.len() {
            let line = &lines[at];
            if let Some(heading) = line.strip_prefix("## ") {
                let heading = heading.trim().to_owned();
                if page.cases.iter().any(|case| case.heading == heading) {
                    return Err(fail(at, format!("duplicate case {heading:?}")));
                }
                page.cases.push(Case { heading, line: at + 1, steps: Vec::new(), needs_controllers: false });
            } else if line.contains("needs: controllers") {
                if let Some(case) = page.cases.last_mut() {
                    case.needs_controllers = true;
                }
            } else if let Some(info) = line.strip_prefix("```") {
                let end = (at + 1..lines.len())
                    .find(|&end| lines[end] == "```")
                    .ok_or_else(|| fail(at, "the block is not closed".to_owned()))?;
                let block = Block { info, start: at, content: at + 1..end };
                let steps = page.cases.last_mut().map_or(&mut page.fixture, |case| &mut case.steps);
                add_block(steps, &block, &lines).map_err(|problem| fail(at, problem))?;
                at = end;
            }
            at += 1;
        }
        page.lines = lines;
        Ok(page)
    }

    /// Renders the page with answers. Each answer has its position and text.
    pub fn with_answers(&self, mut answers: Vec<(Range<usize>, String)>) -> String {
        answers.sort_by_key(|(place, _)| place.start);
        let mut lines: Vec<&str> = Vec::new();
        let mut at = 0;
        for (place, text) in &answers {
            let kept = &self.lines[at..place.start];
            lines.extend(kept.iter().map(String::as_str));
            // The position of a new answer has no fenced block yet.
            let is_new = kept.last().is_some_and(|line| line == "```") && place.is_empty();
            if is_new {
                lines.extend(["", "```answer"]);
            }
            lines.extend(text.lines());
            if is_new {
                lines.push("```");
            }
            at = place.end;
        }
        lines.extend(self.lines[at..].iter().map(String::as_str));
        lines.join("\n") + "\n"
    }
}

fn add_block(steps: &mut Vec<Step>, block: &Block<'_>, lines: &[String]) -> Result<(), String> {
    let mut words = block.info.split_whitespace();
    let kind = words.next().unwrap_or_default();
    let inside = &lines[block.content.clone()];
    if kind == "answer" {
        let step = steps
            .last_mut()
            .filter(|step| matches!(step.action, Action::Http(_)) && step.answer_lines.is_empty());
        let step = step.ok_or("an answer follows an http block")?;
        step.answer_lines = block.content.clone();
        step.recorded = Some(joined(inside));
        return Ok(());
    }
    let mut ask = RequestTemplate { name: String::new(), text: String::new(), raw: false };
    let mut cut = BodyFilter::default();
    let mut count = None;
    for word in words {
        match word.split_once('=') {
            Some(("as", name)) => name.clone_into(&mut ask.name),
            Some(("only", paths)) => cut.only = paths.split(',').map(str::to_owned).collect(),
            Some(("omit", paths)) => cut.omit = paths.split(',').map(str::to_owned).collect(),
            None if word == "raw" => ask.raw = true,
            None if word == "managed" => cut.managed = true,
            None if word == "unordered" => cut.unordered = true,
            None if kind == "events" && word.parse::<usize>().is_ok() => count = word.parse().ok(),
            None if matches!(kind, "events" | "watch") && ask.name.is_empty() => {
                word.clone_into(&mut ask.name);
            }
            _ => return Err(format!("unknown word {word:?} in a block of {kind:?}")),
        }
    }
    ask.text = joined(inside);
    let (mut place, mut recorded) = (block.content.end + 1..block.content.end + 1, None);
    let action = match kind {
        "given" => Action::Given(ask),
        "http" => Action::Http(ask),
        "watch" => Action::Watch(ask),
        "events" => {
            place = block.content.clone();
            recorded = (!inside.is_empty()).then_some(ask.text);
            Action::Events { watch: ask.name, count }
        }
        "wait" => wait(ask)?,
        other => return Err(format!("unknown kind of block {other:?}")),
    };
    steps.push(Step { line: block.start + 1, action, filter: cut, answer_lines: place, recorded });
    Ok(())
}

/// Parses `METHOD target until …` in the first line.
fn wait(mut ask: RequestTemplate) -> Result<Action, String> {
    let (first, rest) = ask.text.split_once('\n').unwrap_or((&ask.text, ""));
    let (request, until) = first.split_once(" until ").ok_or("a wait requires `until`")?;
    let until = match (until.parse::<u16>(), until.strip_prefix('!')) {
        (Ok(status), _) => WaitCondition::Status(status),
        (_, Some(path)) => WaitCondition::Absent(path.to_owned()),
        // Splits at the last `=` outside brackets: `conditions[type=Ready].status=True`.
        _ => match until.rsplit_once('=').filter(|(_, text)| !text.contains(']')) {
            Some((path, text)) => WaitCondition::Equal(path.to_owned(), text.to_owned()),
            None => WaitCondition::Present(until.to_owned()),
        },
    };
    ask.text = format!("{request}\n{rest}");
    Ok(Action::Wait(ask, until))
}

fn joined(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Title\n\n```given\nPOST /fixture\n```\n\n## It works\n\nProse.\n\n```http as=a only=kind,metadata.name\nGET /a\n```\n\n```answer\n200 OK\n```\n\n```watch w\nGET /w\n```\n\n```events w 2\n```\n\n```wait\nGET /a until s.c[type=Ready].status=True\n```\n\n## It fails\n\n```http\nGET /b\n```\n";

    #[test]
    fn a_page_is_a_fixture_and_cases_of_steps() {
        let page = Page::parse("p.md", PAGE).unwrap();
        assert_eq!((page.fixture.len(), page.cases.len()), (1, 2));
        let case = &page.cases[0];
        assert_eq!((case.heading.as_str(), case.line, case.steps.len()), ("It works", 7, 4));
        assert_eq!(case.steps[0].recorded.as_deref(), Some("200 OK\n"));
        assert_eq!(case.steps[0].filter.only, ["kind", "metadata.name"]);
        assert_eq!(case.steps[2].action, Action::Events { watch: "w".to_owned(), count: Some(2) });
        let Action::Wait(_, until) = &case.steps[3].action else { panic!("{:?}", case.steps[3]) };
        assert_eq!(*until, WaitCondition::Equal("s.c[type=Ready].status".to_owned(), "True".to_owned()));
        assert_eq!(page.cases[1].steps[0].recorded, None);
    }

    #[test]
    fn answers_replace_recorded_ones_or_are_added() {
        let page = Page::parse("p.md", PAGE).unwrap();
        let steps = page.cases.iter().flat_map(|case| &case.steps);
        let answers = steps.filter(|step| !matches!(step.action, Action::Watch(_) | Action::Wait(..)));
        let text = page.with_answers(
            answers.map(|step| (step.answer_lines.clone(), "new\nlines\n".to_owned())).collect(),
        );
        let page = Page::parse("p.md", &text).unwrap();
        let recorded: Vec<_> = page
            .cases
            .iter()
            .flat_map(|case| &case.steps)
            .filter_map(|step| step.recorded.as_deref())
            .collect();
        assert_eq!(recorded, ["new\nlines\n"; 3]);
    }

    #[test]
    fn a_page_with_a_mistake_names_its_line() {
        for (text, expected) in [
            ("## A\n```http\nGET /\n", "p.md:2: the block is not closed"),
            ("## A\n## A\n", "p.md:2: duplicate case \"A\""),
            ("```htp\n```\n", "p.md:1: unknown kind of block \"htp\""),
            ("```answer\n```\n", "p.md:1: an answer follows an http block"),
            ("```http fast\n```\n", "p.md:1: unknown word \"fast\" in a block of \"http\""),
        ] {
            assert_eq!(Page::parse("p.md", text).unwrap_err().to_string(), expected);
        }
    }
}
