//! The words and signs of a filter: which ones there may be, and how many.

use lancedb::datafusion::sql::sqlparser::keywords::Keyword;
use lancedb::datafusion::sql::sqlparser::tokenizer::Token;

use super::refusal::{MOST_JOINED, MOST_LEVELS, MOST_SIGNS, Refusal, excerpt, part};

/// Refuses tokens that filters do not need, and more tokens than keep an expression shallow.
pub(super) fn check(tokens: &[Token]) -> Result<(), Refusal> {
    let (mut signs, mut joined) = (0, 0);
    let (mut open, mut deepest) = (0_usize, 0_usize);
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
        Err(Refusal::Many)
    } else if signs <= MOST_SIGNS {
        Ok(())
    } else if deepest > MOST_LEVELS {
        Err(Refusal::Deep)
    } else {
        Err(Refusal::Signs)
    }
}
