//! The words and signs of a filter: which ones there may be, and how many.

use lancedb::datafusion::sql::sqlparser::keywords::Keyword;
use lancedb::datafusion::sql::sqlparser::tokenizer::Token;

use super::refusal::{MOST_JOINED, Refusal, excerpt, part};

/// Most words and signs, not counting the values in lists: they bound how deep the parser's tree can be.
const MOST_SIGNS: usize = 1_000;

/// Refuses tokens that filters do not need, and more tokens than keep an expression shallow.
pub(super) fn check(tokens: &[Token]) -> Result<(), Refusal> {
    let (mut signs, mut joined) = (0, 0);
    for token in tokens {
        match token {
            Token::Word(word) if word.quote_style.is_some() => {
                return Err(Refusal::Quotes(excerpt(token)));
            }
            Token::DoubleQuotedString(_) => return Err(Refusal::Quotes(excerpt(token))),
            Token::Placeholder(_) | Token::Question => {
                return Err(Refusal::Placeholder(excerpt(token)));
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
