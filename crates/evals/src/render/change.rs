//! The texts of a change report: rows, notes, and the cases that changed most.

use std::collections::BTreeMap;

use evals_messages::quantity;
use evals_messages::visible::{beginning, single_line};
use evals_metrics::Interval;

use super::exclusions::named;
use super::glyphs::Glyphs;
use super::probability::{p_cell, percent, strictest};
use super::side_by_side::{interruption, title_of};
use super::standings::{FEW, too_few, too_few_clusters};
use super::{clusters, interval_methods};
use crate::{
    ByPeople, CaseChange, CaseId, Change, ComparedReport, Direction, MeasureChange, PairTest,
    PairTesting, Verdict,
};

/// The title of corrected p values.
pub(super) const CORRECTED: &str = "Corrected p";
/// The position of the interval's column.
pub(super) const INTERVAL: usize = 4;
/// How many cases a note names at most.
const NAMED: usize = 5;
/// The most characters of a text of a case, which may be a long answer.
const LONGEST: usize = 200;

/// One printed row.
#[derive(Debug)]
pub(super) struct ChangeRow {
    /// In the order of [`titles`].
    pub(super) cells: Vec<String>,
    pub(super) interval: String,
    pub(super) verdict: Verdict,
}

/// Whether the correction changes any of the p values.
pub(super) fn is_corrected<'m>(mut measures: impl Iterator<Item = &'m MeasureChange>) -> bool {
    measures.any(|it| {
        let found = it.difference.as_ref();
        let corrected = it.finding.adjusted_p_value;
        corrected.is_some() && corrected != found.and_then(|found| found.p_value)
    })
}

/// The p value of a tested measure, and the corrected one if the table has a column for it.
pub(super) fn p_cells(change: &MeasureChange, is_corrected: bool, glyphs: &Glyphs) -> Vec<String> {
    let none = || glyphs.undefined.to_owned();
    let corrected = change.finding.adjusted_p_value;
    let found = change.difference.as_ref();
    let p_value = found
        .and_then(|found| found.p_value)
        .filter(|_| corrected.is_some());
    let mut cells = vec![p_value.map_or_else(none, p_cell)];
    if is_corrected {
        cells.push(corrected.map_or_else(none, p_cell));
    }
    cells
}

/// Titles of the columns, without the interval.
pub(super) fn titles(change: &Change) -> Vec<&'static str> {
    let mut titles = vec!["Measure", "Before", "After", "Change", "p"];
    if is_corrected(change.measures.iter()) {
        titles.push(CORRECTED);
    }
    titles.extend(["Better", "Worse", "Verdict"]);
    titles
}

/// A row for each measure.
pub(super) fn rows(change: &Change, glyphs: &Glyphs) -> Vec<ChangeRow> {
    let is_corrected = is_corrected(change.measures.iter());
    let measures = change.measures.iter();
    measures.map(|it| row(it, is_corrected, glyphs)).collect()
}

fn row(change: &MeasureChange, is_corrected: bool, glyphs: &Glyphs) -> ChangeRow {
    let name = title_of(change.unit, change.title());
    let none = || glyphs.undefined.to_owned();
    let Some(found) = &change.difference else {
        let empty = std::iter::repeat_with(none).take(7 + usize::from(is_corrected));
        let cells = std::iter::once(name).chain(empty).collect();
        return ChangeRow {
            cells,
            interval: String::new(),
            verdict: change.finding.verdict,
        };
    };
    let print = |value: f64| change.unit.print(value);
    let (better, worse) = match change.better {
        Direction::Higher => (found.greater.to_string(), found.less.to_string()),
        Direction::Lower => (found.less.to_string(), found.greater.to_string()),
        Direction::Unknown => (none(), none()),
    };
    let verdict = verdict(change.finding.verdict, glyphs);
    let range = |interval: &Interval| {
        let ends = [interval.low, interval.high].map(|end| change.unit.print_signed(end));
        format!("[{}, {}]", ends[0], ends[1])
    };
    let difference = change.unit.print_signed(found.difference);
    let mut cells = vec![name, print(found.before), print(found.after), difference];
    cells.extend(p_cells(change, is_corrected, glyphs));
    cells.extend([better, worse, verdict]);
    ChangeRow {
        cells,
        interval: found.interval.as_ref().map(range).unwrap_or_default(),
        verdict: change.finding.verdict,
    }
}

/// The word for a verdict.
pub(super) fn verdict(verdict: Verdict, glyphs: &Glyphs) -> String {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Unclear => "unclear",
        Verdict::Same => "same",
        Verdict::None => glyphs.undefined,
    }
    .to_owned()
}

/// The confidence level of the intervals in percent.
pub(super) fn interval_title(change: &Change) -> String {
    format!("{} interval", percent(change.test.paired.level))
}

/// The notes below the table.
pub(super) fn notes(change: &Change, glyphs: &Glyphs) -> Vec<String> {
    let sides = [&change.before, &change.after];
    let mut notes: Vec<String> = sides.into_iter().filter_map(interruption).collect();
    notes.extend(change.by_people.iter().map(ByPeople::line));
    notes.extend(failures(change));
    notes.extend(missing(change));
    notes.extend(sizes(change));
    notes.extend(exclusions(change, glyphs));
    notes.extend(unshared(change));
    notes.extend(unpaired(change));
    let tested = change.measures.iter();
    let tested = tested
        .filter(|it| it.finding.adjusted_p_value.is_some())
        .count();
    notes.extend(few(change));
    let clusters = change.after.clusters.as_ref();
    notes.extend(clusters::undeclared(
        clusters.filter(|_| change.test.cluster.is_none()),
    ));
    notes.extend(too_few_clusters(
        change.measures.iter().map(|it| &it.finding),
    ));
    notes.extend(interval_methods::note(change.measures.iter().filter_map(
        |it| {
            let interval = it.difference.as_ref()?.interval?;
            Some((title_of(it.unit, it.title()), interval))
        },
    )));
    if tested > 0 {
        let level = percent(change.test.significance());
        let method = match &change.test.cluster {
            Some(_) => method(&change.test),
            None => change.test_name(),
        };
        notes.push(format!(
            "p: how often chance alone would give a change at least this large ({method}); unclear: {}p above {level}, which does not \
             mean that nothing changed",
            if is_corrected(change.measures.iter()) { "corrected " } else { "" }
        ));
        notes.extend(correction(change));
        notes.extend(against_mean(change));
        notes.extend(sensitivity(change));
    }
    notes.extend(without_interval(change));
    notes.extend(untested(change));
    notes
}

/// Which p values are corrected, and what for.
fn correction(change: &Change) -> Option<String> {
    let of_headline = |it: &&MeasureChange| Some(&it.measure) == change.headline.as_ref();
    let headline = change.measures.iter().find(of_headline);
    let headline = headline.map(|it| title_of(it.unit, it.title()));
    let others = change.measures.iter().filter(|it| !of_headline(it));
    let are_shown = others
        .clone()
        .any(|it| it.finding.adjusted_p_value.is_some());
    if change.tests < 2 || !are_shown {
        return None;
    }
    let tests = change.tests;
    let corrected = match (change.test.adjustment.adjective(), &headline) {
        (Some(adjective), Some(_)) => format!("the others are {adjective} for {tests} measures"),
        (Some(adjective), None) => format!("p values are {adjective} for {tests} measures"),
        (None, Some(_)) => format!("the others are not corrected for {tests} measures"),
        (None, None) => format!("p values are not corrected for {tests} measures"),
    };
    let headline = headline.map_or_else(String::new, |title| {
        format!("{title} is tested first, at the full level; ")
    });
    Some(format!(
        "{headline}{corrected}; intervals belong to p, which is not corrected"
    ))
}

/// The test in words, with the clusters of cases.
pub(super) fn method(test: &PairTesting) -> String {
    let method = test.paired.method;
    let Some(key) = &test.cluster else {
        return method.name().to_owned();
    };
    // Verdicts in clusters have no test of their own.
    let method = if method == PairTest::Auto {
        PairTest::T
    } else {
        method
    };
    format!(
        "{} by clusters of one {}",
        method.name(),
        single_line(&key.in_words())
    )
}

/// The measures whose mean moved in the other direction than the test finds.
fn against_mean(change: &Change) -> Option<String> {
    let of = |it: &&MeasureChange| {
        let found = it.difference.as_ref();
        found.is_some_and(|found| it.finding.is_against_mean(found.difference, it.better))
    };
    let measures = change.measures.iter().filter(of);
    let titles: Vec<String> = measures.map(|it| title_of(it.unit, it.title())).collect();
    (!titles.is_empty()).then(|| {
        format!(
            "the verdict contradicts the change of the mean: {}. {}",
            titles.join(", "),
            why_against_mean(change.test.paired.method)
        )
    })
}

/// Why a test may point away from the mean.
pub(super) fn why_against_mean(test: PairTest) -> String {
    let weighs = match test {
        PairTest::Sign => "counts how many cases rose and fell, and ignores by how much",
        PairTest::Wilcoxon => {
            "ranks the changes by size, so that a few large ones weigh less than in the mean"
        }
        PairTest::Auto | PairTest::Randomization | PairTest::T => "tests the mean",
    };
    format!("The {} {weighs}", test.name())
}

/// A warning that few pairs say little.
fn few(change: &Change) -> Option<String> {
    let sizes = change
        .measures
        .iter()
        .filter(|it| it.better != Direction::Unknown);
    let sizes = sizes.filter_map(|it| Some(it.difference.as_ref()?.n));
    sizes.min().filter(|n| *n < FEW).map(too_few)
}

/// The effect sizes, and what the test would find.
fn sensitivity(change: &Change) -> Vec<String> {
    let of = |print: &dyn Fn(&MeasureChange) -> Option<String>| {
        let judged = change.measures.iter();
        let judged = judged.filter(|it| it.finding.adjusted_p_value.is_some());
        let shown: Vec<String> = judged
            .filter_map(|it| Some(format!("{} {}", title_of(it.unit, it.title()), print(it)?)))
            .collect();
        shown.join(", ")
    };
    let effects = of(&|it| Some(format!("{:+.2}", it.finding.effect?.value)));
    let detectable = of(&|it| {
        let reached = it.finding.detectable.map(|value| it.unit.print(value));
        reached.or_else(|| Some(format!("none ({})", it.finding.undetectable.as_ref()?)))
    });
    let tests = quantity::of(change.tests, "measure");
    let strictest = strictest(&change.test, change.tests, &tests);
    let headline = change.headline.as_ref();
    let is_alone = change
        .measures
        .iter()
        .all(|it| Some(&it.measure) == headline);
    let full = percent(change.test.significance());
    let level = match headline {
        Some(_) if is_alone => full,
        Some(_) if strictest != full => format!("{full}, for all but the headline at {strictest}"),
        _ => strictest,
    };
    let of_cases = match change.test.cluster {
        Some(_) => " of single cases",
        None => "",
    };
    let mut notes = Vec::new();
    if !effects.is_empty() {
        notes.push(format!(
            "effect size d_z, the mean change in standard deviations of the changes{of_cases}: {effects}"
        ));
    }
    if !detectable.is_empty() {
        notes.push(format!(
            "smallest true change that this many pairs detect with {} power (tested at {level}): {detectable}",
            percent(change.test.power),
        ));
    }
    notes
}

/// The measures whose test has no p value, with the reason.
fn untested(change: &Change) -> Vec<String> {
    let of = |measure: &MeasureChange| {
        let judged = measure.better != Direction::Unknown;
        let reason = measure.finding.untested.as_ref().filter(|_| judged)?;
        Some(format!("no p value, {reason}"))
    };
    grouped(change, of).iter().map(listed).collect()
}

/// The measures that have no interval, with the reason.
fn without_interval(change: &Change) -> Vec<String> {
    let of = |measure: &MeasureChange| {
        let reason = measure.difference.as_ref()?.no_interval?;
        Some(format!("no interval, {reason}"))
    };
    grouped(change, of).iter().map(listed).collect()
}

/// The numbers of failed cases and of failed evaluations on each side.
fn failures(change: &Change) -> Vec<String> {
    let counted = |kind: &str, count: fn(&ComparedReport) -> Option<String>| {
        let sides = [(&change.before, "before"), (&change.after, "after")];
        let counts = sides
            .into_iter()
            .filter_map(|(report, side)| Some(format!("{} {side}", count(report)?)));
        let counts: Vec<String> = counts.collect();
        (!counts.is_empty()).then(|| format!("failed {kind}: {}", counts.join(", ")))
    };
    let cases = counted("cases", |report| {
        (report.failed > 0).then(|| format!("{} of {}", report.failed, report.finished))
    });
    let evaluations = counted("evaluations", |report| {
        (report.evaluator_failures > 0).then(|| report.evaluator_failures.to_string())
    });
    cases.into_iter().chain(evaluations).collect()
}

/// Measures that only one side has.
fn missing(change: &Change) -> Vec<String> {
    let sides = [
        (&change.measures_only_before, "before"),
        (&change.measures_only_after, "after"),
    ];
    let named = sides.into_iter().filter(|(names, _)| !names.is_empty());
    named
        .map(|(names, side)| format!("measures only {side}: {}", single_line(&names.join(", "))))
        .collect()
}

/// The number of pairs behind the means and the test.
fn sizes(change: &Change) -> Vec<String> {
    let of = |measure: &MeasureChange| {
        Some(match measure.difference.as_ref()?.n {
            1 => "n = 1 pair".to_owned(),
            several => format!("n = {several} pairs"),
        })
    };
    match &grouped(change, of)[..] {
        [(size, _)] => vec![size.clone()],
        groups => groups.iter().map(listed).collect(),
    }
}

/// Groups measures by the text that `of` returns for them.
fn grouped(
    change: &Change,
    of: impl Fn(&MeasureChange) -> Option<String>,
) -> Vec<(String, Vec<String>)> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for measure in &change.measures {
        let Some(text) = of(measure) else { continue };
        let title = title_of(measure.unit, measure.title());
        match groups.iter_mut().find(|(known, _)| *known == text) {
            Some((_, titles)) => titles.push(title),
            None => groups.push((text, vec![title])),
        }
    }
    groups
}

fn listed((text, titles): &(String, Vec<String>)) -> String {
    format!("{text}: {}", titles.join(", "))
}

/// Cases excluded on both sides, by reason.
fn exclusions(change: &Change, glyphs: &Glyphs) -> Vec<String> {
    let mut groups: BTreeMap<(&str, usize), Vec<String>> = BTreeMap::new();
    for measure in &change.measures {
        for (reason, count) in &measure.excluded {
            let titles = groups.entry((reason, *count)).or_default();
            titles.push(title_of(measure.unit, measure.title()));
        }
    }
    let groups = groups.into_iter();
    groups
        .map(|((reason, count), titles)| {
            let what = format!("{count} {} {}", glyphs.times, single_line(reason));
            format!(
                "excluded: {what} ({})",
                named(&titles, change.measures.len())
            )
        })
        .collect()
}

/// Cases that have no pair, by name.
fn unshared(change: &Change) -> Vec<String> {
    let plain = |id: &CaseId| single_line(id.as_str());
    let removed = change.removed.iter().map(plain).collect();
    let added = change.added.iter().map(plain).collect();
    let changed = change.changed.iter().map(|case| {
        let parts: Vec<&str> = case.parts.iter().map(|part| part.name()).collect();
        format!("{} ({})", plain(&case.id), parts.join(", "))
    });
    [
        ("changed cases, not paired", changed.collect()),
        ("cases only before", removed),
        ("cases only after", added),
    ]
    .into_iter()
    .filter_map(|(what, names)| listed_cases(what, names))
    .collect()
}

/// The number of these cases, and the first few names.
fn listed_cases(what: &str, mut names: Vec<String>) -> Option<String> {
    let count = names.len();
    if count > NAMED {
        names.truncate(NAMED);
        names.push(format!("and {} more", count - NAMED));
    }
    (count > 0).then(|| format!("{what} ({count}): {}", names.join(", ")))
}

/// Cases with a value on one side only. They matter: a change that fails on difficult cases looks better than it is.
fn unpaired(change: &Change) -> Vec<String> {
    let of = |measure: &MeasureChange| {
        let sides = [
            (measure.only_before, "after"),
            (measure.only_after, "before"),
        ];
        let dropped = sides.into_iter().filter(|(count, _)| *count > 0);
        let dropped: Vec<String> = dropped
            .map(|(count, side)| format!("{count} without a value {side}"))
            .collect();
        (!dropped.is_empty()).then(|| dropped.join(", "))
    };
    let groups = grouped(change, of).into_iter();
    groups
        .map(|(dropped, titles)| format!("cases left out of {}: {dropped}", titles.join(", ")))
        .collect()
}

/// The cases that changed most by the first measure with a known better direction, each as lines: its values and its text, then what was
/// expected and what both runs returned. The heading uses the title that the table uses.
pub(super) fn cases(change: &Change) -> Vec<(String, Vec<Vec<String>>)> {
    let judged = change.measures.iter();
    let mut judged = judged.filter(|it| it.better != Direction::Unknown);
    let Some(measure) = judged.next() else {
        return Vec::new();
    };
    let title = title_of(measure.unit, measure.title());
    let lines = |case: &CaseChange| {
        let [before, after] = [case.before, case.after].map(|value| measure.unit.print(value));
        let id = single_line(case.id.as_str());
        let head = format!("{id}: {before} to {after}  {}", begun(&case.text));
        let side = |name: &str, text: &Option<String>| {
            let text = text.as_ref()?;
            Some(format!("{name}: {}", begun(text)))
        };
        let expected = case.expected.as_ref().map(|text| begun(text));
        let told = [
            Some(head.trim_end().to_owned()),
            expected,
            side("before", &case.returned_before),
            side("after", &case.returned_after),
        ];
        told.into_iter().flatten().collect()
    };
    [("Worse", &measure.worst), ("Better", &measure.best)]
        .into_iter()
        .filter(|(_, cases)| !cases.is_empty())
        .map(|(what, cases)| {
            let heading = format!("{what} by {title}, largest change first");
            (heading, cases.iter().map(lines).collect())
        })
        .collect()
}

/// The beginning of a text in one line.
pub(super) fn begun(text: &str) -> String {
    beginning(&single_line(text), LONGEST)
}
