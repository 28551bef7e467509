//! The texts of a change report: rows, notes, and the cases that changed most.

use evals_messages::quantity;
use evals_messages::visible::{beginning, single_line};

use super::clusters::{FEW_CASES, too_few_cases, too_few_clusters};
use super::exclusions::group;
use super::glyphs::Glyphs;
use super::grid::{Align, Cell, Grid};
use super::side_by_side::interruption;
use super::{clusters, interval_methods};
use crate::naming::{gathered, title_of};
use crate::probability::{p_cell, p_value, percent, strictest};
use crate::{
    ByPeople, CaseChange, CaseId, Change, ComparedReport, Direction, MeasureChange, PairTest,
    PairTesting, Verdict,
};

/// The title of p values.
const P: &str = "p";
/// The titles of the numbers of cases that moved.
const COUNTS: [&str; 2] = ["Better", "Worse"];
/// The title of corrected p values.
pub(super) const CORRECTED: &str = "Corrected p";
/// How many cases a note names at most.
const NAMED: usize = 5;
/// The most characters of a text of a case, which may be a long answer.
const LONGEST: usize = 200;

/// Whether the correction changes any of the p values.
pub(super) fn is_corrected<'m>(mut measures: impl Iterator<Item = &'m MeasureChange>) -> bool {
    measures.any(|it| {
        let found = it.difference.as_ref();
        let corrected = it.finding.adjusted_p_value;
        corrected.is_some() && corrected != found.and_then(|found| found.p_value)
    })
}

/// The columns of [`numbers`].
pub(super) fn number_columns(
    interval: &str,
    is_corrected: bool,
) -> impl Iterator<Item = (&str, Align)> {
    let means = ["Before", "After", "Change"].map(|title| (title, Align::Right));
    let p = [(P, Align::Right)].into_iter();
    let p = p.chain(is_corrected.then_some((CORRECTED, Align::Right)));
    means.into_iter().chain([(interval, Align::Left)]).chain(p)
}

/// The means of a measure, its change with the interval, the p value if it is tested, and the corrected one if the table has a column for
/// it.
pub(super) fn numbers(change: &MeasureChange, is_corrected: bool, glyphs: &Glyphs) -> Vec<Cell> {
    let (unit, found) = (change.unit, change.difference.as_ref());
    let mean = |value: Option<f64>| glyphs.shown(value, |value| unit.print(value));
    let signed = |value: f64| unit.print_signed(value);
    let corrected = change.finding.adjusted_p_value;
    let p_value = found.and_then(|it| it.p_value);
    let p_value = p_value.filter(|_| corrected.is_some());
    let interval = found.and_then(|it| it.interval.as_ref());
    let means = [
        mean(found.map(|it| it.before)),
        mean(found.map(|it| it.after)),
        glyphs.shown(found.map(|it| it.difference), signed),
    ];
    let p_values = [p_value].into_iter();
    let p_values = p_values.chain(is_corrected.then_some(corrected));
    let p_values = p_values.map(|it| glyphs.shown(it, p_cell));
    let is_clear = change.finding.is_significant();
    let bold = |text: String| Cell::bold(text, is_clear);
    let interval = interval.map(|it| unit.signed_range(it)).unwrap_or_default();
    let cells = means.into_iter().map(bold).chain([Cell::dim(interval)]);
    cells.chain(p_values.map(bold)).collect()
}

/// The measures with a row: all but those without a value in either report, unless there are no others.
pub(super) fn shown(change: &Change) -> impl Iterator<Item = &MeasureChange> {
    let has_value =
        |it: &MeasureChange| it.difference.is_some() || it.only_before > 0 || it.only_after > 0;
    let any = change.measures.iter().any(has_value);
    let measures = change.measures.iter();
    measures.filter(move |it| !any || has_value(it))
}

/// A row for each measure.
pub(super) fn grid(change: &Change, glyphs: &Glyphs) -> Grid {
    let is_corrected = is_corrected(change.measures.iter());
    let interval = format!("{} interval", percent(change.test.paired.level));
    let columns = [("Measure", Align::Left)].into_iter();
    let columns = columns.chain(number_columns(&interval, is_corrected));
    let counts = COUNTS.map(|title| (title, Align::Right));
    let columns = columns.chain(counts).chain([("Verdict", Align::Left)]);
    // The verdict says what a p value would.
    let least = [
        "Better and Worse",
        P,
        CORRECTED,
        "Before",
        "After",
        &interval,
    ];
    let mut grid = Grid::new(columns).dropping(&least);
    for measure in shown(change) {
        let counts = moved(measure);
        let [better, worse] = [0, 1].map(|it| counts.map(|counts| counts[it]));
        let [better, worse] = [better, worse].map(|it| glyphs.shown(it, |it| it.to_string()));
        let is_clear = measure.finding.is_significant();
        let bold = |text: String| Cell::bold(text, is_clear);
        let title = bold(title_of(measure.unit, measure.title()));
        let verdict = verdict(measure.finding.verdict, glyphs);
        let cells = std::iter::once(title).chain(numbers(measure, is_corrected, glyphs));
        grid.push(cells.chain([better, worse, verdict].map(bold)));
    }
    grid
}

/// How many cases became better, and how many worse; `None` without a value or where neither direction is better.
fn moved(measure: &MeasureChange) -> Option<[usize; 2]> {
    let found = measure.difference.as_ref()?;
    match measure.better {
        Direction::Higher => Some([found.greater, found.less]),
        Direction::Lower => Some([found.less, found.greater]),
        Direction::Unknown => None,
    }
}

/// The counts and the p value of the most important measure, where the table had no room for them.
fn without_room(change: &Change, left_out: &[String]) -> Option<String> {
    let is_named = |it: &&MeasureChange| Some(&it.measure) == change.headline.as_ref();
    let measure = shown(change)
        .find(is_named)
        .or_else(|| shown(change).next())?;
    let is_left_out = left_out
        .iter()
        .any(|it| *it == P || COUNTS.contains(&it.as_str()));
    let [better, worse] = moved(measure).filter(|_| is_left_out)?;
    let p = measure.difference.as_ref().and_then(|it| it.p_value);
    let p = p.filter(|_| measure.finding.adjusted_p_value.is_some());
    let p = p.map_or_else(String::new, |p| format!(", {}", p_value(p)));
    let title = title_of(measure.unit, measure.title());
    Some(format!("{title}: {better} better, {worse} worse{p}"))
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

/// The notes below the table, which had no room for the columns `left_out`.
pub(super) fn notes(change: &Change, glyphs: &Glyphs, left_out: &[String]) -> Vec<String> {
    let sides = [&change.before, &change.after];
    let moved = without_room(change, left_out);
    let has_p = moved.is_some() || !left_out.iter().any(|it| it == P);
    let mut notes = Vec::from_iter(moved);
    notes.extend(sides.into_iter().filter_map(interruption));
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
        let p = if has_p {
            format!(
                "p: how often chance alone would give a change at least this large ({method}); "
            )
        } else {
            String::new()
        };
        notes.push(format!(
            "{p}unclear: {}p above {level}, which does not mean that nothing changed",
            if is_corrected(change.measures.iter()) {
                "corrected "
            } else {
                ""
            }
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
    sizes.min().filter(|n| *n < FEW_CASES).map(too_few_cases)
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
        reached.or_else(|| {
            Some(format!(
                "cannot tell ({})",
                it.finding.undetectable.as_ref()?
            ))
        })
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
        let n = measure.difference.as_ref()?.n;
        Some(format!("n = {}", quantity::of(n, "pair")))
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
    let measures = change.measures.iter();
    gathered(measures.filter_map(|it| Some((of(it)?, title_of(it.unit, it.title())))))
}

fn listed((text, titles): &(String, Vec<String>)) -> String {
    format!("{text}: {}", titles.join(", "))
}

/// Cases excluded on both sides, by reason.
fn exclusions(change: &Change, glyphs: &Glyphs) -> Vec<String> {
    let measures = change.measures.iter();
    let titles: Vec<String> = measures.map(|it| title_of(it.unit, it.title())).collect();
    let excluded = titles.iter().map(String::as_str);
    let excluded = excluded.zip(change.measures.iter().map(|it| &it.excluded));
    group(
        "excluded",
        &excluded.collect(),
        change.measures.len(),
        glyphs,
    )
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
