//! The change of a judge's measure between two runs, corrected by labels that people gave to answers of both.

use std::collections::BTreeMap;

use anyhow::Result;
use evals::{ByPeople, CaseId, Change, Unit, Verdict};
use evals_messages::chain;
use evals_metrics::{CorrectedChange, JudgedChange, corrected_change};

use super::calibration::{Drawing, drawing};
use super::decided::{DecidedLabels, WhoCounts};
use super::judged_run::JudgedRun;
use crate::annotations::{
    CurrentLabels, JudgedAnswer, LEVEL, LabelFile, RunAnswers, StoredLabels, WantedMeasure,
};
use crate::stored_runs::StoredRun;

/// One of two runs, with the labels beside it.
struct LabelledRun {
    answers: RunAnswers,
    judged: JudgedRun,
    labels: StoredLabels,
}

/// The changes of the pass rates that people labelled in both runs.
pub fn changes_by_people(runs: [&StoredRun; 2], change: &Change) -> Vec<ByPeople> {
    let rates = change.measures.iter();
    let rates = rates.filter(|it| it.unit == Unit::PassRate);
    by_people(
        runs,
        rates.map(|it| (it.measure.clone(), it.finding.verdict)),
    )
}

/// Corrects the changes of the measures that people labelled in both runs. Each comes with the verdict on its change by the judge. Labels
/// that cannot be read are the reason why a change is not corrected: no file beside a run keeps its report from being compared.
pub fn by_people(
    runs: [&StoredRun; 2],
    judged: impl Iterator<Item = (String, Verdict)>,
) -> Vec<ByPeople> {
    let labels = labels(runs[0]).and_then(|before| Ok((before, labels(runs[1])?)));
    let found = judged.filter_map(|(measure, verdict)| {
        let corrected = match &labels {
            Ok((Some(before), Some(after))) => {
                if !has_labels(before, &measure) || !has_labels(after, &measure) {
                    return None;
                }
                match sides(runs, &measure) {
                    Ok(sides) => corrected([&sides.0?, &sides.1?]),
                    Err(error) => Err(chain(error.as_ref())),
                }
            }
            Ok(_) => return None,
            Err(error) => Err(chain(error.as_ref())),
        };
        Some(ByPeople::new(measure, verdict, corrected))
    });
    found.collect()
}

fn has_labels(labels: &StoredLabels, measure: &str) -> bool {
    let mut labels = labels.labels.iter();
    labels.any(|label| label.measure.as_deref() == Some(measure))
}

fn sides(
    runs: [&StoredRun; 2],
    measure: &str,
) -> Result<(Option<LabelledRun>, Option<LabelledRun>)> {
    Ok((
        LabelledRun::read(runs[0], measure)?,
        LabelledRun::read(runs[1], measure)?,
    ))
}

/// The labels beside a run; `None` for a run without labels.
fn labels(run: &StoredRun) -> Result<Option<StoredLabels>> {
    let Ok(folder) = run.folder("keeps the labels") else {
        return Ok(None);
    };
    let labels = LabelFile::of(folder).read()?;
    Ok((!labels.labels.is_empty()).then_some(labels))
}

impl LabelledRun {
    /// `None` if the run has no judge of the measure.
    fn read(run: &StoredRun, measure: &str) -> Result<Option<Self>> {
        let answers = RunAnswers::read(run, WantedMeasure::Named(measure))?;
        let labels = LabelFile::of(run.folder("keeps the labels")?).read()?;
        Ok(JudgedRun::of(&answers, &run.record).map(|judged| Self {
            answers,
            judged,
            labels,
        }))
    }

    /// Whether people pass each labelled answer: what most of them say. Fails if the labelled answers are not a random sample.
    fn people(&self) -> Result<BTreeMap<&CaseId, bool>, String> {
        let run = &self.judged.name;
        if self.judged.repeat > 1 {
            return Err(format!(
                "`{run}` asked each question {} times, and repeated answers are not further samples",
                self.judged.repeat
            ));
        }
        let current = CurrentLabels::of(&self.answers, &self.labels);
        let decided = DecidedLabels::of(&current, WhoCounts::Majority);
        let decided = decided.map_err(|error| format!("{error:#}"))?;
        let draw = "label a random sample of the same questions in both runs, with `labels RUN --export FILE --sample N`";
        match drawing(&self.judged, &decided, false) {
            Drawing::Random => {}
            Drawing::ByVerdict => {
                return Err(format!(
                    "the labelled answers of `{run}` were drawn by verdict; {draw}"
                ));
            }
            Drawing::Picked => {
                return Err(format!(
                    "somebody picked labelled answers of `{run}`; {draw}"
                ));
            }
        }
        let decided = decided.answers.into_iter();
        Ok(decided.map(|it| (&it.answer.id, it.people_pass)).collect())
    }

    /// The judge's verdicts by question.
    fn verdicts(&self) -> BTreeMap<&CaseId, (&JudgedAnswer, bool)> {
        let answers = self.answers.answers.iter();
        answers
            .filter_map(|it| Some((&it.id, (it, it.verdict?))))
            .collect()
    }
}

/// The change of the pass rate by people, over the questions that both runs have with the same text and reference.
fn corrected(sides: [&LabelledRun; 2]) -> Result<CorrectedChange, String> {
    let [people_before, people_after] = [sides[0].people()?, sides[1].people()?];
    let [before, after] = sides.map(LabelledRun::verdicts);
    let step = |before: bool, after: bool| f64::from(after) - f64::from(before);
    let shared: Vec<(&CaseId, f64)> = before
        .into_iter()
        .filter_map(|(id, (answer, passed))| {
            let (later, passes) = after.get(id)?;
            let is_same = answer.digests.case == later.digests.case;
            is_same.then(|| (id, step(passed, *passes)))
        })
        .collect();
    let ids: Vec<&CaseId> = shared.iter().map(|(id, _)| *id).collect();
    let clusters = clusters(&ids, sides.map(|side| &side.answers.answers[..]));
    let questions = shared.into_iter().zip(clusters);
    let questions: Vec<JudgedChange> = questions
        .map(|((id, judge), cluster)| {
            let people = people_before.get(id).zip(people_after.get(id));
            JudgedChange {
                judge,
                people: people.map(|(before, after)| step(*before, *after)),
                cluster,
            }
        })
        .collect();
    corrected_change(&questions, LEVEL).map_err(|reason| match reason {
        evals_metrics::NoCorrection::FewLabels { n, least } => format!(
            "{n} questions with labels in both runs are fewer than the {least} that it takes; \
             `labels RUN --export FILE --sample N` draws the same questions in both"
        ),
        other => other.to_string(),
    })
}

/// The number of each question's cluster: the place of the first of its questions. The clusters are those of the later run, or of the earlier
/// one if the later has none. A question without a cluster is alone.
fn clusters(questions: &[&CaseId], [before, after]: [&[JudgedAnswer]; 2]) -> Vec<usize> {
    let mut names = named(after);
    if names.is_empty() {
        names = named(before);
    }
    let mut firsts: BTreeMap<&str, usize> = BTreeMap::new();
    let questions = questions.iter().enumerate();
    questions
        .map(|(place, id)| match names.get(id) {
            Some(name) => *firsts.entry(name).or_insert(place),
            None => place,
        })
        .collect()
}

/// The names of the clusters of questions that are not alone.
fn named(answers: &[JudgedAnswer]) -> BTreeMap<&CaseId, &str> {
    let answers = answers.iter();
    answers
        .filter_map(|it| Some((&it.id, it.cluster.as_deref()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotations::tests::run;

    #[test]
    fn questions_of_a_cluster_have_one_number() {
        let alone = run(5).answers;
        let mut together = alone.clone();
        for place in [1, 3] {
            together[place].cluster = Some("guide.md".to_owned());
        }
        let ids: Vec<&CaseId> = alone.iter().map(|it| &it.id).collect();
        assert_eq!(clusters(&ids, [&alone, &alone]), [0, 1, 2, 3, 4]);
        assert_eq!(clusters(&ids, [&alone, &together]), [0, 1, 2, 1, 4]);
        let earlier = clusters(&ids, [&together, &alone]);
        assert_eq!(earlier, [0, 1, 2, 1, 4], "those of the earlier run");
    }
}
