//! Which labels count: the last of each labeller for each answer, if it is about what the run holds now.

use std::collections::{BTreeMap, BTreeSet};

use super::answers::RunAnswers;
use super::file::StoredLabels;
use super::label::Label;
use super::texts::JudgedAnswer;

/// The labels of a run that count, and how many do not.
#[derive(Debug)]
pub struct CurrentLabels<'r> {
    /// The labels that count, by labeller, in the order of the answers.
    pub people: BTreeMap<&'r str, Vec<Counted<'r>>>,
    /// Labels that do not count, by reason, because the run or its judge is no longer what they are about. One that its labeller
    /// has replaced is not among them.
    pub stale: BTreeMap<Stale, usize>,
    /// The case and the repetition of each of these labels, in that order.
    pub stale_answers: Vec<(&'r str, u32, Stale)>,
    /// Labels of other measures than the one that is compared.
    pub of_other_measures: usize,
    /// Lines of the file that fail their check.
    pub damaged: usize,
}

/// A label that counts, with its answer.
#[derive(Debug, Clone, Copy)]
pub struct Counted<'r> {
    /// The answer's place in the run.
    pub place: usize,
    /// What was judged.
    pub answer: &'r JudgedAnswer,
    /// What a person says about it.
    pub label: &'r Label,
}

/// Why a label no longer counts. The first reason that applies is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stale {
    /// The case has no answer.
    NoAnswer,
    /// The question or the reference.
    Case,
    /// The answer.
    Answer,
    /// The model of the judge.
    Judge,
    /// The judge's prompt.
    Prompt,
}

impl Stale {
    /// The reason in words.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoAnswer => "the run has no such answer",
            Self::Case => "the question or the reference has changed",
            Self::Answer => "the answer has changed",
            Self::Judge => "a different judge",
            Self::Prompt => "a different prompt of the judge",
        }
    }

    /// Why a label is stale; `None` if it is about what the run holds.
    pub fn of(label: &Label, answer: Option<&JudgedAnswer>) -> Option<Self> {
        let Some(answer) = answer else {
            return Some(Self::NoAnswer);
        };
        let (then, now) = (&label.digests, &answer.digests);
        [
            (then.case != now.case, Self::Case),
            (then.answer != now.answer, Self::Answer),
            (then.judge != now.judge, Self::Judge),
            (then.prompt != now.prompt, Self::Prompt),
        ]
        .into_iter()
        .find_map(|(differs, stale)| differs.then_some(stale))
    }
}

impl<'r> CurrentLabels<'r> {
    /// The labels of a file that are about the answers of a run.
    pub fn of(run: &'r RunAnswers, stored: &'r StoredLabels) -> Self {
        let places: BTreeMap<(&str, u32), usize> = run
            .answers
            .iter()
            .enumerate()
            .map(|(place, answer)| ((answer.id.as_str(), answer.repeat), place))
            .collect();
        let mut counted: BTreeMap<(&str, usize), Counted<'_>> = BTreeMap::new();
        let mut stale: BTreeMap<(&str, &str, u32), Stale> = BTreeMap::new();
        let mut of_other_measures = BTreeSet::new();
        for label in &stored.labels {
            let (labeller, id) = (label.labeller.as_str(), label.case.as_str());
            if label.measure != run.measure {
                of_other_measures.insert((labeller, id, label.repeat, &label.measure));
                continue;
            }
            let place = places.get(&(id, label.repeat)).copied();
            let answer = place.map(|place| &run.answers[place]);
            match (Stale::of(label, answer), place.zip(answer)) {
                (None, Some((place, answer))) => {
                    let last = Counted {
                        place,
                        answer,
                        label,
                    };
                    counted.insert((labeller, place), last);
                }
                (reason, _) => {
                    let reason = reason.unwrap_or(Stale::NoAnswer);
                    stale.insert((labeller, id, label.repeat), reason);
                }
            }
        }
        stale.retain(|(labeller, id, repeat), _| {
            let place = places.get(&(*id, *repeat));
            place.is_none_or(|place| !counted.contains_key(&(*labeller, *place)))
        });
        let mut people: BTreeMap<&str, Vec<Counted<'_>>> = BTreeMap::new();
        for ((labeller, _), label) in counted {
            people.entry(labeller).or_default().push(label);
        }
        let mut reasons = BTreeMap::new();
        let mut stale_answers = Vec::new();
        for ((_, id, repeat), reason) in stale {
            *reasons.entry(reason).or_default() += 1;
            stale_answers.push((id, repeat, reason));
        }
        stale_answers.sort_unstable();
        Self {
            people,
            stale: reasons,
            stale_answers,
            of_other_measures: of_other_measures.len(),
            damaged: stored.damaged,
        }
    }
}
