//! Measures as text: parses both notations and writes the canonical one.

use std::fmt;
use std::str::FromStr;

use evals_messages::nearest;

use crate::measure_text::MeasureText;
use crate::measures::{
    AveragePrecision, BinaryGain, Bpref, Continues, ExpectedReciprocalRank, Gain, Gains,
    InferredAp, InterpolatedAverage, InterpolatedPrecision, Judged, MinimumGrade, Ndcg,
    NdcgAtLevels, NdcgAtRelevant, NearlyErr, NormalizedGain, Precision, RPrecision,
    RPrecisionMultiple, RankBiasedPrecision, Recall, RecallLevels, ReciprocalRank,
    RelativePrecision, SetAp, SetF, SetPrecision, SetRecall, SetRelativePrecision, Success,
    Unjudged,
};
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

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        let parameters = self.parameters();
        if !parameters.is_empty() {
            write!(f, "({})", parameters.join(","))?;
        }
        match self {
            Self::InterpolatedPrecision(measure) => write!(f, "@{}", measure.recall),
            Self::RPrecisionMultiple(measure) => write!(f, "@{}", measure.multiple),
            _ => self
                .cutoff()
                .map_or(Ok(()), |cutoff| write!(f, "@{cutoff}")),
        }
    }
}

impl Measure {
    /// The name without parameters and cutoff, such as `nDCG`: that of ir-measures, or of `trec_eval` where ir-measures does not
    /// have the measure.
    pub fn name(&self) -> &'static str {
        match self {
            Self::AveragePrecision(_) => "AP",
            Self::BinaryGain(_) => "binG",
            Self::Bpref(_) => "Bpref",
            Self::ExpectedReciprocalRank(_) => "ERR",
            Self::InferredAp(_) => "infAP",
            Self::InterpolatedAverage(_) => "11pt_avg",
            Self::InterpolatedPrecision(_) => "IPrec",
            Self::Judged(_) => "Judged",
            Self::Ndcg(_) => "nDCG",
            Self::NdcgAtLevels(_) => "Rndcg",
            Self::NdcgAtRelevant(_) => "ndcg_rel",
            Self::NearlyErr(NearlyErr { continues, .. }) => match continues {
                Continues::Gain(_) => "NERR8",
                Continues::DiscountedGain(_) => "NERR9",
                Continues::Persistence(_) => "NERR10",
            },
            Self::NormalizedGain(_) => "G",
            Self::Precision(_) => "P",
            Self::RPrecision(_) => "Rprec",
            Self::RPrecisionMultiple(_) => "Rprec_mult",
            Self::RankBiasedPrecision(_) => "RBP",
            Self::Recall(_) => "R",
            Self::ReciprocalRank(_) => "RR",
            Self::RelativePrecision(_) => "relative_P",
            Self::SetAp(_) => "SetAP",
            Self::SetF(_) => "SetF",
            Self::SetPrecision(_) => "SetP",
            Self::SetRecall(_) => "SetR",
            Self::SetRelativePrecision(_) => "SetRelP",
            Self::Success(_) => "Success",
            Self::Unjudged(_) => "unj",
        }
    }

    /// The parameters that are not the default, as `key=value`.
    fn parameters(&self) -> Vec<String> {
        let mut parameters = Vec::new();
        if let Some(rel) = self.minimum_grade()
            && (rel != MinimumGrade::default() || matches!(self, Self::RankBiasedPrecision(_)))
        {
            parameters.push(format!("rel={rel}"));
        }
        match self {
            Self::Ndcg(Ndcg { gain, .. }) => match gain {
                Gain::Linear => {}
                Gain::Exponential => parameters.push("dcg='exp-log2'".to_owned()),
                Gain::Chosen(gains) => push_gains(&mut parameters, gains),
            },
            Self::NdcgAtLevels(NdcgAtLevels { gains, .. })
            | Self::NdcgAtRelevant(NdcgAtRelevant { gains })
            | Self::NormalizedGain(NormalizedGain { gains }) => {
                push_gains(&mut parameters, gains);
            }
            Self::RankBiasedPrecision(measure) => {
                if measure.persistence != PERSISTENCE {
                    parameters.push(format!("p={}", measure.persistence));
                }
                push_gains(&mut parameters, &measure.gains);
            }
            Self::ExpectedReciprocalRank(measure) if measure.max_rel != GREATEST_GRADE => {
                parameters.push(format!("max_rel={}", measure.max_rel));
            }
            Self::NearlyErr(measure) => {
                if let Continues::Persistence(persistence) = measure.continues
                    && persistence != TREC_EVAL_PERSISTENCE
                {
                    parameters.push(format!("p={persistence}"));
                }
                parameters.push(format!("max_rel={}", measure.max_rel));
            }
            Self::SetF(measure) if measure.beta != Decimal::ONE => {
                parameters.push(format!("beta={}", measure.beta));
            }
            Self::InterpolatedAverage(measure) if measure.levels != RecallLevels::default() => {
                let levels: Vec<_> = measure.levels.iter().map(|it| it.to_string()).collect();
                parameters.push(format!("levels={{{}}}", levels.join(",")));
            }
            _ => {}
        }
        parameters
    }
}

fn push_gains(parameters: &mut Vec<String>, gains: &Gains) {
    if !gains.is_empty() {
        parameters.push(format!("gains={gains}"));
    }
}

impl FromStr for Measure {
    type Err = ParseMeasureError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut it = MeasureText::parse(text.trim())?;
        let measure = match it.name.to_ascii_lowercase().as_str() {
            "11pt_avg" => Self::InterpolatedAverage(InterpolatedAverage {
                rel: it.rel()?,
                levels: it.levels()?.unwrap_or_default(),
            }),
            "ap" | "map" => Self::AveragePrecision(AveragePrecision {
                rel: it.rel()?,
                cutoff: it.cutoff()?,
            }),
            "map_cut" => Self::AveragePrecision(AveragePrecision {
                cutoff: Some(it.required_cutoff()?),
                rel: it.rel()?,
            }),
            "bing" => Self::BinaryGain(BinaryGain { rel: it.rel()? }),
            "bpref" => Self::Bpref(Bpref { rel: it.rel()? }),
            "err" => Self::ExpectedReciprocalRank(ExpectedReciprocalRank {
                max_rel: it.max_rel()?.unwrap_or(GREATEST_GRADE),
                cutoff: it.cutoff()?,
            }),
            "g" => Self::NormalizedGain(NormalizedGain { gains: it.gains()? }),
            "infap" => Self::InferredAp(InferredAp { rel: it.rel()? }),
            "iprec" | "iprec_at_recall" => Self::InterpolatedPrecision(InterpolatedPrecision {
                recall: it.required("recall", "IPrec@0.1", "a number from 0 to 1", |it| {
                    (0.0..=1.0).contains(&it)
                })?,
                rel: it.rel()?,
            }),
            "judged" => Self::Judged(Judged {
                cutoff: it.cutoff()?,
            }),
            "ndcg" => Self::Ndcg(Ndcg {
                gain: it.gain()?,
                cutoff: it.cutoff()?,
            }),
            "ndcg_cut" => Self::Ndcg(Ndcg {
                cutoff: Some(it.required_cutoff()?),
                gain: it.gain()?,
            }),
            "ndcg_rel" => Self::NdcgAtRelevant(NdcgAtRelevant { gains: it.gains()? }),
            "rndcg" => Self::NdcgAtLevels(NdcgAtLevels {
                rel: it.rel()?,
                gains: it.gains()?,
            }),
            "nerr8" => {
                let cutoff = it.required_cutoff()?;
                nearly_err(&mut it, Continues::Gain(cutoff))?
            }
            "nerr9" => {
                let cutoff = it.required_cutoff()?;
                nearly_err(&mut it, Continues::DiscountedGain(cutoff))?
            }
            "nerr10" => {
                let persistence = it.persistence()?.unwrap_or(TREC_EVAL_PERSISTENCE);
                nearly_err(&mut it, Continues::Persistence(persistence))?
            }
            "p" | "precision" => Self::Precision(Precision {
                cutoff: it.required_cutoff()?,
                rel: it.rel()?,
            }),
            "r" | "recall" => Self::Recall(Recall {
                cutoff: it.required_cutoff()?,
                rel: it.rel()?,
            }),
            // trec_eval writes its name in lower case, and has another default.
            name @ "rbp" => Self::RankBiasedPrecision(RankBiasedPrecision {
                persistence: it.persistence()?.unwrap_or(if it.name == name {
                    TREC_EVAL_PERSISTENCE
                } else {
                    PERSISTENCE
                }),
                rel: it.optional_rel()?,
                gains: it.gains()?,
                cutoff: it.cutoff()?,
            }),
            "rprec" => Self::RPrecision(RPrecision { rel: it.rel()? }),
            "rprec_mult" => Self::RPrecisionMultiple(RPrecisionMultiple {
                multiple: it.required("multiple", "Rprec_mult@0.5", "a number above 0", |it| {
                    it > 0.0
                })?,
                rel: it.rel()?,
            }),
            "relative_p" => Self::RelativePrecision(RelativePrecision {
                cutoff: it.required_cutoff()?,
                rel: it.rel()?,
            }),
            "rr" | "mrr" | "recip_rank" => Self::ReciprocalRank(ReciprocalRank {
                rel: it.rel()?,
                cutoff: it.cutoff()?,
            }),
            "setap" | "set_map" => Self::SetAp(SetAp { rel: it.rel()? }),
            "setf" | "set_f" => Self::SetF(SetF {
                beta: it
                    .number("beta", "a number from 0", |it| it >= 0.0)?
                    .unwrap_or(Decimal::ONE),
                rel: it.rel()?,
            }),
            "setp" | "set_p" => {
                let rel = it.rel()?;
                if it.flag("relative")? {
                    Self::SetRelativePrecision(SetRelativePrecision { rel })
                } else {
                    Self::SetPrecision(SetPrecision { rel })
                }
            }
            "setr" | "set_recall" => Self::SetRecall(SetRecall { rel: it.rel()? }),
            "setrelp" | "set_relative_p" => {
                Self::SetRelativePrecision(SetRelativePrecision { rel: it.rel()? })
            }
            "success" => Self::Success(Success {
                cutoff: it.required_cutoff()?,
                rel: it.rel()?,
            }),
            "unj" => Self::Unjudged(Unjudged {
                cutoff: it.required_cutoff()?,
            }),
            _ => {
                return Err(ParseMeasureError::UnknownName {
                    measure: it.text.to_owned(),
                    nearest: corrected(it.text, it.name),
                });
            }
        };
        it.finish()?;
        Ok(measure)
    }
}

fn nearly_err(
    text: &mut MeasureText<'_>,
    continues: Continues,
) -> Result<Measure, ParseMeasureError> {
    let missing = || ParseMeasureError::MissingParameter {
        measure: text.text.to_owned(),
        parameter: "max_rel",
        example: "NERR8(max_rel=4)@10",
    };
    let missing = missing();
    text.reject_min_rel()?;
    let max_rel = text.max_rel()?.ok_or(missing)?;
    Ok(Measure::NearlyErr(NearlyErr { continues, max_rel }))
}

/// The text with the name at its beginning replaced by the nearest known one.
fn corrected(text: &str, name: &str) -> Option<String> {
    let rest = text.strip_prefix(name)?;
    let nearest = nearest::of(name, NAMES)?;
    Some(format!("{nearest}{rest}"))
}
