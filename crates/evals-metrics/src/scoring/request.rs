//! What to report, as people ask for it.

use std::borrow::Cow;
use std::num::NonZeroUsize;

use super::families;
use super::{Statistic, Utility};
use crate::measures::{
    Gain, Gains, InterpolatedAverage, InterpolatedPrecision, MinimumGrade, Ndcg, NdcgAtLevels,
    NdcgAtRelevant, NormalizedGain, RPrecisionMultiple, RankBiasedPrecision, RecallLevels, SetF,
};
use crate::notation::TREC_EVAL_PERSISTENCE;
use crate::{Decimal, Measure, ParseMeasureError, RECALL_LEVELS};

/// Cutoffs of `P`, `recall`, `ndcg_cut`, `map_cut` and `relative_P` in `trec_eval`.
const CUTOFFS: [&str; 9] = ["5", "10", "15", "20", "30", "100", "200", "500", "1000"];
/// The columns of a table of scores.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    columns: Vec<Column>,
}

/// A statistic with its names.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// What is reported.
    pub statistic: Statistic,
    /// The parameters as they were written after a name of `trec_eval`, which prints them as part of the name.
    pub(super) written: Option<String>,
}

impl Request {
    /// Reads what to report: measures in any notation, names of `trec_eval` with lists of parameters (`P.5,10`,
    /// `utility.1,-1,0,0`, `ndcg.1=3,2=9`) or with its default parameters (`P`, `recall`, `iprec_at_recall`), and its groups
    /// `official`, `all_trec` and `set`. A measure that two names request is reported once. Parameters replace the default ones of a
    /// group, as in `trec_eval`: `all_trec` with `P.7` reports `P_7` alone.
    ///
    /// # Errors
    ///
    /// A name is unknown, or a parameter invalid.
    pub fn parse<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<Self, ParseMeasureError> {
        let texts: Vec<&str> = texts.into_iter().map(str::trim).collect();
        let written: Vec<&str> = texts
            .iter()
            .filter_map(|text| family_and_parameters(text))
            .map(|(family, _)| family)
            .collect();
        let mut request = Self::default();
        let mut push = |text: &str| request.push(text);
        for text in texts {
            let Some(mut families) = families::of_group(text) else {
                push(text)?;
                continue;
            };
            families.retain(|family| !written.contains(family));
            families.into_iter().try_for_each(&mut push)?;
        }
        Ok(request)
    }

    fn push(&mut self, text: &str) -> Result<(), ParseMeasureError> {
        let (name, parameters) = match family_and_parameters(text) {
            Some((name, parameters)) => (name, Some(parameters)),
            None => (text, None),
        };
        for column in columns(text, name, parameters)? {
            if !self.columns.contains(&column) {
                self.columns.push(column);
            }
        }
        Ok(())
    }

    /// The columns, in the order in which they were asked for.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The same request with this lowest relevant grade for statistics that do not set their own.
    #[must_use]
    pub(super) fn relevant_from(&self, lowest: MinimumGrade) -> Self {
        let columns = self.columns.iter().map(|column| Column {
            statistic: column.statistic.relevant_from(lowest),
            written: column.written.clone(),
        });
        Self {
            columns: columns.collect(),
        }
    }
}

impl From<Vec<Measure>> for Request {
    fn from(measures: Vec<Measure>) -> Self {
        let columns = measures
            .into_iter()
            .map(|it| Column::of(Statistic::Mean(it)));
        Self {
            columns: columns.collect(),
        }
    }
}

impl Column {
    fn of(statistic: Statistic) -> Self {
        Self {
            statistic,
            written: None,
        }
    }
}

/// Splits `P.5,10` at the first dot, as `trec_eval` does.
fn family_and_parameters(text: &str) -> Option<(&str, &str)> {
    let (family, parameters) = text.split_once('.')?;
    families::place(family).map(|_| (family, parameters))
}

/// The columns of a text: several for a family with several cutoffs.
fn columns(
    text: &str,
    name: &str,
    parameters: Option<&str>,
) -> Result<Vec<Column>, ParseMeasureError> {
    let cutoffs: Cow<'_, [&str]> = match (name, parameters) {
        (
            "P" | "recall" | "ndcg_cut" | "map_cut" | "relative_P" | "success" | "unj",
            Some(list),
        ) => list.split(',').map(whole_part).collect(),
        ("P" | "recall" | "ndcg_cut" | "map_cut" | "relative_P", None) => (&CUTOFFS[..]).into(),
        ("success", None) => (&["1", "5", "10"][..]).into(),
        ("unj", None) => (&["5", "10", "20"][..]).into(),
        ("iprec_at_recall", _) => {
            let levels = RECALL_LEVELS.map(|level| level.to_string());
            return numbers(
                text,
                parameters,
                &levels,
                "recall",
                "a number from 0 to 1",
                |level| {
                    let rel = MinimumGrade::default();
                    let is_level = (0.0..=1.0).contains(&level.get());
                    is_level.then_some(Measure::InterpolatedPrecision(InterpolatedPrecision {
                        rel,
                        recall: level,
                    }))
                },
            );
        }
        ("Rprec_mult", _) => {
            let multiples = (1..=10).map(|fifths| (f64::from(fifths * 2) / 10.0).to_string());
            let multiples: Vec<_> = multiples.collect();
            return numbers(
                text,
                parameters,
                &multiples,
                "multiple",
                "a number above 0",
                |it| {
                    let rel = MinimumGrade::default();
                    (it.get() > 0.0).then_some(Measure::RPrecisionMultiple(RPrecisionMultiple {
                        rel,
                        multiple: it,
                    }))
                },
            );
        }
        (_, Some(parameters)) => {
            let statistic = with_parameters(text, name, parameters)?;
            let written = Some(parameters.to_owned());
            return Ok(vec![Column { statistic, written }]);
        }
        (_, None) => return Ok(vec![Column::of(name.parse()?)]),
    };
    let mut statistics = Vec::with_capacity(cutoffs.len());
    for cutoff in cutoffs.iter() {
        let number: NonZeroUsize = cutoff
            .parse()
            .map_err(|_| invalid(text, "cutoff", cutoff, "a whole number from 1"))?;
        statistics.push(format!("{name}_{number}").parse::<Statistic>()?);
    }
    // By cutoff, as trec_eval lists them: the name and the grade are the same.
    statistics.sort_unstable();
    Ok(statistics.into_iter().map(Column::of).collect())
}

/// The whole part of a cutoff: `trec_eval` reads `23.4` as 23.
fn whole_part(cutoff: &str) -> &str {
    match cutoff.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|it| it.is_ascii_digit()) => whole,
        _ => cutoff,
    }
}

/// The columns of a family whose parameter is a number, in ascending order.
fn numbers(
    text: &str,
    parameters: Option<&str>,
    defaults: &[String],
    parameter: &'static str,
    expected: &'static str,
    measure: impl Fn(Decimal) -> Option<Measure>,
) -> Result<Vec<Column>, ParseMeasureError> {
    let list: Vec<&str> = match parameters {
        Some(list) => list.split(',').collect(),
        None => defaults.iter().map(String::as_str).collect(),
    };
    let mut measures: Vec<Measure> = list
        .into_iter()
        .map(|value| {
            let number = value.parse().ok();
            number
                .and_then(&measure)
                .ok_or_else(|| invalid(text, parameter, value, expected))
        })
        .collect::<Result<_, _>>()?;
    measures.sort_unstable();
    let columns = measures
        .into_iter()
        .map(|it| Column::of(Statistic::Mean(it)));
    Ok(columns.collect())
}

/// A statistic that takes parameters and stays one.
fn with_parameters(
    text: &str,
    name: &str,
    parameters: &str,
) -> Result<Statistic, ParseMeasureError> {
    let rel = MinimumGrade::default();
    let list =
        || -> Option<Vec<Decimal>> { parameters.split(',').map(|it| it.parse().ok()).collect() };
    let gains = || gains(text, parameters, false).map(|(gains, _)| gains);
    Ok(match name {
        "utility" => {
            let coefficients = list().and_then(|it| it.try_into().ok()).ok_or_else(|| {
                invalid(
                    text,
                    "coefficients",
                    parameters,
                    "4 numbers, such as `1,-1,0,0`",
                )
            })?;
            Statistic::Utility(Utility { rel, coefficients })
        }
        "11pt_avg" => {
            let levels = list().and_then(RecallLevels::new).ok_or_else(|| {
                invalid(
                    text,
                    "levels",
                    parameters,
                    "up to 21 ascending numbers from 0 to 1",
                )
            })?;
            Statistic::Mean(Measure::InterpolatedAverage(InterpolatedAverage {
                rel,
                levels,
            }))
        }
        "relstring" => {
            let documents = parameters.parse().map_err(|_| {
                invalid(text, "documents", parameters, "a whole number up to 65535")
            })?;
            Statistic::Grades { documents }
        }
        "set_F" => {
            let beta = parameters
                .parse()
                .ok()
                .filter(|it: &Decimal| it.get() >= 0.0);
            let beta = beta.ok_or_else(|| invalid(text, "beta", parameters, "a number from 0"))?;
            Statistic::Mean(Measure::SetF(SetF { rel, beta }))
        }
        "ndcg" => {
            let gain = Gain::Chosen(gains()?);
            let cutoff = None;
            Statistic::Mean(Measure::Ndcg(Ndcg { gain, cutoff }))
        }
        "ndcg_rel" => {
            let gains = gains()?;
            Statistic::Mean(Measure::NdcgAtRelevant(NdcgAtRelevant { gains }))
        }
        "Rndcg" => {
            let gains = gains()?;
            Statistic::Mean(Measure::NdcgAtLevels(NdcgAtLevels { rel, gains }))
        }
        "G" => {
            let gains = gains()?;
            Statistic::Mean(Measure::NormalizedGain(NormalizedGain { gains }))
        }
        "dcg" => Statistic::Dcg(gains()?),
        "ideal_dcg" => Statistic::IdealDcg(gains()?),
        "rbp" => {
            let (gains, persistence) = self::gains(text, parameters, true)?;
            Statistic::Mean(Measure::RankBiasedPrecision(RankBiasedPrecision {
                persistence,
                rel: None,
                gains,
                cutoff: None,
            }))
        }
        "rbp_resid" => {
            let (_, persistence) = self::gains(text, parameters, true)?;
            Statistic::RbpResidual { persistence }
        }
        _ => {
            return Err(ParseMeasureError::UnknownParameter {
                measure: text.to_owned(),
                parameter: parameters.to_owned(),
            });
        }
    })
}

/// Gains by grade, `1=3,2=9`, and for `rbp` its persistence, `p=0.8`.
fn gains(
    text: &str,
    parameters: &str,
    has_persistence: bool,
) -> Result<(Gains, Decimal), ParseMeasureError> {
    let mut persistence = TREC_EVAL_PERSISTENCE;
    let mut pairs = Vec::new();
    for pair in parameters.split(',') {
        let expected = "a grade and its gain, such as `1=3`";
        let error = || invalid(text, "gain", pair, expected);
        let (key, value) = pair.split_once('=').ok_or_else(error)?;
        let value: Decimal = value.parse().map_err(|_| error())?;
        if has_persistence && key == "p" {
            if !(0.0..1.0).contains(&value.get()) {
                return Err(invalid(text, "p", pair, "a number from 0 to below 1"));
            }
            persistence = value;
        } else {
            pairs.push((key.parse().map_err(|_| error())?, value));
        }
    }
    let gains = Gains::new(pairs)
        .ok_or_else(|| invalid(text, "gains", parameters, "up to 8 different grades"))?;
    Ok((gains, persistence))
}

fn invalid(
    measure: &str,
    parameter: &'static str,
    value: &str,
    expected: &'static str,
) -> ParseMeasureError {
    ParseMeasureError::InvalidValue {
        measure: measure.to_owned(),
        parameter,
        value: value.to_owned(),
        expected,
    }
}
