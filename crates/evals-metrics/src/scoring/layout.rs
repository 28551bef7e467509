//! The output of `trec_eval`.

use std::fmt::Write as _;

use super::families;
use super::{Column, Count, Scores, Statistic, Summary};
use crate::measure::Formula;
use crate::measures::{Gain, MinimumGrade, RecallLevels};
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
    let mut columns: Vec<(usize, ColumnPlace, String)> = scores
        .columns()
        .iter()
        .enumerate()
        .map(|(index, column)| {
            let (place, name) = place_and_name(column, scores.options().relevant_from);
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
struct ColumnPlace(usize, f64);

impl Column {
    /// The name under which `trec_eval` prints the column at this lowest relevant grade, such as `ndcg_cut_10`; the canonical name of what
    /// `trec_eval` does not have.
    pub fn trec_eval_name(&self, relevant_from: MinimumGrade) -> String {
        place_and_name(self, relevant_from).1
    }
}

/// Where `trec_eval` prints a column, and under which name.
fn place_and_name(column: &Column, level: MinimumGrade) -> (ColumnPlace, String) {
    let unknown = || (ColumnPlace(usize::MAX, 0.0), column.statistic.to_string());
    let grade = column.statistic.minimum_grade();
    let is_at_level = grade.is_none_or(|rel| rel == level);
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
    (ColumnPlace(position, family.order), name)
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
    Some(match (measure.formula, measure.cutoff) {
        (Formula::AveragePrecision, None) => Family::plain("map"),
        (Formula::AveragePrecision, Some(cutoff)) => Family::at("map_cut", cutoff),
        (Formula::BinaryGain, _) => Family::plain("binG"),
        (Formula::Bpref, _) => Family::plain("bpref"),
        (Formula::InferredAp, _) => Family::plain("infAP"),
        (Formula::InterpolatedAverage(levels), _) => Family {
            suffix: (levels != RecallLevels::default()).then(|| levels.to_string()),
            ..Family::plain("11pt_avg")
        },
        (Formula::InterpolatedPrecision { recall }, _) => {
            Family::at_number("iprec_at_recall", recall.get())
        }
        (Formula::Ndcg(Gain::Linear), None) => Family::plain("ndcg"),
        (Formula::Ndcg(Gain::Linear), Some(cutoff)) => Family::at("ndcg_cut", cutoff),
        (Formula::Ndcg(Gain::Chosen(gains)), None) => gained("ndcg", &gains),
        (Formula::NdcgAtLevels(gains), _) => gained("Rndcg", &gains),
        (Formula::NdcgAtRelevant(gains), _) => gained("ndcg_rel", &gains),
        (Formula::NormalizedGain(gains), _) => gained("G", &gains),
        (Formula::Precision, Some(cutoff)) => Family::at("P", cutoff),
        (Formula::RPrecision, _) => Family::plain("Rprec"),
        (Formula::RPrecisionMultiple { multiple }, _) => {
            Family::at_number("Rprec_mult", multiple.get())
        }
        (Formula::RankBiasedPrecision { persistence, gains }, None) if measure.rel.is_none() => {
            Family {
                suffix: (persistence != TREC_EVAL_PERSISTENCE).then(|| format!("p={persistence}")),
                ..gained("rbp", &gains)
            }
        }
        (Formula::Recall, Some(cutoff)) => Family::at("recall", cutoff),
        (Formula::ReciprocalRank, None) => Family::plain("recip_rank"),
        (Formula::RelativePrecision, Some(cutoff)) => Family::at("relative_P", cutoff),
        (Formula::SetAp, _) => Family::plain("set_map"),
        (Formula::SetF { beta }, _) => Family {
            suffix: (beta != Decimal::ONE).then(|| beta.to_string()),
            ..Family::plain("set_F")
        },
        (Formula::SetPrecision, _) => Family::plain("set_P"),
        (Formula::SetRecall, _) => Family::plain("set_recall"),
        (Formula::SetRelativePrecision, _) => Family::plain("set_relative_P"),
        (Formula::Success, Some(cutoff)) => Family::at("success", cutoff),
        (Formula::Unjudged, Some(cutoff)) => Family::at("unj", cutoff),
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
