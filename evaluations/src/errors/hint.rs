//! How to mend what the libraries report, in the words of the command line, which they do not know.

use std::io;
use std::path::Path;

use evals_data::{CatalogError, DataError, HubError};
use evals_index::IndexError;
use evals_stores::store::StoreError;

use super::unknown_word::nearest_commands;
use crate::terminal::StdoutError;

/// What the user can do about `error`, where this tool has an answer.
pub(crate) fn of(error: &anyhow::Error) -> Option<String> {
    // Where stdout leads to is not this tool's to move.
    if error.is::<StdoutError>() {
        return None;
    }
    if error.chain().any(is_out_of_space) {
        return Some(
            "free some space there, or use another disk: EVALUATIONS_DATA_DIR moves databases and runs, `--db` one \
             database, HF_HOME the hub cache"
                .to_owned(),
        );
    }
    error.chain().find_map(|cause| {
        let index = cause.downcast_ref::<IndexError>().and_then(of_index);
        let dataset = || cause.downcast_ref::<DataError>().and_then(of_dataset);
        let model = || cause.downcast_ref::<HubError>().and_then(of_model);
        let store = || cause.downcast_ref::<StoreError>().and_then(of_store);
        let hint = index.or_else(dataset).or_else(model).or_else(store);
        let hint = hint.map(str::to_owned);
        hint.or_else(|| cause.downcast_ref::<CatalogError>().and_then(of_catalog))
    })
}

/// Whether nothing more can be written, because the disk is full or the user's share of it is used up.
fn is_out_of_space(cause: &(dyn std::error::Error + 'static)) -> bool {
    let here = cause.downcast_ref::<io::Error>().map(io::Error::kind);
    let in_index = || cause.downcast_ref::<IndexError>()?.io_error_kind();
    matches!(
        here.or_else(in_index),
        Some(
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
        )
    )
}

fn of_store(error: &StoreError) -> Option<&'static str> {
    match error {
        StoreError::Locked { .. } => Some(
            "wait until the other process has ended, or do without what is stored: `--no-cache`",
        ),
        StoreError::NoFile { .. } | StoreError::Folder { .. } | StoreError::Database { .. } => {
            Some("EVALUATIONS_DATA_DIR moves the data folder; `--no-cache` does without the file")
        }
        _ => None,
    }
}

fn of_index(error: &IndexError) -> Option<&'static str> {
    match error {
        IndexError::Busy { .. } => {
            Some("wait until it has ended, or name another database with `--db`")
        }
        IndexError::Incomplete { .. } | IndexError::NoMatch { .. } | IndexError::NoStore { .. } => {
            Some("without `--skip-db` the index is built")
        }
        IndexError::Folder { .. } | IndexError::Lock { .. } | IndexError::Table { .. } => {
            Some("`--db` names another database, EVALUATIONS_DATA_DIR another data folder")
        }
        _ => None,
    }
}

const OTHER_CACHE: &str = "HF_HOME names another folder for the hub cache";

fn of_model(error: &HubError) -> Option<&'static str> {
    match error {
        HubError::Cache { .. } => Some(OTHER_CACHE),
        error if error.is_transient() => Some(
            "the embedded model needs no network; HF_ENDPOINT names another hub, HF_HUB_OFFLINE=1 uses the cache alone",
        ),
        _ => None,
    }
}

fn of_dataset(error: &DataError) -> Option<&'static str> {
    match error {
        DataError::UnknownDocuments { likely: None, .. } => {
            Some("`--allow-missing-judged` counts them as never found instead")
        }
        DataError::NoFile { .. } => Some(
            "`source.path` of the dataset's manifest is relative to the folder of the manifest, `files` to `source.path`",
        ),
        DataError::Hub { source, .. } if matches!(**source, HubError::Cache { .. }) => {
            Some(OTHER_CACHE)
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
    let file = ["yaml", "yml"].map(|extension| format!("{name}.{extension}"));
    if let Some(file) = file.iter().find(|file| Path::new(file).is_file()) {
        return Some(format!(
            "there is a file `{file}` here; a manifest is named by its path: `evaluations {file}`"
        ));
    }
    let commands = nearest_commands(name);
    Some(match commands.as_slice() {
        [] => "`evaluations datasets` lists the datasets there are, `evaluations --help` the commands; files of your own need a \
               manifest, which is a .yaml file (docs/your-data.md)"
            .to_owned(),
        [command] => format!("there is a command `{command}`"),
        several => format!("there are commands `{}`", several.join("`, `")),
    })
}
