//! The tables of standings.

use evals_messages::quantity;
use evals_messages::visible::{beginning, single_line};
use evals_metrics::Interval;

use super::change::{CORRECTED, verdict};
use super::glyphs::{Glyphs, Symbols};
use super::grid::{Align, Cell, Grid};
use super::lead::winner;
use crate::naming::title_of;
use crate::probability::{p_cell, percent};
use crate::{
    Disagreements, PairOutcome, RankedGroups, RankedMeasure, Standing, Standings, Unit, number,
};

/// How many groups of cases are shown at most, the largest ones. JSON has all.
const SHOWN: usize = 20;

/// The most characters of a text in a table.
pub(super) const SHOWN_TEXT: usize = 60;

/// The columns that a narrow page drops first.
const LEAST: [&str; 6] = [
    "Detectable",
    "d_z",
    "p",
    CORRECTED,
    "Letters",
    "95 % interval",
];

/// The tables, in the order of a page, with distributions drawn in these symbols.
pub(super) fn sections(
    standings: &Standings,
    glyphs: &Glyphs,
    drawn: Option<Symbols>,
) -> Vec<Grid> {
    let mut sections = vec![overview(standings, glyphs)];
    if let Some(main) = main(standings) {
        sections.push(means(standings, main, glyphs, drawn));
        sections.push(pairs(standings, main, glyphs));
    }
    sections.extend(times(standings, glyphs));
    let disagreements = standings.disagreements.as_ref();
    sections.extend(disagreements.map(|it| self::disagreements(standings, it)));
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

/// A table without rows. Columns of texts are those at the places that `is_text` names, and intervals; all others hold numbers.
fn empty(heading: String, heads: Vec<String>, is_text: impl Fn(usize) -> bool) -> Grid {
    let columns = heads.into_iter().enumerate().map(|(place, head)| {
        let align = match is_text(place) {
            _ if head.ends_with("interval") => Align::Left,
            true => Align::Label,
            false => Align::Right,
        };
        (head, align)
    });
    Grid {
        heading,
        ..Grid::new(columns).dropping(&LEAST)
    }
}

/// The mean and the letters of each measure for each report.
fn overview(standings: &Standings, glyphs: &Glyphs) -> Grid {
    let measures: Vec<&RankedMeasure> = standings.measures.iter().collect();
    let mut heads = vec!["Run".to_owned()];
    heads.extend(measures.iter().map(|it| measure_title(it)));
    heads.extend(standings.times.iter().map(|it| it.name.clone()));
    let heading = "Means; runs that share a letter do not differ significantly";
    let mut grid = empty(heading.to_owned(), heads, |place| place == 0);
    grid.folds = true;
    for report in order(standings) {
        let mut cells = vec![report_title(standings, report)];
        cells.extend(measures.iter().map(|it| mean_cell(it, report, glyphs)));
        cells.extend(standings.times.iter().map(|it| {
            let own = it.standings.iter().find(|own| own.report == report);
            glyphs.shown(own, |own| {
                format!("{} {}", glyphs.duration(own.seconds), own.letters)
            })
        }));
        grid.push(cells);
    }
    grid
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
    glyphs.shown(own.mean, |mean| {
        let cell = format!("{} {}", measure.unit.print(mean), own.letters);
        cell.trim_end().to_owned()
    })
}

fn interval_title(standings: &Standings) -> String {
    format!("{} interval", percent(standings.test.paired.level))
}

/// The means of one measure with their intervals and distributions.
fn means(
    standings: &Standings,
    measure: &RankedMeasure,
    glyphs: &Glyphs,
    drawn: Option<Symbols>,
) -> Grid {
    let heads = ["Run", "Mean", &interval_title(standings), "Letters"];
    let heading = format!("{}, best first (n = {})", measure_title(measure), measure.n);
    let mut grid = empty(heading, heads.map(str::to_owned).to_vec(), |place| {
        place != 1
    });
    for own in &measure.standings {
        let interval = own.interval.as_ref().map(|it| measure.unit.range(it));
        grid.push([
            report_title(standings, own.report),
            glyphs.shown(own.mean, |it| measure.unit.print(it)),
            interval.unwrap_or_default(),
            own.letters.clone(),
        ]);
    }
    let histogram = |own: &Standing| drawn?.histogram(own.histogram.as_ref()?);
    let drawings = measure.standings.iter().map(histogram);
    grid.draw(4, "0 Cases 1", drawings.collect());
    grid
}

/// Every pair of runs in one measure, each as the worse against the better.
fn pairs(standings: &Standings, measure: &RankedMeasure, glyphs: &Glyphs) -> Grid {
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
    let heading = format!("Pairs of runs by {}", measure_title(measure));
    let heads = heads.map(str::to_owned).to_vec();
    let mut grid = empty(heading, heads, |place| matches!(place, 0 | 1 | 8));
    grid.rows.extend(rows);
    grid
}

fn pair_row(
    standings: &Standings,
    measure: &RankedMeasure,
    pair: &PairOutcome,
    [better, worse]: [usize; 2],
    glyphs: &Glyphs,
) -> Vec<Cell> {
    let unit = measure.unit;
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
    let cells = [
        report_title(standings, better),
        report_title(standings, worse),
        unit.print_signed(sign * pair.difference.difference),
        interval.map_or_else(String::new, |it| unit.signed_range(&it)),
        glyphs.shown(tested, p_cell),
        glyphs.shown(corrected, p_cell),
        glyphs.shown(pair.finding.effect, |it| format!("{:+.2}", sign * it.value)),
        glyphs.shown(pair.finding.detectable, |it| unit.print(it)),
        if measure.is_against_means(pair) {
            "differ, against means".to_owned()
        } else if pair.is_distinct() {
            "differ".to_owned()
        } else {
            verdict(pair.finding.verdict, glyphs)
        },
    ];
    let cells = cells.into_iter();
    cells.map(|it| Cell::bold(it, pair.is_distinct())).collect()
}

/// The service times with their intervals.
fn times(standings: &Standings, glyphs: &Glyphs) -> Option<Grid> {
    let first = standings.times.first()?;
    let mut heads = vec!["Run".to_owned()];
    for time in &standings.times {
        heads.push(time.name.clone());
        heads.push(interval_title(standings));
        heads.push("Letters".to_owned());
    }
    let heading = format!("Service time of a case, fastest first (n = {})", first.n);
    let mut grid = empty(heading, heads, |place| place % 3 != 1);
    grid.folds = true;
    for fastest in &first.standings {
        let mut cells = vec![report_title(standings, fastest.report)];
        for time in &standings.times {
            let own = time.standings.iter().find(|it| it.report == fastest.report);
            let interval = own.and_then(|it| it.interval.as_ref());
            let interval = interval.map(|it| number::range(it, |end| glyphs.duration(end)));
            cells.push(glyphs.shown(own, |it| glyphs.duration(it.seconds)));
            cells.push(interval.unwrap_or_default());
            cells.push(own.map_or_else(String::new, |it| it.letters.clone()));
        }
        grid.push(cells);
    }
    Some(grid)
}

/// The cases on which the runs disagree most.
fn disagreements(standings: &Standings, found: &Disagreements) -> Grid {
    let mut heads = vec!["Case".to_owned()];
    heads.extend(found.reports.iter().map(|it| report_title(standings, *it)));
    heads.push("Text".to_owned());
    let heading = format!(
        "Cases that the runs disagree on most, by {}",
        title_of(found.unit, found.title())
    );
    let last = heads.len() - 1;
    let mut grid = empty(heading, heads, |place| place == 0 || place == last);
    grid.folds = true;
    for case in &found.cases {
        let id = std::iter::once(single_line(case.id.as_str()));
        let values = case.values.iter().map(|value| found.unit.print(*value));
        let text = beginning(&single_line(&case.text), SHOWN_TEXT);
        grid.push(id.chain(values).chain([text]));
    }
    grid.notes.push(format!(
        "the runs differ in {} of {} cases",
        found.n - found.agreed,
        found.n
    ));
    grid
}

/// A table for each measure, with a row for each group.
fn groups(standings: &Standings, groups: &RankedGroups, glyphs: &Glyphs) -> Vec<Grid> {
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
        let title = title_of(measure.unit, measure.title());
        let heading = format!("{title} by {}", single_line(&groups.key));
        let winner_place = is_ranked.then(|| heads.len() - 1);
        let mut grid = empty(heading, heads, |it| it == 0 || Some(it) == winner_place);
        grid.folds = true;
        for group in groups.groups.iter().take(SHOWN) {
            let own = &group.measures[place];
            let means = own.means.iter();
            let means = means.map(|it| glyphs.shown(it.mean, |mean| own.unit.print(mean)));
            let title = |report| standings.title(report);
            let lead = own.lead.as_ref().map(|it| winner(it, title));
            let cells = [single_line(&group.name), own.n.to_string()].into_iter();
            let cells = cells.chain(means);
            grid.push(cells.chain(is_ranked.then(|| lead.unwrap_or_default())));
        }
        let note = group_note(standings, groups.groups.len(), is_ranked);
        grid.notes.extend(note);
        grid
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
