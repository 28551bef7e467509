//! Fits passages into a token budget.

use std::num::NonZeroUsize;
use std::sync::Arc;

use evals_models::Tokenizer;

use crate::Passage;

/// A limit for the tokens of a context. Titles count; the rest of the prompt does not.
///
/// Passages stay whole. Only a best passage that exceeds the limit on its own is cut; it loses its title if the title leaves
/// no tokens for text.
#[derive(Debug, Clone)]
pub struct Budget {
    /// The limit.
    pub tokens: NonZeroUsize,
    /// Counts the tokens.
    pub tokenizer: Arc<dyn Tokenizer>,
}

/// The passages that fit into a budget together.
#[derive(Debug, PartialEq)]
pub(super) struct Fitted {
    pub(super) passages: Vec<Passage>,
    /// Their tokens, never more than the budget.
    pub(super) tokens: usize,
    /// Tokens of the best passage before it was cut; `None` if nothing was cut.
    pub(super) cut_from: Option<usize>,
}

/// Keeps the best passages that fit into the budget together, and counts their tokens.
///
/// Passages stay whole, and no passage replaces a better one: the first that does not fit ends the context. Only a best
/// passage that is too long on its own is cut, because a model cannot answer from nothing.
pub(super) fn fit(mut passages: Vec<Passage>, budget: &Budget) -> Fitted {
    let sizes = passages
        .iter()
        .map(|passage| tokens(passage, &budget.tokenizer));
    let ends = sizes.scan(0_usize, |total, size| {
        *total = total.saturating_add(size);
        Some(*total)
    });
    let most = budget.tokens.get();
    let fitting: Vec<usize> = ends.take_while(|total| *total <= most).collect();
    if fitting.is_empty() && !passages.is_empty() {
        return cut(passages.swap_remove(0), budget);
    }
    passages.truncate(fitting.len());
    Fitted {
        passages,
        tokens: fitting.last().copied().unwrap_or(0),
        cut_from: None,
    }
}

/// Cuts a passage to its start. Drops the title if it leaves no tokens for text, and the passage if no text fits.
fn cut(mut passage: Passage, budget: &Budget) -> Fitted {
    let most = budget.tokens.get();
    let cut_from = Some(tokens(&passage, &budget.tokenizer));
    let title = title_tokens(&passage, &budget.tokenizer);
    let beside = most.saturating_sub(title);
    let mut kept = start(&passage.text, beside, &budget.tokenizer).len();
    if kept == 0 {
        passage.title = None;
        kept = start(&passage.text, most, &budget.tokenizer).len();
    }
    passage.text.truncate(kept);
    let is_empty = passage.text.is_empty();
    let passages = if is_empty { vec![] } else { vec![passage] };
    let kept = passages
        .iter()
        .map(|passage| tokens(passage, &budget.tokenizer));
    Fitted {
        tokens: kept.sum(),
        passages,
        cut_from,
    }
}

/// The longest start of a text with at most this many tokens. It counts each start again, because a cut can add tokens at
/// the new end.
fn start<'t>(text: &'t str, most: usize, tokenizer: &Arc<dyn Tokenizer>) -> &'t str {
    let mut starts = (1..=most)
        .rev()
        .map(|tokens| tokenizer.truncate(text, tokens));
    let fitting = starts.find(|start| tokenizer.count(start) <= most);
    fitting.unwrap_or_default()
}

/// Tokens of a passage as the prompt shows it.
fn tokens(passage: &Passage, tokenizer: &Arc<dyn Tokenizer>) -> usize {
    title_tokens(passage, tokenizer).saturating_add(tokenizer.count(&passage.text))
}

fn title_tokens(passage: &Passage, tokenizer: &Arc<dyn Tokenizer>) -> usize {
    let title = passage.title.as_deref();
    title.map_or(0, |title| tokenizer.count(title))
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    /// Every word of a text is a token.
    #[derive(Debug)]
    struct Words;

    impl Tokenizer for Words {
        fn identity(&self) -> &'static str {
            "words"
        }

        fn boundaries(&self, text: &str) -> Vec<Range<usize>> {
            let mut at = 0;
            let words = text.split_inclusive(' ').map(|word| {
                at += word.len();
                at - word.len()..at - usize::from(word.ends_with(' '))
            });
            words.collect()
        }
    }

    fn passage(title: Option<&str>, text: &str) -> Passage {
        Passage {
            document: "d".to_owned(),
            title: title.map(str::to_owned),
            ordinal: 0,
            text: text.to_owned(),
            score: 1.0,
        }
    }

    fn kept(tokens: usize) -> (Vec<String>, usize) {
        let passages = vec![
            passage(Some("A title"), "one two three"),
            passage(None, "four five six seven"),
            passage(None, "eight"),
        ];
        let fitted = fit(passages, &budget(tokens, Words));
        assert_eq!(fitted.cut_from, (tokens < 5).then_some(5));
        let texts = fitted.passages.into_iter().map(|passage| {
            let title = passage.title.map(|title| format!("{title}: "));
            title.unwrap_or_default() + &passage.text
        });
        (texts.collect(), fitted.tokens)
    }

    fn budget(tokens: usize, tokenizer: impl Tokenizer + 'static) -> Budget {
        Budget {
            tokens: NonZeroUsize::new(tokens).unwrap(),
            tokenizer: Arc::new(tokenizer),
        }
    }

    #[test]
    fn passages_stay_whole_and_the_best_come_first() {
        let all = ["A title: one two three", "four five six seven", "eight"];
        let all = all.map(str::to_owned).to_vec();
        assert_eq!(kept(10), (all.clone(), 10));
        assert_eq!(kept(9), (all[..2].to_vec(), 9));
        // The third would fit, but the better second one does not.
        assert_eq!(kept(8), (all[..1].to_vec(), 5));
        assert_eq!(kept(5), (all[..1].to_vec(), 5));
    }

    #[test]
    fn only_the_best_passage_is_cut() {
        let one = |text: &str| vec![text.to_owned()];
        assert_eq!(kept(4), (one("A title: one two"), 4));
        assert_eq!(kept(3), (one("A title: one"), 3));
        // A title without text would be useless, and a title beyond the limit would exceed it.
        assert_eq!(kept(2), (one("one two"), 2));
        assert_eq!(kept(1), (one("one"), 1));
    }

    /// A word before a space is one token; the last word has one token for each letter.
    #[derive(Debug)]
    struct WordsThenLetters;

    impl Tokenizer for WordsThenLetters {
        fn identity(&self) -> &'static str {
            "words, then letters"
        }

        fn boundaries(&self, text: &str) -> Vec<Range<usize>> {
            let last = text.rfind(' ').map_or(0, |blank| blank + 1);
            let mut tokens = Words.boundaries(&text[..last]);
            tokens.extend((last..text.len()).map(|letter| letter..letter + 1));
            tokens
        }
    }

    #[test]
    fn a_start_that_has_more_tokens_by_itself_is_cut_further() {
        let kept = |tokens: usize| {
            let passages = vec![passage(None, "one two three four")];
            let fitted = fit(passages, &budget(tokens, WordsThenLetters));
            let texts = fitted.passages.into_iter().map(|passage| passage.text);
            (texts.collect::<Vec<_>>(), fitted.tokens, fitted.cut_from)
        };
        let one = |text: &str| vec![text.to_owned()];
        assert_eq!(kept(7), (one("one two three four"), 7, None));
        assert_eq!(kept(6), (one("one two three fou"), 6, Some(7)));
        // `one two three` has 7 tokens, and `one two` 4.
        assert_eq!(kept(3), (one("one"), 3, Some(7)));
        // Even `one` has 3.
        assert_eq!(kept(2), (Vec::new(), 0, Some(7)));
    }

    #[test]
    fn no_passages_make_an_empty_context() {
        let nothing = Fitted {
            passages: Vec::new(),
            tokens: 0,
            cut_from: None,
        };
        assert_eq!(fit(Vec::new(), &budget(1, Words)), nothing);
    }
}
