//! Finding the same measure in several reports.
//!
//! A title alone does not identify a measure. Each report gives a title to the first evaluator that uses it, so `accurate`
//! may come from different judges in two reports.

use std::collections::BTreeSet;

use crate::naming::Names;
use crate::{Direction, EvaluatorOrigin, MeasureSource, Summary};

/// The values of a list by their titles.
pub(super) type Named<T> = Vec<(String, T)>;

/// The reports with their titles.
pub(super) type Summaries<'a> = &'a [(&'a str, &'a Summary)];

/// One measure over all reports.
#[derive(Debug)]
pub(crate) struct Matched<'a, T> {
    /// The title in the first report that has it, with a number if another measure has the same title.
    pub(crate) title: String,
    /// The name of its mean in tables, where it differs.
    pub(crate) mean_title: Option<String>,
    /// The title in each report that has it.
    pub(crate) titles: Vec<Option<&'a str>>,
    pub(crate) better: Direction,
    /// The measure's value in each report.
    pub(super) values: Vec<Option<&'a T>>,
}

/// Identifies a measure within a report and across reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowKey<'a> {
    /// An evaluator's measure.
    Evaluator {
        evaluator: &'a str,
        outcome: &'a str,
        is_own: bool,
        /// The position among evaluators of that name, from 0. Origins would not do: they shift when a report has other
        /// evaluators.
        number: usize,
    },
    /// A measure of unknown source.
    Title(&'a str),
}

/// All measures of a list, in first-seen order.
pub(crate) fn matched<'a, T>(
    summaries: Summaries<'a>,
    list: impl Fn(&'a Summary) -> &'a Named<T>,
) -> Vec<Matched<'a, T>> {
    let mut keys: Vec<RowKey<'a>> = Vec::new();
    let mut measures: Vec<Matched<'a, T>> = Vec::new();
    let mut titles = Names::default();
    for (position, (_, summary)) in summaries.iter().enumerate() {
        for (title, value) in list(summary) {
            let source = source(summary, title);
            let key = RowKey::of(title, source, summary);
            let better = source.map_or(Direction::Higher, |source| source.better);
            let known = keys.iter().position(|known| *known == key);
            let place = known.unwrap_or_else(|| {
                keys.push(key);
                let claimed = titles.claim(title);
                let mean_title = source.and_then(|source| source.mean_title.clone());
                measures.push(Matched {
                    mean_title: mean_title.filter(|_| claimed == *title),
                    title: claimed,
                    better,
                    titles: vec![None; summaries.len()],
                    values: vec![None; summaries.len()],
                });
                measures.len() - 1
            });
            let measure = &mut measures[place];
            measure.better = measure.better.reconciled(better);
            measure.titles[position] = Some(title);
            measure.values[position] = Some(value);
        }
    }
    measures
}

/// All names, in first-seen order.
pub(super) fn names<'a, T: 'a>(
    summaries: Summaries<'a>,
    list: impl Fn(&'a Summary) -> &'a Named<T>,
) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    let all = summaries.iter().flat_map(|(_, summary)| list(summary));
    all.map(|(name, _)| name.as_str())
        .filter(|name| seen.insert(*name))
        .collect()
}

fn source<'a>(summary: &'a Summary, title: &str) -> Option<&'a MeasureSource> {
    let mut sources = summary.sources.iter();
    sources
        .find(|(name, _)| name == title)
        .map(|(_, source)| source)
}

impl<'a> RowKey<'a> {
    fn of(title: &'a str, source: Option<&'a MeasureSource>, summary: &Summary) -> Self {
        let Some(source) = source else {
            return Self::Title(title);
        };
        let all = summary.sources.iter().map(|(_, source)| source);
        let before: BTreeSet<EvaluatorOrigin> = all
            .filter(|other| other.evaluator == source.evaluator)
            .map(|other| other.origin)
            .filter(|origin| is_own(*origin) == is_own(source.origin) && *origin < source.origin)
            .collect();
        Self::Evaluator {
            evaluator: &source.evaluator,
            outcome: &source.outcome,
            is_own: is_own(source.origin),
            number: before.len(),
        }
    }
}

fn is_own(origin: EvaluatorOrigin) -> bool {
    matches!(origin, EvaluatorOrigin::Case(_))
}
