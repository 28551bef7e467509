//! How to mend what the libraries report, in the words of the command line, which they do not know.

use evals_data::{CatalogError, DataError};
use evals_index::IndexError;

use crate::cli;

/// What the user can do about `error`, where this tool has an answer.
pub(crate) fn of(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| {
        let index = cause.downcast_ref::<IndexError>().and_then(of_index);
        let dataset = || cause.downcast_ref::<DataError>().and_then(of_dataset);
        let hint = index.or_else(dataset).map(str::to_owned);
        hint.or_else(|| cause.downcast_ref::<CatalogError>().and_then(of_catalog))
    })
}

fn of_index(error: &IndexError) -> Option<&'static str> {
    match error {
        IndexError::Busy { .. } => {
            Some("wait until it has ended, or name another database with `--db`")
        }
        IndexError::Incomplete { .. } | IndexError::NoMatch { .. } | IndexError::NoStore { .. } => {
            Some("without `--skip-db` the index is built")
        }
        IndexError::Folder { .. } | IndexError::Lock { .. } => {
            Some("`--db` names another database, EVALUATIONS_DATA_DIR another data folder")
        }
        _ => None,
    }
}

fn of_dataset(error: &DataError) -> Option<&'static str> {
    match error {
        DataError::UnknownDocuments { .. } => {
            Some("`--allow-missing-judged` counts them as never found instead")
        }
        DataError::Hub { source, .. } if source.is_transient() => Some(
            "`evaluations sample` needs no network; HF_ENDPOINT names another hub, HF_HUB_OFFLINE=1 uses the cache \
             alone",
        ),
        _ => None,
    }
}

fn of_catalog(error: &CatalogError) -> Option<String> {
    let CatalogError::Unknown { name, .. } = error else {
        return None;
    };
    let command = cli::names()
        .into_iter()
        .find(|command| strsim::osa_distance(command, name) <= 2);
    Some(match command {
        Some(command) => format!("there is a command `{command}`"),
        None => "`evaluations datasets` lists the datasets there are; files of your own need a manifest, which is a \
                 .yaml file (docs/datasets.md)"
            .to_owned(),
    })
}
