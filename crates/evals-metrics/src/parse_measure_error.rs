//! Errors of parsing a measure.

use evals_messages::nearest;
use thiserror::Error;

/// Why a text does not name a [`Measure`](crate::Measure).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseMeasureError {
    /// There is no measure of that name.
    #[error("unknown measure `{measure}`{}", correction(nearest.as_deref()))]
    UnknownName {
        /// The whole text.
        measure: String,
        /// The text with the measure's name corrected, if a known name is similar.
        nearest: Option<String>,
    },
    /// The text does not have the form of a measure.
    #[error("measure `{measure}` is not of the form `Name(parameter=value)@cutoff`")]
    Syntax {
        /// The whole text.
        measure: String,
    },
    /// The measure needs a cutoff.
    #[error("measure `{measure}` needs a cutoff, as in `{measure}@10`")]
    MissingCutoff {
        /// The whole text.
        measure: String,
    },
    /// The measure needs a parameter.
    #[error("measure `{measure}` needs the parameter `{parameter}`, as in `{example}`")]
    MissingParameter {
        /// The whole text.
        measure: String,
        /// The parameter's name.
        parameter: &'static str,
        /// A measure that has it.
        example: &'static str,
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
    /// A parameter, or the cutoff, has an invalid value.
    #[error("measure `{measure}` has the {parameter} `{value}`; expected {expected}")]
    InvalidValue {
        /// The whole text.
        measure: String,
        /// The parameter's name.
        parameter: &'static str,
        /// The value given.
        value: String,
        /// The valid values.
        expected: &'static str,
    },
}

fn correction(nearest: Option<&str>) -> String {
    match nearest {
        Some(_) => nearest::did_you_mean(nearest),
        None => {
            "; known are `11pt_avg`, `AP` (or `MAP`), `Bpref`, `ERR`, `G`, `IPrec`, `Judged`, `NERR8`, `NERR9`, `NERR10`, \
             `P`, `R`, `RBP`, `RR` (or `MRR`), `Rndcg`, `Rprec`, `Rprec_mult`, `SetAP`, `SetF`, `SetP`, `SetR`, `SetRelP`, \
             `Success`, `binG`, `infAP`, `nDCG`, `ndcg_rel`, `relative_P` and `unj`"
                .to_owned()
        }
    }
}
