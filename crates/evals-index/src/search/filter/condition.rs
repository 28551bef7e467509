//! The language of filters: the part of SQL that is safe to hand to the engine.
//!
//! The engine accepts any expression. It panics on placeholders and unknown literals, overflows its stack on deeply nested
//! expressions, and runs functions such as `repeat` that can fill the memory. A filter may therefore use only the functions,
//! operators and literals listed here, and its length is checked before it is parsed.

use std::io;
use std::panic::resume_unwind;
use std::thread;

use lancedb::datafusion::sql::sqlparser::ast::{
    BinaryOperator, CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArguments, ObjectNamePart, UnaryOperator, Value, ValueWithSpan,
};
use lancedb::datafusion::sql::sqlparser::dialect::GenericDialect;
use lancedb::datafusion::sql::sqlparser::keywords::Keyword;
use lancedb::datafusion::sql::sqlparser::parser::{Parser, ParserError};
use lancedb::datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};
use thiserror::Error;

/// Longest filter, which is also the longest argument that Linux hands to a program.
const MOST_BYTES: usize = 128 << 10;
/// Most words and signs, those of the values in lists aside: they bound how deep the parser's tree can be.
const MOST_SIGNS: usize = 1_000;
/// Most times that `AND` and `OR` occur.
const MOST_JOINED: usize = 100;
/// Most levels of an expression, a chain of `AND` or of `OR` being one. With twice as many the engine overflows the 2 MiB that threads
/// have for their stacks, where it is not optimised.
const MOST_LEVELS: usize = 10;
/// Most levels that the parser goes down: a pair of brackets may surround each level of an expression. The parser's own bound is
/// twice as high, and too deep for the engine, which parses the filter again on a stack of 2 MiB.
const MOST_PARSED: usize = 2 * MOST_LEVELS + 4;
/// Bytes for levels of [`MOST_SIGNS`], of some ten thousand each where nothing is optimised. Only what is used becomes memory.
const STACK: usize = 64 << 20;
/// Characters of a part that a message shows.
const SHOWN: usize = 60;

/// What filters may call: functions whose value follows from their arguments alone, and is no longer than they are.
pub(super) const FUNCTIONS: [&str; 17] = [
    "btrim",
    "character_length",
    "coalesce",
    "contains",
    "ends_with",
    "left",
    "length",
    "lower",
    "ltrim",
    "nullif",
    "octet_length",
    "reverse",
    "right",
    "rtrim",
    "split_part",
    "starts_with",
    "upper",
];

/// Why a text is no filter.
#[derive(Debug, Error)]
pub(super) enum Refusal {
    #[error("it has {0} bytes, and {MOST_BYTES} are the most")]
    Long(usize),
    #[error(
        "it joins more than {MOST_JOINED} conditions; many values are matched by a list, as in `uri IN ('a', 'b')`"
    )]
    Many,
    #[error("it is nested more than {MOST_LEVELS} levels deep")]
    Deep,
    #[error("`{0}` is a placeholder, and there is nothing to fill it with")]
    Placeholder(String),
    #[error(
        "`{0}` is in the wrong quotes; write text in single quotes, and column names without quotes"
    )]
    Quotes(String),
    #[error("`{0}` is not one of the functions {list}", list = functions())]
    Function(String),
    #[error("`{0}` is not part of the language of filters")]
    Part(String),
    #[error("{0}")]
    Syntax(String),
    #[error("cannot start a thread that checks it")]
    Thread(#[source] io::Error),
}

/// Checks that `sql` uses only what filters may use. It does not check whether the columns exist.
///
/// What is refused may be a tree of as many levels as there are signs, which showing and dropping it goes down. That is done on a
/// stack of its own, because nobody knows how much is left of the caller's.
pub(super) fn check(sql: &str) -> Result<(), Refusal> {
    thread::scope(|scope| {
        let checking = thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, || check_here(sql))
            .map_err(Refusal::Thread)?;
        checking
            .join()
            .unwrap_or_else(|panicked| resume_unwind(panicked))
    })
}

fn check_here(sql: &str) -> Result<(), Refusal> {
    if sql.len() > MOST_BYTES {
        return Err(Refusal::Long(sql.len()));
    }
    let dialect = GenericDialect {};
    let syntax = |error: &dyn std::error::Error| Refusal::Syntax(error.to_string());
    let tokens = Tokenizer::new(&dialect, sql)
        .tokenize()
        .map_err(|error| syntax(&error))?;
    check_tokens(&tokens)?;
    let mut parser = Parser::new(&dialect)
        .with_recursion_limit(MOST_PARSED)
        .with_tokens(tokens);
    let expression = parser.parse_expr().map_err(|error| match error {
        ParserError::RecursionLimitExceeded => Refusal::Deep,
        error => syntax(&error),
    })?;
    match parser.peek_token().token {
        Token::EOF => check_expression(&expression, MOST_LEVELS, None),
        rest => Err(part(&rest)),
    }
}

/// Lets only those tokens pass that a filter needs, and no more of them than keeps an expression shallow.
fn check_tokens(tokens: &[Token]) -> Result<(), Refusal> {
    let (mut signs, mut joined) = (0, 0);
    for token in tokens {
        match token {
            Token::Word(word) if word.quote_style.is_some() => {
                return Err(Refusal::Quotes(shortened(token)));
            }
            Token::DoubleQuotedString(_) => return Err(Refusal::Quotes(shortened(token))),
            Token::Placeholder(_) | Token::Question => {
                return Err(Refusal::Placeholder(shortened(token)));
            }
            Token::Number(_, false)
            | Token::SingleQuotedString(_)
            | Token::Comma
            | Token::Whitespace(_)
            | Token::EOF => {}
            Token::Word(word) => {
                signs += 1;
                joined += usize::from(matches!(word.keyword, Keyword::AND | Keyword::OR));
            }
            Token::LParen
            | Token::RParen
            | Token::Eq
            | Token::DoubleEq
            | Token::Neq
            | Token::Lt
            | Token::Gt
            | Token::LtEq
            | Token::GtEq
            | Token::Minus => signs += 1,
            _ => return Err(part(token)),
        }
    }
    if signs > MOST_SIGNS || joined > MOST_JOINED {
        return Err(Refusal::Many);
    }
    Ok(())
}

/// Checks an expression that may have so many levels. `chain` is the operator that it is an operand of.
fn check_expression(
    expression: &Expr,
    levels: usize,
    chain: Option<&BinaryOperator>,
) -> Result<(), Refusal> {
    match expression {
        Expr::Identifier(_) => return Ok(()),
        Expr::Value(value) => return check_value(value),
        Expr::Nested(inner) => return check_expression(inner, levels, chain),
        _ => {}
    }
    let operator = match expression {
        // How many of these there are is bounded; of comparisons there may be hundreds.
        Expr::BinaryOp {
            op: op @ (BinaryOperator::And | BinaryOperator::Or),
            ..
        } => Some(op),
        _ => None,
    };
    let continues = operator.is_some() && operator == chain;
    let Some(levels) = levels.checked_sub(usize::from(!continues)) else {
        return Err(Refusal::Deep);
    };
    let check = |part: &Expr| check_expression(part, levels, operator);
    match expression {
        Expr::IsNull(inner)
        | Expr::IsNotNull(inner)
        | Expr::IsTrue(inner)
        | Expr::IsNotTrue(inner)
        | Expr::IsFalse(inner)
        | Expr::IsNotFalse(inner)
        | Expr::UnaryOp {
            op: UnaryOperator::Not,
            expr: inner,
        } => check(inner),
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr: inner,
        } if is_number(inner) => Ok(()),
        Expr::BinaryOp { left, op, right } if is_known(op) => {
            check(left).and_then(|()| check(right))
        }
        Expr::Between {
            expr, low, high, ..
        } => [expr, low, high].into_iter().try_for_each(|it| check(it)),
        Expr::InList { expr, list, .. } => {
            check(expr).and_then(|()| list.iter().try_for_each(check))
        }
        Expr::Like {
            any: false,
            expr,
            pattern,
            ..
        }
        | Expr::ILike {
            any: false,
            expr,
            pattern,
            ..
        } if matches!(**pattern, Expr::Value(_)) => check(expr).and_then(|()| check(pattern)),
        Expr::Cast {
            kind: CastKind::Cast | CastKind::TryCast,
            expr,
            data_type: DataType::Int(None) | DataType::BigInt(None) | DataType::Double(_),
            array: false,
            format: None,
        } => check(expr),
        Expr::Function(function) => arguments(function)?.into_iter().try_for_each(check),
        other => Err(part(other)),
    }
}

fn is_known(operator: &BinaryOperator) -> bool {
    matches!(
        operator,
        BinaryOperator::And
            | BinaryOperator::Or
            | BinaryOperator::Eq
            | BinaryOperator::NotEq
            | BinaryOperator::Lt
            | BinaryOperator::LtEq
            | BinaryOperator::Gt
            | BinaryOperator::GtEq
    )
}

fn is_number(expression: &Expr) -> bool {
    let Expr::Value(value) = expression else {
        return false;
    };
    matches!(value.value, Value::Number(_, false))
}

fn check_value(value: &ValueWithSpan) -> Result<(), Refusal> {
    match &value.value {
        Value::Number(_, false)
        | Value::SingleQuotedString(_)
        | Value::Boolean(_)
        | Value::Null => Ok(()),
        other => Err(part(other)),
    }
}

/// The arguments of a plain call of a function that filters may call.
fn arguments(function: &Function) -> Result<Vec<&Expr>, Refusal> {
    let plain = function.over.is_none()
        && function.filter.is_none()
        && function.null_treatment.is_none()
        && function.within_group.is_empty()
        && function.parameters == FunctionArguments::None
        && !function.uses_odbc_syntax;
    let ([ObjectNamePart::Identifier(name)], FunctionArguments::List(list), true) =
        (function.name.0.as_slice(), &function.args, plain)
    else {
        return Err(part(function));
    };
    if !FUNCTIONS.contains(&name.value.to_lowercase().as_str()) {
        return Err(Refusal::Function(shortened(name)));
    }
    if list.duplicate_treatment.is_some() || !list.clauses.is_empty() {
        return Err(part(function));
    }
    let arguments = list.args.iter().map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)) => Ok(argument),
        other => Err(part(other)),
    });
    arguments.collect()
}

fn part(part: &impl ToString) -> Refusal {
    Refusal::Part(shortened(part))
}

fn shortened(part: &impl ToString) -> String {
    super::shortened(&part.to_string(), SHOWN)
}

fn functions() -> String {
    FUNCTIONS.map(|name| format!("`{name}`")).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(sql: &str) -> String {
        check(sql).unwrap_err().to_string()
    }

    #[test]
    fn conditions_are_made_of_comparisons_lists_and_patterns() {
        for sql in [
            "uri = 'a'",
            "uri == 'a' AND title <> 'b' OR NOT (metadata != 'c')",
            "uri IN ('a', 'b') AND title NOT IN ('c')",
            "uri LIKE 'a%' AND title NOT ILIKE '%b_' ESCAPE '\\'",
            "title IS NOT NULL AND (title > 'a') IS TRUE",
            "uri BETWEEN 'a' AND 'f' -- the first ones",
            "length(title) >= 3 AND right(uri, -1) < 'b'",
            "TRY_CAST(split_part(uri, '/', 2) AS INT) > 5",
            "/* all */ true",
            "lower(title) = 'it''s -- ? $1 \"quoted\"'",
        ] {
            assert!(check(sql).is_ok(), "{sql}: {}", refusal(sql));
        }
    }

    #[test]
    fn the_part_that_is_not_allowed_is_named() {
        for (sql, message) in [
            (
                "uri = ?",
                "`?` is a placeholder, and there is nothing to fill it with",
            ),
            (
                "uri = $1",
                "`$1` is a placeholder, and there is nothing to fill it with",
            ),
            (
                "\"uri\" = 'a'",
                "`\"uri\"` is in the wrong quotes; write text in single quotes, and column names without quotes",
            ),
            (
                "`uri` = 'a'",
                "``uri`` is in the wrong quotes; write text in single quotes, and column names without quotes",
            ),
            (
                "length(uri) + 1 > 3",
                "`+` is not part of the language of filters",
            ),
            (
                "uri IN (SELECT uri FROM other)",
                "`uri IN (SELECT uri FROM other)` is not part of the language of filters",
            ),
            (
                "CASE WHEN true THEN true END",
                "`CASE WHEN true THEN true END` is not part of the language of filters",
            ),
            (
                "CAST(uri AS DECIMAL(300, 5)) = 1",
                "`CAST(uri AS DECIMAL(300,5))` is not part of the language of filters",
            ),
            (
                "uri LIKE title",
                "`uri LIKE title` is not part of the language of filters",
            ),
            (
                "uri = X'00'",
                "`X'00'` is not part of the language of filters",
            ),
            (
                "uri = 'a' ORDER BY uri",
                "`ORDER` is not part of the language of filters",
            ),
            (
                "uri = 'a'; DROP TABLE x",
                "`;` is not part of the language of filters",
            ),
            (
                "-length(uri) < 0",
                "`-length(uri)` is not part of the language of filters",
            ),
            (
                "max(uri) OVER () = 'a'",
                "`max(uri) OVER ()` is not part of the language of filters",
            ),
        ] {
            assert_eq!(refusal(sql), message, "{sql}");
        }
        for sql in [
            "lpad(uri, 2000000000, 'x') = 'a'",
            "repeat(uri, 2000000000) = 'a'",
            "random() < 0.5",
            "now() > '2020-01-01'",
            "is_valid()",
        ] {
            let message = refusal(sql);
            assert!(
                message.contains("is not one of the functions `btrim`, "),
                "{message}"
            );
        }
    }

    #[test]
    fn what_is_long_or_deep_is_refused_before_it_is_parsed() {
        let many = "it joins more than 100 conditions; many values are matched by a list, as in `uri IN ('a', 'b')`";
        let chain = |count: usize| vec!["uri = 'a'"; count].join(" OR ");
        assert!(check(&chain(101)).is_ok());
        for count in [102, 3_000, 7_000] {
            assert_eq!(refusal(&chain(count)), many);
        }
        assert_eq!(refusal(&"NOT ".repeat(20_000)), many);
        assert_eq!(refusal(&"(".repeat(100_000)), many);
        let deep = "it is nested more than 10 levels deep";
        let negated = |count: usize| format!("{}uri IS NULL", "NOT ".repeat(count));
        assert!(check(&negated(9)).is_ok());
        assert_eq!(refusal(&negated(10)), deep);
        let called =
            |count: usize| format!("{}uri{} = 'a'", "lower(".repeat(count), ")".repeat(count));
        assert!(check(&called(9)).is_ok());
        assert_eq!(refusal(&called(10)), deep);
        let alternating = "(uri = 'a' OR (uri = 'b' AND ".repeat(4) + "true" + &"))".repeat(4);
        assert!(check(&alternating).is_ok());
        assert_eq!(refusal(&format!("NOT NOT {alternating}")), deep);
        let list = |count: usize| format!("uri IN ({})", vec!["'a'"; count].join(", "));
        assert!(check(&list(20_000)).is_ok());
        assert_eq!(
            refusal(&list(40_000)),
            "it has 200007 bytes, and 131072 are the most"
        );
        assert_eq!(refusal(&"(".repeat(400)), deep);
        let bracketed =
            |count: usize| format!("{}uri IS NULL{}", "NOT (".repeat(count), ")".repeat(count));
        assert!(check(&bracketed(9)).is_ok());
        // Trees that grow to the left as they are read.
        for (unit, message) in [
            ("- 1 ", "is not part of the language of filters"),
            ("= uri ", deep),
            ("IS NULL ", deep),
            ("BETWEEN 1 AND 2 ", deep),
        ] {
            let chain = format!("uri {}", unit.repeat(90));
            assert!(refusal(&chain).ends_with(message), "{unit}");
        }
        assert!(
            refusal(&format!("uri LIKE ({})", vec!["uri"; 490].join(" = "))).contains("language")
        );
        for opening in ["TRY_CAST(split_part(", "lower(", "NOT (", "uri IN ("] {
            assert_eq!(refusal(&opening.repeat(90)), deep, "{opening}");
        }
    }
}
