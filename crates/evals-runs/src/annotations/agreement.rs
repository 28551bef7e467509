//! The agreement of a run's judge with each labeller, and of labellers with each other.

use evals_metrics::{Agreement, Confusion, PeopleAgreement, VerdictCounts};

use super::answers::RunAnswers;
use super::current::{Counted, CurrentLabels};
use super::sample::Method;

/// The confidence level of the intervals.
pub const LEVEL: f64 = 0.95;

/// The labels of one person against the judge.
#[derive(Debug, Clone)]
pub struct PersonAgreement {
    /// The name of the person.
    pub labeller: String,
    /// Answers that the person passes.
    pub passes: usize,
    /// Answers that the person fails.
    pub fails: usize,
    /// Answers about which the labeller cannot say.
    pub undecided: usize,
    /// Answers of the run with a verdict of the judge, or all if there is no judge, that the labeller has not labelled.
    pub missing: usize,
    /// Labels of answers about which the judge has no verdict.
    pub unjudged: usize,
    /// Labels of answers that somebody picked.
    pub chosen: usize,
    /// Labels given or changed with the judge's verdict in sight.
    pub not_blind: usize,
    /// How often both pass and fail.
    pub confusion: Confusion,
    /// Whether labels are weighted, because answers were drawn by the judge's verdict.
    pub is_weighted: bool,
    /// The statistics of it.
    pub agreement: Agreement,
}

/// The labels of two people for the same answers.
#[derive(Debug, Clone)]
pub struct PairAgreement {
    /// The names of both.
    pub labellers: [String; 2],
    /// Whether labels are weighted, because answers were drawn by the judge's verdict.
    pub is_weighted: bool,
    /// The statistics of their agreement.
    pub agreement: PeopleAgreement,
}

/// How often the judge passed and failed answers of the run.
pub fn verdict_counts(run: &RunAnswers) -> VerdictCounts {
    let count = |wanted| {
        let answers = run.answers.iter();
        answers.filter(|it| it.verdict == Some(wanted)).count()
    };
    VerdictCounts {
        passes: count(true),
        fails: count(false),
    }
}

/// The agreement of each labeller with the judge, by name.
pub fn people(run: &RunAnswers, current: &CurrentLabels<'_>) -> Vec<PersonAgreement> {
    let run_counts = verdict_counts(run);
    let comparable = match run.measure {
        Some(_) => run_counts.passes + run_counts.fails,
        None => run.answers.len(),
    };
    let people = current.people.iter();
    people
        .map(|(labeller, labels)| person(labeller, labels, run_counts, comparable))
        .collect()
}

fn person(
    labeller: &str,
    labels: &[Counted<'_>],
    run: VerdictCounts,
    comparable: usize,
) -> PersonAgreement {
    let count = |is_counted: &dyn Fn(&Counted<'_>) -> bool| {
        labels.iter().filter(|it| is_counted(it)).count()
    };
    let verdicts = |it: &Counted<'_>| it.label.verdict.passes().zip(it.answer.verdict);
    let confusion: Confusion = labels.iter().filter_map(verdicts).collect();
    let is_weighted = labels.iter().any(is_stratified);
    let is_comparable =
        |it: &Counted<'_>| run == VerdictCounts::default() || it.answer.verdict.is_some();
    PersonAgreement {
        labeller: labeller.to_owned(),
        passes: count(&|it| it.label.verdict.passes() == Some(true)),
        fails: count(&|it| it.label.verdict.passes() == Some(false)),
        undecided: count(&|it| it.label.verdict.passes().is_none()),
        missing: comparable.saturating_sub(count(&is_comparable)),
        unjudged: count(&|it| it.answer.verdict.is_none()),
        chosen: count(&|it| it.label.sampling.method == Method::Chosen),
        not_blind: count(&|it| !it.label.blind),
        confusion,
        is_weighted,
        agreement: if is_weighted {
            Agreement::stratified(&confusion, run, LEVEL)
        } else {
            Agreement::of_sample(&confusion, LEVEL)
        },
    }
}

/// The agreement of every two labellers over the answers that both decided about. Pairs without such an answer are left out.
pub fn pairs(run: &RunAnswers, current: &CurrentLabels<'_>) -> Vec<PairAgreement> {
    let run = verdict_counts(run);
    let people: Vec<(&&str, &Vec<Counted<'_>>)> = current.people.iter().collect();
    let mut pairs = Vec::new();
    for (index, (one, of_one)) in people.iter().enumerate() {
        for (other, of_other) in &people[index + 1..] {
            let both: Vec<_> = of_one
                .iter()
                .filter_map(|it| {
                    let found = of_other.binary_search_by_key(&it.place, |other| other.place);
                    Some((it, &of_other[found.ok()?]))
                })
                .collect();
            if let Some((is_weighted, agreement)) = pair(&both, run) {
                pairs.push(PairAgreement {
                    labellers: [(**one).to_owned(), (**other).to_owned()],
                    is_weighted,
                    agreement,
                });
            }
        }
    }
    pairs
}

/// The agreement of two people, and whether it is weighted; `None` without an answer that both decided about.
fn pair(
    labels: &[(&Counted<'_>, &Counted<'_>)],
    run: VerdictCounts,
) -> Option<(bool, PeopleAgreement)> {
    let of = |is_wanted: &dyn Fn(Option<bool>) -> bool| -> Confusion {
        let wanted = labels
            .iter()
            .filter(|(one, _)| is_wanted(one.answer.verdict));
        wanted
            .filter_map(|(one, other)| {
                let verdicts = [one, other].map(|it| it.label.verdict.passes());
                verdicts[0].zip(verdicts[1])
            })
            .collect()
    };
    let is_weighted = labels
        .iter()
        .any(|(one, other)| is_stratified(one) || is_stratified(other));
    let agreement = if is_weighted {
        let [passed, failed] = [true, false].map(|wanted| of(&|it| it == Some(wanted)));
        PeopleAgreement::stratified(&passed, &failed, run, LEVEL)
    } else {
        PeopleAgreement::of_sample(&of(&|_| true), LEVEL)
    };
    (agreement.n > 0).then_some((is_weighted, agreement))
}

fn is_stratified(label: &Counted<'_>) -> bool {
    label.label.sampling.method == Method::Stratified
}
