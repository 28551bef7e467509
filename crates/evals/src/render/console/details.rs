//! Prints single cases: every part of a case, and why its outcomes are what they are.

use std::io::{self, Write};

use evals_messages::visible;
use serde_json::Value as Json;

use super::paint::Style;
use super::{Page, wrap};
use crate::{CaseId, CaseOutcome, CaseReport, Domain, Report, Value, group_name, number};

/// Columns before the lines of a part.
const INDENT: &str = "    ";

impl<W: Write> Page<W> {
    pub(super) fn case_details<D: Domain>(
        &mut self,
        report: &Report<D>,
        wanted: impl Fn(&CaseId) -> bool,
    ) -> io::Result<()> {
        let cases = report.cases.iter().filter(|case| wanted(&case.id));
        for (index, case) in cases.enumerate() {
            if index > 0 {
                writeln!(self.out)?;
            }
            self.case_in_detail(case, report.repeat)?;
        }
        Ok(())
    }

    fn case_in_detail<D: Domain>(&mut self, case: &CaseReport<D>, repeat: u32) -> io::Result<()> {
        let label = visible::single_line(&case.label(repeat).to_string());
        let time = self.glyphs.duration(case.duration.as_secs_f64());
        let heading = format!("{label}{}{time}", self.glyphs.separator);
        self.wrapped(Style::Bold, &heading)?;
        if let Ok(Json::Object(metadata)) = serde_json::to_value(&case.metadata) {
            for (key, value) in metadata {
                self.part(&key, &group_name(Some(&value)))?;
            }
        }
        for field in D::case_fields(case) {
            self.part(field.name, &field.text)?;
        }
        if let Some(failure) = case.result.failure() {
            self.part("failure", &failure.message)?;
        }
        for outcome in &case.outcomes {
            let value = value_text(outcome);
            let text = match &outcome.reason {
                Some(reason) => format!("{value}: {reason}"),
                None => value,
            };
            self.part(&outcome.name, &text)?;
        }
        for failure in &case.evaluator_failures {
            let text = format!("failed: {}", failure.message);
            self.part(&failure.evaluator, &text)?;
        }
        Ok(())
    }

    /// A name with a text beside it if the line has room for it, or else below it.
    fn part(&mut self, name: &str, text: &str) -> io::Result<()> {
        let name = visible::single_line(name);
        let text = visible::text(text.trim_end()).replace('\t', " ");
        let width = usize::from(self.console.width);
        let beside = format!("  {name}: {text}");
        if !text.contains('\n') && wrap::wrap(&beside, width).nth(1).is_none() {
            return self.line(Style::Plain, &beside);
        }
        self.line(Style::Plain, &format!("  {name}:"))?;
        for line in text.lines() {
            for wrapped in wrap::wrap(line, width.saturating_sub(INDENT.len())) {
                let wrapped = format!("{INDENT}{wrapped}");
                self.line(Style::Plain, wrapped.trim_end())?;
            }
        }
        Ok(())
    }
}

fn value_text(outcome: &CaseOutcome) -> String {
    match &outcome.value {
        Value::Assertion(true) => "yes".to_owned(),
        Value::Assertion(false) => "no".to_owned(),
        Value::Score(score) => number::score(*score),
        Value::Label(label) => label.clone(),
        Value::Undefined => "undefined".to_owned(),
    }
}
