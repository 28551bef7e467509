//! The language of filters: the part of SQL that is safe to hand to the engine.
//!
//! The engine accepts any expression: it panics on placeholders and unknown literals, overflows its stack on deeply nested
//! expressions, and runs functions such as `repeat` that can fill the memory. A filter may therefore use only the functions,
//! operators and literals listed here, and its length is checked before it is parsed.

mod expression;
mod refusal;
mod tokens;

use std::panic::resume_unwind;
use std::thread;

use lancedb::datafusion::sql::sqlparser::dialect::GenericDialect;
use lancedb::datafusion::sql::sqlparser::parser::{Parser, ParserError};
use lancedb::datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};

pub(super) use refusal::{Refusal, shortened};

use refusal::{MOST_BYTES, MOST_LEVELS, part};

/// Most levels that the parser descends: a pair of brackets may surround each level of an expression. The parser's own limit is
/// twice as high, and too deep for the engine, which parses the filter again on a stack of 2 MiB.
const MOST_PARSED: usize = 2 * MOST_LEVELS + 4;
/// Bytes of the checking thread's stack: enough for as many levels as a filter may have words and signs, at about ten thousand bytes
/// each in an unoptimised build. Only the part that is used becomes memory.
const STACK: usize = 64 << 20;

/// Checks that `sql` uses only what filters may use. It does not check whether the columns exist.
///
/// A refused filter may be a tree as deep as it has words and signs, and both printing and dropping such a tree recurse. The check
/// therefore runs on a thread with a large stack, because the caller's may be nearly used up.
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
    tokens::check(&tokens)?;
    let mut parser = Parser::new(&dialect)
        .with_recursion_limit(MOST_PARSED)
        .with_tokens(tokens);
    let expression = parser.parse_expr().map_err(|error| match error {
        ParserError::RecursionLimitExceeded => Refusal::Deep,
        error => syntax(&error),
    })?;
    match parser.peek_token().token {
        Token::EOF => expression::check(&expression, MOST_LEVELS, None),
        rest => Err(part(&rest)),
    }
}

#[cfg(test)]
mod tests;
