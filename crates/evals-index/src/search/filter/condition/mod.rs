//! The language of filters: the part of SQL that is safe to hand to the engine.
//!
//! The engine accepts any expression: it panics on placeholders and unknown literals, overflows its stack on deeply nested
//! expressions, and runs functions such as `repeat` that can fill the memory. A filter may therefore use only the functions,
//! operators and literals listed here, and its length is checked before it is parsed.

mod expression;

use std::panic::resume_unwind;
use std::thread;

use evals_messages::visible::beginning;
use lancedb::datafusion::sql::sqlparser::dialect::GenericDialect;
use lancedb::datafusion::sql::sqlparser::keywords::Keyword;
use lancedb::datafusion::sql::sqlparser::parser::{Parser, ParserError};
use lancedb::datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};

/// Longest filter, which is also the longest argument that Linux hands to a program.
const MOST_BYTES: usize = 128 << 10;
/// Most times that `AND` and `OR` occur.
const MOST_JOINED: usize = 100;
/// Most levels of an expression; a chain of `AND` or of `OR` is one level. At twice as many, an unoptimised engine overflows the 2 MiB
/// that threads have for their stacks.
const MOST_LEVELS: usize = 10;
/// Characters of a part that a message shows.
const SHOWN: usize = 60;

/// The functions that filters may call. Their results depend on the arguments alone, and are no longer than those.
const FUNCTIONS: [&str; 17] = [
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

/// Most words and signs, not counting the values in lists: they bound how deep the parser's tree can be.
const MOST_SIGNS: usize = 1_000;

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
pub(super) fn check(sql: &str) -> Result<(), String> {
    thread::scope(|scope| {
        let checking = thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, || check_here(sql))
            .map_err(|error| format!("cannot start the thread that checks it: {error}"))?;
        checking
            .join()
            .unwrap_or_else(|panicked| resume_unwind(panicked))
    })
}

fn check_here(sql: &str) -> Result<(), String> {
    if sql.len() > MOST_BYTES {
        let bytes = sql.len();
        return Err(format!(
            "it is {bytes} bytes long, and the limit is {MOST_BYTES}"
        ));
    }
    let dialect = GenericDialect {};
    let tokens = Tokenizer::new(&dialect, sql)
        .tokenize()
        .map_err(|error| error.to_string())?;
    check_tokens(&tokens)?;
    let mut parser = Parser::new(&dialect)
        .with_recursion_limit(MOST_PARSED)
        .with_tokens(tokens);
    let expression = parser.parse_expr().map_err(|error| match error {
        ParserError::RecursionLimitExceeded => too_deep(),
        error => error.to_string(),
    })?;
    match parser.peek_token().token {
        Token::EOF => expression::check(&expression, MOST_LEVELS, None),
        rest => Err(part(&rest)),
    }
}

/// Refuses tokens that filters do not need, and more tokens than keep an expression shallow.
fn check_tokens(tokens: &[Token]) -> Result<(), String> {
    let (mut signs, mut joined) = (0, 0);
    let (mut open, mut deepest) = (0_usize, 0_usize);
    for token in tokens {
        match token {
            Token::Word(word) if word.quote_style.is_some() => return Err(in_quotes(token)),
            Token::DoubleQuotedString(_) => return Err(in_quotes(token)),
            Token::Placeholder(_) | Token::Question => {
                let token = excerpt(token);
                return Err(format!(
                    "`{token}` is a placeholder; write the value itself"
                ));
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
            Token::LParen => {
                signs += 1;
                open += 1;
                deepest = deepest.max(open);
            }
            Token::RParen => {
                signs += 1;
                open = open.saturating_sub(1);
            }
            Token::Eq
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
    if joined > MOST_JOINED {
        Err(format!(
            "it joins more than {MOST_JOINED} conditions; match many values with a list, as in `uri IN ('a', 'b')`"
        ))
    } else if signs <= MOST_SIGNS {
        Ok(())
    } else if deepest > MOST_LEVELS {
        Err(too_deep())
    } else {
        Err(format!(
            "it has more than {MOST_SIGNS} words and signs, not counting the values in lists such as `uri IN ('a', 'b')`"
        ))
    }
}

fn in_quotes(token: &Token) -> String {
    format!(
        "`{}` is in the wrong quotes; write text in single quotes and column names without quotes",
        excerpt(token)
    )
}

fn too_deep() -> String {
    format!("it is nested more than {MOST_LEVELS} levels deep")
}

/// The refusal of a part that filters cannot contain.
fn part(part: &impl ToString) -> String {
    format!("filters cannot contain `{}`", excerpt(part))
}

/// The beginning of a part, for a message.
fn excerpt(part: &impl ToString) -> String {
    beginning(&part.to_string(), SHOWN)
}

#[cfg(test)]
mod tests;
