//! Measures as text: reading both notations, writing the canonical one.

use std::fmt;
use std::num::{NonZeroU32, NonZeroUsize};
use std::str::FromStr;

use thiserror::Error;

use crate::Measure;
use crate::measures::{
    AveragePrecision, Gain, Judged, MinimumGrade, Ndcg, Precision, RPrecision, Recall,
    ReciprocalRank, Success,
};

/// Why a text does not name a [`Measure`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseMeasureError {
    /// There is no measure of that name.
    #[error(
        "unknown measure `{measure}`; known are `AP`, `Judged`, `nDCG`, `P`, `R`, `Rprec`, `RR` and `Success`"
    )]
    UnknownName {
        /// The whole text.
        measure: String,
    },
    /// The text is not built like a measure.
    #[error("measure `{measure}` is not of the form `Name(parameter=value)@cutoff`")]
    Syntax {
        /// The whole text.
        measure: String,
    },
    /// The cutoff is missing where the measure has no meaning without.
    #[error("measure `{measure}` needs a cutoff, as in `{measure}@10`")]
    MissingCutoff {
        /// The whole text.
        measure: String,
    },
    /// The measure sets its own depth.
    #[error("measure `{measure}` takes no cutoff")]
    UnexpectedCutoff {
        /// The whole text.
        measure: String,
    },
    /// The measure does not have this parameter.
    #[error("measure `{measure}` has no parameter `{parameter}`")]
    UnknownParameter {
        /// The whole text.
        measure: String,
        /// The parameter's name.
        parameter: String,
    },
    /// A parameter is given more than once, or the cutoff both as parameter and after `@`.
    #[error("measure `{measure}` sets `{parameter}` twice")]
    RepeatedParameter {
        /// The whole text.
        measure: String,
        /// The parameter's name.
        parameter: &'static str,
    },
    /// A parameter, or the cutoff, has a value that it cannot have.
    #[error("measure `{measure}` has the {parameter} `{value}`; expected {expected}")]
    InvalidValue {
        /// The whole text.
        measure: String,
        /// The parameter's name.
        parameter: &'static str,
        /// The value given.
        value: String,
        /// What would be valid.
        expected: &'static str,
    },
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Ndcg(measure) if measure.gain == Gain::Exponential => {
                f.write_str("(dcg='exp-log2')")?;
            }
            _ => match self.minimum_grade() {
                Some(rel) if rel != MinimumGrade::default() => write!(f, "(rel={rel})")?,
                _ => {}
            },
        }
        match self.cutoff() {
            Some(cutoff) => write!(f, "@{cutoff}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Measure {
    type Err = ParseMeasureError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let notation = Notation::parse(text.trim())?;
        let measure = match notation.name.to_ascii_lowercase().as_str() {
            "ap" | "map" => Self::AveragePrecision(AveragePrecision {
                rel: notation.rel.unwrap_or_default(),
                cutoff: notation.cutoff,
            }),
            "map_cut" => Self::AveragePrecision(AveragePrecision {
                rel: notation.rel.unwrap_or_default(),
                cutoff: Some(notation.required_cutoff()?),
            }),
            "judged" => Self::Judged(Judged {
                cutoff: notation.cutoff,
            }),
            "ndcg" => Self::Ndcg(Ndcg {
                gain: notation.gain.unwrap_or_default(),
                cutoff: notation.cutoff,
            }),
            "ndcg_cut" => Self::Ndcg(Ndcg {
                gain: notation.gain.unwrap_or_default(),
                cutoff: Some(notation.required_cutoff()?),
            }),
            "p" | "precision" => Self::Precision(Precision {
                rel: notation.rel.unwrap_or_default(),
                cutoff: notation.required_cutoff()?,
            }),
            "r" | "recall" => Self::Recall(Recall {
                rel: notation.rel.unwrap_or_default(),
                cutoff: notation.required_cutoff()?,
            }),
            "rprec" => {
                notation.reject_cutoff()?;
                Self::RPrecision(RPrecision {
                    rel: notation.rel.unwrap_or_default(),
                })
            }
            "rr" | "mrr" | "recip_rank" => Self::ReciprocalRank(ReciprocalRank {
                rel: notation.rel.unwrap_or_default(),
                cutoff: notation.cutoff,
            }),
            "success" => Self::Success(Success {
                rel: notation.rel.unwrap_or_default(),
                cutoff: notation.required_cutoff()?,
            }),
            _ => {
                return Err(ParseMeasureError::UnknownName {
                    measure: notation.text.to_owned(),
                });
            }
        };
        notation.reject_unused(&measure)?;
        Ok(measure)
    }
}

/// A measure taken apart, before it is known whether name and parameters go together.
struct Notation<'t> {
    text: &'t str,
    name: &'t str,
    rel: Option<MinimumGrade>,
    gain: Option<Gain>,
    cutoff: Option<NonZeroUsize>,
}

impl<'t> Notation<'t> {
    fn parse(text: &'t str) -> Result<Self, ParseMeasureError> {
        let (head, cutoff) = split_cutoff(text);
        let (name, parameters) = match head.split_once('(') {
            None => (head, ""),
            Some((name, rest)) => match rest.trim_end().strip_suffix(')') {
                Some(parameters) => (name, parameters),
                None => {
                    return Err(ParseMeasureError::Syntax {
                        measure: text.to_owned(),
                    });
                }
            },
        };
        let mut notation = Self {
            text,
            name: name.trim(),
            rel: None,
            gain: None,
            cutoff: None,
        };
        if let Some(cutoff) = cutoff {
            notation.set("cutoff", cutoff.trim())?;
        }
        // Python, whose syntax this is, allows a comma after the last parameter.
        let parameters = parameters.trim();
        for parameter in parameters
            .strip_suffix(',')
            .unwrap_or(parameters)
            .split_terminator(',')
        {
            let (key, value) =
                parameter
                    .split_once('=')
                    .ok_or_else(|| ParseMeasureError::Syntax {
                        measure: text.to_owned(),
                    })?;
            notation.set(key.trim(), value.trim())?;
        }
        Ok(notation)
    }

    fn set(&mut self, parameter: &str, value: &str) -> Result<(), ParseMeasureError> {
        match parameter {
            "cutoff" => {
                let cutoff = self.number::<NonZeroUsize>("cutoff", value)?;
                self.once("cutoff", self.cutoff.is_none())?;
                self.cutoff = Some(cutoff);
            }
            "rel" => {
                let rel = self.number::<NonZeroU32>("rel", value)?;
                self.once("rel", self.rel.is_none())?;
                self.rel = Some(MinimumGrade::new(rel));
            }
            "dcg" => {
                let gain = self.dcg(value)?;
                self.once("dcg", self.gain.is_none())?;
                self.gain = Some(gain);
            }
            _ => return Err(self.unknown(parameter)),
        }
        Ok(())
    }

    fn number<N: FromStr>(
        &self,
        parameter: &'static str,
        value: &str,
    ) -> Result<N, ParseMeasureError> {
        value
            .parse()
            .map_err(|_| self.invalid(parameter, value, "a whole number from 1"))
    }

    fn dcg(&self, value: &str) -> Result<Gain, ParseMeasureError> {
        match value {
            "'log2'" | "\"log2\"" => Ok(Gain::Linear),
            "'exp-log2'" | "\"exp-log2\"" => Ok(Gain::Exponential),
            _ => Err(self.invalid("dcg", value, "`'log2'` or `'exp-log2'`")),
        }
    }

    fn once(&self, parameter: &'static str, first: bool) -> Result<(), ParseMeasureError> {
        if first {
            return Ok(());
        }
        Err(ParseMeasureError::RepeatedParameter {
            measure: self.text.to_owned(),
            parameter,
        })
    }

    fn required_cutoff(&self) -> Result<NonZeroUsize, ParseMeasureError> {
        self.cutoff.ok_or_else(|| ParseMeasureError::MissingCutoff {
            measure: self.text.to_owned(),
        })
    }

    fn reject_cutoff(&self) -> Result<(), ParseMeasureError> {
        match self.cutoff {
            None => Ok(()),
            Some(_) => Err(ParseMeasureError::UnexpectedCutoff {
                measure: self.text.to_owned(),
            }),
        }
    }

    fn reject_unused(&self, measure: &Measure) -> Result<(), ParseMeasureError> {
        if self.rel.is_some() && measure.minimum_grade().is_none() {
            return Err(self.unknown("rel"));
        }
        if self.gain.is_some() && !matches!(measure, Measure::Ndcg(_)) {
            return Err(self.unknown("dcg"));
        }
        Ok(())
    }

    fn unknown(&self, parameter: &str) -> ParseMeasureError {
        ParseMeasureError::UnknownParameter {
            measure: self.text.to_owned(),
            parameter: parameter.to_owned(),
        }
    }

    fn invalid(
        &self,
        parameter: &'static str,
        value: &str,
        expected: &'static str,
    ) -> ParseMeasureError {
        ParseMeasureError::InvalidValue {
            measure: self.text.to_owned(),
            parameter,
            value: value.to_owned(),
            expected,
        }
    }
}

/// Splits `name@10`, or `trec_eval`'s `name_10` and `name.10`, into name and cutoff.
fn split_cutoff(text: &str) -> (&str, Option<&str>) {
    if let Some((head, cutoff)) = text.rsplit_once('@') {
        return (head, Some(cutoff));
    }
    match text.rsplit_once(['_', '.']) {
        Some((head, cutoff)) if is_number(cutoff) => (head, Some(cutoff)),
        _ => (text, None),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
