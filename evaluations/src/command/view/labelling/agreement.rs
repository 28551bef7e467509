//! A labeller's agreement with the judge, as the page shows it.

use serde::Serialize;

use crate::annotations::{
    RunAnswers, ShownEstimate, Standing, caveats, estimates, left_out, people,
};

#[derive(Debug, Serialize)]
pub(super) struct ShownAgreement {
    /// The labeller's verdicts, each with how often the judge passed and failed the same answers.
    confusion: [(&'static str, usize, usize); 2],
    statistics: Vec<ShownEstimate>,
    caveats: Vec<String>,
}

impl ShownAgreement {
    /// The agreement of one labeller; `None` without labels and for a run without a judge.
    pub(super) fn of(run: &RunAnswers, standing: &Standing<'_>, labeller: &str) -> Option<Self> {
        run.measure.as_ref()?;
        let people = people(run, standing);
        let person = people.iter().find(|person| person.labeller == labeller)?;
        let table = &person.confusion;
        let left_out = left_out(run, standing).into_iter();
        Some(Self {
            confusion: [
                ("pass", table.true_passes, table.false_fails),
                ("fail", table.false_passes, table.true_fails),
            ],
            statistics: estimates(&person.agreement),
            caveats: caveats(person)
                .into_iter()
                .chain(left_out.map(|line| format!("labels: {line}")))
                .collect(),
        })
    }
}
