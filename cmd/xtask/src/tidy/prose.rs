use super::finding::Finding;
use crate::workspace::{TextFile, Workspace};

/// This file, which contains the forbidden phrases.
const THIS_FILE: &str = "cmd/xtask/src/tidy/prose.rs";

/// First words of clauses that replace the name of a thing.
const CLAUSES: [&str; 9] =
    ["What ", "Whether ", "Who ", "Whose ", "How ", "Where ", "Which ", "Why ", "That which "];

/// The maximum share of doc lines that open with a clause, in thousandths.
const MAX_CLAUSES_PER_MILLE: usize = 15;

/// The maximum number of words in a sentence of the documentation.
const MAX_SENTENCE_WORDS: usize = 30;

/// Phrases of a private dialect, which CONTRIBUTING.md replaces with plain words.
const DIALECT: [&str; 24] = [
    "gone on with",
    "go on with",
    "it is waited until",
    "that they let rest",
    "is reached by",
    "what may still change",
    "what a backup holds",
    "that are played",
    "does not take the credentials",
    "ask for the right",
    "tells when it is there",
    "(told to ",
    "says it all",
    "tried before they are made",
    "is told all at once",
    "Nothing asks for updates",
    "Of what clusterctl installed",
    "What is of the whole cluster",
    "never found out but set",
    "keep account of",
    "that is added to",
    "what it is laid over",
    "tells of a tag",
    "nor changed where it is already",
];

/// Checks that doc comments open with a noun or a verb. A small share may open with a clause.
pub(super) fn doc_comments_name_things(workspace: &Workspace) -> Vec<Finding> {
    let lines = || sources(workspace).flat_map(|file| file.text.lines()).filter_map(doc_line);
    let (all, clauses) = (lines().count(), lines().filter(|line| opens_with_a_clause(line)).count());
    let text = format!(
        "{clauses} of {all} doc lines open with What, Whether, Who, How, Where, Which or Why; the maximum is {}",
        all * MAX_CLAUSES_PER_MILLE / 1000
    );
    match clauses {
        0 => Vec::new(),
        _ if clauses * 1000 > all * MAX_CLAUSES_PER_MILLE => vec![Finding::fault("product", None, text)],
        _ => vec![Finding::remark("product", None, text)],
    }
}

/// Checks that the doc comment of a public item of a library is more than a fragment.
pub(super) fn public_items_have_more_than_fragments(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in sources(workspace).filter(|file| file.path.starts_with("pkg/")) {
        let lines: Vec<&str> = file.text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let alone = at == 0 || doc_line(lines[at - 1]).is_none();
            let public = lines[at + 1..].iter().find(|line| !line.trim_start().starts_with("#["));
            let public = public.is_some_and(|line| line.trim_start().starts_with("pub "));
            if let Some(doc) = doc_line(line)
                && alone
                && public
                && doc.split_whitespace().count() < 3
                && !doc.contains('`')
            {
                let text = format!("`{}` is a fragment; write at least three words", doc.trim());
                findings.push(Finding::fault(&file.path, at + 1, text));
            }
        }
    }
    findings
}

/// Checks that no text of the project uses a phrase of the private dialect.
pub(super) fn texts_use_plain_phrases(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in workspace.files().iter().filter(|file| file.path != THIS_FILE) {
        for (at, line) in file.text.lines().enumerate() {
            let phrase = DIALECT.iter().find(|phrase| line.contains(**phrase));
            findings.extend(phrase.map(|phrase| {
                Finding::fault(&file.path, at + 1, format!("replace `{phrase}` with plain words"))
            }));
        }
    }
    findings
}

/// Reports the pages with long sentences.
pub(super) fn sentences_are_short(workspace: &Workspace) -> Vec<Finding> {
    let pages = workspace.files().iter().filter(|file| {
        file.path.starts_with("docs/")
            && file.has_extension("md")
            && !file.path.starts_with("docs/reference/")
    });
    pages
        .filter_map(|page| {
            let long = long_sentences(&page.text);
            let text = format!("{} sentences have more than {MAX_SENTENCE_WORDS} words", long.len());
            Some(Finding::remark(&page.path, *long.first()?, text))
        })
        .collect()
}

/// The lines, from 1, on which the paragraphs with long sentences start.
fn long_sentences(page: &str) -> Vec<usize> {
    let mut lines = Vec::new();
    let (mut paragraph, mut start, mut is_code) = (String::new(), 0, false);
    for (at, line) in page.lines().chain([""]).enumerate() {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        let ends =
            is_fence || is_code || line.trim().is_empty() || line.trim_start().starts_with(['|', '#', '-']);
        if ends {
            lines
                .extend(paragraph.split(". ").filter(|text| words(text) > MAX_SENTENCE_WORDS).map(|_| start));
            paragraph.clear();
        }
        if !is_fence && !is_code && !line.trim().is_empty() && !line.trim_start().starts_with(['|', '#']) {
            if paragraph.is_empty() {
                start = at + 1;
            }
            paragraph.push_str(line.trim());
            paragraph.push(' ');
        }
    }
    lines
}

fn words(sentence: &str) -> usize {
    sentence.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
}

fn sources(workspace: &Workspace) -> impl Iterator<Item = &TextFile> {
    workspace.files().iter().filter(|file| file.has_extension("rs"))
}

/// The text of a line of a doc comment.
fn doc_line(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("/// ").or_else(|| line.strip_prefix("//! "))
}

fn opens_with_a_clause(line: &str) -> bool {
    CLAUSES.iter().any(|word| line.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(findings: &[Finding]) -> Vec<String> {
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn too_many_dialect_clauses_are_a_fault() {
        let of = |clauses: usize| {
            let text =
                "/// Whether it is.\n".repeat(clauses) + &"/// The name of a thing.\n".repeat(100 - clauses);
            doc_comments_name_things(&Workspace::of([("a.rs", text.as_str())]))
        };
        assert!(of(0).is_empty());
        assert!(of(1).iter().all(|finding| !finding.is_fault));
        assert!(of(2).iter().all(|finding| finding.is_fault));
    }

    #[test]
    fn a_fragment_on_a_public_item_is_a_fault() {
        let text = "/// Why.\n#[derive(Debug)]\npub struct A;\n/// The\n/// whole.\npub struct B;\n/// C.\nstruct C;\n";
        assert_eq!(
            texts(&public_items_have_more_than_fragments(&Workspace::of([("pkg/a.rs", text)]))),
            ["pkg/a.rs:1: `Why.` is a fragment; write at least three words"]
        );
    }

    #[test]
    fn dialect_is_a_fault_in_any_text() {
        let workspace = Workspace::of([("docs/a.md", "fine\nit can only be gone on with\n")]);
        assert_eq!(
            texts(&texts_use_plain_phrases(&workspace)),
            ["docs/a.md:2: replace `gone on with` with plain words"]
        );
    }

    #[test]
    fn sentences_end_with_their_paragraph() {
        let long = "word ".repeat(31);
        let page = format!("# {long}\n\nshort\n{long}\n\n- {long}. {long}\n\n```\n{long}\n```\n| {long} |\n");
        assert_eq!(long_sentences(&page), [3, 6, 6]);
    }
}
