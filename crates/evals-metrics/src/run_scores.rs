//! Scores all queries of a run.

use std::collections::BTreeMap;

use crate::{
    Bootstrap, Mean, Measure, Qrels, Ranking, Run, Scale, Undefined, UndefinedAs, score_all,
};

/// Which queries of a run and its judgements are scored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Queries {
    /// Queries with judgements and a ranking, the default of `trec_eval`. It favours a system that
    /// returns nothing for difficult queries.
    #[default]
    Both,
    /// All queries with judgements; a missing ranking counts as an empty one, as with `trec_eval
    /// -c` and in ir-measures.
    Judged,
}

/// The scores of a run, by query and measure.
#[derive(Debug, Clone, PartialEq)]
pub struct RunScores {
    measures: Vec<Measure>,
    queries: BTreeMap<String, Vec<Result<f64, Undefined>>>,
    unjudged: Vec<String>,
    unranked: Vec<String>,
}

/// Scores every query of a run.
///
/// ```
/// use evals_metrics::{Bootstrap, Queries, UndefinedAs, score_run, trec};
///
/// let qrels = trec::parse_qrels("q1 0 a 1\nq2 0 c 1\n").expect("valid qrels");
/// let run = trec::parse_run("q1 Q0 b 1 2.0 demo\nq1 Q0 a 2 1.0 demo\n").expect("a valid run");
/// let measures = ["RR".parse().expect("a measure")];
///
/// let scores = score_run(&qrels, &run, &measures, Queries::Judged);
/// assert_eq!(scores.get("q1"), Some([Ok(0.5)].as_slice()));
/// assert_eq!(scores.unranked(), ["q2"]);
/// let means = scores.means(UndefinedAs::Zero, &Bootstrap::default());
/// assert_eq!(means[0].1.value, Some(0.25));
/// ```
pub fn score_run(qrels: &Qrels, run: &Run, measures: &[Measure], queries: Queries) -> RunScores {
    let nothing = Ranking::default();
    let mut scores = RunScores {
        measures: measures.to_vec(),
        queries: BTreeMap::new(),
        unjudged: run
            .keys()
            .filter(|query| qrels.get(query).is_none())
            .cloned()
            .collect(),
        unranked: Vec::new(),
    };
    for (query, judgements) in qrels.iter() {
        let ranking = run.get(query);
        if ranking.is_none() {
            scores.unranked.push(query.to_owned());
            if queries == Queries::Both {
                continue;
            }
        }
        let row = score_all(measures, judgements, ranking.unwrap_or(&nothing));
        scores.queries.insert(query.to_owned(), row);
    }
    scores
}

impl RunScores {
    /// The measures, in the requested order; each query's scores have the same order.
    pub fn measures(&self) -> &[Measure] {
        &self.measures
    }

    /// A query's scores, or `None` if the query was not scored.
    pub fn get(&self, query: &str) -> Option<&[Result<f64, Undefined>]> {
        self.queries.get(query).map(Vec::as_slice)
    }

    /// The scored queries, in byte order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[Result<f64, Undefined>])> {
        self.queries
            .iter()
            .map(|(query, scores)| (query.as_str(), scores.as_slice()))
    }

    /// The number of scored queries.
    pub fn len(&self) -> usize {
        self.queries.len()
    }

    /// Whether no query was scored, for example because run and judgements belong to different
    /// collections.
    pub fn is_empty(&self) -> bool {
        self.queries.is_empty()
    }

    /// The queries of the run that have no judgements. They are never scored.
    pub fn unjudged(&self) -> &[String] {
        &self.unjudged
    }

    /// The judged queries without a ranking in the run: scored as empty with [`Queries::Judged`],
    /// else skipped.
    pub fn unranked(&self) -> &[String] {
        &self.unranked
    }

    /// The mean of each measure, in the order of [`measures`](Self::measures).
    /// [`UndefinedAs::Zero`] gives the figures of `trec_eval`.
    pub fn means(&self, undefined: UndefinedAs, bootstrap: &Bootstrap) -> Vec<(Measure, Mean)> {
        let mean = |(index, &measure): (usize, &Measure)| {
            let column = self.queries.values().map(|scores| scores[index]);
            let mean = Mean::over(column, undefined, Scale::Share, bootstrap);
            (measure, mean)
        };
        self.measures.iter().enumerate().map(mean).collect()
    }
}
