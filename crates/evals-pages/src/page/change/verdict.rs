//! What a change did to each case.

use std::collections::BTreeMap;

use evals::{CaseId, CaseReport, Change, Direction, MeasureChange, Report, Unit};
use evals_html::page::FieldRole;
use evals_runs::judged_by::JudgeRecords;

use super::OneSide;
use crate::page::paged::HasPage;

/// What a change did to a case, in the order of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CaseVerdict {
    /// It passed before and does not now. A case with repetitions passes if at least half of them do.
    Broken,
    /// Its score fell.
    Worse,
    /// The answer is the same, and the verdict on it differs. So the judge or the rule changed its verdict, and not the system.
    OtherVerdict,
    /// It did not pass before and does now.
    Fixed,
    /// Its score rose.
    Better,
    /// It passes in neither.
    BothWrong,
    /// It has no value on one side or on both.
    NoValue,
    /// Its score is the same.
    Same,
    /// It passes in both.
    BothRight,
    /// Its question, reference or metadata differ between the runs.
    Edited,
    /// Only the later run has it.
    OnlyAfter,
    /// Only the earlier run has it.
    OnlyBefore,
}

impl CaseVerdict {
    /// Its name, such as `fixed`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Broken => "broken",
            Self::Worse => "worse",
            Self::OtherVerdict => "same answer, other verdict",
            Self::Fixed => "fixed",
            Self::Better => "better",
            Self::BothWrong => "both wrong",
            Self::NoValue => "no value",
            Self::Same => "same",
            Self::BothRight => "both right",
            Self::Edited => "edited case",
            Self::OnlyAfter => "only after",
            Self::OnlyBefore => "only before",
        }
    }
}

/// The verdicts on all cases, by the first measure that has a better direction.
#[derive(Debug)]
pub(super) struct Judged<'r> {
    /// The measure; `None` if no measure has a better direction.
    pub(super) measure: Option<&'r MeasureChange>,
    /// Whether both runs record that one judge decided the measure: the same panel with the same parameters, prompts and criteria.
    pub(super) has_one_judge: bool,
    cases: BTreeMap<CaseId, (CaseVerdict, f64)>,
}

impl<'r> Judged<'r> {
    pub(super) fn of<D: HasPage>(
        change: &'r Change,
        sides: &[OneSide<'_, D>; 2],
        reports: [&Report<D>; 2],
    ) -> Self {
        let [before, after] = sides;
        let mut measures = change.measures.iter();
        let measure = measures.find(|it| it.better != Direction::Unknown);
        let mut cases = BTreeMap::new();
        for id in after.cases.ids().iter().chain(before.cases.ids()) {
            let judged = measure.map(|measure| values(id, measure, before, after));
            let judged = judged.unwrap_or((CaseVerdict::NoValue, 0.0));
            cases.insert((*id).clone(), judged);
        }
        let mut set = |ids: &[CaseId], verdict| {
            for id in ids {
                cases.insert(id.clone(), (verdict, 0.0));
            }
        };
        let edited: Vec<CaseId> = change.changed.iter().map(|it| it.id.clone()).collect();
        set(&edited, CaseVerdict::Edited);
        set(&change.removed, CaseVerdict::OnlyBefore);
        set(&change.added, CaseVerdict::OnlyAfter);
        let judge = |report: &Report<D>| {
            let records = JudgeRecords::read(&report.metadata).ok()??;
            let record = records.by(measure?.measure.as_str())?;
            record.name().is_some().then_some(record)
        };
        let [old, new] = reports.map(judge);
        Self {
            measure,
            has_one_judge: old.is_some() && old == new,
            cases,
        }
    }

    pub(super) fn verdict(&self, id: &CaseId) -> CaseVerdict {
        self.cases.get(id).map_or(CaseVerdict::NoValue, |it| it.0)
    }

    /// By how much the case got better; negative if it got worse.
    pub(super) fn gain(&self, id: &CaseId) -> f64 {
        self.cases.get(id).map_or(0.0, |it| it.1)
    }

    /// How many cases have a verdict.
    pub(super) fn count(&self, verdict: CaseVerdict) -> usize {
        self.cases.values().filter(|it| it.0 == verdict).count()
    }
}

/// The verdict on a case of both runs, and by how much it got better.
fn values<D: HasPage>(
    id: &CaseId,
    measure: &MeasureChange,
    before: &OneSide<'_, D>,
    after: &OneSide<'_, D>,
) -> (CaseVerdict, f64) {
    let value = |side: &OneSide<'_, D>| {
        let values = side.measure(measure.unit, &measure.measure)?;
        values.of_cases.get(id).and_then(|value| value.ok())
    };
    let (Some(old), Some(new)) = (value(before), value(after)) else {
        return (CaseVerdict::NoValue, 0.0);
    };
    let sign = match measure.better {
        Direction::Lower => -1.0,
        Direction::Higher | Direction::Unknown => 1.0,
    };
    let gain = sign * evals_metrics::difference(old, new);
    if measure.unit != Unit::PassRate {
        let verdict = match gain.total_cmp(&0.0) {
            std::cmp::Ordering::Less => CaseVerdict::Worse,
            std::cmp::Ordering::Equal => CaseVerdict::Same,
            std::cmp::Ordering::Greater => CaseVerdict::Better,
        };
        return (verdict, gain);
    }
    // Of repetitions, at least half have to be right.
    let is_right = |value: f64| match measure.better {
        Direction::Lower => value <= 0.5,
        Direction::Higher | Direction::Unknown => value >= 0.5,
    };
    let verdict = match (is_right(old), is_right(new)) {
        (true, true) => CaseVerdict::BothRight,
        (false, false) => CaseVerdict::BothWrong,
        _ if is_same_answer(before.cases.of_id(id), after.cases.of_id(id)) => {
            CaseVerdict::OtherVerdict
        }
        (false, true) => CaseVerdict::Fixed,
        (true, false) => CaseVerdict::Broken,
    };
    (verdict, gain)
}

/// Whether both sides gave the same answers, in the same order.
fn is_same_answer<D: HasPage>(before: &[CaseReport<D>], after: &[CaseReport<D>]) -> bool {
    let answers = |repetitions: &[CaseReport<D>]| -> Vec<String> {
        let fields = repetitions.iter().flat_map(D::own);
        let answers = fields.filter(|field| field.role == FieldRole::Answer);
        answers.map(|field| field.text).collect()
    };
    let before = answers(before);
    !before.is_empty() && before == answers(after)
}
