//! Scores all queries of a run with all processors.

use std::cmp::Ordering;
use std::num::NonZeroUsize;
use std::sync::atomic::{self, AtomicUsize};
use std::thread::{self, ScopedJoinHandle};

use super::error::ScoringError;
use super::query_scores::{QueryScores, fill, text};
use super::request::Request;
use super::scores::{QueryRow, Scores};
use super::source::{Judged, Ranked, ScoringRows};
use super::{Options, Statistic};
use crate::Queries;
use crate::graded_ranking::GradedRanking;
use crate::trec::ParseError;

/// How many queries a worker takes at a time.
const BATCH: usize = 16;

/// A query with its place in the judgements and in the run.
#[derive(Debug, Clone, Copy)]
struct Pair {
    judged: Option<usize>,
    ranked: Option<usize>,
}

/// Scores a run.
///
/// # Errors
///
/// A file is invalid, or no query counts.
pub fn score(
    qrels: &Judged<'_>,
    run: &Ranked<'_>,
    request: &Request,
    options: &Options,
) -> Result<Scores, ScoringError> {
    let request = request.relevant_from(options.relevant_from);
    let pairs = pairs(&qrels.0, &run.0);
    let rows = rows(qrels, run, &request, options, &pairs)?;
    let scores = Scores::new(request, *options, rows, run.tag());
    if scores.is_empty() {
        let first =
            |source: &ScoringRows<'_>| (source.len() > 0).then(|| source.query(0).to_owned());
        return Err(ScoringError::NoCommonQuery {
            judged: qrels.0.len(),
            first_judged: first(&qrels.0),
            ranked: run.0.len(),
            first_ranked: first(&run.0),
        });
    }
    Ok(scores)
}

/// The queries of either file, in byte order of their ids.
fn pairs(qrels: &ScoringRows<'_>, run: &ScoringRows<'_>) -> Vec<Pair> {
    let (mut judged, mut ranked) = (0, 0);
    let mut pairs = Vec::with_capacity(qrels.len().max(run.len()));
    loop {
        let order = match (judged < qrels.len(), ranked < run.len()) {
            (false, false) => return pairs,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (true, true) => qrels.query(judged).cmp(run.query(ranked)),
        };
        pairs.push(Pair {
            judged: order.is_le().then_some(judged),
            ranked: order.is_ge().then_some(ranked),
        });
        judged += usize::from(order.is_le());
        ranked += usize::from(order.is_ge());
    }
}

/// One row for each query of either file, in their order; the error that is first in its file, if there is any.
fn rows(
    qrels: &Judged<'_>,
    run: &Ranked<'_>,
    request: &Request,
    options: &Options,
    pairs: &[Pair],
) -> Result<Vec<QueryRow>, ScoringError> {
    let statistics: Vec<Statistic> = request.columns().iter().map(|it| it.statistic).collect();
    let finished = in_parallel(
        pairs.len(),
        || QueryScores::new(options),
        |scores, index| row(qrels, run, pairs[index], &statistics, options, scores),
    );
    let (mut rows, mut errors) = (Vec::with_capacity(pairs.len()), Vec::new());
    for row in finished {
        match row {
            Ok(row) => rows.push(row),
            Err(error) => errors.push(error),
        }
    }
    match errors.into_iter().min_by_key(place) {
        Some(first) => Err(first),
        None => Ok(rows),
    }
}

/// What `work` makes of each number below `count`, in their order. All processors work, each with a memory of its own.
fn in_parallel<M, T: Send>(
    count: usize,
    memory: impl Fn() -> M + Sync,
    work: impl Fn(&mut M, usize) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let (mut memory, mut done) = (memory(), Vec::new());
        loop {
            let from = next.fetch_add(BATCH, atomic::Ordering::Relaxed);
            if from >= count {
                return done;
            }
            let batch = from..count.min(from + BATCH);
            done.extend(batch.map(|index| (index, work(&mut memory, index))));
        }
    };
    let processors = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let mut done: Vec<(usize, T)> = match processors.min(count.div_ceil(BATCH)) {
        // To start a thread takes longer than to score a few queries.
        0 | 1 => worker(),
        threads => thread::scope(|scope| {
            let started: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
            let finished = started.into_iter().map(ScopedJoinHandle::join);
            finished
                .flat_map(|it| it.expect("scoring does not panic"))
                .collect()
        }),
    };
    done.sort_unstable_by_key(|&(index, _)| index);
    done.into_iter().map(|(_, it)| it).collect()
}

/// Orders errors: those of the judgements first, each file by line.
fn place(error: &ScoringError) -> (bool, usize) {
    match error {
        ScoringError::Invalid { file, error } => (
            *file == super::File::Rankings,
            ParseError::line(error).unwrap_or(0),
        ),
        ScoringError::NoCommonQuery { .. } => (true, usize::MAX),
    }
}

/// Reads and checks a query, and scores it if it counts.
fn row<'s>(
    qrels: &'s Judged<'_>,
    run: &'s Ranked<'_>,
    pair: Pair,
    statistics: &[Statistic],
    options: &Options,
    scores: &mut QueryScores<'s>,
) -> Result<QueryRow, ScoringError> {
    if let Some(judged) = pair.judged {
        scores.judge(qrels, judged)?;
    }
    scores.rank(run, pair.ranked)?;
    let Some(judged) = pair.judged else {
        let query = pair.ranked.map(|ranked| run.0.query(ranked));
        let query = query.expect("a query is in one of the files");
        return Ok(QueryRow::Unjudged(query.to_owned()));
    };
    let query = qrels.0.query(judged).to_owned();
    let positive_grades = scores.positive_grades();
    if pair.ranked.is_none() && options.queries == Queries::Both {
        return Ok(QueryRow::Unranked(query));
    }
    let is_ranked = pair.ranked.is_some();
    let graded = scores.graded(options);
    Ok(scored(
        query,
        is_ranked,
        positive_grades,
        graded,
        statistics,
        options,
    ))
}

/// The values of a query.
fn scored(
    query: String,
    is_ranked: bool,
    positive_grades: usize,
    graded: &GradedRanking,
    statistics: &[Statistic],
    options: &Options,
) -> QueryRow {
    let values = statistics.iter();
    let values = values.map(|statistic| statistic.value(graded, options.collection_size));
    let texts = statistics.iter().filter_map(|statistic| match statistic {
        Statistic::Grades { documents } => Some(text(graded, *documents)),
        _ => None,
    });
    QueryRow::Scored {
        query,
        is_ranked,
        positive_grades,
        values: values.collect(),
        texts: texts.collect(),
    }
}

/// A query whose documents are matched and in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GradedQuery<'a> {
    /// The query's id.
    pub id: &'a str,
    /// The grade at each rank, best rank first; `None` for a document without a judgement.
    pub ranking: Vec<Option<i32>>,
    /// The grades of all judgements of the query, retrieved or not.
    pub judgements: &'a [i32],
}

/// Scores queries that are judged and ranked, by their grades alone: what [`score`] does once it has read, matched and sorted the documents.
///
/// ```
/// use evals_metrics::scoring::{GradedQuery, Options, Request, score_graded};
///
/// let query = GradedQuery {
///     id: "q1",
///     ranking: vec![None, Some(1)],
///     judgements: &[1, 0],
/// };
/// let request = Request::parse(["recip_rank"])?;
/// let scores = score_graded(&[query], &request, &Options::default());
/// assert_eq!(scores.values(0), [Ok(0.5)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn score_graded(queries: &[GradedQuery<'_>], request: &Request, options: &Options) -> Scores {
    let request = request.relevant_from(options.relevant_from);
    let statistics: Vec<Statistic> = request.columns().iter().map(|it| it.statistic).collect();
    let mut sorted: Vec<&GradedQuery<'_>> = queries.iter().collect();
    sorted.sort_by(|left, right| left.id.cmp(right.id));
    let work = |graded: &mut GradedRanking, index: usize| {
        let query = sorted[index];
        let judgements = query.judgements.iter().copied();
        let positive_grades = judgements.clone().filter(|grade| *grade > 0).count();
        fill(graded, query.ranking.iter().copied(), judgements, options);
        let id = query.id.to_owned();
        scored(id, true, positive_grades, graded, &statistics, options)
    };
    let memory = || GradedRanking::of_version(options.version);
    let rows = in_parallel(sorted.len(), memory, work);
    Scores::new(request, *options, rows, None)
}
