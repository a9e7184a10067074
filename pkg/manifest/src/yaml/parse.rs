//! The grammar: converts parser events to the nodes of the first document.

use std::borrow::Cow;
use std::ops::Range;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, Span, Tag, options};

use super::error::{Fault, YamlErrorKind};
use super::folded;
use super::parser_text::{ParseStop, ParserText};
use super::reject::{self, TabCheck};
use super::scalar::{Dialect, Scalar, is_null, resolve};
use super::tree::{Builder, Tree};

/// The maximum number of characters from the start of a key to its `:`, which must be on the same line.
const MAX_KEY_CHARACTERS: usize = 1024;

/// The result of parsing.
pub(super) struct ParsedDocument {
    pub(super) tree: Tree,
    /// The start of ignored text, unless only blanks and comments follow the document.
    pub(super) text_after_end: Option<u32>,
}

/// Parses the first document of a text; without a document, the tree has no nodes.
pub(super) fn parse(text: &str, depth: usize, dialect: Dialect) -> Result<ParsedDocument, Fault> {
    let parsed = ParserText::for_go(text).parse(|view| {
        let builder = Builder::new(depth);
        Document { view, dialect, builder, tabs: TabCheck::new(text), end: None }.parse(depth)
    });
    parsed.map_err(|stop| match stop {
        ParseStop::Fault(fault) => fault,
        ParseStop::Parser(error) => {
            fault(error.kind(), error.marker().byte_offset().unwrap_or_default(), depth)
        }
    })
}

/// The first document during parsing.
struct Document<'a> {
    view: &'a ParserText<'a>,
    dialect: Dialect,
    builder: Builder,
    tabs: TabCheck<'a>,
    /// The end of the document, in bytes.
    end: Option<usize>,
}

impl Document<'_> {
    fn parse(mut self, depth: usize) -> Result<ParsedDocument, ParseStop<Fault>> {
        // The parser counts lists and mappings in brackets separately, the builder counts all of them together.
        let mut options = options! {
            emit_unresolved_aliases: true,
            emit_anchor_events: true,
            block_scalar_eof_without_line_feed: true,
            simple_key_max_lookahead: MAX_KEY_CHARACTERS,
            flow_nesting_limit: depth,
            block_nesting_limit: depth,
        };
        // Another crate may have enabled the feature for comments.
        options.set_emit_comments(false);
        let mut parser = Parser::new_from_str_with_options(&self.view.text, options);
        while self.end.is_none()
            && let Some(next) = parser.next_event()
        {
            let (event, span) = next.map_err(ParseStop::Parser)?;
            self.handle_event(event, byte_range(span))?;
        }
        Ok(self.finish()?)
    }

    fn handle_event(&mut self, event: Event<'_>, place: Range<usize>) -> Result<(), Fault> {
        let start = position(place.start);
        match event {
            Event::DocumentStart(_, version) => {
                if version.is_some_and(|version| (version.major, version.minor) != (1, 1)) {
                    return Err(syntax("the version in `%YAML` is not 1.1", start));
                }
                reject::directives(&self.view.text[..place.start])
            }
            Event::DocumentEnd => {
                self.end = Some(place.start);
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.tabs.scalar(&place, style)?;
                let text = self.scalar_text(text, style, &place);
                let tag = tag.map(|tag| full_tag(&tag));
                let scalar = match self.resource_scalar(&text, style, &place, tag.is_some()) {
                    Some(scalar) => scalar,
                    None => resolve(text, tag.as_deref(), style == ScalarStyle::Plain, self.dialect)
                        .map_err(|problem| problem.at_offset(start))?,
                };
                self.builder.scalar(scalar, anchor_number(anchor), start);
                Ok(())
            }
            Event::SequenceStart(style, anchor, _) => {
                self.tabs.open(style, place.start)?;
                self.builder.open_list(anchor_number(anchor), start)
            }
            Event::MappingStart(style, anchor, _) => {
                self.tabs.open(style, place.start)?;
                self.builder.open_mapping(anchor_number(anchor), start)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                self.tabs.close(place.end);
                self.builder.close();
                Ok(())
            }
            Event::Anchor(_, name) => reject::anchor_name(&name, place.start),
            Event::Alias(anchor) => {
                let name = self.view.text[place].trim_start_matches('*');
                self.builder.alias(anchor, name, start)
            }
            Event::UnresolvedAlias(name) => {
                Err(YamlErrorKind::UnknownAnchor(name.into_owned()).at_offset(start))
            }
            _ => Ok(()),
        }
    }

    /// Returns the scalar in a resource; `None` if the rules of other documents apply.
    fn resource_scalar(
        &self,
        text: &str,
        style: ScalarStyle,
        range: &Range<usize>,
        is_tagged: bool,
    ) -> Option<Scalar> {
        if self.dialect != Dialect::Resources {
            return None;
        }
        match style {
            // Annotations lose their style when they are printed.
            ScalarStyle::Folded if self.builder.is_in_annotations() => None,
            ScalarStyle::Folded => Some(Scalar::Text(folded::reparse_folded(text))),
            ScalarStyle::Plain if range.is_empty() && !is_tagged => Some(Scalar::Empty),
            // Null in a patch removes an annotation.
            ScalarStyle::Plain if matches!(text, "<<" | "") || is_null(text) => None,
            ScalarStyle::Plain if self.builder.is_in_annotations() => Some(Scalar::Text(text.to_owned())),
            _ => None,
        }
    }

    /// Returns the text of a scalar as read by Go.
    fn scalar_text<'t>(
        &mut self,
        text: Cow<'t, str>,
        style: ScalarStyle,
        range: &Range<usize>,
    ) -> Cow<'t, str> {
        let text = self.view.restore(text, style);
        if !matches!(style, ScalarStyle::Literal | ScalarStyle::Folded) {
            return text;
        }
        // In Go, a block scalar as the whole document must be indented, or it is empty. The parser places it by its
        // content.
        if self.builder.is_empty() && !range.is_empty() && self.view.text[..range.start].ends_with('\n') {
            self.end = Some(range.start);
            return Cow::Borrowed("");
        }
        text
    }

    fn finish(mut self) -> Result<ParsedDocument, Fault> {
        let text = &self.view.text;
        let end = self.end.unwrap_or(text.len());
        self.tabs.check_up_to(end, text.len())?;
        let rest = rest_after(text, end);
        Ok(ParsedDocument { tree: self.builder.finish(), text_after_end: rest.map(position) })
    }
}

/// Returns the start of ignored text behind the end of the document.
fn rest_after(text: &str, end: usize) -> Option<usize> {
    let mut at = end;
    for line in text[end..].split_inclusive('\n') {
        let content = line.trim();
        if !content.is_empty() && !content.starts_with('#') && content != "..." {
            return Some(at);
        }
        at += line.len();
    }
    None
}

fn full_tag(tag: &Tag) -> String {
    format!("{}{}", tag.handle(), tag.suffix())
}

/// Returns the number of an anchor; the parser writes 0 for none.
fn anchor_number(anchor: usize) -> Option<usize> {
    (anchor != 0).then_some(anchor)
}

fn byte_range(span: Span) -> Range<usize> {
    span.byte_range().expect("invariant: a parser made from a string knows its bytes")
}

/// Converts an offset; `read_document` limits the length of the text.
fn position(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

fn syntax(problem: &'static str, offset: u32) -> Fault {
    YamlErrorKind::Syntax(problem.into()).at_offset(offset)
}

/// Converts a parser error to a fault with our wording.
fn fault(kind: &ErrorKind, offset: usize, depth: usize) -> Fault {
    let problem = match kind {
        ErrorKind::RecursionLimitExceeded => YamlErrorKind::TooDeep { limit: depth },
        kind => YamlErrorKind::Syntax(wording(kind)),
    };
    problem.at_offset(position(offset))
}

fn wording(kind: &ErrorKind) -> Cow<'static, str> {
    use ErrorKind as K;
    Cow::Borrowed(match kind {
        K::UnexpectedEofFlowSequence
        | K::ExpectedFlowSequenceSeparator
        | K::UnclosedFlowCollection { open: '[' } => "did not find expected `,` or `]`",
        K::UnexpectedEofFlowMapping
        | K::UnexpectedEofImplicitFlowMapping
        | K::ExpectedFlowMappingSeparator
        | K::UnclosedFlowCollection { open: '{' } => "did not find expected `,` or `}`",
        K::MisplacedFlowCollectionEnd | K::MismatchedFlowCollectionEnd { .. } => {
            "found a closing bracket that does not match"
        }
        K::ExpectedBlockMappingKey => "did not find expected key",
        K::ExpectedBlockSequenceEntry => "did not find expected `-` of a list item",
        K::ExpectedNodeContent | K::UnexpectedEof => "did not find an expected value",
        K::SimpleKeyExpected | K::InvalidSimpleKey => "could not find expected `:` after a key",
        K::MappingValueNotAllowed | K::InvalidColonPlacement => "a mapping value is not allowed here",
        K::MappingKeyNotAllowed => "a key is not allowed here",
        K::BlockSequenceEntryNotAllowed | K::BlockEntryInFlowCollection => "a list item is not allowed here",
        K::UnexpectedCharacter { .. } => "found character that cannot start any token",
        K::TabNotAllowed | K::TabInBlockIndentation | K::TabInIndentation | K::TabInPlainScalar => {
            reject::TAB
        }
        K::UnclosedQuotedScalar => "found the end of the text inside quotes",
        K::DocumentIndicatorInQuotedScalar => "found the end of the document inside quotes",
        K::UnknownQuotedScalarEscape => "found an unknown escape in double quotes",
        K::InvalidQuotedScalarHexEscape => "did not find expected hexadecimal digits in an escape",
        K::UndeclaredTagHandle => "found a tag handle that is not defined",
        K::ExpectedDocumentStart => "did not find expected `---` after a directive",
        K::CommentNotSeparated => "a comment must be separated by a space",
        other => return Cow::Owned(clean_message(&other.to_string())),
    })
}

/// Returns the finding of a message as a lower-case fragment, without the parser context.
fn clean_message(message: &str) -> String {
    let finding = match message.split_once(", ") {
        Some((context, finding)) if context.starts_with("while ") => finding,
        _ => message,
    };
    finding.replace('\'', "`")
}
