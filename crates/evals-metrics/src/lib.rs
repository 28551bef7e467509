//! Rank measures, equal to `trec_eval`'s, and the statistics around them: pure functions, no I/O of
//! their own, no async.
//!
//! A [`Ranking`] holds the documents that a system returned for a query, and [`Judgements`] hold
//! the relevance grades of that query's documents. A [`Measure`] scores the ranking by the
//! judgements. Many scores make a [`Mean`], with a confidence [`Interval`] and a count of excluded
//! queries. [`Agreement`] says how far the verdicts of a judge agree with people's labels.
//!
//! ```
//! use evals_metrics::{Bootstrap, Judgements, Mean, Measure, Ranking, Scale, ScoredDocument, UndefinedAs};
//!
//! let judgements = Judgements::from_iter([("a".to_owned(), 1), ("b".to_owned(), 2)]);
//! let scored = |id: &str, score| ScoredDocument { id: id.to_owned(), score };
//! let ranking = Ranking::new([scored("c", 3.0), scored("b", 2.0), scored("a", 1.0)])?;
//!
//! let reciprocal_rank: Measure = "RR@10".parse()?;
//! let score = reciprocal_rank.score(&judgements, &ranking);
//! assert_eq!(score, Ok(0.5));
//!
//! let nothing_relevant = reciprocal_rank.score(&Judgements::new(), &ranking);
//! let mean = Mean::over([score, nothing_relevant], UndefinedAs::Excluded, Scale::Share, &Bootstrap::default());
//! assert_eq!((mean.value, mean.n), (Some(0.5), 1));
//! assert_eq!(mean.excluded["no relevant documents"], 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Which `trec_eval`
//!
//! A [`Ranking`] holds document scores in single precision, as `trec_eval` 9 and pytrec\_eval do. [`scoring`], which scores
//! files, follows `trec_eval` 10, which holds them in double precision. [`Ranking::of_doubles`] keeps that order.
//! [`TrecEval`] names all differences. Runs from [`trec::write_run`] have single precision and score the same in both.

mod agreement;
mod arithmetic;
mod bootstrap;
mod calibration;
mod decimal;
mod distribution;
pub mod fusion;
mod graded_ranking;
mod interpolated_precision;
mod interval;
mod mean;
mod measure;
mod measure_text;
pub mod measures;
mod neighbour_hits;
mod notation;
mod paired;
mod paired_quantiles;
mod parse_measure_error;
mod percentiles;
mod pool;
mod qrels;
mod random;
mod rank_correlation;
mod ranking;
mod run_scores;
pub mod scoring;
mod spans;
mod statistics;
mod trade_off;
pub mod trec;
mod undefined;
mod wilson;

pub use agreement::{
    Agreement, Confusion, Estimate, GradePair, GradedAgreement, NoAgreement, PeopleAgreement,
    VerdictCounts, cohens_kappa_of_pairs, equal_pairs, graded_agreement, krippendorffs_alpha,
    roc_area,
};
pub use arithmetic::{
    RANDOM_SWAPS, RESAMPLES, ROUNDING, SIGNIFICANCE, arithmetic_mean, as_f64, p_value_of_draws,
};
pub use bootstrap::Bootstrap;
pub use calibration::{
    CorrectedChange, CorrectedRate, JudgeLabels, JudgedChange, LabelledValue, NoCorrection,
    PredictionPowered, corrected_change, double_sampling, prediction_powered,
    prediction_powered_rate, rogan_gladen,
};
pub use decimal::{Decimal, NotADecimal};
pub use graded_ranking::TrecEval;
pub use interpolated_precision::{
    RECALL_LEVELS, interpolated_precision, mean_interpolated_precision,
};
pub use interval::{Interval, IntervalMethod};
pub use mean::Mean;
pub use measure::{Measure, score_all};
pub use neighbour_hits::NeighbourHits;
pub use paired::{PairedDifference, PairedTest, difference};
pub use paired_quantiles::PairedQuantiles;
pub use parse_measure_error::ParseMeasureError;
pub use percentiles::{Percentiles, quantile};
pub use pool::{CorrectedMean, PoolUnit, corrected_mean, drawn_order, permanent_number};
pub use qrels::{Judgements, Qrels};
pub use random::Xoshiro256PlusPlus;
pub use rank_correlation::{RankAgreement, kendalls_tau, rank_agreement, tau_ap};
pub use ranking::{Ranking, RankingError, Run, ScoredDocument};
pub use run_scores::{Queries, RunScores, score_run};
pub use spans::{Depth, Span, SpanScores, span_scores};
pub use statistics::{
    Adjustment, Alternative, ChangePoint, ChangePointTest, ClusterCorrection, ClusterError,
    Clusters, EffectMethod, EffectSize, Family, Inference, MeanPower, NoStatistic, PairTest,
    PassRatePower, Plan, Scale, Sides, TestMethod, TestResult, VerdictTest, are_verdicts,
    benjamini_hochberg, clopper_pearson, cohens_dz, exact_mcnemar, hedges_g, holm, mean_interval,
    paired_t, sign_test, tango_interval, wilcoxon,
};
pub use trade_off::{PricedChoice, cheapest, pareto_front};
pub use undefined::{Undefined, UndefinedAs};
pub use wilson::wilson_of_effective;

pub use statistics::permutation_test;
