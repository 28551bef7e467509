//! `Regex`: whether the output matches a regular expression.

use evals::{Context, EvaluatorError};
use serde::Deserialize;
use serde_json::json;

use super::check::{self, Check};
use crate::python::{MatchPlace, Pattern, repr_text, text, truncated};
use crate::{Entry, Finding, Parameter, Untyped};

/// Reasons show at most this many characters of the output.
const SHOWN_OUTPUT: usize = 200;

/// Searches the output for a regular expression.
#[derive(Debug)]
struct Regex {
    pattern: Pattern,
    arguments: RegexArguments,
}

#[derive(Debug, Deserialize)]
struct RegexArguments {
    pattern: String,
    mode: MatchPlace,
    flags: String,
}

pub(super) fn entry() -> Entry {
    check::strict(
        "Regex",
        "Passes if the output matches a regular expression, in Python's syntax. Non-text output is compared as \
         Python prints it.",
        [
            Parameter::text("pattern", "The regular expression."),
            Parameter::choice(
                "mode",
                "search",
                &["search", "match", "full"],
                "Where it has to match: anywhere (`search`), from the start on (`match`), or as a whole (`full`).",
            ),
            Parameter::optional(
                "flags",
                json!(""),
                json!({"type": "string", "pattern": "^[imsx]*$"}),
                "`i` ignores case, `m` lets `^` and `$` match at each line, `s` lets `.` match line breaks, `x` ignores white \
                 space and comments.",
            ),
            Parameter::evaluation_name(),
        ],
        |arguments, _| {
            let arguments: RegexArguments = arguments.read()?;
            let pattern = Pattern::new(&arguments.pattern, arguments.mode, &arguments.flags)?;
            Ok(Regex { pattern, arguments })
        },
    )
}

impl Check for Regex {
    fn judge(&self, context: &Context<'_, Untyped>) -> Result<Finding, EvaluatorError> {
        let output = text(context.output);
        if self.pattern.is_match(&output)? {
            return Ok(Finding::passed(true));
        }
        let output = truncated(repr_text(&output), SHOWN_OUTPUT);
        let pattern = repr_text(&self.arguments.pattern);
        Ok(Finding::failed(match self.arguments.mode {
            MatchPlace::Anywhere => format!("Output {output} has no match of {pattern}"),
            MatchPlace::Start => {
                format!("Output {output} does not start with a match of {pattern}")
            }
            MatchPlace::Whole => format!("Output {output} as a whole does not match {pattern}"),
        }))
    }
}
