//! The runs that a trend joins: those of one dataset, benchmark and profile that measured the same questions.

use std::fmt::{self, Display, Formatter};
use std::iter;

use super::headline::Headline;
use super::predecessor::is_of_kind;
use super::run::StoredRun;
use crate::run_record::RunRecord;

/// Most runs in a small line.
const LENGTH: usize = 12;

/// Why a trend does not join two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Break {
    /// They read other files of the dataset.
    Data,
    /// They asked another number of questions or are other shards, or only one of them left out the unanswerable ones.
    Questions,
}

impl Break {
    /// Why these runs are not joined; `None` if they are.
    pub fn between(one: &StoredRun, other: &StoredRun) -> Option<Self> {
        if !one.configuration().has_data_of(other.configuration()) {
            return Some(Self::Data);
        }
        let [one, other] = [&one.record, &other.record];
        let leaves_out = |record: &RunRecord| record.dataset.unanswerable > 0;
        let is_other = one.dataset.questions != other.dataset.questions
            || one.shard() != other.shard()
            || leaves_out(one) != leaves_out(other);
        is_other.then_some(Self::Questions)
    }
}

impl Display for Break {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Data => "other data",
            Self::Questions => "other questions",
        })
    }
}

/// The headlines of the newest finished runs that a trend of `last` draws, oldest first and at most 12; empty unless `last` is finished
/// and has one. There is a gap between runs that are not [joined](Break), and where the headline is undefined. `earlier` begins with the
/// newest run.
pub fn headlines<'r>(
    last: &'r StoredRun,
    earlier: impl Iterator<Item = &'r StoredRun>,
) -> Vec<Option<f64>> {
    let Some(Headline { title, .. }) = last.headline().filter(|_| last.is_finished()) else {
        return Vec::new();
    };
    let earlier = earlier.filter(|run| is_of_kind(&run.record, &last.record) && run.is_finished());
    let mut values = Vec::new();
    let mut later = last;
    for run in iter::once(last).chain(earlier) {
        if Break::between(run, later).is_some() {
            values.push(None);
        }
        let headline = run.headline().filter(|headline| headline.title == title);
        values.push(headline.map(|headline| headline.value));
        later = run;
        if values.len() >= LENGTH {
            break;
        }
    }
    values.truncate(LENGTH);
    let oldest = values.iter().rposition(Option::is_some);
    values.truncate(oldest.map_or(0, |place| place + 1));
    values.reverse();
    values
}

#[cfg(test)]
mod tests {
    use evals::Summary;
    use serde_json::{Value, json};

    use super::super::run::Results;
    use super::*;
    use crate::run_folder::{RunFolder, RunState};

    /// A finished run of `bm25` over the dataset `sample`, whose record has `more` members.
    fn run(value: f64, more: &Value) -> StoredRun {
        let mut record = json!({
            "benchmark": "retrieval", "name": "n", "profile": "bm25", "seed": 0, "k": 5, "measures": ["RR@5"],
            "dataset": {"name": "sample", "questions": 20, "unanswerable": 0, "provenance": {"files": "a"}},
        });
        let dataset = record["dataset"].as_object_mut().unwrap();
        dataset.extend(more.as_object().unwrap().clone());
        let runs = tempfile::tempdir().unwrap();
        std::fs::write(runs.path().join("manifest.json"), record.to_string()).unwrap();
        let stored = StoredRun::of_folder(RunFolder::open(runs.path()).unwrap()).unwrap();
        let mean = json!({"value": value, "n": 20, "interval": null, "excluded": {}});
        let times = json!({"n": 0, "p50": null, "p95": null, "p99": null});
        let summary: Summary = serde_json::from_value(json!({
            "name": "", "dataset": "", "repeat": 1, "finished": 20, "failed": 0, "evaluator_failures": 0,
            "interrupted": false, "not_run": 0, "seconds": 1.0, "scores": {"RR@5": mean}, "assertions": {}, "labels": {},
            "metrics": {}, "timings": {}, "cached_timings": {}, "task_time": times,
        }))
        .unwrap();
        stored.with_results(Results {
            state: RunState::of(&summary),
            summary: Some(summary),
            problem: None,
        })
    }

    fn unfinished(run: StoredRun) -> StoredRun {
        let results = run.results().clone();
        run.with_results(Results {
            state: RunState::Unfinished(None),
            ..results
        })
    }

    fn line(runs: &[StoredRun]) -> Vec<Option<f64>> {
        let (last, earlier) = runs.split_last().unwrap();
        headlines(last, earlier.iter().rev())
    }

    #[test]
    fn runs_over_other_questions_or_data_are_not_joined() {
        let same = json!({});
        let before = run(0.25, &same);
        for (other, why) in [
            (json!({"questions": 7}), Break::Questions),
            (json!({"unanswerable": 3}), Break::Questions),
            (json!({"provenance": {"files": "b"}}), Break::Data),
        ] {
            let after = run(0.5, &other);
            assert_eq!(Break::between(&before, &after), Some(why), "{other}");
            let drawn = line(&[run(0.25, &same), run(0.25, &same), after]);
            assert_eq!(drawn, [Some(0.25), Some(0.25), None, Some(0.5)], "{other}");
        }
        let after = run(0.5, &same);
        assert_eq!(Break::between(&before, &after), None);
        assert_eq!(line(&[before, after]), [Some(0.25), Some(0.5)]);
    }

    #[test]
    fn a_line_ends_with_a_finished_run_and_has_the_newest_twelve() {
        let same = json!({});
        let unfinished = |value| unfinished(run(value, &same));
        assert_eq!(line(&[run(0.25, &same), unfinished(0.5)]), []);
        let skipping = [run(0.25, &same), unfinished(0.5), run(0.75, &same)];
        assert_eq!(line(&skipping), [Some(0.25), Some(0.75)]);
        let many: Vec<StoredRun> = (0..20).map(|it| run(f64::from(it), &same)).collect();
        let drawn = line(&many);
        assert_eq!((drawn.len(), drawn[0]), (12, Some(8.0)));
    }
}
