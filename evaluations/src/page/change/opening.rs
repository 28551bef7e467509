//! What a reader of a change's page sees first.

use std::collections::BTreeSet;

use evals::{CaseId, Change, ComparedReport, Domain, MeasureChange, Report, Unit, Verdict, render};
use evals_html::page::{Fact, Listing, Notice, Opening, Severity};
use evals_messages::quantity;

use super::ChangePage;
use super::verdict::{CaseVerdict, Judged};
use crate::figures;
use crate::page::facts::fact;
use crate::page::listing::listing;
use crate::page::notice::{self, notice};
use crate::page::omission;
use crate::page::paged::HasPage;
use crate::page::source::PageSource;

/// The most cases that a notice names.
const NAMED: usize = 5;

pub(super) fn of<D: HasPage>(page: &ChangePage<'_, D>, judged: &Judged<'_>) -> Opening {
    let change = &*omission::change(page.change, page.source.texts);
    let repeats = page.reports.iter().any(|report| report.repeat > 1);
    let mut listings: Vec<Listing> = passes(judged, repeats).into_iter().collect();
    listings.extend(render::tables::change(change).into_iter().map(listing));
    Opening {
        title: format!("From {} to {}", page.titles[0], page.titles[1]),
        sentence: sentence(change, judged),
        notices: notices(page, change, judged),
        facts: facts(page.titles, change),
        listings,
        figures: figures::of_change(change),
    }
}

/// The verdict on the first measure, and the other measures that changed significantly.
fn sentence(change: &Change, judged: &Judged<'_>) -> String {
    let Some(first) = judged.measure else {
        return "No measure of the two runs has a better direction".to_owned();
    };
    let others = change.measures.iter();
    let others = others.filter(|it| (it.unit, &it.measure) != (first.unit, &first.measure));
    let of = |wanted: Verdict, word: &str| {
        let titles = others.clone().filter(|it| it.finding.verdict == wanted);
        let titles: Vec<&str> = titles.map(MeasureChange::title).collect();
        (!titles.is_empty()).then(|| format!("significantly {word}: {}", titles.join(", ")))
    };
    let worse = of(Verdict::Worse, "worse");
    let better = of(Verdict::Better, "better");
    let parts = std::iter::once(verdict(first, change))
        .chain(worse)
        .chain(better);
    parts.collect::<Vec<_>>().join("; ")
}

/// `MRR@5 rose from 0.7421 to 0.7739 (+0.0318 [+0.0012, +0.0611], p = 0.0412) over 256 pairs: better, significant at 5 %`.
fn verdict(measure: &MeasureChange, change: &Change) -> String {
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
        let [low, high] = [interval.low, interval.high].map(signed);
        format!(" [{low}, {high}]")
    });
    let adjusted = measure.finding.adjusted_p_value;
    let p_value = found.p_value.filter(|_| adjusted.is_some());
    let corrected = adjusted.filter(|_| adjusted != p_value);
    let corrected = corrected.zip(change.test.adjustment.adjective());
    let corrected = corrected.map_or_else(String::new, |(p, adjective)| {
        format!(", {adjective} {}", render::p_value(p))
    });
    let p_value = p_value.map_or_else(String::new, |p| {
        format!(", {}{corrected}", render::p_value(p))
    });
    let level = render::percent(1.0 - change.test.paired.level);
    let against = if measure
        .finding
        .is_against_mean(found.difference, measure.better)
    {
        format!(
            " by the {}, against the mean",
            change.test.paired.method.name()
        )
    } else {
        String::new()
    };
    let words = match measure.finding.verdict {
        Verdict::Better => format!("better{against}, significant at {level}"),
        Verdict::Worse => format!("worse{against}, significant at {level}"),
        Verdict::Unclear => "it may be chance".to_owned(),
        Verdict::Same => "no case changed".to_owned(),
        Verdict::None => "neither is known to be better".to_owned(),
    };
    let pairs = quantity::of(found.n, "pair");
    format!("{moved} ({difference}{interval}{p_value}) over {pairs}: {words}")
}

/// How many cases passed before and after; `None` if the first measure is no pass rate.
fn passes(judged: &Judged<'_>, repeats: bool) -> Option<Listing> {
    let measure = judged.measure.filter(|it| it.unit == Unit::PassRate)?;
    let count = |verdict| judged.count(verdict).to_string();
    let row = |name: &str, right: CaseVerdict, wrong: CaseVerdict| {
        vec![name.to_owned(), count(right), count(wrong)]
    };
    let counted_as = if repeats {
        " A case with repetitions is right if at least half of them are."
    } else {
        ""
    };
    Some(Listing {
        caption: format!(
            "Cases by {} before and after: {} fixed, {} broken.{counted_as}{}",
            measure.title(),
            count(CaseVerdict::Fixed),
            count(CaseVerdict::Broken),
            uncounted(judged)
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

/// The cases that are not in the table of passes, by the reason.
fn uncounted(judged: &Judged<'_>) -> String {
    let count =
        |verdicts: &[CaseVerdict]| -> usize { verdicts.iter().map(|it| judged.count(*it)).sum() };
    let unpaired = [
        CaseVerdict::Edited,
        CaseVerdict::OnlyBefore,
        CaseVerdict::OnlyAfter,
    ];
    let reasons = [
        (
            count(&[CaseVerdict::OtherVerdict]),
            "with the same answer and another verdict",
        ),
        (
            count(&[CaseVerdict::NoValue]),
            "without a value on one side or on both",
        ),
        (count(&unpaired), "edited or in one run only"),
    ];
    let reasons = reasons.into_iter().filter(|(count, _)| *count > 0);
    let reasons: Vec<String> = reasons
        .map(|(count, why)| format!("{} {why}", quantity::of(count, "case")))
        .collect();
    if reasons.is_empty() {
        String::new()
    } else {
        format!(" Not in this table: {}.", reasons.join(", "))
    }
}

/// The two runs, and what differs between them.
fn facts(titles: [&str; 2], change: &Change) -> Vec<Fact> {
    let mut facts = vec![
        fact("before", titles[0]),
        fact("after", titles[1]),
        fact("cases in common", change.pairs.to_string()),
    ];
    facts.extend(
        change
            .made_by
            .iter()
            .map(|line| match line.split_once(": ") {
                Some((setting, values)) => fact(setting, values),
                None => fact("changed", line.as_str()),
            }),
    );
    facts
}

fn notices<D: HasPage>(
    page: &ChangePage<'_, D>,
    change: &Change,
    judged: &Judged<'_>,
) -> Vec<Notice> {
    let mut notices = Vec::new();
    for (run, side) in [(&change.before, "earlier"), (&change.after, "later")] {
        notices.extend(incomplete(run, side));
    }
    notices.extend(new_failures(page.reports));
    let edited = [
        (change.changed.len(), "in both runs with other content"),
        (change.only_before, "only in the earlier run"),
        (change.only_after, "only in the later run"),
    ];
    for (count, what) in edited.into_iter().filter(|(count, _)| *count > 0) {
        let text = format!("Not compared: {} {what}", quantity::of(count, "case"));
        notices.push(notice(Severity::Warning, &text));
    }
    let other = judged.count(CaseVerdict::OtherVerdict);
    if other > 0 {
        let why = if judged.has_one_judge {
            " from the same judge: its verdicts are not stable"
        } else {
            ""
        };
        let text = format!(
            "{} with the same answer in both runs got another verdict{why}",
            quantity::of(other, "case")
        );
        notices.push(notice(Severity::Warning, &text));
    }
    let PageSource {
        texts, documents, ..
    } = page.source;
    notices.extend(notice::about_texts(*texts, documents));
    notices
}

/// A run that ended early.
fn incomplete(run: &ComparedReport, side: &str) -> Option<Notice> {
    if run.not_run == 0 && run.stopped.is_none() {
        return None;
    }
    let planned = run.finished.saturating_add(run.not_run);
    let reason = run.stopped.as_ref();
    let text = format!(
        "The {side} run ended early: {} of {} did not run{}",
        run.not_run,
        quantity::of(planned, "case"),
        reason.map_or_else(String::new, |reason| format!(" ({reason})"))
    );
    Some(notice(Severity::Failure, &text))
}

/// Cases that failed after the change and not before.
fn new_failures<D: Domain>(reports: [&Report<D>; 2]) -> Option<Notice> {
    let [before, after] = reports.map(broken);
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
