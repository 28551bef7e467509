//! Figures of stored reports: from a report, a comparison or several runs to named drawings.
//!
//! The names are those of the files of `--figures`, of the regions of `runs table --update`, and of the anchors on a page. A figure that
//! has nothing to show is left out. Equal reports give equal figures.

mod breakdown;
mod caption;
mod changes;
mod document_scores;
mod domain;
mod folder;
mod latency;
mod measures;
mod place;
mod precision;
mod runs;
mod scores;
mod standings;

use evals::{Change, Report, Standings, Summary, Titled};
use evals_html::page::PageFigure;
use evals_metrics::Bootstrap;
use evals_runs::stored_runs::TREND;

pub use self::breakdown::COLUMN as ENDING_COLUMN;
pub use self::domain::HasFigures;
pub use self::folder::FigureFolder;
pub use self::place::FigurePlace;
pub use self::runs::{ComparedRun, search_time, service_time};

/// The names of the figures of one report.
const OF_REPORT: [&str; 8] = [
    "measures",
    "breakdown",
    "latency",
    "scores",
    "scores-2",
    "scores-3",
    DOCUMENT_SCORES,
    PRECISION,
];

/// The name of the distributions of a target's scores.
const DOCUMENT_SCORES: &str = "document-scores";

/// The name of the curves of one report or of several runs.
const PRECISION: &str = "precision";

/// The names of the figures of several runs.
pub const OF_RUNS: [&str; 4] = ["comparison", "bars", "trade-off", PRECISION];

/// The names of all figures that a document can show.
pub const NAMES: [&str; 12] = {
    let [
        measures,
        breakdown,
        latency,
        first,
        second,
        third,
        documents,
        precision,
    ] = OF_REPORT;
    let [comparison, bars, trade_off, _precision] = OF_RUNS;
    [
        measures, breakdown, latency, first, second, third, documents, comparison, bars, trade_off,
        precision, TREND,
    ]
};

/// The figures of one report, in the order of a page: `breakdown`, `measures`, `latency`, `scores` (one for each of the first scores),
/// `document-scores` and `precision`.
///
/// `bootstrap` is the one that the summary was made with. It makes the band of `precision`, and the captions name its settings.
pub fn of_report<D: HasFigures>(
    report: &Report<D>,
    summary: &Summary,
    bootstrap: &Bootstrap,
    place: FigurePlace<'_>,
) -> Vec<PageFigure> {
    let subject = caption::subject(report);
    let subject = place.subject(&subject);
    let figures = [
        breakdown::figure(subject, report, place),
        measures::figure(subject, summary, bootstrap, place),
        latency::figure(subject, report, place),
    ];
    let mut figures: Vec<PageFigure> = figures.into_iter().flatten().collect();
    figures.extend(scores::figures(subject, report, summary, place));
    figures.extend(document_scores::figure(subject, report, place));
    figures.extend(precision::of_report(subject, report, bootstrap, place));
    figures
}

/// The figures of a comparison of two runs: `changes`.
pub fn of_change(change: &Change) -> Vec<PageFigure> {
    changes::figure(change).into_iter().collect()
}

/// The figures of several runs of which each was compared with each: `standings`, `trade-off` and `precision`.
pub fn of_standings<D: HasFigures>(
    subject: &str,
    standings: &Standings,
    runs: &[Titled<'_, D>],
) -> Vec<PageFigure> {
    let bootstrap = Bootstrap {
        level: standings.test.paired.level,
        seed: standings.test.paired.seed,
        ..Bootstrap::default()
    };
    let compared = runs.iter().enumerate().map(|(series, run)| {
        let label = run.title.to_owned();
        ComparedRun::of(label, series, run.report, run.summary.clone(), &bootstrap)
    });
    let compared: Vec<ComparedRun> = compared.collect();
    let others = runs::figures(subject, &compared, &bootstrap, FigurePlace::File);
    let others = others
        .into_iter()
        .filter(|it| ["trade-off", "precision"].contains(&it.name.as_str()));
    standings::figure(subject, standings)
        .into_iter()
        .chain(others)
        .collect()
}

/// The same figures under the names of one of several subjects: `changes` becomes `changes-qa-hybrid`.
pub fn named(figures: Vec<PageFigure>, subject: Option<&str>) -> Vec<PageFigure> {
    let Some(subject) = subject else {
        return figures;
    };
    let plain = |character: char| match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' => character,
        _ => '-',
    };
    let subject: String = subject.chars().map(plain).collect();
    let named = figures.into_iter().map(|figure| PageFigure {
        name: format!("{}-{subject}", figure.name),
        ..figure
    });
    named.collect()
}

/// The figures of several runs of one benchmark on one dataset: `comparison` and `bars` of means, `trade-off` of quality and latency,
/// and `precision`.
pub fn of_runs(
    subject: &str,
    runs: &[ComparedRun],
    bootstrap: &Bootstrap,
    place: FigurePlace<'_>,
) -> Vec<PageFigure> {
    runs::figures(place.subject(subject), runs, bootstrap, place)
}
