//! The texts of a change report: rows, notes, and the cases that changed most.

use std::collections::BTreeMap;

use evals_messages::quantity;
use evals_messages::visible::single_line;
use evals_metrics::Interval;

use super::exclusions::named;
use super::glyphs::Glyphs;
use super::interval_methods;
use super::probability::{p_cell, percent, strictest};
use super::side_by_side::{interruption, title_of};
use super::standings::{FEW, too_few, too_few_clusters};
use crate::{
    ByPeople, CaseChange, CaseId, Change, Direction, MeasureChange, PairTest, PairTesting, Verdict,
};

/// Titles of the columns, without the interval.
pub(super) const TITLES: [&str; 8] = [
    "Measure", "Before", "After", "Change", "p", "Better", "Worse", "Verdict",
];
/// The position of the interval's column.
pub(super) const INTERVAL: usize = 4;
/// How many cases a note names at most.
const NAMED: usize = 5;

/// One printed row.
#[derive(Debug)]
pub(super) struct ChangeRow {
    /// In the order of [`TITLES`].
    pub(super) cells: [String; 8],
    pub(super) interval: String,
    pub(super) verdict: Verdict,
}

/// A row for each measure.
pub(super) fn rows(change: &Change, glyphs: &Glyphs) -> Vec<ChangeRow> {
    change.measures.iter().map(|it| row(it, glyphs)).collect()
}

fn row(change: &MeasureChange, glyphs: &Glyphs) -> ChangeRow {
    let name = title_of(change.unit, change.title());
    let none = || glyphs.undefined.to_owned();
    let Some(found) = &change.difference else {
        let mut cells: [String; 8] = std::array::from_fn(|_| none());
        cells[0] = name;
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
    ChangeRow {
        cells: [
            name,
            print(found.before),
            print(found.after),
            change.unit.print_signed(found.difference),
            change.finding.adjusted_p_value.map_or_else(none, p_cell),
            better,
            worse,
            verdict,
        ],
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
        let corrected = match (tested, change.test.adjustment.adjective()) {
            (1, _) => String::new(),
            (several, Some(adjective)) => {
                format!(", {adjective} for {several} measures; intervals are not corrected")
            }
            (several, None) => format!(", not corrected for {several} measures"),
        };
        let method = match &change.test.cluster {
            Some(_) => method(&change.test),
            None => change.test_name(),
        };
        notes.push(format!(
            "p: how often chance alone would give a change at least this large ({method}{corrected}); unclear: p above {level}, which \
             does not mean that nothing changed"
        ));
        notes.extend(against_mean(change));
        notes.extend(sensitivity(change, tested));
    }
    notes.extend(untested(change));
    notes
}

/// The test in words, with the clusters of cases.
pub(super) fn method(test: &PairTesting) -> String {
    let name = test.method.name();
    match &test.cluster {
        Some(key) => format!("{name} by clusters of one `{}`", single_line(key)),
        None => name.to_owned(),
    }
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
            why_against_mean(change.test.method)
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
        PairTest::Randomization | PairTest::T => "tests the mean",
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
fn sensitivity(change: &Change, tested: usize) -> Vec<String> {
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
    let tests = quantity::of(tested, "measure");
    let strictest = strictest(&change.test, tested, &tests);
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
            "smallest true change that so many pairs show with {} probability (tested at {strictest}): {detectable}",
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

/// The number of failed cases on each side.
fn failures(change: &Change) -> Option<String> {
    let sides = [(&change.before, "before"), (&change.after, "after")];
    let failed = sides.into_iter().filter(|(report, _)| report.failed > 0);
    let counts: Vec<String> = failed
        .map(|(report, side)| format!("{} of {} {side}", report.failed, report.finished))
        .collect();
    (!counts.is_empty()).then(|| format!("failed cases: {}", counts.join(", ")))
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

/// The cases that changed most by the first measure with a known better direction, as lines. The heading uses the title that
/// the table uses.
pub(super) fn cases(change: &Change) -> Vec<(String, Vec<String>)> {
    let judged = change.measures.iter();
    let mut judged = judged.filter(|it| it.better != Direction::Unknown);
    let Some(measure) = judged.next() else {
        return Vec::new();
    };
    let title = title_of(measure.unit, measure.title());
    let line = |case: &CaseChange| {
        let [before, after] = [case.before, case.after].map(|value| measure.unit.print(value));
        format!("{}: {before} to {after}", single_line(case.id.as_str()))
    };
    [("Worse", &measure.worst), ("Better", &measure.best)]
        .into_iter()
        .filter(|(_, cases)| !cases.is_empty())
        .map(|(what, cases)| {
            let heading = format!("{what} by {title}, largest change first");
            (heading, cases.iter().map(line).collect())
        })
        .collect()
}
