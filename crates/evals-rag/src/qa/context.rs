use std::sync::Arc;

use evals_models::Tokenizer;

use super::task::Budget;
use crate::Passage;

/// Keeps the best passages that fit into the budget together, and says how many tokens they have.
///
/// Passages stay whole, and none is taken in place of a better one: the first that does not fit ends the context. Only where
/// the best one alone is too long is it cut, since a model that is shown nothing cannot answer.
pub(super) fn cut(mut passages: Vec<Passage>, budget: &Budget) -> (Vec<Passage>, usize) {
    let most = budget.tokens.get();
    let mut total = 0_usize;
    let fitting = passages.iter().take_while(|passage| {
        total = total.saturating_add(tokens(passage, &budget.tokenizer));
        total <= most
    });
    let fitting = fitting.count();
    passages.truncate(fitting.max(1));
    if fitting == 0
        && let Some(best) = passages.first_mut()
    {
        let title = title_tokens(best, &budget.tokenizer);
        let text = budget
            .tokenizer
            .truncate(&best.text, most.saturating_sub(title));
        best.text.truncate(text.len());
    }
    let kept = passages
        .iter()
        .map(|passage| tokens(passage, &budget.tokenizer));
    let kept = kept.sum();
    (passages, kept)
}

/// Tokens of what a model is shown of a passage.
fn tokens(passage: &Passage, tokenizer: &Arc<dyn Tokenizer>) -> usize {
    title_tokens(passage, tokenizer).saturating_add(tokenizer.count(&passage.text))
}

fn title_tokens(passage: &Passage, tokenizer: &Arc<dyn Tokenizer>) -> usize {
    let title = passage.title.as_deref();
    title.map_or(0, |title| tokenizer.count(title))
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
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
        let budget = Budget {
            tokens: NonZeroUsize::new(tokens).unwrap(),
            tokenizer: Arc::new(Words),
        };
        let passages = vec![
            passage(Some("A title"), "one two three"),
            passage(None, "four five six seven"),
            passage(None, "eight"),
        ];
        let (passages, tokens) = cut(passages, &budget);
        let texts = passages.into_iter().map(|passage| passage.text);
        (texts.collect(), tokens)
    }

    #[test]
    fn passages_stay_whole_and_the_best_come_first() {
        let all = ["one two three", "four five six seven", "eight"];
        let all = all.map(str::to_owned).to_vec();
        assert_eq!(kept(10), (all.clone(), 10));
        assert_eq!(kept(9), (all[..2].to_vec(), 9));
        // The last would fit, but is not as good as the second, which does not.
        assert_eq!(kept(8), (all[..1].to_vec(), 5));
        assert_eq!(kept(5), (all[..1].to_vec(), 5));
    }

    #[test]
    fn the_best_passage_alone_is_cut_where_it_is_too_long() {
        assert_eq!(kept(4), (vec!["one two".to_owned()], 4));
        assert_eq!(kept(1), (vec![String::new()], 2));
    }

    #[test]
    fn without_passages_there_is_no_context() {
        let budget = Budget {
            tokens: NonZeroUsize::MIN,
            tokenizer: Arc::new(Words),
        };
        assert_eq!(cut(Vec::new(), &budget), (Vec::new(), 0));
    }
}
