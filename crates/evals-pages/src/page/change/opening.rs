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
use crate::page::score;
use crate::page::source::PageSource;

/// The most cases that a notice names.
const NAMED: usize = 5;

pub(super) fn of<D: HasPage>(page: &ChangePage<'_, D>, judged: &Judged<'_>) -> Opening {
    let change = &*omission::change(page.change, page.source.texts);
    let repeats = page.reports.iter().any(|report| report.repeat > 1);
    let mut listings: Vec<Listing> = passes(judged, repeats).into_iter().collect();
    listings.extend(render::tables::change(change).into_iter().map(listing));
    Opening {
        title: format!("{} → {}", page.names[0], page.names[1]),
        score: judged
            .measure
            .and_then(|it| score::of_change(it, change.test.paired.level)),
        sentence: sentence(change, judged, D::CASE),
        notices: notices(page, change, judged),
        facts: facts(change),
        configuration: vec![
            fact("before", page.titles[0]),
            fact("after", page.titles[1]),
        ],
        matrix: None,
        listings,
        figures: figures::of_change(change),
    }
}

/// The verdict on the first measure, and the other measures that changed significantly: `Better: MRR@5 0.65 → 0.74, 63 questions gained, 17
/// lost`.
fn sentence(change: &Change, judged: &Judged<'_>, case: &str) -> String {
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
    let parts = std::iter::once(verdict(first, change, judged, case))
        .chain(worse)
        .chain(better);
    parts.collect::<Vec<_>>().join("; ")
}

fn verdict(measure: &MeasureChange, change: &Change, judged: &Judged<'_>, case: &str) -> String {
    let title = measure.title();
    let Some(found) = &measure.difference else {
        return format!("{title} has a value in both runs in no case");
    };
    let finding = &measure.finding;
    let word = match finding.verdict {
        Verdict::Better => "Better",
        Verdict::Worse => "Worse",
        Verdict::Unclear => "May be chance",
        Verdict::Same => "No case changed",
        Verdict::None => "Neither is known to be better",
    };
    let against = if finding.is_against_mean(found.difference, measure.better) {
        let test = change.test.paired.method.name();
        format!(" by the {test}, against the mean")
    } else {
        String::new()
    };
    let [before, after] = short(measure.unit, [found.before, found.after]);
    let moved = if before == after {
        format!("{title} stayed at {after}")
    } else {
        format!("{title} {before} → {after}")
    };
    let count = |first, second| judged.count(first) + judged.count(second);
    let gained = count(CaseVerdict::Fixed, CaseVerdict::Better);
    let lost = count(CaseVerdict::Broken, CaseVerdict::Worse);
    let cases = if gained + lost == 0 {
        String::new()
    } else {
        format!(", {} gained, {lost} lost", quantity::of(gained, case))
    };
    format!("{word}{against}: {moved}{cases}")
}

/// Two numbers with two decimals, or with as many as tables have if these do not tell them apart.
fn short(unit: Unit, values: [f64; 2]) -> [String; 2] {
    let brief = match unit {
        Unit::Score | Unit::PassRate | Unit::Share => values.map(|it| format!("{it:.2}")),
        Unit::Metric | Unit::Seconds => values.map(|it| unit.print(it)),
    };
    if brief[0] == brief[1] {
        values.map(|it| unit.print(it))
    } else {
        brief
    }
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
        ..Listing::default()
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
            "with the same answer and a different verdict",
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

/// What the runs have in common, and what differs between them.
fn facts(change: &Change) -> Vec<Fact> {
    let mut facts = vec![fact("cases in common", change.pairs.to_string())];
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
            "{} with the same answer in both runs got a different verdict{why}",
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
