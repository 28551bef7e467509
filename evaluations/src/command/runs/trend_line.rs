//! How the headline of a run compares with those of the runs before it, as a small line.

use std::cell::RefCell;

use anyhow::Result;
use evals::render::Symbols;

use crate::run_folder::{RunFolder, RunHeader, RunState};
use crate::stored_runs::{Configuration, Headline, TrendRun, headlines, is_finished};

/// A run in a listing.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) folder: RunFolder,
    pub(super) header: RunHeader,
    configuration: Configuration,
    found: RefCell<Option<Found>>,
}

/// What the folder of a run says.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) state: RunState,
    pub(super) headline: Option<Headline>,
}

impl Listed {
    /// Reads the manifest.
    pub(super) fn read(folder: RunFolder) -> Result<Self> {
        Ok(Self {
            header: folder.read_manifest()?,
            configuration: Configuration::of(&folder.read_manifest()?),
            folder,
            found: RefCell::new(None),
        })
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
}

impl TrendRun for Listed {
    fn header(&self) -> &RunHeader {
        &self.header
    }

    fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    fn is_finished(&self) -> bool {
        is_finished(self.found().state)
    }

    fn headline(&self) -> Option<Headline> {
        self.found().headline
    }
}

/// The line of a run and the `earlier` ones, the newest of them first. `None` if there are not two values, or for a terminal that cannot
/// show them.
pub(super) fn line(run: &Listed, earlier: &[Listed], symbols: Symbols) -> Option<String> {
    let values = headlines(run, earlier.iter());
    let is_line = values.iter().flatten().count() > 1;
    is_line.then(|| symbols.sparkline(&values)).flatten()
}
