//! The texts of the evaluator's errors.

use rsjsonnet_lang::ast::{BinaryOp, UnaryOp};
use rsjsonnet_lang::lexer::LexError;
use rsjsonnet_lang::parser::{ActualToken, ParseError};
use rsjsonnet_lang::program::{
    AnalyzeError, EvalErrorKind, EvalErrorValueType, EvalStackTraceItem, LoadError,
};
use rsjsonnet_lang::span::SpanId;

/// Describes a source that cannot be parsed.
pub(super) fn of_load(error: &LoadError) -> (String, SpanId) {
    match error {
        LoadError::Lex(error) => of_token(error),
        LoadError::Parse(ParseError::Expected { span, instead, .. }) => {
            (format!("unexpected {}", actual(instead)), *span)
        }
        LoadError::Analyze(error) => of_analysis(error),
    }
}

fn of_token(error: &LexError) -> (String, SpanId) {
    match error {
        LexError::InvalidChar { span, chr } => (format!("unexpected character {chr:?}"), *span),
        LexError::InvalidUtf8 { span, .. } => ("the text is not valid UTF-8".to_owned(), *span),
        LexError::UnfinishedMultilineComment { span } => ("a comment has no end".to_owned(), *span),
        LexError::LeadingZeroInNumber { span } => ("a number starts with zero".to_owned(), *span),
        LexError::MissingFracDigits { span }
        | LexError::MissingExpDigits { span }
        | LexError::MissingDigitAfterUnderscore { span } => ("a number is incomplete".to_owned(), *span),
        LexError::ExpOverflow { span } => ("a number is too large".to_owned(), *span),
        LexError::InvalidEscapeInString { span, .. }
        | LexError::IncompleteUnicodeEscape { span }
        | LexError::InvalidUtf16EscapeSequence { span, .. } => {
            ("an escape in a text is invalid".to_owned(), *span)
        }
        LexError::UnfinishedString { span } => ("a text has no end".to_owned(), *span),
        LexError::MissingLineBreakAfterTextBlockStart { span } => {
            ("a text block must start on a new line".to_owned(), *span)
        }
        LexError::MissingWhitespaceTextBlockStart { span } => {
            ("the first line of a text block must be indented".to_owned(), *span)
        }
        LexError::InvalidTextBlockTermination { span } => ("a text block has no end".to_owned(), *span),
    }
}

fn actual(token: &ActualToken) -> String {
    match token {
        ActualToken::EndOfFile => "end of the file".to_owned(),
        ActualToken::Simple(kind) => format!("`{}`", format!("{kind:?}").to_lowercase()),
        ActualToken::OtherOp(operator) => format!("operator `{operator}`"),
        ActualToken::Ident(name) => format!("`{name}`"),
        ActualToken::Number => "number".to_owned(),
        ActualToken::String => "text".to_owned(),
        ActualToken::TextBlock => "text block".to_owned(),
    }
}

fn of_analysis(error: &AnalyzeError) -> (String, SpanId) {
    match error {
        AnalyzeError::UnknownVariable { span, name } => (format!("unknown variable: {name}"), *span),
        AnalyzeError::SelfOutsideObject { self_span } => {
            ("`self` stands outside of an object".to_owned(), *self_span)
        }
        AnalyzeError::SuperOutsideObject { super_span } => {
            ("`super` stands outside of an object".to_owned(), *super_span)
        }
        AnalyzeError::DollarOutsideObject { dollar_span } => {
            ("`$` stands outside of an object".to_owned(), *dollar_span)
        }
        AnalyzeError::RepeatedLocalName { repeated_span, name, .. } => {
            (format!("local `{name}` is defined twice"), *repeated_span)
        }
        AnalyzeError::RepeatedFieldName { repeated_span, name, .. } => {
            (format!("field `{name}` is defined twice"), *repeated_span)
        }
        AnalyzeError::RepeatedParamName { repeated_span, name, .. } => {
            (format!("parameter `{name}` is defined twice"), *repeated_span)
        }
        AnalyzeError::PositionalArgAfterNamed { arg_span } => {
            ("a positional argument stands behind a named one".to_owned(), *arg_span)
        }
        AnalyzeError::TextBlockAsImportPath { span } => ("a text block cannot be imported".to_owned(), *span),
        AnalyzeError::ComputedImportPath { span } => ("the path of an import is computed".to_owned(), *span),
    }
}

/// Describes a program that fails.
pub(super) fn of_evaluation(kind: &EvalErrorKind) -> (String, Option<SpanId>) {
    use EvalErrorKind as Kind;
    match kind {
        Kind::StackOverflow => {
            ("too many nested calls; a function may call itself endlessly".to_owned(), None)
        }
        Kind::InfiniteRecursion => ("infinite recursion: a value refers to itself".to_owned(), None),
        Kind::InvalidIndexedType { span, got_type } => {
            (format!("a value of type {} has no elements", type_name(*got_type)), Some(*span))
        }
        Kind::InvalidSlicedType { span, got_type } => {
            (format!("a value of type {} has no slices", type_name(*got_type)), Some(*span))
        }
        Kind::SliceIndexOrStepIsNotNumber { span, got_type }
        | Kind::StringIndexIsNotNumber { span, got_type }
        | Kind::ArrayIndexIsNotNumber { span, got_type } => {
            (format!("an index must be a number, not {}", type_name(*got_type)), Some(*span))
        }
        Kind::NumericIndexIsNotValid { span, index } => (format!("{index} is no valid index"), Some(*span)),
        Kind::NumericIndexOutOfRange { span, index, length } => {
            (format!("index {index} is out of bounds, not within [0, {length})"), Some(*span))
        }
        Kind::ObjectIndexIsNotString { span, got_type } => {
            (format!("the name of a field must be a string, not {}", type_name(*got_type)), Some(*span))
        }
        Kind::RepeatedFieldName { span, name } => (format!("field `{name}` is defined twice"), Some(*span)),
        Kind::FieldNameIsNotString { span, got_type } => {
            (format!("field name must be a string, not {}", type_name(*got_type)), Some(*span))
        }
        Kind::UnknownObjectField { span, field_name } => {
            (format!("field does not exist: {field_name}"), Some(*span))
        }
        Kind::FieldOfNonObject { span } => {
            ("a value that is no object has no fields".to_owned(), Some(*span))
        }
        Kind::SuperWithoutSuperObject { span } => {
            ("`super` is used where there is no super object".to_owned(), Some(*span))
        }
        Kind::ForSpecValueIsNotArray { span, got_type } => {
            (format!("`for` needs an array, not {}", type_name(*got_type)), Some(*span))
        }
        Kind::CondIsNotBool { span, got_type } => {
            (format!("a condition must be a boolean, not {}", type_name(*got_type)), Some(*span))
        }
        _ => of_call(kind),
    }
}

/// Describes failed calls and operators.
fn of_call(kind: &EvalErrorKind) -> (String, Option<SpanId>) {
    use EvalErrorKind as Kind;
    match kind {
        Kind::CalleeIsNotFunction { span, got_type } => {
            (format!("a value of type {} cannot be called", type_name(*got_type)), *span)
        }
        Kind::TooManyCallArgs { span, num_params } => {
            (format!("too many arguments, the function has {num_params} parameters"), *span)
        }
        Kind::UnknownCallParam { span, param_name } => {
            (format!("the function has no parameter `{param_name}`"), *span)
        }
        Kind::RepeatedCallParam { span, param_name } => {
            (format!("argument `{param_name}` is given twice"), *span)
        }
        Kind::CallParamNotBound { span, param_name } => (format!("missing argument: {param_name}"), *span),
        Kind::NativeCallFailed => ("a native function failed".to_owned(), None),
        Kind::InvalidUnaryOpType { span, op, rhs_type } => {
            (format!("{} cannot be applied to {}", unary(*op), type_name(*rhs_type)), Some(*span))
        }
        Kind::InvalidBinaryOpTypes { span, op, lhs_type, rhs_type } => {
            let types = (type_name(*lhs_type), type_name(*rhs_type));
            (format!("{} cannot be applied to {} and {}", binary(*op), types.0, types.1), *span)
        }
        Kind::NumberNotBitwiseSafe { span } => ("a number is too large for bit operations".to_owned(), *span),
        Kind::NumberOverflow { span } => ("a number overflows".to_owned(), *span),
        Kind::NumberNan { span } => ("the result is not a number".to_owned(), *span),
        Kind::DivByZero { span } => ("division by zero".to_owned(), *span),
        Kind::ShiftByNegative { span } => ("shift by a negative number".to_owned(), *span),
        Kind::InvalidStdFuncArgType { func_name, arg_index, expected_types, got_type } => {
            let expected: Vec<_> = expected_types.iter().map(|expected| type_name(*expected)).collect();
            let (number, expected) = (arg_index + 1, expected.join(" or "));
            let found = type_name(*got_type);
            (format!("argument {number} of std.{func_name} must be {expected}, not {found}"), None)
        }
        _ => of_failure(kind),
    }
}

/// Describes errors that a program raises itself, and values without JSON or order.
fn of_failure(kind: &EvalErrorKind) -> (String, Option<SpanId>) {
    use EvalErrorKind as Kind;
    match kind {
        Kind::AssertFailed { span, message } => {
            (message.clone().unwrap_or_else(|| "an assertion failed".to_owned()), Some(*span))
        }
        Kind::AssertEqualFailed { lhs, rhs } => (format!("{lhs} is not equal to {rhs}"), None),
        Kind::ExplicitError { span, message } => (message.clone(), Some(*span)),
        Kind::ImportFailed { span, path } => (format!("cannot import `{path}`"), Some(*span)),
        Kind::UnknownExtVar { name } => (format!("undefined external variable: {name}"), None),
        Kind::ManifestFunction => ("a function has no JSON".to_owned(), None),
        Kind::CompareNullInequality
        | Kind::CompareBooleanInequality
        | Kind::CompareObjectInequality
        | Kind::CompareFunctions => ("the values have no order".to_owned(), None),
        Kind::CompareDifferentTypesInequality { lhs_type, rhs_type } => {
            (format!("{} and {} have no order", type_name(*lhs_type), type_name(*rhs_type)), None)
        }
        Kind::PrimitiveEqualsNonPrimitive { got_type } => {
            (format!("std.primitiveEquals cannot compare {}", type_name(*got_type)), None)
        }
        Kind::Other { span, message } => (message.clone(), *span),
        _ => ("the program failed".to_owned(), None),
    }
}

/// Describes an open call, field or import.
pub(super) fn of_trace(item: &EvalStackTraceItem) -> (String, Option<SpanId>) {
    match item {
        EvalStackTraceItem::Expr { span } => ("this expression".to_owned(), Some(*span)),
        EvalStackTraceItem::Call { span, name } => {
            (name.as_ref().map_or("a call".to_owned(), |name| format!("call of `{name}`")), *span)
        }
        EvalStackTraceItem::Variable { span, name } => (format!("variable `{name}`"), Some(*span)),
        EvalStackTraceItem::ArrayItem { span, index } => (format!("item {index}"), *span),
        EvalStackTraceItem::ObjectField { span, name } => (format!("field `{name}`"), *span),
        EvalStackTraceItem::CompareArrayItem { index } => (format!("comparison of item {index}"), None),
        EvalStackTraceItem::CompareObjectField { name } => (format!("comparison of field `{name}`"), None),
        EvalStackTraceItem::ManifestArrayItem { index } => (format!("item {index} of the result"), None),
        EvalStackTraceItem::ManifestObjectField { name } => (format!("field `{name}` of the result"), None),
        EvalStackTraceItem::Import { span } => ("this import".to_owned(), Some(*span)),
    }
}

fn type_name(kind: EvalErrorValueType) -> &'static str {
    match kind {
        EvalErrorValueType::Null => "null",
        EvalErrorValueType::Bool => "boolean",
        EvalErrorValueType::Number => "number",
        EvalErrorValueType::String => "string",
        EvalErrorValueType::Array => "array",
        EvalErrorValueType::Object => "object",
        EvalErrorValueType::Function => "function",
    }
}

fn unary(operator: UnaryOp) -> &'static str {
    match operator {
        UnaryOp::Minus => "`-`",
        UnaryOp::Plus => "`+`",
        UnaryOp::BitwiseNot => "`~`",
        UnaryOp::LogicNot => "`!`",
    }
}

fn binary(operator: BinaryOp) -> &'static str {
    match operator {
        BinaryOp::Add => "`+`",
        BinaryOp::Sub => "`-`",
        BinaryOp::Mul => "`*`",
        BinaryOp::Div => "`/`",
        BinaryOp::Rem => "`%`",
        BinaryOp::Shl => "`<<`",
        BinaryOp::Shr => "`>>`",
        BinaryOp::Lt => "`<`",
        BinaryOp::Le => "`<=`",
        BinaryOp::Gt => "`>`",
        BinaryOp::Ge => "`>=`",
        BinaryOp::Eq => "`==`",
        BinaryOp::Ne => "`!=`",
        BinaryOp::In => "`in`",
        BinaryOp::BitwiseAnd => "`&`",
        BinaryOp::BitwiseOr => "`|`",
        BinaryOp::BitwiseXor => "`^`",
        BinaryOp::LogicAnd => "`&&`",
        BinaryOp::LogicOr => "`||`",
    }
}
