//! The texts of a case that judges see.

use super::nuggets::NuggetBank;
use super::pieces::NumberedPassage;
use crate::answering::Citations;
use crate::text::sentences;

/// The texts of a case that judges see. They do not reveal which system answered.
#[derive(Debug, Clone)]
pub struct Material<'a> {
    /// The question, behind what was said before it.
    pub question: &'a str,
    /// The same without the system's answers to earlier questions, of which the facts of a good answer do not depend.
    pub without_answers: &'a str,
    /// Whether the documents contain the answer.
    pub answerable: bool,
    /// The reference answer, where there is one.
    pub reference: Option<&'a str>,
    /// The answer without citation markers, or the reason why there is none.
    pub answer: Result<&'a str, &'a str>,
    /// Whether the answerer is known to have refused.
    pub refused: bool,
    /// The passages in the order in which they were found, or the reason why they cannot be judged.
    pub passages: Result<&'a [NumberedPassage<'a>], &'a str>,
    /// The sentences that cite passages.
    pub cited: &'a [CitedSentence],
    /// The facts of a good answer, or the text that has them.
    pub nuggets: Option<NuggetBank<'a>>,
    /// What was said before the question, for [`JudgedMeasure::Conversation`](super::JudgedMeasure::Conversation), which gets the question
    /// alone.
    pub conversation: Option<&'a str>,
    /// The repetition of the case, from 1.
    pub repeat: u32,
}

/// A sentence of an answer with the passages that it cites.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CitedSentence {
    /// The sentence without citation markers.
    pub text: String,
    /// The numbers of the passages, from 1.
    pub passages: Vec<usize>,
}

impl CitedSentence {
    /// The sentences of `answer` that cite any of `passages` passages. A marker at the beginning of a sentence belongs to the
    /// sentence before, as in `It rains. [1] It pours. [2]`.
    pub fn all(answer: &str, passages: usize) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for sentence in sentences(answer) {
            let (markers, rest) = leading_markers(sentence, passages);
            if let Some(before) = found.last_mut() {
                before.cite(Citations::find(markers, passages).passages);
            }
            let mut own = Self {
                text: Citations::plain(rest, passages),
                passages: Vec::new(),
            };
            own.cite(Citations::find(rest, passages).passages);
            if own.text.chars().any(char::is_alphanumeric) {
                found.push(own);
            } else if let Some(before) = found.last_mut() {
                before.cite(own.passages);
            }
        }
        found.retain(|sentence| !sentence.passages.is_empty());
        found
    }

    fn cite(&mut self, passages: Vec<usize>) {
        for passage in passages {
            if !self.passages.contains(&passage) {
                self.passages.push(passage);
            }
        }
    }
}

/// The markers at the beginning of a sentence that cite existing passages, and the rest.
fn leading_markers(sentence: &str, passages: usize) -> (&str, &str) {
    let mut at = 0;
    loop {
        let rest = &sentence[at..];
        let marker = rest.trim_start();
        let blank = rest.len() - marker.len();
        let end = match marker.chars().next() {
            Some('[') => marker.find(']').map(|end| end + 1),
            Some('【') => marker.find('】').map(|end| end + '】'.len_utf8()),
            _ => None,
        };
        let Some(end) = end else { break };
        let cited = Citations::find(&marker[..end], passages);
        if cited.passages.is_empty() || cited.unknown > 0 {
            break;
        }
        at += blank + end;
    }
    sentence.split_at(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cited(answer: &str) -> Vec<(String, Vec<usize>)> {
        let all = CitedSentence::all(answer, 3).into_iter();
        all.map(|it| (it.text, it.passages)).collect()
    }

    fn one(text: &str, passages: &[usize]) -> (String, Vec<usize>) {
        (text.to_owned(), passages.to_vec())
    }

    #[test]
    fn markers_belong_to_the_sentence_that_they_follow() {
        assert_eq!(
            cited("It rains [1]. It pours [2][3]. It stopped."),
            [one("It rains.", &[1]), one("It pours.", &[2, 3])]
        );
        assert_eq!(
            cited("It rains. [1] It pours. [2] [3]"),
            [one("It rains.", &[1]), one("It pours.", &[2, 3])]
        );
        assert_eq!(cited("[1] It rains."), []);
        assert_eq!(cited("[4] is a year [1]."), [one("[4] is a year.", &[1])]);
        assert_eq!(cited(""), []);
    }
}
