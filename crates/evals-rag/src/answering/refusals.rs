//! Recognises refusals.

use crate::answering::Citations;
use crate::text::{sentences, squad};

/// Usual refusals of models, besides the sentence that the prompt gives them. Compared after the normalisation of `SQuAD`.
const USUAL: [&str; 8] = [
    "The passages do not answer this question.",
    "I don't know.",
    "I do not know.",
    "The answer is not found in the passages.",
    "The passages do not contain the answer.",
    "The question cannot be answered from the passages.",
    "No answer found.",
    "Unanswerable.",
];

/// The sentences that count as refusals.
///
/// A text is a refusal if it equals one of them, or if its first sentence does; the rest then counts as an explanation.
/// Case, punctuation, articles and citation markers make no difference (`SQuAD`'s normalisation).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusals {
    sentence: String,
    normalized: Vec<String>,
}

impl Refusals {
    /// Recognises a dataset's own sentences besides the usual ones. The prompt tells models to refuse with the first one;
    /// without any, with "The passages do not answer this question."
    pub fn new<S: AsRef<str>>(of_the_dataset: impl IntoIterator<Item = S>) -> Self {
        let own: Vec<S> = of_the_dataset.into_iter().collect();
        let all = own.iter().map(AsRef::as_ref).chain(USUAL);
        let sentence = all.clone().next().expect("the usual ones are not empty");
        Self {
            sentence: sentence.to_owned(),
            normalized: all
                .map(squad::normalize)
                .filter(|sentence| !sentence.is_empty())
                .collect(),
        }
    }

    /// The sentence to refuse with.
    pub fn sentence(&self) -> &str {
        &self.sentence
    }

    /// Whether `text` refuses.
    pub fn refuses(&self, text: &str) -> bool {
        // Citations do not make a refusal an answer.
        let text = Citations::plain(text, usize::MAX);
        let first = sentences(&text).first().copied().unwrap_or_default();
        let (text, first) = (squad::normalize(&text), squad::normalize(first));
        self.normalized
            .iter()
            .any(|sentence| *sentence == text || *sentence == first)
    }
}

impl Default for Refusals {
    fn default() -> Self {
        Self::new::<&str>([])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datasets_sentence_is_used_and_recognised() {
        let refusals = Refusals::new(["The answer is not found in the document.", "UNANSWERABLE"]);
        assert_eq!(
            refusals.sentence(),
            "The answer is not found in the document."
        );
        assert!(refusals.refuses("the answer is not found in the document"));
        assert!(refusals.refuses("Unanswerable"));
        assert!(refusals.refuses("I don't know. The passages are about cats."));
    }

    #[test]
    fn an_answer_is_not_a_refusal() {
        let refusals = Refusals::default();
        assert!(!refusals.refuses("He said: I don't know. [1]"));
        assert!(!refusals.refuses("I do not knowingly eat meat."));
        assert!(!refusals.refuses("Unanswerable prayers are many."));
    }

    #[test]
    fn a_usual_sentence_is_the_default() {
        let refusals = Refusals::default();
        assert!(refusals.refuses(refusals.sentence()));
        assert!(refusals.refuses("[1] The passages do not answer this question [2]."));
    }

    #[test]
    fn an_empty_sentence_does_not_make_everything_a_refusal() {
        assert!(!Refusals::new(["?"]).refuses("Paris"));
    }
}
