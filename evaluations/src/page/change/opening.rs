//! What a reader of a change's page sees first.

use std::collections::BTreeSet;

use evals::{CaseId, ComparedReport, Domain, MeasureChange, Report, Unit, Verdict, render};
use evals_html::page::{Fact, Listing, Notice, Opening, Severity, Texts};
use evals_messages::quantity;

use super::ChangePage;
use super::verdict::{CaseVerdict, Judged};
use crate::figures;
use crate::page::facts::fact;
use crate::page::listing::listing;
use crate::page::notice::{self, notice};
use crate::page::paged::Paged;

/// The most cases that a notice names.
const NAMED: usize = 5;

pub(super) fn of<D: Paged>(page: &ChangePage<'_, D>, judged: &Judged<'_>) -> Opening {
    let change = page.change;
    let mut listings: Vec<Listing> = passes(judged).into_iter().collect();
    listings.extend(render::tables::change(change).into_iter().map(listing));
    Opening {
        title: format!("{} against {}", page.titles[1], page.titles[0]),
        sentence: sentence(&change.measures, judged),
        notices: notices(page, judged),
        facts: facts(page),
        listings,
        figures: figures::of_change(change),
    }
}

/// The verdict on the first measure, and the other measures that changed by more than chance.
fn sentence(measures: &[MeasureChange], judged: &Judged<'_>) -> String {
    let Some(first) = judged.measure else {
        return "No measure of the two runs has a better direction".to_owned();
    };
    let others = measures.iter().filter(|it| !std::ptr::eq(*it, first));
    let of = |wanted: Verdict, word: &str| {
        let titles = others.clone().filter(|it| it.verdict == wanted);
        let titles: Vec<&str> = titles.map(MeasureChange::title).collect();
        (!titles.is_empty()).then(|| format!("{word} by more than chance: {}", titles.join(", ")))
    };
    let worse = of(Verdict::Worse, "worse");
    let better = of(Verdict::Better, "better");
    let parts = std::iter::once(verdict(first)).chain(worse).chain(better);
    parts.collect::<Vec<_>>().join("; ")
}

/// `MRR@5 rose from 0.7421 to 0.7739 (+0.0318 [+0.0012, +0.0611], p = 0.0412) over 256 pairs: better by more than chance`.
fn verdict(measure: &MeasureChange) -> String {
    let title = measure.title();
    let Some(found) = &measure.difference else {
        return format!("{title} has a value in both runs in no case");
    };
    let [before, after] = [found.before, found.after].map(|it| measure.unit.print(it));
    let moved = if before == after {
        format!("{title} stayed at {after}")
    } else if found.difference > 0.0 {
        format!("{title} rose from {before} to {after}")
    } else {
        format!("{title} fell from {before} to {after}")
    };
    let signed = |value: f64| measure.unit.print_signed(value);
    let difference = signed(found.difference);
    let interval = found.interval.map_or_else(String::new, |interval| {
        format!(" [{}, {}]", signed(interval.low), signed(interval.high))
    });
    let p_value = match measure.adjusted_p_value {
        Some(p) if p < 0.0001 => ", p < 0.0001".to_owned(),
        Some(p) => format!(", p = {p:.4}"),
        None => String::new(),
    };
    let words = match measure.verdict {
        Verdict::Better => "better by more than chance",
        Verdict::Worse => "worse by more than chance",
        Verdict::Unclear => "it may be chance",
        Verdict::Same => "no case changed",
        Verdict::None => "neither is known to be better",
    };
    let pairs = quantity::of(found.n, "pair");
    format!("{moved} ({difference}{interval}{p_value}) over {pairs}: {words}")
}

/// How many cases passed before and after; `None` if the first measure is no pass rate.
fn passes(judged: &Judged<'_>) -> Option<Listing> {
    let measure = judged.measure.filter(|it| it.unit == Unit::PassRate)?;
    let count = |verdict| judged.count(verdict).to_string();
    let row = |name: &str, right: CaseVerdict, wrong: CaseVerdict| {
        vec![name.to_owned(), count(right), count(wrong)]
    };
    let other = judged.count(CaseVerdict::OtherVerdict);
    let noise = if other > 0 {
        format!(
            " {} with the same answer and another verdict stand outside of it: there the judge changed its mind.",
            quantity::of(other, "case")
        )
    } else {
        String::new()
    };
    Some(Listing {
        caption: format!(
            "Cases by {} before and after: {} fixed, {} broken.{noise}",
            measure.title(),
            count(CaseVerdict::Fixed),
            count(CaseVerdict::Broken)
        ),
        head: ["Cases", "right after", "wrong after"]
            .map(str::to_owned)
            .to_vec(),
        rows: vec![
            row("right before", CaseVerdict::BothRight, CaseVerdict::Broken),
            row("wrong before", CaseVerdict::Fixed, CaseVerdict::BothWrong),
        ],
    })
}

/// The two runs, and what differs between them.
fn facts<D: Paged>(page: &ChangePage<'_, D>) -> Vec<Fact> {
    let mut facts = vec![
        fact("before", page.titles[0]),
        fact("after", page.titles[1]),
        fact("pairs", page.change.pairs.to_string()),
    ];
    facts.extend(
        page.change
            .made_by
            .iter()
            .map(|line| match line.split_once(": ") {
                Some((setting, values)) => fact(setting, values),
                None => fact("changed", line.as_str()),
            }),
    );
    facts
}

fn notices<D: Paged>(page: &ChangePage<'_, D>, judged: &Judged<'_>) -> Vec<Notice> {
    let (change, texts) = (page.change, page.source.texts);
    let mut notices = Vec::new();
    for (run, side) in [(&change.before, "earlier"), (&change.after, "later")] {
        notices.extend(incomplete(run, side, texts));
    }
    notices.extend(new_failures(page.reports));
    let edited = [
        (change.changed.len(), "differ between the runs"),
        (change.only_before, "are only in the earlier run"),
        (change.only_after, "are only in the later run"),
    ];
    for (count, what) in edited.into_iter().filter(|(count, _)| *count > 0) {
        let text = format!("{count} of the cases {what} and are not compared");
        notices.push(notice(Severity::Warning, &text));
    }
    let other = judged.count(CaseVerdict::OtherVerdict);
    if other > 0 {
        let text = format!(
            "{} with the same answer in both runs got another verdict: the judge is not stable",
            quantity::of(other, "case")
        );
        notices.push(notice(Severity::Warning, &text));
    }
    notices.extend(notice::about_texts(texts, &page.source.documents));
    notices
}

/// A run that ended early.
fn incomplete(run: &ComparedReport, side: &str, texts: Texts) -> Option<Notice> {
    if run.not_run == 0 && run.stopped.is_none() {
        return None;
    }
    let planned = run.finished + run.not_run;
    // The reason may quote a reply.
    let reason = run.stopped.as_ref().filter(|_| texts == Texts::Kept);
    let text = format!(
        "The {side} run ended early: {} of {} did not run{}",
        run.not_run,
        quantity::of(planned, "case"),
        reason.map_or_else(String::new, |reason| format!(" ({reason})"))
    );
    Some(notice(Severity::Failure, &text))
}

/// Cases that failed after the change and not before.
fn new_failures<D: Domain>(reports: &[Report<D>; 2]) -> Option<Notice> {
    let [before, after] = reports.each_ref().map(broken);
    let new: Vec<&str> = after.difference(&before).map(|id| id.as_str()).collect();
    if new.is_empty() {
        return None;
    }
    let first = new.iter().take(NAMED).copied();
    let first = first.collect::<Vec<_>>().join(", ");
    let more = match new.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let text = format!(
        "{} failed in the later run and not in the earlier one: {first}{more}",
        quantity::of(new.len(), "case")
    );
    Some(notice(Severity::Failure, &text))
}

fn broken<D: Domain>(report: &Report<D>) -> BTreeSet<&CaseId> {
    let cases = report.cases.iter().filter(|case| case.is_broken());
    cases.map(|case| &case.id).collect()
}
