//! What to report, as people ask for it, and what changes the values of all measures.

use std::num::NonZeroUsize;

use super::families;
use super::{Statistic, Utility};
use crate::measure_text::MeasureText;
use crate::measures::MinimumGrade;
use crate::notation::TREC_EVAL_PERSISTENCE;
use crate::{Measure, ParseMeasureError, Queries, RECALL_LEVELS, TrecEval};

/// Options of [`score`](super::score()). The defaults are those of `trec_eval`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Which queries count: `-c` of `trec_eval` for [`Queries::Judged`].
    pub queries: Queries,
    /// The lowest relevant grade of measures that do not set their own: `-l`. Default: 1.
    pub relevant_from: MinimumGrade,
    /// Looks at the best documents of each query only: `-M`. Default: all.
    pub max_documents: Option<NonZeroUsize>,
    /// Takes documents without a judgement, or with a negative grade, out of each ranking: `-J`. It happens after
    /// `max_documents`.
    pub judged_only: bool,
    /// The number of documents in the collection, which the fourth coefficient of `utility` needs: `-N`. Default: 0.
    pub collection_size: u32,
    /// Whose rules decide where versions of `trec_eval` differ.
    pub version: TrecEval,
}

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
    let Some(mut listed) = listed_by_default(name) else {
        let (statistic, written) = match parameters {
            Some(parameters) => (
                with_parameters(text, name, parameters)?,
                Some(parameters.to_owned()),
            ),
            None => (name.parse()?, None),
        };
        return Ok(vec![Column { statistic, written }]);
    };
    if let Some(parameters) = parameters {
        let has_levels = matches!(name, "iprec_at_recall" | "Rprec_mult");
        let whole = |it| if has_levels { it } else { whole_part(it) };
        listed = parameters
            .split(',')
            .map(whole)
            .map(str::to_owned)
            .collect();
    }
    let statistics = listed.iter().map(|it| format!("{name}@{it}").parse());
    let mut statistics: Vec<Statistic> = statistics.collect::<Result<_, _>>()?;
    // By cutoff, as trec_eval lists them: the name and the grade are the same.
    statistics.sort_unstable();
    Ok(statistics.into_iter().map(Column::of).collect())
}

/// The cutoffs or levels that `trec_eval` reports of a family without parameters; `None` if it has no list of them.
fn listed_by_default(name: &str) -> Option<Vec<String>> {
    let cutoffs = |list: &[u32]| list.iter().map(ToString::to_string).collect();
    Some(match name {
        "P" | "recall" | "ndcg_cut" | "map_cut" | "relative_P" => {
            cutoffs(&[5, 10, 15, 20, 30, 100, 200, 500, 1000])
        }
        "success" => cutoffs(&[1, 5, 10]),
        "unj" => cutoffs(&[5, 10, 20]),
        "iprec_at_recall" => RECALL_LEVELS.iter().map(ToString::to_string).collect(),
        "Rprec_mult" => (1..=10)
            .map(|fifths| (f64::from(fifths * 2) / 10.0).to_string())
            .collect(),
        _ => return None,
    })
}

/// The whole part of a cutoff: `trec_eval` reads `23.4` as 23.
fn whole_part(cutoff: &str) -> &str {
    match cutoff.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|it| it.is_ascii_digit()) => whole,
        _ => cutoff,
    }
}

/// A statistic that takes parameters and stays one.
fn with_parameters(
    text: &str,
    name: &str,
    parameters: &str,
) -> Result<Statistic, ParseMeasureError> {
    let invalid = |parameter, expected| ParseMeasureError::InvalidValue {
        measure: text.to_owned(),
        parameter,
        value: parameters.to_owned(),
        expected,
    };
    Ok(match name {
        "utility" => {
            let numbers = parameters.split(',').map(|it| it.parse().ok());
            let numbers: Option<Vec<_>> = numbers.collect();
            let coefficients = numbers.and_then(|it| it.try_into().ok());
            Statistic::Utility(Utility {
                rel: MinimumGrade::ONE,
                coefficients: coefficients
                    .ok_or_else(|| invalid("coefficients", "4 numbers, such as `1,-1,0,0`"))?,
            })
        }
        "relstring" => {
            let documents = parameters.parse();
            Statistic::Grades {
                documents: documents
                    .map_err(|_| invalid("documents", "a whole number up to 65535"))?,
            }
        }
        "11pt_avg" => format!("{name}(levels={{{parameters}}})").parse()?,
        "set_F" => format!("{name}@{parameters}").parse()?,
        "ndcg" | "ndcg_rel" | "Rndcg" | "G" | "rbp" if parameters.contains('=') => text.parse()?,
        "dcg" | "ideal_dcg" | "rbp_resid" if parameters.contains('=') => {
            let mut it = MeasureText::parse(text)?;
            let gains = it.gains()?;
            let statistic = match name {
                "dcg" => Statistic::Dcg(gains),
                "ideal_dcg" => Statistic::IdealDcg(gains),
                _ => Statistic::RbpResidual {
                    persistence: it.persistence()?.unwrap_or(TREC_EVAL_PERSISTENCE),
                },
            };
            it.finish()?;
            statistic
        }
        _ => {
            return Err(ParseMeasureError::UnknownParameter {
                measure: text.to_owned(),
                parameter: parameters.to_owned(),
            });
        }
    })
}
