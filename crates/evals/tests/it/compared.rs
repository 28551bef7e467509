//! Reports that tests compare with each other.

use evals::render::Console;
use evals::{
    CaseReport, Change, Domain, Expenses, GroupError, PairTest, PairTesting, Report, Standings,
    Summary, Titled,
};
use evals_metrics::{Bootstrap, PairedTest};

/// Two reports, before and after a change.
pub(crate) struct Compared<'r, D: Domain> {
    reports: [&'r Report<D>; 2],
    summaries: [Summary; 2],
}

impl<'r, D: Domain> Compared<'r, D> {
    pub(crate) fn of(before: &'r Report<D>, after: &'r Report<D>) -> Self {
        let reports = [before, after];
        Self {
            reports,
            summaries: reports.map(|report| report.summary(&Bootstrap::default())),
        }
    }

    fn titled(&self) -> [Titled<'_, D>; 2] {
        [("bm25", 0), ("hybrid", 1)].map(|(title, place)| Titled {
            title,
            report: self.reports[place],
            summary: &self.summaries[place],
        })
    }

    pub(crate) fn change(&self) -> Change {
        self.change_by(PairTesting::default())
    }

    pub(crate) fn change_by(&self, testing: PairTesting) -> Change {
        Change::by(&self.titled(), testing, |_| true)
    }

    pub(crate) fn grouped(&self, change: Change, key: &str) -> Result<Change, GroupError> {
        change.grouped(&self.titled(), &[key.to_owned()], |_| true)
    }
}

/// The defaults with another test.
pub(crate) fn by(method: PairTest) -> PairTesting {
    PairTesting {
        paired: PairedTest {
            method,
            ..PairedTest::default()
        },
        ..PairTesting::default()
    }
}

/// Several reports under their titles, in groups by `keys`. The time of a case is that of all its stages, and its cost is its number of
/// tokens, which the third report does not know.
pub(crate) fn standings_of<D: Domain>(
    runs: &[(&str, &Report<D>)],
    test: PairTesting,
    keys: &[&str],
) -> Standings {
    let summaries: Vec<_> = runs
        .iter()
        .map(|(_, report)| report.summary(&Bootstrap::default()))
        .collect();
    let sides = runs.iter().zip(&summaries);
    let titled: Vec<Titled<'_, D>> = sides
        .map(|((title, report), summary)| Titled {
            title,
            report,
            summary,
        })
        .collect();
    let seconds = |_: usize, case: &CaseReport<D>| {
        let timings = case.timings.iter();
        let seconds: f64 = timings.map(|it| it.duration.as_secs_f64()).sum();
        (seconds > 0.0).then_some(seconds)
    };
    let expenses = Expenses {
        seconds: &seconds,
        dollars: &|place, case| (place < 2).then(|| case.metrics.get("tokens").copied())?,
    };
    let keys: Vec<String> = keys.iter().map(|&key| key.to_owned()).collect();
    Standings::of(&titled, test, |_| true, &keys, &expenses).unwrap()
}

/// A change as the console prints it.
pub(crate) fn printed(change: &Change) -> String {
    page(|out| Console::default().change(out, change))
}

/// Standings as the console prints them on a page of this width.
pub(crate) fn printed_standings(standings: &Standings, width: u16) -> String {
    let console = Console {
        width,
        ..Console::default()
    };
    page(|out| console.standings(out, standings))
}

fn page(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut page = Vec::new();
    write(&mut page).unwrap();
    String::from_utf8(page).unwrap()
}

pub(crate) fn in_one_line(page: &str) -> String {
    page.split_whitespace().collect::<Vec<_>>().join(" ")
}
