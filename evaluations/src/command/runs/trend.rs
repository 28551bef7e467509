//! How the headline of a run compares with those of the runs before it, as a small line.

use std::cell::RefCell;

use evals::render::Symbols;

use crate::run_folder::{RunFolder, RunHeader, RunState};
use crate::stored_runs::{Headline, is_of_kind};

/// Most runs in one line.
const LENGTH: usize = 8;

/// A run in a listing.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) folder: RunFolder,
    pub(super) header: RunHeader,
    found: RefCell<Option<Found>>,
}

/// What the folder of a run says.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) state: RunState,
    pub(super) headline: Option<Headline>,
}

impl Listed {
    pub(super) fn new(folder: RunFolder, header: RunHeader) -> Self {
        Self {
            folder,
            header,
            found: RefCell::new(None),
        }
    }

    /// The state and the headline, read once.
    pub(super) fn found(&self) -> Found {
        let mut found = self.found.borrow_mut();
        let read = || {
            let (state, summary) = self.folder.state_and_summary();
            let headline = summary.and_then(|summary| Headline::of(&self.header, &summary));
            Found { state, headline }
        };
        found.get_or_insert_with(read).clone()
    }

    /// Whether both runs measured the same configuration's kind on the same data.
    fn is_comparable(&self, other: &Self) -> bool {
        let [one, two] = [&self.header, &other.header];
        is_of_kind(one, two)
            && one.dataset.questions == two.dataset.questions
            && one.dataset.provenance == two.dataset.provenance
            && one.measures.first() == two.measures.first()
    }
}

/// The line of a run: the headlines of the runs before it, and its own at the end. A run without one is a gap. `None` if there are not two
/// values, or for a terminal that cannot show them.
pub(super) fn line(run: &Listed, earlier: &[&Listed], symbols: Symbols) -> Option<String> {
    let own = run.found().headline?;
    let before = earlier.iter().filter(|other| run.is_comparable(other));
    let before = before.take(LENGTH - 1).map(|other| {
        let headline = other.found().headline;
        headline.filter(|other| other.measure == own.measure)
    });
    let mut values: Vec<Option<f64>> = before.map(|it| it.map(|headline| headline.value)).collect();
    values.reverse();
    values.push(Some(own.value));
    if values.iter().flatten().count() < 2 {
        return None;
    }
    let first = values.iter().position(Option::is_some)?;
    symbols.sparkline(&values[first..])
}
