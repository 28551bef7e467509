//! How to mend what the libraries report, in the words of the command line, which they do not know.

use evals_data::DataError;
use evals_index::IndexError;

/// What the user can do about `error`, where an option of this tool is the answer.
pub(crate) fn of(error: &anyhow::Error) -> Option<&'static str> {
    error.chain().find_map(|cause| {
        let index = cause.downcast_ref::<IndexError>().and_then(of_index);
        index.or_else(|| cause.downcast_ref::<DataError>().and_then(of_dataset))
    })
}

fn of_index(error: &IndexError) -> Option<&'static str> {
    match error {
        IndexError::Busy { .. } => {
            Some("wait until it has ended, or name another database with `--db`")
        }
        IndexError::Incomplete { .. } | IndexError::NoMatch { .. } => {
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
        _ => None,
    }
}
