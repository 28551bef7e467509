//! `Regex`: whether the output matches a regular expression.

use evals::{Context, EvaluatorError, ValueKind};
use serde_json::json;

use super::check::{self, Check};
use crate::argument;
use crate::python::{Pattern, Place, repr_text, text, truncated};
use crate::{Entry, Finding, Parameter, Untyped};

/// Reasons show at most this many characters of the output.
const SHOWN_OUTPUT: usize = 200;

/// Searches the output for a regular expression.
#[derive(Debug)]
struct Regex {
    pattern: Pattern,
    written: String,
    place: Place,
}

const MODES: [(&str, Place); 3] = [
    ("search", Place::Anywhere),
    ("match", Place::Start),
    ("full", Place::Whole),
];

pub(super) fn entry() -> Entry {
    check::strict(
        "Regex",
        "Passes if the output matches a regular expression, in Python's syntax. An output that is no text is compared as \
         Python prints it.",
        [
            Parameter::required(
                "pattern",
                json!({"type": "string"}),
                "The regular expression.",
            ),
            Parameter::optional(
                "mode",
                json!("search"),
                json!({"enum": ["search", "match", "full"]}),
                "Where it has to match: anywhere (`search`), from the start on (`match`), or as a whole (`full`).",
            ),
            Parameter::optional(
                "flags",
                json!(""),
                json!({"type": "string", "pattern": "^[imsx]*$"}),
                "`i` ignores case, `m` lets `^` and `$` match at each line, `s` lets `.` match line breaks, `x` ignores white \
                 space and comments.",
            ),
            check::evaluation_name(),
        ],
        |arguments, _| {
            let place = argument::choice(arguments, "mode", &MODES, "`search`, `match` or `full`")?;
            let written = argument::text(arguments, "pattern", "a regular expression")?;
            let flags = argument::text(arguments, "flags", "a text of `i`, `m`, `s` and `x`")?;
            Ok(Regex {
                pattern: Pattern::new(&written, place, &flags)?,
                written,
                place,
            })
        },
    )
}

impl Check for Regex {
    const KIND: ValueKind = ValueKind::Assertion;

    fn judge(&self, context: &Context<'_, Untyped>) -> Result<Finding, EvaluatorError> {
        let output = text(context.output);
        if self.pattern.is_match(&output)? {
            return Ok(Finding::passed(true));
        }
        let output = truncated(repr_text(&output), SHOWN_OUTPUT);
        let pattern = repr_text(&self.written);
        Ok(Finding::failed(match self.place {
            Place::Anywhere => format!("Output {output} has no match of {pattern}"),
            Place::Start => format!("Output {output} does not start with a match of {pattern}"),
            Place::Whole => format!("Output {output} is no match of {pattern}"),
        }))
    }
}
