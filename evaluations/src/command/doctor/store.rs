//! Checks the database that `--db` names, if it is in an object store.

use std::time::Instant;

use anyhow::Error;
use evals_index::{IndexError, Store, StoreFault};
use evals_pipeline::store_options;
use evals_terminal::Printer;

use super::finding::Finding;
use crate::errors;
use crate::settings::{Resolved, SettingsError};

/// Opens the store at `uri` as a run does, and tries whether an index can be built in it.
pub(super) async fn check(printer: &Printer, resolved: &Resolved, uri: &str) -> Vec<Finding> {
    let started = Instant::now();
    let store = match store_options::open(printer, resolved, uri).await {
        Ok(store) => store,
        Err(error) => return vec![bad(part_of(&error), &error)],
    };
    let seconds = started.elapsed().as_secs_f64();
    vec![
        Finding::Good(format!("store address: {uri}")),
        Finding::Good("store credentials: accepted".to_owned()),
        Finding::Good(format!(
            "store: lists what is below the address, within {seconds:.1} s"
        )),
        check_writing(&store).await,
    ]
}

/// Tries to create an object, to create it again, which the store has to refuse, and to delete it. A database with an index can be
/// searched without that.
async fn check_writing(store: &Store) -> Finding {
    let refused = match store.try_writing().await {
        Ok(()) => {
            return Finding::Good(
                "store writing: objects can be created and deleted, and the store refuses to replace one".to_owned(),
            );
        }
        Err(refused) => refused,
    };
    if !is_lasting(&refused) {
        return bad("store writing", &Error::new(refused));
    }
    match store.has_indexes().await {
        Ok(true) => Finding::Note(format!(
            "store writing: {:#}; a run can search the finished indexes there, but cannot build one",
            Error::new(refused)
        )),
        Ok(false) => bad("store writing", &Error::new(refused)),
        Err(error) => bad("store", &Error::new(error)),
    }
}

/// Whether the store is meant to be read only, or cannot be anything else: no outage, no mistake in the settings.
fn is_lasting(refused: &IndexError) -> bool {
    match refused {
        IndexError::Trial { source, .. } => is_lasting(source),
        IndexError::Unconditional { .. } => true,
        other => other.store_fault() == Some(StoreFault::Denied),
    }
}

/// The part of the way to a store that an error is about.
fn part_of(error: &Error) -> &'static str {
    if error.is::<SettingsError>() {
        return "store settings";
    }
    let Some(error) = error.downcast_ref::<IndexError>() else {
        return "store";
    };
    match (error, error.store_fault()) {
        (IndexError::Location { .. } | IndexError::WithoutStores { .. }, _) => "store address",
        (
            _,
            Some(
                StoreFault::NoCredentials
                | StoreFault::UnusableCredentials { .. }
                | StoreFault::Denied,
            ),
        ) => "store credentials",
        _ => "store",
    }
}

fn bad(part: &str, error: &Error) -> Finding {
    Finding::Bad {
        what: format!("{part}: {error:#}"),
        remedy: errors::hint(error).unwrap_or_else(|| {
            "docs/stores.md describes addresses, settings and variables".to_owned()
        }),
    }
}
