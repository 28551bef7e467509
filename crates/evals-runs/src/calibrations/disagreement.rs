//! An answer about which the judge and people disagree, with the reasons of both.

use super::decided::{Decided, DecidedLabels};

/// An answer about which the judge and people disagree.
#[derive(Debug)]
pub struct Disagreement<'r> {
    /// The case, with its repetition if that is not the first.
    pub case: String,
    /// Whether the judge passed it. People did the opposite.
    pub judge_passes: bool,
    /// The question.
    pub question: &'r str,
    /// The right answer, if the dataset has one.
    pub reference: Option<&'r str>,
    /// The answer.
    pub answer: &'r str,
    /// The judge's reason.
    pub reason: Option<&'r str>,
    /// Who labelled the answer so, each with a note, which may be empty.
    pub people: Vec<(&'r str, &'r str)>,
}

impl<'r> Disagreement<'r> {
    /// Every disagreement: first what the judge passed and people failed, which makes a run look better than it is.
    pub fn all(labels: &DecidedLabels<'r>) -> Vec<Self> {
        let of = |judge_passes: bool| {
            let answers = labels.answers.iter();
            answers
                .filter(move |it| it.judge_passes == judge_passes && it.people_pass != judge_passes)
        };
        of(true).chain(of(false)).map(Self::of).collect()
    }

    fn of(decided: &Decided<'r>) -> Self {
        let answer = decided.answer;
        let people = decided.labels.iter();
        Self {
            case: match answer.repeat {
                1 => answer.id.to_string(),
                repeat => format!("{} [{repeat}]", answer.id),
            },
            judge_passes: decided.judge_passes,
            question: &answer.question,
            reference: answer.reference.as_deref(),
            answer: &answer.answer,
            reason: answer.reason.as_deref(),
            people: people
                .map(|label| (label.labeller.as_str(), label.note.as_str()))
                .collect(),
        }
    }
}
