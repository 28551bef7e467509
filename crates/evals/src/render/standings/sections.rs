//! The tables of standings.

use evals_messages::quantity;
use evals_messages::visible::{beginning, single_line};
use evals_metrics::Interval;

use super::super::change::{CORRECTED, verdict};
use super::super::glyphs::Glyphs;
use super::super::lead::winner;
use super::super::probability::{p_cell, percent};
use super::super::side_by_side::title_of;
use crate::{
    Disagreements, PairOutcome, RankedGroups, RankedMeasure, Standings, TimeStanding, Unit,
};

/// How many groups of cases are shown at most, the largest ones. JSON has all.
const SHOWN: usize = 20;

/// The most characters of a text in a table.
pub(in crate::render) const SHOWN_TEXT: usize = 60;

/// One table of standings.
#[derive(Debug)]
pub(in crate::render) struct Section {
    pub(in crate::render) heading: String,
    pub(in crate::render) heads: Vec<String>,
    pub(in crate::render) rows: Vec<SectionRow>,
    /// The columns of texts; all others hold numbers.
    pub(in crate::render) texts: Vec<usize>,
    /// Whether columns that do not fit go into further tables, rather than away.
    pub(in crate::render) folds: bool,
    pub(in crate::render) note: Option<String>,
}

/// One row of a section.
#[derive(Debug)]
pub(in crate::render) struct SectionRow {
    pub(in crate::render) cells: Vec<String>,
    /// Whether it is more than chance.
    pub(in crate::render) is_clear: bool,
    /// The number of cases by tenths of the score, where the row has a distribution.
    pub(in crate::render) histogram: Option<[usize; 10]>,
}

/// The tables, in the order of a page.
pub(in crate::render) fn sections(standings: &Standings, glyphs: &Glyphs) -> Vec<Section> {
    let mut sections = vec![overview(standings, glyphs)];
    if let Some(main) = main(standings) {
        sections.push(means(standings, main, glyphs));
        sections.push(pairs(standings, main, glyphs));
    }
    sections.extend(times(standings, glyphs));
    let disagreements = standings.disagreements.as_ref();
    sections.extend(disagreements.and_then(|it| self::disagreements(standings, it)));
    let grouped = standings.groups.iter();
    sections.extend(grouped.flat_map(|it| groups(standings, it, glyphs)));
    sections.retain(|section| !section.rows.is_empty());
    sections
}

/// The measure that is shown in detail: the first that has an order.
pub(super) fn main(standings: &Standings) -> Option<&RankedMeasure> {
    standings.measures.iter().find(|it| it.is_ranked())
}

pub(super) fn measure_title(measure: &RankedMeasure) -> String {
    title_of(measure.unit, measure.title())
}

pub(super) fn report_title(standings: &Standings, report: usize) -> String {
    single_line(standings.title(report))
}

fn row(cells: Vec<String>) -> SectionRow {
    SectionRow {
        cells,
        is_clear: false,
        histogram: None,
    }
}

/// The mean and the letters of each measure for each report.
fn overview(standings: &Standings, glyphs: &Glyphs) -> Section {
    let measures: Vec<&RankedMeasure> = standings.measures.iter().collect();
    let mut heads = vec!["Run".to_owned()];
    heads.extend(measures.iter().map(|it| measure_title(it)));
    heads.extend(standings.times.iter().map(|it| it.name.clone()));
    let line = |report: usize| {
        let mut cells = vec![report_title(standings, report)];
        cells.extend(measures.iter().map(|it| mean_cell(it, report, glyphs)));
        cells.extend(standings.times.iter().map(|it| {
            let own = it.standings.iter().find(|own| own.report == report);
            own.map_or_else(
                || glyphs.undefined.to_owned(),
                |own| format!("{} {}", glyphs.duration(own.seconds), own.letters),
            )
        }));
        row(cells)
    };
    Section {
        heading: "Means; runs that share a letter do not differ significantly".to_owned(),
        heads,
        rows: order(standings).into_iter().map(line).collect(),
        texts: vec![0],
        folds: true,
        note: None,
    }
}

/// The reports, the best by the main measure first, and then those that do not have it.
fn order(standings: &Standings) -> Vec<usize> {
    let ranked = main(standings).into_iter().flat_map(|it| &it.standings);
    let mut order: Vec<usize> = ranked.map(|it| it.report).collect();
    let others = (0..standings.reports.len()).filter(|report| !order.contains(report));
    let others: Vec<usize> = others.collect();
    order.extend(others);
    order
}

fn mean_cell(measure: &RankedMeasure, report: usize, glyphs: &Glyphs) -> String {
    let own = measure.standings.iter().find(|it| it.report == report);
    let Some(own) = own else {
        return "missing".to_owned();
    };
    match own.mean {
        None => glyphs.undefined.to_owned(),
        Some(mean) => format!("{} {}", measure.unit.print(mean), own.letters)
            .trim_end()
            .to_owned(),
    }
}

fn range(unit: Unit, interval: Option<&Interval>, glyphs: &Glyphs) -> String {
    let print = |value: f64| glyphs.spell(&unit.print(value));
    interval.map_or_else(String::new, |it| {
        format!("[{}, {}]", print(it.low), print(it.high))
    })
}

fn signed_range(unit: Unit, interval: Option<&Interval>, glyphs: &Glyphs) -> String {
    let print = |value: f64| glyphs.spell(&unit.print_signed(value));
    interval.map_or_else(String::new, |it| {
        format!("[{}, {}]", print(it.low), print(it.high))
    })
}

fn interval_title(standings: &Standings) -> String {
    format!("{} interval", percent(standings.test.paired.level))
}

/// The means of one measure with their intervals and distributions.
fn means(standings: &Standings, measure: &RankedMeasure, glyphs: &Glyphs) -> Section {
    let rows = measure.standings.iter().map(|own| SectionRow {
        histogram: own.histogram,
        ..row(vec![
            report_title(standings, own.report),
            own.mean
                .map_or_else(|| glyphs.undefined.to_owned(), |it| measure.unit.print(it)),
            range(measure.unit, own.interval.as_ref(), glyphs),
            own.letters.clone(),
        ])
    });
    let heads = ["Run", "Mean", &interval_title(standings), "Letters"];
    Section {
        heading: format!("{}, best first (n = {})", measure_title(measure), measure.n),
        heads: heads.map(str::to_owned).to_vec(),
        rows: rows.collect(),
        texts: vec![0, 2, 3],
        folds: false,
        note: None,
    }
}

/// Every pair of runs in one measure, each as the worse against the better.
fn pairs(standings: &Standings, measure: &RankedMeasure, glyphs: &Glyphs) -> Section {
    let ranked = &measure.standings;
    let places =
        (0..ranked.len()).flat_map(|first| (first + 1..ranked.len()).map(move |it| (first, it)));
    let rows = places.filter_map(|(better, worse)| {
        let [better, worse] = [better, worse].map(|place| ranked[place].report);
        let pair = measure.pair(better, worse)?;
        Some(pair_row(standings, measure, pair, [better, worse], glyphs))
    });
    let heads = [
        "Run",
        "Minus",
        "Difference",
        &interval_title(standings),
        "p",
        CORRECTED,
        "d_z",
        "Detectable",
        "Verdict",
    ];
    Section {
        heading: format!("Pairs of runs by {}", measure_title(measure)),
        heads: heads.map(str::to_owned).to_vec(),
        rows: rows.collect(),
        texts: vec![0, 1, 3, 8],
        folds: false,
        note: None,
    }
}

fn pair_row(
    standings: &Standings,
    measure: &RankedMeasure,
    pair: &PairOutcome,
    [better, worse]: [usize; 2],
    glyphs: &Glyphs,
) -> SectionRow {
    let unit = measure.unit;
    let none = || glyphs.undefined.to_owned();
    // Stored as second minus first.
    let sign = if pair.first == worse { 1.0 } else { -1.0 };
    let interval = pair.difference.interval.map(|it| {
        let ends = [sign * it.low, sign * it.high];
        Interval {
            low: ends[0].min(ends[1]),
            high: ends[0].max(ends[1]),
            ..it
        }
    });
    let corrected = pair.finding.adjusted_p_value;
    let tested = pair.difference.p_value.filter(|_| corrected.is_some());
    SectionRow {
        is_clear: pair.is_distinct(),
        ..row(vec![
            report_title(standings, better),
            report_title(standings, worse),
            unit.print_signed(sign * pair.difference.difference),
            signed_range(unit, interval.as_ref(), glyphs),
            tested.map_or_else(none, p_cell),
            corrected.map_or_else(none, p_cell),
            pair.finding
                .effect
                .map_or_else(none, |it| format!("{:+.2}", sign * it.value)),
            pair.finding
                .detectable
                .map_or_else(none, |it| unit.print(it)),
            if measure.is_against_means(pair) {
                "differ, against means".to_owned()
            } else if pair.is_distinct() {
                "differ".to_owned()
            } else {
                verdict(pair.finding.verdict, glyphs)
            },
        ])
    }
}

/// The service times with their intervals.
fn times(standings: &Standings, glyphs: &Glyphs) -> Option<Section> {
    let first = standings.times.first()?;
    let mut heads = vec!["Run".to_owned()];
    for time in &standings.times {
        heads.push(time.name.clone());
        heads.push(interval_title(standings));
        heads.push("Letters".to_owned());
    }
    let cells = |own: &TimeStanding| {
        [
            glyphs.duration(own.seconds),
            range(Unit::Seconds, own.interval.as_ref(), glyphs),
            own.letters.clone(),
        ]
    };
    let rows = first.standings.iter().map(|fastest| {
        let mut line = vec![report_title(standings, fastest.report)];
        for time in &standings.times {
            let own = time.standings.iter().find(|it| it.report == fastest.report);
            let none = || [glyphs.undefined, "", ""].map(str::to_owned);
            line.extend(own.map_or_else(none, cells));
        }
        row(line)
    });
    let texts = (0..heads.len()).filter(|place| place % 3 != 1);
    Some(Section {
        heading: format!("Service time of a case, fastest first (n = {})", first.n),
        texts: texts.collect(),
        heads,
        rows: rows.collect(),
        folds: true,
        note: None,
    })
}

/// The cases on which the runs disagree most.
fn disagreements(standings: &Standings, found: &Disagreements) -> Option<Section> {
    let mut heads = vec!["Case".to_owned()];
    heads.extend(found.reports.iter().map(|it| report_title(standings, *it)));
    heads.push("Text".to_owned());
    let rows = found.cases.iter().map(|case| {
        let mut cells = vec![single_line(case.id.as_str())];
        cells.extend(case.values.iter().map(|value| found.unit.print(*value)));
        cells.push(beginning(&single_line(&case.text), SHOWN_TEXT));
        row(cells)
    });
    let differing = found.n - found.agreed;
    (!found.cases.is_empty()).then(|| Section {
        heading: format!(
            "Cases that the runs disagree on most, by {}",
            title_of(found.unit, found.title())
        ),
        texts: vec![0, heads.len() - 1],
        heads,
        rows: rows.collect(),
        folds: true,
        note: Some(format!(
            "the runs differ in {differing} of {} cases",
            found.n
        )),
    })
}

/// A table for each measure, with a row for each group.
fn groups(standings: &Standings, groups: &RankedGroups, glyphs: &Glyphs) -> Vec<Section> {
    let Some(first) = groups.groups.first() else {
        return Vec::new();
    };
    let measures = first.measures.iter().enumerate();
    let measures = measures.filter(|(_, it)| it.unit != Unit::Metric);
    let section = |(place, measure): (usize, &crate::GroupStandings)| {
        let mut heads = vec![single_line(&groups.key), "n".to_owned()];
        let runs = measure.means.iter();
        heads.extend(runs.map(|it| report_title(standings, it.report)));
        let mut all = groups.groups.iter();
        let is_ranked = all.any(|it| it.measures[place].lead.is_some());
        heads.extend(is_ranked.then(|| "Winner".to_owned()));
        let rows = groups.groups.iter().take(SHOWN).map(|group| {
            let own = &group.measures[place];
            let mut cells = vec![single_line(&group.name), own.n.to_string()];
            cells.extend(own.means.iter().map(|it| {
                it.mean
                    .map_or_else(|| glyphs.undefined.to_owned(), |mean| own.unit.print(mean))
            }));
            cells.extend(is_ranked.then(|| {
                let lead = own.lead.as_ref();
                lead.map_or_else(String::new, |it| {
                    winner(it, |report| standings.title(report))
                })
            }));
            row(cells)
        });
        Section {
            heading: format!(
                "{} by {}",
                title_of(measure.unit, measure.title()),
                single_line(&groups.key)
            ),
            texts: std::iter::once(0)
                .chain(is_ranked.then(|| heads.len() - 1))
                .collect(),
            heads,
            rows: rows.collect(),
            folds: true,
            note: group_note(standings, groups.groups.len(), is_ranked),
        }
    };
    measures.map(section).collect()
}

/// What the column of winners means, and how many groups are not shown.
fn group_note(standings: &Standings, groups: usize, is_ranked: bool) -> Option<String> {
    let corrected = match standings.test.adjustment.adjective() {
        Some(adjective) => format!("{adjective} for {}", quantity::of(groups, "group")),
        None => "not corrected for the groups".to_owned(),
    };
    let winner =
        format!("winner: significantly ahead of every other run in the group; p {corrected}");
    let left_out = groups.saturating_sub(SHOWN);
    let notes = [
        is_ranked.then_some(winner),
        (left_out > 0).then(|| format!("{left_out} smaller groups not shown")),
    ];
    let notes: Vec<String> = notes.into_iter().flatten().collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}
