//! The output of `trec_eval`.

use std::fmt::Write as _;

use super::families;
use super::{Column, Count, Scores, Statistic, Summary};
use crate::measures::{Gain, Ndcg, RankBiasedPrecision, RecallLevels};
use crate::notation::TREC_EVAL_PERSISTENCE;
use crate::{Decimal, Measure};

/// How to print scores as `trec_eval` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrecEvalLayout {
    /// Prints a line for each query: `-q`. Default: no.
    pub per_query: bool,
    /// Prints a line for all queries; `-n` leaves it out. Default: yes.
    pub summary: bool,
    /// The digits after the decimal point. Default: 4, as always in `trec_eval`.
    pub decimals: usize,
}

impl Default for TrecEvalLayout {
    fn default() -> Self {
        Self {
            per_query: false,
            summary: true,
            decimals: 4,
        }
    }
}

/// The scores as `trec_eval` prints them: lines of name, query and value, with the names and in the order of `trec_eval`. What it
/// does not know comes last, by its name here.
pub fn trec_eval_layout(scores: &Scores, layout: TrecEvalLayout) -> String {
    let TrecEvalLayout {
        per_query,
        summary,
        decimals,
    } = layout;
    let mut columns: Vec<(usize, Place, String)> = scores
        .columns()
        .iter()
        .enumerate()
        .map(|(index, column)| {
            let (place, name) = place_and_name(column, scores);
            (index, place, name)
        })
        .collect();
    columns.sort_by(|left, right| {
        left.1
            .0
            .cmp(&right.1.0)
            .then(left.1.1.total_cmp(&right.1.1))
    });
    let mut text = String::new();
    if per_query {
        for (position, query) in scores.queries().iter().enumerate() {
            let values = scores.values(position);
            for (index, _, name) in &columns {
                let value = values[*index].unwrap_or(0.0);
                let shown = match scores.columns()[*index].statistic {
                    Statistic::RunId
                    | Statistic::GeometricMap(_)
                    | Statistic::GeometricBpref(_)
                    | Statistic::Count(Count::Queries) => continue,
                    Statistic::Grades { .. } => {
                        format!("'{}'", scores.text(position, *index).unwrap_or_default())
                    }
                    Statistic::Count(_) => format!("{value:.0}"),
                    _ => format!("{value:6.decimals$}"),
                };
                line(&mut text, name, query, &shown);
            }
        }
    }
    if summary {
        for (index, _, name) in &columns {
            let shown = match scores.summary(*index) {
                Summary::None => continue,
                Summary::Text(text) => text,
                Summary::Count(count) => format!("{count:.0}"),
                Summary::Number(number) => format!("{number:6.decimals$}"),
            };
            line(&mut text, name, "all", &shown);
        }
    }
    text
}

fn line(text: &mut String, name: &str, query: &str, value: &str) {
    writeln!(text, "{name:<22}\t{query}\t{value}").expect("a string takes any text");
}

/// The position of a family, and within it.
struct Place(usize, f64);

/// Where `trec_eval` prints a column, and under which name.
fn place_and_name(column: &Column, scores: &Scores) -> (Place, String) {
    let unknown = || (Place(usize::MAX, 0.0), column.statistic.to_string());
    let level = scores.options().relevant_from;
    let is_at_level = match column.statistic {
        Statistic::Mean(measure) => measure.minimum_grade().is_none_or(|rel| rel == level),
        statistic => statistic == statistic_at(statistic, level),
    };
    let (true, Some(family)) = (is_at_level, family(column.statistic)) else {
        return unknown();
    };
    let Some(position) = families::place(family.name) else {
        return unknown();
    };
    let name = match (&column.written, family.suffix) {
        (Some(written), _) => format!("{}_{written}", family.name),
        (None, Some(suffix)) => format!("{}_{suffix}", family.name),
        (None, None) => family.name.to_owned(),
    };
    (Place(position, family.order), name)
}

/// The same statistic at another level of relevance.
fn statistic_at(statistic: Statistic, level: crate::measures::MinimumGrade) -> Statistic {
    let plain: Result<Statistic, _> = match statistic {
        Statistic::GeometricMap(_) => "gm_map".parse(),
        Statistic::GeometricBpref(_) => "gm_bpref".parse(),
        Statistic::Count(Count::Relevant(_)) => "num_rel".parse(),
        Statistic::Count(Count::RelevantRetrieved(_)) => "num_rel_ret".parse(),
        Statistic::Count(Count::NotRelevantRetrieved(_)) => "num_nonrel_judged_ret".parse(),
        other => return other,
    };
    plain.map_or(statistic, |it| it.relevant_from(level))
}

/// A family of `trec_eval`, with the part of the name that follows it.
struct Family {
    name: &'static str,
    suffix: Option<String>,
    order: f64,
}

impl Family {
    fn plain(name: &'static str) -> Self {
        Self {
            name,
            suffix: None,
            order: 0.0,
        }
    }

    fn at(name: &'static str, cutoff: std::num::NonZeroUsize) -> Self {
        Self {
            name,
            suffix: Some(cutoff.to_string()),
            order: crate::arithmetic::as_f64(cutoff.get()),
        }
    }

    fn at_number(name: &'static str, number: f64) -> Self {
        Self {
            name,
            suffix: Some(format!("{number:.2}")),
            order: number,
        }
    }
}

/// The family of a statistic; `None` if `trec_eval` does not have it.
fn family(statistic: Statistic) -> Option<Family> {
    Some(match statistic {
        Statistic::Mean(measure) => return family_of_measure(measure),
        Statistic::GeometricMap(_) => Family::plain("gm_map"),
        Statistic::GeometricBpref(_) => Family::plain("gm_bpref"),
        Statistic::Count(count) => Family::plain(match count {
            Count::Queries => "num_q",
            Count::Retrieved => "num_ret",
            Count::Relevant(_) => "num_rel",
            Count::RelevantRetrieved(_) => "num_rel_ret",
            Count::NotRelevantRetrieved(_) => "num_nonrel_judged_ret",
        }),
        Statistic::Utility(_) => Family::plain("utility"),
        Statistic::RbpResidual { .. } => Family::plain("rbp_resid"),
        Statistic::Yaap { .. } => Family::plain("yaap"),
        Statistic::Dcg(_) => Family::plain("dcg"),
        Statistic::IdealDcg(_) => Family::plain("ideal_dcg"),
        Statistic::Grades { .. } => Family::plain("relstring"),
        Statistic::RunId => Family::plain("runid"),
    })
}

fn family_of_measure(measure: Measure) -> Option<Family> {
    Some(match (measure, measure.cutoff()) {
        (Measure::AveragePrecision(_), None) => Family::plain("map"),
        (Measure::AveragePrecision(_), Some(cutoff)) => Family::at("map_cut", cutoff),
        (Measure::BinaryGain(_), _) => Family::plain("binG"),
        (Measure::Bpref(_), _) => Family::plain("bpref"),
        (Measure::InferredAp(_), _) => Family::plain("infAP"),
        (Measure::InterpolatedAverage(measure), _) => Family {
            suffix: (measure.levels != RecallLevels::default()).then(|| {
                let levels: Vec<_> = measure.levels.iter().map(|it| it.to_string()).collect();
                levels.join(",")
            }),
            ..Family::plain("11pt_avg")
        },
        (Measure::InterpolatedPrecision(measure), _) => {
            Family::at_number("iprec_at_recall", measure.recall.get())
        }
        (Measure::Ndcg(Ndcg { gain, .. }), cutoff) => match (gain, cutoff) {
            (Gain::Linear, None) => Family::plain("ndcg"),
            (Gain::Linear, Some(cutoff)) => Family::at("ndcg_cut", cutoff),
            (Gain::Chosen(gains), None) => gained("ndcg", &gains),
            _ => return None,
        },
        (Measure::NdcgAtLevels(measure), _) => gained("Rndcg", &measure.gains),
        (Measure::NdcgAtRelevant(measure), _) => gained("ndcg_rel", &measure.gains),
        (Measure::NormalizedGain(measure), _) => gained("G", &measure.gains),
        (Measure::Precision(_), Some(cutoff)) => Family::at("P", cutoff),
        (Measure::RPrecision(_), _) => Family::plain("Rprec"),
        (Measure::RPrecisionMultiple(measure), _) => {
            Family::at_number("Rprec_mult", measure.multiple.get())
        }
        (
            Measure::RankBiasedPrecision(RankBiasedPrecision {
                persistence,
                rel: None,
                gains,
                cutoff: None,
            }),
            _,
        ) => Family {
            suffix: (persistence != TREC_EVAL_PERSISTENCE).then(|| format!("p={persistence}")),
            ..gained("rbp", &gains)
        },
        (Measure::Recall(_), Some(cutoff)) => Family::at("recall", cutoff),
        (Measure::ReciprocalRank(_), None) => Family::plain("recip_rank"),
        (Measure::RelativePrecision(_), Some(cutoff)) => Family::at("relative_P", cutoff),
        (Measure::SetAp(_), _) => Family::plain("set_map"),
        (Measure::SetF(measure), _) => Family {
            suffix: (measure.beta != Decimal::ONE).then(|| measure.beta.to_string()),
            ..Family::plain("set_F")
        },
        (Measure::SetPrecision(_), _) => Family::plain("set_P"),
        (Measure::SetRecall(_), _) => Family::plain("set_recall"),
        (Measure::SetRelativePrecision(_), _) => Family::plain("set_relative_P"),
        (Measure::Success(_), Some(cutoff)) => Family::at("success", cutoff),
        (Measure::Unjudged(_), Some(cutoff)) => Family::at("unj", cutoff),
        _ => return None,
    })
}

fn gained(name: &'static str, gains: &crate::measures::Gains) -> Family {
    let pairs: Vec<_> = gains
        .iter()
        .map(|(grade, gain)| format!("{grade}={gain}"))
        .collect();
    Family {
        suffix: (!gains.is_empty()).then(|| pairs.join(",")),
        ..Family::plain(name)
    }
}
