//! Measures as text: parses both notations and writes the canonical one.

use std::fmt;
use std::num::{NonZeroU32, NonZeroUsize};
use std::str::FromStr;

use evals_messages::nearest;

use crate::measures::{
    AveragePrecision, Gain, Judged, MinimumGrade, Ndcg, Precision, RPrecision, Recall,
    ReciprocalRank, Success,
};
use crate::{Measure, ParseMeasureError};

/// The names that a misspelled name is compared with.
const NAMES: [&str; 10] = [
    "AP", "MAP", "Judged", "nDCG", "P", "R", "Rprec", "RR", "MRR", "Success",
];

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
                    nearest: corrected(notation.text, notation.name),
                });
            }
        };
        notation.reject_unused(&measure)?;
        Ok(measure)
    }
}

/// The text with the name at its beginning replaced by the nearest known one.
fn corrected(text: &str, name: &str) -> Option<String> {
    let rest = text.strip_prefix(name)?;
    let nearest = nearest::of(name, NAMES)?;
    Some(format!("{nearest}{rest}"))
}

/// The parts of a measure's text, before checking that name and parameters match.
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
        let mut notation = Self {
            text,
            name: "",
            rel: None,
            gain: None,
            cutoff: None,
        };
        let (name, parameters) = split_parameters(head).ok_or_else(|| notation.syntax())?;
        notation.name = name;
        if let Some(cutoff) = cutoff {
            notation.set("cutoff", cutoff.trim())?;
        }
        if !parameters.is_empty() {
            notation.set_all(parameters)?;
        }
        Ok(notation)
    }

    fn set_all(&mut self, parameters: &str) -> Result<(), ParseMeasureError> {
        // The syntax is Python's, which allows a comma after the last parameter.
        let parameters = parameters.strip_suffix(',').unwrap_or(parameters);
        for parameter in parameters.split(',') {
            let (key, value) = parameter.split_once('=').ok_or_else(|| self.syntax())?;
            self.set(key.trim(), value.trim())?;
        }
        Ok(())
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

    fn syntax(&self) -> ParseMeasureError {
        ParseMeasureError::Syntax {
            measure: self.text.to_owned(),
        }
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

/// Splits `name(parameters)` into name and parameters, which may be absent; `None` for any other
/// form.
fn split_parameters(head: &str) -> Option<(&str, &str)> {
    let (name, parameters) = match head.split_once('(') {
        None => (head, ""),
        Some((name, rest)) => (name, rest.trim_end().strip_suffix(')')?),
    };
    let name = name.trim();
    name.chars()
        .all(|c| c.is_alphanumeric() || c == '_')
        .then_some((name, parameters.trim()))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
