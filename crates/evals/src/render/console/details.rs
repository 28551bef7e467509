//! Prints single cases: every part of a case, and why its outcomes are what they are.

use std::io::{self, Write};

use evals_messages::visible;
use serde_json::Value as Json;

use super::super::change::begun;
use super::super::grid::Style;
use super::badness::worst_first;
use super::{Page, wrap};
use crate::case_field::first_text;
use crate::groups::metadata_keys;
use crate::{
    CaseId, CaseOutcome, CaseReport, Domain, Evidence, Report, Span, SpanStatus, Value, Vote,
    group_name, number,
};

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

    pub(super) fn worst_cases<D: Domain>(
        &mut self,
        report: &Report<D>,
        most: usize,
        wanted: impl Fn(&CaseId) -> bool,
    ) -> io::Result<()> {
        let cases = report.cases.iter().filter(|case| wanted(&case.id));
        let cases = worst_first(cases);
        let all = cases.len();
        for case in cases.into_iter().take(most) {
            self.case_in_brief(case, report.repeat)?;
        }
        if most < all {
            self.line(
                Style::Dim,
                &format!("{most} of {all} cases, the worst first"),
            )?;
        }
        Ok(())
    }

    /// What a case asks, expects and returned, and what is wrong with it, in a line each.
    fn case_in_brief<D: Domain>(&mut self, case: &CaseReport<D>, repeat: u32) -> io::Result<()> {
        let label = visible::single_line(&case.label(repeat));
        let heading = format!(
            "{label}{}{}",
            self.glyphs.separator,
            begun(&first_text(case))
        );
        let width = usize::from(self.console.width);
        let heading = wrap::cut(&heading, width, self.glyphs.ellipsis);
        self.line(Style::Bold, &heading)?;
        let gist = D::gist(case);
        for part in [gist.expected, gist.returned].into_iter().flatten() {
            self.message(&format!("  {}: {}", part.name, begun(&part.text)))?;
        }
        let failures = case.evaluator_failures.iter();
        let failures = failures.map(|it| (it.evaluator.as_str(), &it.message));
        let task = case.result.failure().map(|it| ("task", &it.message));
        for (what, why) in task.into_iter().chain(failures) {
            self.message(&format!("  {what} failed: {}", begun(why)))?;
        }
        let mut outcomes = case.outcomes.iter().filter(|it| it.value.kind().is_some());
        if let Some(outcome) = outcomes.next() {
            let reason = outcome.reason.as_ref();
            let reason = reason.map_or_else(String::new, |it| format!(": {}", begun(it)));
            let name = visible::single_line(&outcome.name);
            self.message(&format!("  {name}: {}{reason}", value_text(outcome)))?;
        }
        Ok(())
    }

    fn case_in_detail<D: Domain>(&mut self, case: &CaseReport<D>, repeat: u32) -> io::Result<()> {
        let label = visible::single_line(&case.label(repeat));
        let time = self.glyphs.duration(case.duration.as_secs_f64());
        let heading = format!("{label}{}{time}", self.glyphs.separator);
        self.wrapped(Style::Bold, &heading)?;
        for (key, value) in metadata_keys(&case.metadata) {
            self.part(&key, &group_name(Some(&value)))?;
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
            for evidence in evidence_lines(&outcome.evidence) {
                self.indented(&evidence)?;
            }
        }
        for failure in &case.evaluator_failures {
            let text = format!("failed: {}", failure.message);
            self.part(&failure.evaluator, &text)?;
        }
        self.recorded(case)
    }

    /// What the task recorded: numbers, facts and steps.
    fn recorded<D: Domain>(&mut self, case: &CaseReport<D>) -> io::Result<()> {
        let metrics = case.metrics.iter();
        let metrics = metrics.map(|(name, value)| format!("{name} {}", number::metric(*value)));
        let undefined = case.undefined_metrics.iter();
        let undefined = undefined.map(|(name, why)| format!("{name} {why}"));
        let metrics: Vec<String> = metrics.chain(undefined).collect();
        if !metrics.is_empty() {
            self.part("metrics", &metrics.join(", "))?;
        }
        for (key, value) in &case.attributes {
            self.part(&format!("attribute {key}"), &group_name(Some(value)))?;
        }
        let steps = case.spans.iter().flat_map(|spans| &spans.roots);
        let steps = self.steps("", steps);
        if !steps.is_empty() {
            self.line(Style::Plain, "  steps:")?;
            for step in steps {
                self.indented(&step)?;
            }
        }
        Ok(())
    }

    /// A line for each step, numbered like the sections of a book: `1`, `1.1`, `1.2`, `2`.
    fn steps<'s>(&self, outer: &str, steps: impl Iterator<Item = &'s Span>) -> Vec<String> {
        let mut lines = Vec::new();
        for (place, step) in (1..).zip(steps) {
            let place = format!("{outer}{place}");
            let mut parts = vec![visible::single_line(&step.name)];
            if !step.duration.is_zero() {
                parts.push(self.glyphs.duration(step.duration.as_secs_f64()));
            }
            if step.status == SpanStatus::Error {
                parts.push("failed".to_owned());
            }
            if !step.attributes.is_empty() {
                let attributes = Json::Object(step.attributes.clone());
                parts.push(visible::single_line(&attributes.to_string()));
            }
            lines.push(format!("{place} {}", parts.join(self.glyphs.separator)));
            lines.extend(self.steps(&format!("{place}."), step.children.iter()));
        }
        lines
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
            self.indented(line)?;
        }
        Ok(())
    }

    /// A line of a part, over as many lines as it needs.
    fn indented(&mut self, line: &str) -> io::Result<()> {
        let width = usize::from(self.console.width);
        for wrapped in wrap::wrap(line, width.saturating_sub(INDENT.len())) {
            let wrapped = format!("{INDENT}{wrapped}");
            self.line(Style::Plain, wrapped.trim_end())?;
        }
        Ok(())
    }
}

/// The smaller verdicts of an outcome: a line for each, and one for each of its votes.
fn evidence_lines(evidence: &[Evidence]) -> Vec<String> {
    let line = |evidence: &Evidence| {
        let mark = if evidence.holds { '+' } else { '-' };
        let source = evidence.source.as_ref();
        let source = source.map_or_else(String::new, |source| format!(" ({source})"));
        let text = visible::single_line(&evidence.text);
        let said = said(&evidence.verdict, evidence.reason.as_deref());
        format!("{mark} {text}{source}: {said}")
    };
    let vote = |vote: &Vote| {
        let repeat = match vote.repeat {
            1 => String::new(),
            repeat => format!(" #{repeat}"),
        };
        let said = said(&vote.verdict, vote.reason.as_deref());
        format!("by {}{repeat}: {said}", visible::single_line(&vote.judge))
    };
    let lines = evidence.iter().flat_map(|evidence| {
        std::iter::once(line(evidence)).chain(evidence.votes.iter().map(vote))
    });
    lines.collect()
}

fn said(verdict: &str, reason: Option<&str>) -> String {
    let verdict = visible::single_line(verdict);
    match reason {
        Some(reason) => format!("{verdict}; {}", visible::single_line(reason)),
        None => verdict,
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
