//! The change that people would see in a measure of a judge.

use evals_messages::quantity;
use evals_messages::visible::single_line;
use evals_metrics::CorrectedChange;
use serde::{Deserialize, Serialize};

use crate::{Unit, Verdict};

/// The change of a judge's measure, corrected by labels that people gave to answers of both runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ByPeople {
    /// The name of the measure.
    pub measure: String,
    /// The verdict on the change by the judge.
    pub judge: Verdict,
    /// The verdict on the corrected change: unclear if its interval contains 0. `None` if it is not corrected.
    pub people: Option<Verdict>,
    /// The corrected change; `None` if it is not corrected.
    pub corrected: Option<CorrectedChange>,
    /// Why it is not corrected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl ByPeople {
    /// The corrected change of a pass rate beside the verdict of its judge.
    pub fn new(measure: String, judge: Verdict, found: Result<CorrectedChange, String>) -> Self {
        let (corrected, reason) = match found {
            Ok(corrected) => (Some(corrected), None),
            Err(reason) => (None, Some(reason)),
        };
        let people = corrected.map(|it| match it.interval {
            interval if interval.low > 0.0 => Verdict::Better,
            interval if interval.high < 0.0 => Verdict::Worse,
            _ => Verdict::Unclear,
        });
        Self {
            measure,
            judge,
            people,
            corrected,
            reason,
        }
    }

    /// Whether the labels do not bear out what the judge says: one of them finds a gain or a loss, and the other does not.
    pub fn contradicts(&self) -> bool {
        let clear =
            |verdict| matches!(verdict, Verdict::Better | Verdict::Worse).then_some(verdict);
        let people = self.people.map(clear);
        people.is_some_and(|people| people != clear(self.judge))
    }

    /// The line beside the judge's change: `correct by people: -0.0130 [-0.0801, +0.0541], unclear (…)`.
    pub fn line(&self) -> String {
        let title = single_line(&self.measure);
        let Some(corrected) = &self.corrected else {
            let reason = self.reason.as_deref().unwrap_or_default();
            return format!("{title} by people: not corrected: {}", single_line(reason));
        };
        let ends = [corrected.interval.low, corrected.interval.high];
        let [value, low, high] =
            [corrected.value, ends[0], ends[1]].map(|it| Unit::PassRate.print_signed(it));
        let verdict = self.people.map_or("", word);
        let labels = quantity::of(corrected.labels, "question");
        format!(
            "{title} by people: {value} [{low}, {high}], {verdict} (PPI++, labels of {labels} in both runs)"
        )
    }

    /// The warning, if the labels do not bear out what the judge says.
    pub fn warning(&self) -> Option<String> {
        self.contradicts().then(|| {
            format!(
                "people's labels do not bear out the judge, whose verdict on the change is `{}`: {}",
                word(self.judge),
                self.line()
            )
        })
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Unclear | Verdict::None => "unclear",
        Verdict::Same => "same",
    }
}
