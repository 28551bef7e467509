//! Measures as text: parses both notations and writes the canonical one.

use std::fmt;
use std::str::FromStr;

use evals_messages::nearest;

use crate::measure::Formula;
use crate::measure_text::MeasureText;
use crate::measures::{Continues, Gain, MinimumGrade, RecallLevels};
use crate::{Decimal, Measure, ParseMeasureError};

/// The names that a misspelled name is compared with.
const NAMES: [&str; 35] = [
    "11pt_avg",
    "AP",
    "MAP",
    "Bpref",
    "ERR",
    "G",
    "IPrec",
    "Judged",
    "NERR8",
    "NERR9",
    "NERR10",
    "P",
    "R",
    "RBP",
    "RR",
    "MRR",
    "Rndcg",
    "Rprec",
    "Rprec_mult",
    "SetAP",
    "SetF",
    "SetP",
    "SetR",
    "SetRelP",
    "Success",
    "binG",
    "infAP",
    "nDCG",
    "ndcg_rel",
    "relative_P",
    "unj",
    "recip_rank",
    "iprec_at_recall",
    "ndcg_cut",
    "map_cut",
];

/// The `p` of `RBP` in ir-measures. `trec_eval` has 0.9.
const PERSISTENCE: Decimal = Decimal::constant(0.8);
pub(crate) const TREC_EVAL_PERSISTENCE: Decimal = Decimal::constant(0.9);
/// The highest grade in `gdeval.pl`.
const GREATEST_GRADE: u16 = 4;

/// Whether a measure looks at the best documents only.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cutoff {
    Never,
    Optional,
    Required,
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        let parameters = self.parameters();
        if !parameters.is_empty() {
            write!(f, "({})", parameters.join(","))?;
        }
        match self.formula {
            Formula::InterpolatedPrecision { recall: number }
            | Formula::RPrecisionMultiple { multiple: number } => write!(f, "@{number}"),
            _ => self.cutoff.map_or(Ok(()), |cutoff| write!(f, "@{cutoff}")),
        }
    }
}

impl Measure {
    /// The name without parameters and cutoff, such as `nDCG`.
    pub fn name(&self) -> &'static str {
        match self.formula {
            Formula::AveragePrecision => "AP",
            Formula::BinaryGain => "binG",
            Formula::Bpref => "Bpref",
            Formula::ExpectedReciprocalRank { .. } => "ERR",
            Formula::InferredAp => "infAP",
            Formula::InterpolatedAverage(_) => "11pt_avg",
            Formula::InterpolatedPrecision { .. } => "IPrec",
            Formula::Judged => "Judged",
            Formula::Ndcg(_) => "nDCG",
            Formula::NdcgAtLevels(_) => "Rndcg",
            Formula::NdcgAtRelevant(_) => "ndcg_rel",
            Formula::NearlyErr { continues, .. } => match continues {
                Continues::Gain => "NERR8",
                Continues::DiscountedGain => "NERR9",
                Continues::Persistence(_) => "NERR10",
            },
            Formula::NormalizedGain(_) => "G",
            Formula::Precision => "P",
            Formula::RPrecision => "Rprec",
            Formula::RPrecisionMultiple { .. } => "Rprec_mult",
            Formula::RankBiasedPrecision { .. } => "RBP",
            Formula::Recall => "R",
            Formula::ReciprocalRank => "RR",
            Formula::RelativePrecision => "relative_P",
            Formula::SetAp => "SetAP",
            Formula::SetF { .. } => "SetF",
            Formula::SetPrecision => "SetP",
            Formula::SetRecall => "SetR",
            Formula::SetRelativePrecision => "SetRelP",
            Formula::Success => "Success",
            Formula::Unjudged => "unj",
        }
    }

    /// The parameters that are not the default, in the order of the canonical spelling.
    fn parameters(&self) -> Vec<String> {
        let is_shown = |rel: &MinimumGrade| {
            *rel != MinimumGrade::ONE || matches!(self.formula, Formula::RankBiasedPrecision { .. })
        };
        let rel = self.rel.filter(is_shown).map(|rel| format!("rel={rel}"));
        let mut parameters: Vec<String> = rel.into_iter().collect();
        let mut add = |name: &str, value: &dyn fmt::Display| {
            parameters.push(format!("{name}={value}"));
        };
        match &self.formula {
            Formula::Ndcg(Gain::Exponential) => add("dcg", &"'exp-log2'"),
            Formula::Ndcg(Gain::Chosen(gains))
            | Formula::NdcgAtLevels(gains)
            | Formula::NdcgAtRelevant(gains)
            | Formula::NormalizedGain(gains)
                if !gains.is_empty() =>
            {
                add("gains", gains);
            }
            Formula::RankBiasedPrecision { persistence, gains } => {
                if *persistence != PERSISTENCE {
                    add("p", persistence);
                }
                if !gains.is_empty() {
                    add("gains", gains);
                }
            }
            Formula::ExpectedReciprocalRank { max_rel } if *max_rel != GREATEST_GRADE => {
                add("max_rel", max_rel);
            }
            Formula::NearlyErr { continues, max_rel } => {
                if let Continues::Persistence(persistence) = continues
                    && *persistence != TREC_EVAL_PERSISTENCE
                {
                    add("p", persistence);
                }
                add("max_rel", max_rel);
            }
            Formula::SetF { beta } if *beta != Decimal::ONE => add("beta", beta),
            Formula::InterpolatedAverage(levels) if *levels != RecallLevels::default() => {
                add("levels", &format_args!("{{{levels}}}"));
            }
            _ => {}
        }
        parameters
    }
}

impl FromStr for Measure {
    type Err = ParseMeasureError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut it = MeasureText::parse(text.trim())?;
        let formula = formula(&mut it)?;
        let rel = match formula {
            Formula::RankBiasedPrecision { .. } => it.optional_rel()?,
            _ if formula.has_grade() => Some(it.rel()?),
            _ => None,
        };
        // `ndcg_cut` and `map_cut` of trec_eval need the cutoff that `ndcg` and `map` do not have.
        let cutoff = match formula.cutoff() {
            Cutoff::Optional if !it.name.to_ascii_lowercase().ends_with("_cut") => it.cutoff()?,
            Cutoff::Optional | Cutoff::Required => Some(it.required_cutoff()?),
            Cutoff::Never => None,
        };
        it.finish()?;
        Ok(Self {
            formula,
            rel,
            cutoff,
        })
    }
}

impl Formula {
    /// Whether a lowest grade distinguishes relevant from other documents.
    fn has_grade(&self) -> bool {
        !matches!(
            self,
            Self::ExpectedReciprocalRank { .. }
                | Self::Judged
                | Self::Ndcg(_)
                | Self::NdcgAtRelevant(_)
                | Self::NearlyErr { .. }
                | Self::NormalizedGain(_)
                | Self::Unjudged
        )
    }

    fn cutoff(&self) -> Cutoff {
        match self {
            Self::AveragePrecision
            | Self::ExpectedReciprocalRank { .. }
            | Self::Judged
            | Self::Ndcg(_)
            | Self::RankBiasedPrecision { .. }
            | Self::ReciprocalRank => Cutoff::Optional,
            Self::Precision
            | Self::Recall
            | Self::RelativePrecision
            | Self::Success
            | Self::Unjudged
            | Self::NearlyErr {
                continues: Continues::Gain | Continues::DiscountedGain,
                ..
            } => Cutoff::Required,
            _ => Cutoff::Never,
        }
    }
}

/// The formula that a text names, with its own parameters.
fn formula(it: &mut MeasureText<'_>) -> Result<Formula, ParseMeasureError> {
    Ok(match it.name.to_ascii_lowercase().as_str() {
        "11pt_avg" => Formula::InterpolatedAverage(it.levels()?.unwrap_or_default()),
        "ap" | "map" | "map_cut" => Formula::AveragePrecision,
        "bing" => Formula::BinaryGain,
        "bpref" => Formula::Bpref,
        "err" => Formula::ExpectedReciprocalRank {
            max_rel: it.max_rel()?.unwrap_or(GREATEST_GRADE),
        },
        "g" => Formula::NormalizedGain(it.gains()?),
        "infap" => Formula::InferredAp,
        "iprec" | "iprec_at_recall" => Formula::InterpolatedPrecision {
            recall: it.recall()?,
        },
        "judged" => Formula::Judged,
        "ndcg" | "ndcg_cut" => Formula::Ndcg(it.gain()?),
        "ndcg_rel" => Formula::NdcgAtRelevant(it.gains()?),
        "rndcg" => Formula::NdcgAtLevels(it.gains()?),
        "nerr8" => nearly_err(it, Continues::Gain)?,
        "nerr9" => nearly_err(it, Continues::DiscountedGain)?,
        "nerr10" => {
            let persistence = it.persistence()?.unwrap_or(TREC_EVAL_PERSISTENCE);
            nearly_err(it, Continues::Persistence(persistence))?
        }
        "p" | "precision" => Formula::Precision,
        "r" | "recall" => Formula::Recall,
        "rbp" => rank_biased_precision(it)?,
        "rprec" => Formula::RPrecision,
        "rprec_mult" => Formula::RPrecisionMultiple {
            multiple: it.multiple()?,
        },
        "relative_p" => Formula::RelativePrecision,
        "rr" | "mrr" | "recip_rank" => Formula::ReciprocalRank,
        "setap" | "set_map" => Formula::SetAp,
        "setf" | "set_f" => Formula::SetF { beta: it.beta()? },
        "setp" | "set_p" => {
            if it.is_relative()? {
                Formula::SetRelativePrecision
            } else {
                Formula::SetPrecision
            }
        }
        "setr" | "set_recall" => Formula::SetRecall,
        "setrelp" | "set_relative_p" => Formula::SetRelativePrecision,
        "success" => Formula::Success,
        "unj" => Formula::Unjudged,
        _ => {
            return Err(ParseMeasureError::UnknownName {
                measure: it.text.to_owned(),
                nearest: corrected(it.text, it.name),
            });
        }
    })
}

fn rank_biased_precision(it: &mut MeasureText<'_>) -> Result<Formula, ParseMeasureError> {
    // trec_eval writes its name in lower case, and has another default.
    let default = if it.name == "rbp" {
        TREC_EVAL_PERSISTENCE
    } else {
        PERSISTENCE
    };
    Ok(Formula::RankBiasedPrecision {
        persistence: it.persistence()?.unwrap_or(default),
        gains: it.gains()?,
    })
}

fn nearly_err(
    it: &mut MeasureText<'_>,
    continues: Continues,
) -> Result<Formula, ParseMeasureError> {
    it.reject_min_rel()?;
    let missing = it.missing("max_rel", "NERR8(max_rel=4)@10");
    let max_rel = it.max_rel()?.ok_or(missing)?;
    Ok(Formula::NearlyErr { continues, max_rel })
}

/// The text with the name at its beginning replaced by the nearest known one.
fn corrected(text: &str, name: &str) -> Option<String> {
    let rest = text.strip_prefix(name)?;
    let nearest = nearest::of(name, NAMES)?;
    Some(format!("{nearest}{rest}"))
}
