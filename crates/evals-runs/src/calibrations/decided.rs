//! The labels that count: one verdict of people for each answer.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::{Result, bail};
use evals_messages::{nearest, quantity};
use serde::{Deserialize, Serialize};

use crate::annotations::{Counted, CurrentLabels, JudgedAnswer, Label};

/// Most disagreements of people that a message lists.
const LISTED: usize = 5;

/// Why an answer does not count that nobody could decide.
pub(super) const CANNOT_SAY: &str = "people cannot say";
/// Why an answer does not count that as many people pass as fail.
pub(super) const DIVIDED: &str = "people are divided equally";

/// Whose labels count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhoCounts<'a> {
    /// The labels of all people, if they agree about every answer.
    Everybody,
    /// Those of one person.
    Person(&'a str),
    /// What most people say who can say it. Answers without a majority are left out.
    Majority,
}

/// How the verdict about an answer was found, as a calibration records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecidedBy {
    /// One person labelled.
    OnePerson,
    /// Several people labelled, and they agree about every answer.
    Agreement,
    /// Several people labelled, and the majority counts.
    Majority,
}

/// The answers with a verdict of the judge and one of people.
#[derive(Debug)]
pub struct DecidedLabels<'r> {
    /// The people whose labels count, by name.
    pub labellers: Vec<String>,
    /// Who decided.
    pub by: DecidedBy,
    /// In the order of the run.
    pub answers: Vec<Decided<'r>>,
    /// How many labelled answers do not count, by reason.
    pub left_out: BTreeMap<String, usize>,
}

/// An answer with a verdict of the judge and one of people.
#[derive(Debug, Clone)]
pub struct Decided<'r> {
    pub answer: &'r JudgedAnswer,
    /// Whether people pass it.
    pub people_pass: bool,
    /// Whether the judge passes it.
    pub judge_passes: bool,
    /// The labels behind the verdict of people.
    pub labels: Vec<&'r Label>,
}

impl<'r> DecidedLabels<'r> {
    /// Chooses the labels that count. Fails if people disagree and `who` does not say whose labels count.
    pub fn of(current: &CurrentLabels<'r>, who: WhoCounts<'_>) -> Result<Self> {
        let people: Vec<(&'r str, &Vec<Counted<'r>>)> = match who {
            WhoCounts::Person(wanted) => vec![person(current, wanted)?],
            WhoCounts::Everybody | WhoCounts::Majority => current
                .people
                .iter()
                .map(|(name, labels)| (*name, labels))
                .collect(),
        };
        let mut of_answer: BTreeMap<usize, Vec<Counted<'r>>> = BTreeMap::new();
        for label in people.iter().flat_map(|(_, labels)| labels.iter()) {
            of_answer.entry(label.place).or_default().push(*label);
        }
        if who == WhoCounts::Everybody {
            check_agreement(&people, &of_answer)?;
        }
        let mut found = Self {
            labellers: people.iter().map(|(name, _)| (*name).to_owned()).collect(),
            by: match (people.len(), who) {
                (0 | 1, _) => DecidedBy::OnePerson,
                (_, WhoCounts::Majority) => DecidedBy::Majority,
                (_, WhoCounts::Everybody | WhoCounts::Person(_)) => DecidedBy::Agreement,
            },
            answers: Vec::new(),
            left_out: BTreeMap::new(),
        };
        let mut known: BTreeSet<&str> = BTreeSet::new();
        for labels in of_answer.values() {
            match decide(labels) {
                Err(reason) => found.leave_out(reason),
                Ok(decided) if known.insert(decided.answer.id.as_str()) => {
                    found.answers.push(decided);
                }
                Ok(_) => found.leave_out("another repetition of the question counts"),
            }
        }
        Ok(found)
    }

    fn leave_out(&mut self, reason: &str) {
        *self.left_out.entry(reason.to_owned()).or_default() += 1;
    }
}

/// The verdict of most people who labelled one answer, or why there is none.
fn decide<'r>(labels: &[Counted<'r>]) -> Result<Decided<'r>, &'static str> {
    let passes = |wanted: bool| {
        let labels = labels.iter();
        labels
            .filter(|it| it.label.verdict.passes() == Some(wanted))
            .count()
    };
    let (passes, fails) = (passes(true), passes(false));
    let answer = labels.first().ok_or("it has no label")?.answer;
    let judge_passes = answer.verdict.ok_or("the judge has no verdict")?;
    if passes + fails == 0 {
        return Err(CANNOT_SAY);
    }
    if passes == fails {
        return Err(DIVIDED);
    }
    let people_pass = passes > fails;
    let labels = labels.iter().map(|it| it.label);
    Ok(Decided {
        answer,
        people_pass,
        judge_passes,
        labels: labels
            .filter(|it| it.verdict.passes() == Some(people_pass))
            .collect(),
    })
}

fn person<'c, 'r>(
    current: &'c CurrentLabels<'r>,
    wanted: &str,
) -> Result<(&'r str, &'c Vec<Counted<'r>>)> {
    let mut people = current.people.iter();
    if let Some((name, labels)) = people.find(|(name, _)| **name == wanted) {
        return Ok((*name, labels));
    }
    let names = current.people.keys().copied();
    let hint = nearest::did_you_mean(nearest::of(wanted, names.clone()));
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    bail!(
        "no label that counts is of `{wanted}`; labels are of {}{hint}",
        names.join(", ")
    )
}

/// Fails if two people gave an answer different verdicts.
fn check_agreement(
    people: &[(&str, &Vec<Counted<'_>>)],
    of_answer: &BTreeMap<usize, Vec<Counted<'_>>>,
) -> Result<()> {
    let said = |labels: &[Counted<'_>], wanted: bool| {
        let labels = labels.iter();
        labels
            .filter(|it| it.label.verdict.passes() == Some(wanted))
            .map(|it| it.label.labeller.clone())
            .collect::<Vec<String>>()
    };
    let divided: Vec<(&Counted<'_>, Vec<String>, Vec<String>)> = of_answer
        .values()
        .filter_map(|labels| {
            let (passes, fails) = (said(labels, true), said(labels, false));
            let is_divided = !passes.is_empty() && !fails.is_empty();
            is_divided.then_some((labels.first()?, passes, fails))
        })
        .collect();
    if divided.is_empty() {
        return Ok(());
    }
    let mut message = format!(
        "people disagree about {}, so it is open which labels count:",
        quantity::of(divided.len(), "answer")
    );
    for (label, passes, fails) in divided.iter().take(LISTED) {
        let _ = write!(
            message,
            "\n`{}`: {} passed it, {} failed it",
            label.answer.id,
            passes.join(", "),
            fails.join(", ")
        );
    }
    if divided.len() > LISTED {
        let _ = write!(message, "\nand {} more", divided.len() - LISTED);
    }
    for (name, labels) in people {
        let both = labels.iter().filter_map(|it| {
            let verdicts = it.label.verdict.passes().zip(it.answer.verdict)?;
            Some(verdicts.0 == verdicts.1)
        });
        let (same, all) = both.fold((0, 0), |(same, all), is_same| {
            (same + usize::from(is_same), all + 1)
        });
        let _ = write!(
            message,
            "\nthe judge agrees with {name} about {same} of {}",
            quantity::of(all, "answer")
        );
    }
    let first = people.first().map_or("NAME", |(name, _)| name);
    let _ = write!(
        message,
        "\nchoose one person with `--labeller {first}`, or what most people say with `--majority`"
    );
    bail!(message)
}
