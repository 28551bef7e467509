//! The runs that a trend joins: those of one dataset, benchmark and profile that measured the same questions.

use std::fmt::{self, Display, Formatter};
use std::iter;

use super::configuration::Configuration;
use super::headline::Headline;
use super::predecessor::is_of_kind;
use crate::run_folder::RunHeader;

/// Most runs in a small line.
const LENGTH: usize = 12;

/// A run in a list.
pub(crate) trait TrendRun {
    fn header(&self) -> &RunHeader;
    fn configuration(&self) -> &Configuration;
    /// Whether commands may choose it by themselves.
    fn is_finished(&self) -> bool;
    fn headline(&self) -> Option<Headline>;

    /// What the run measured.
    fn basis(&self) -> Basis<'_> {
        Basis {
            questions: self.header().dataset.questions,
            configuration: self.configuration(),
        }
    }
}

/// What a run measured: the number of its questions, and its data and settings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Basis<'r> {
    pub(crate) questions: usize,
    pub(crate) configuration: &'r Configuration,
}

/// Why a trend does not join two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Break {
    /// They read other files of the dataset.
    Data,
    /// They asked another number of questions or are other shards, or only one of them left out the unanswerable ones.
    Questions,
}

impl Break {
    /// Why these runs are not joined; `None` if they are.
    pub(crate) fn between(one: Basis<'_>, other: Basis<'_>) -> Option<Self> {
        let [left, right] = [one.configuration, other.configuration];
        if !left.has_data_of(right) {
            return Some(Self::Data);
        }
        let is_other = one.questions != other.questions
            || left.shard() != right.shard()
            || left.leaves_out_unanswerable() != right.leaves_out_unanswerable();
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
pub(crate) fn headlines<'r, R: TrendRun + 'r>(
    last: &'r R,
    earlier: impl Iterator<Item = &'r R>,
) -> Vec<Option<f64>> {
    let Some(Headline { title, .. }) = last.headline().filter(|_| last.is_finished()) else {
        return Vec::new();
    };
    let earlier =
        earlier.filter(|run| is_of_kind(run.header(), last.header()) && run.is_finished());
    let mut values = Vec::new();
    let mut later = last;
    for run in iter::once(last).chain(earlier) {
        if Break::between(run.basis(), later.basis()).is_some() {
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
    use serde_json::{Value, json};

    use super::*;

    struct Run {
        header: RunHeader,
        configuration: Configuration,
        is_finished: bool,
        value: f64,
    }

    impl TrendRun for Run {
        fn header(&self) -> &RunHeader {
            &self.header
        }

        fn configuration(&self) -> &Configuration {
            &self.configuration
        }

        fn is_finished(&self) -> bool {
            self.is_finished
        }

        fn headline(&self) -> Option<Headline> {
            Some(Headline {
                measure: "rr".to_owned(),
                title: "MRR".to_owned(),
                value: self.value,
                interval: None,
            })
        }
    }

    /// A run of `bm25` over the dataset `sample`, whose record has `more` members.
    fn run(value: f64, more: &Value) -> Run {
        let mut manifest = json!({
            "benchmark": "retrieval", "name": "n", "profile": "bm25", "seed": 0,
            "dataset": {"name": "sample", "questions": 20, "unanswerable": 0, "provenance": {"files": "a"}},
        });
        let dataset = manifest["dataset"].as_object_mut().unwrap();
        dataset.extend(more.as_object().unwrap().clone());
        Run {
            configuration: Configuration::of(&manifest),
            header: serde_json::from_value(manifest).unwrap(),
            is_finished: true,
            value,
        }
    }

    fn line(runs: &[Run]) -> Vec<Option<f64>> {
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
            assert_eq!(
                Break::between(before.basis(), after.basis()),
                Some(why),
                "{other}"
            );
            let drawn = line(&[run(0.25, &same), run(0.25, &same), after]);
            assert_eq!(drawn, [Some(0.25), Some(0.25), None, Some(0.5)], "{other}");
        }
        let after = run(0.5, &same);
        assert_eq!(Break::between(before.basis(), after.basis()), None);
        assert_eq!(line(&[before, after]), [Some(0.25), Some(0.5)]);
    }

    #[test]
    fn a_line_ends_with_a_finished_run_and_has_the_newest_twelve() {
        let same = json!({});
        let unfinished = |value| Run {
            is_finished: false,
            ..run(value, &same)
        };
        assert_eq!(line(&[run(0.25, &same), unfinished(0.5)]), []);
        let skipping = [run(0.25, &same), unfinished(0.5), run(0.75, &same)];
        assert_eq!(line(&skipping), [Some(0.25), Some(0.75)]);
        let many: Vec<Run> = (0..20).map(|it| run(f64::from(it), &same)).collect();
        let drawn = line(&many);
        assert_eq!((drawn.len(), drawn[0]), (12, Some(8.0)));
    }
}
