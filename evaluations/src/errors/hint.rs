//! Hints how to mend errors of the libraries, which do not know the options of the command line.

use std::io;
use std::path::Path;

use evals_data::{CatalogError, DataError, HubError};
use evals_index::IndexError;
use evals_pipeline::store_options::StoreKind;
use evals_stores::store::StoreError;
use evals_terminal::StdoutError;

use super::unknown_word::nearest_commands;

/// A hint how to mend `error`, if there is one.
pub(crate) fn of(error: &anyhow::Error) -> Option<String> {
    // The hint on disk space does not apply to a redirected stdout.
    if error.is::<StdoutError>() {
        return None;
    }
    if error.chain().any(is_out_of_space) {
        return Some(
            "free some space, or use a different disk: set EVALUATIONS_DATA_DIR for databases and runs, `--db` for one \
             database, HF_HOME for the hub cache"
                .to_owned(),
        );
    }
    error.chain().find_map(|cause| {
        let index = cause.downcast_ref::<IndexError>();
        let of_files = index.and_then(|error| of_object_store(error).or_else(|| of_table(error)));
        if of_files.is_some() {
            return of_files;
        }
        let index = index.and_then(of_index);
        let dataset = || cause.downcast_ref::<DataError>().and_then(of_dataset);
        let model = || cause.downcast_ref::<HubError>().and_then(of_model);
        let store = || cause.downcast_ref::<StoreError>().and_then(of_store);
        let hint = index.or_else(dataset).or_else(model).or_else(store);
        let hint = hint.map(str::to_owned);
        hint.or_else(|| cause.downcast_ref::<CatalogError>().and_then(of_catalog))
    })
}

/// Whether the disk is full or the user's quota is exceeded.
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
        StoreError::Locked { .. } => {
            Some("wait for the other process to finish, or run without the cache: `--no-cache`")
        }
        StoreError::NoFile { .. } | StoreError::Folder { .. } | StoreError::Database { .. } => {
            Some(
                "set EVALUATIONS_DATA_DIR to use a different data folder, or run without the cache: `--no-cache`",
            )
        }
        _ => None,
    }
}

const OTHER_DATABASE: &str = "use a different database with `--db`, or set EVALUATIONS_DATA_DIR to use a different data folder";

/// How to mend a table that the engine could not use.
fn of_table(error: &IndexError) -> Option<String> {
    let IndexError::Table { table, .. } = error else {
        return None;
    };
    let folder = table.folder();
    Some(format!(
        "if files are missing or damaged, delete `{folder}`, and the same command builds the index again; else {OTHER_DATABASE}"
    ))
}

fn of_index(error: &IndexError) -> Option<&'static str> {
    match error {
        IndexError::Trial { source, .. } => of_index(source),
        IndexError::WithoutStores { .. } => Some(
            "use a folder, or build the program with its default features, which include object stores",
        ),
        IndexError::Unconditional { .. } => Some(
            "use a server that supports conditional writes, or a newer version of this one; docs/stores.md lists some",
        ),
        IndexError::Listing { .. } => Some(
            "check the server and what is between it and this machine, or use a different store; `evaluations doctor --db` tries it out",
        ),
        IndexError::Busy { .. } => {
            Some("wait for it to finish, or use a different database with `--db`")
        }
        IndexError::Incomplete { .. }
        | IndexError::NoMatch { .. }
        | IndexError::NoStore { .. }
        | IndexError::NoVectorIndex { .. } => Some("run without `--skip-db` to build the index"),
        IndexError::OfOthers { .. } => Some(
            "evaluate a table of it as it is with `--target lancedb:DATABASE#TABLE` (docs/targets-reference.md), or run without `--skip-db` to build \
             an index beside its tables",
        ),
        IndexError::Folder { .. } | IndexError::Lock { .. } => Some(OTHER_DATABASE),
        _ => None,
    }
}

/// How to mend a failure of the object store behind `error`, if that is one.
fn of_object_store(error: &IndexError) -> Option<String> {
    let fault = error.store_fault()?;
    match error.store_uri().and_then(StoreKind::of) {
        Some(kind) => kind.hint(&fault),
        None => Some(
            "docs/stores.md lists the settings and the variables of each kind of store".to_owned(),
        ),
    }
}

const OTHER_CACHE: &str = "set HF_HOME to use a different folder for the hub cache";

fn of_model(error: &HubError) -> Option<&'static str> {
    match error {
        HubError::Cache { .. } => Some(OTHER_CACHE),
        error if error.is_transient() => Some(
            "the embedded model needs no network; set HF_ENDPOINT to use a different hub, or HF_HUB_OFFLINE=1 to use only the cache",
        ),
        _ => None,
    }
}

fn of_dataset(error: &DataError) -> Option<&'static str> {
    match error {
        // A misspelled id has to be mended, and not to be counted as never found.
        DataError::UnknownDocuments { named, .. } if named.iter().all(|it| !it.is_mistaken()) => {
            Some("add `--allow-missing-judged` to count them as never found")
        }
        DataError::NoFile { .. } => Some(
            "in the dataset's manifest, `path` is relative to the manifest's folder, and `files` is relative to `path`",
        ),
        DataError::Hub { source, .. } if matches!(**source, HubError::Cache { .. }) => {
            Some(OTHER_CACHE)
        }
        DataError::Hub { source, .. } if source.is_transient() => Some(
            "`evaluations sample` needs no network; set HF_ENDPOINT to use a different hub, or HF_HUB_OFFLINE=1 to use only \
             the cache; `evaluations datasets` shows the size of each dataset, and how many calls it takes, without a download",
        ),
        _ => None,
    }
}

fn of_catalog(error: &CatalogError) -> Option<String> {
    let name = match error {
        CatalogError::Unknown { name, .. } => name,
        CatalogError::Folder { .. } => {
            return Some(
                "name a manifest in it, or write one (docs/your-data.md); `evaluations datasets` lists the datasets"
                    .to_owned(),
            );
        }
        _ => return None,
    };
    let file = ["yaml", "yml"].map(|extension| format!("{name}.{extension}"));
    if let Some(file) = file.iter().find(|file| Path::new(file).is_file()) {
        return Some(format!(
            "to use the file `{file}` as a manifest, name its path: `evaluations {file}`"
        ));
    }
    if Path::new(name).is_file() {
        return Some(format!(
            "`{name}` is not a manifest, which is a .yaml file that says where documents and questions are and what their columns mean \
             (docs/your-data.md)"
        ));
    }
    let commands = nearest_commands(name);
    Some(match commands.as_slice() {
        [] => "`evaluations datasets` lists the datasets, `evaluations --help` the commands; to evaluate your own files, write a \
               manifest, a .yaml file (docs/your-data.md)"
            .to_owned(),
        [command] => format!("did you mean the command `{command}`?"),
        several => format!("did you mean one of the commands `{}`?", several.join("`, `")),
    })
}
