//! Checks the data folder: its free space and the indexes in it.

use std::fs;
use std::path::Path;

use evals_messages::quantity;

use super::finding::Finding;

/// Free space that needs no note: a collection of a million passages takes about this much.
const COMFORTABLE_BYTES: u64 = 2_000_000_000;

/// Checks the data folder.
pub(super) fn check_data(folder: &Path) -> Vec<Finding> {
    let remedy = "set EVALUATIONS_DATA_DIR to a folder that you can write to";
    check_folder("data folder", folder, remedy)
}

/// Checks the folder of a database, which `--db` names.
pub(super) fn check_database(uri: &str) -> Vec<Finding> {
    let folder = Path::new(uri.strip_prefix("file://").unwrap_or(uri));
    match std::path::absolute(folder) {
        Ok(folder) => check_folder("database", &folder, OTHER_DATABASE),
        Err(error) => vec![Finding::Bad {
            what: format!("database: {uri}: {error}"),
            remedy: OTHER_DATABASE.to_owned(),
        }],
    }
}

const OTHER_DATABASE: &str = "name a folder that you can write to with `--db`";

/// Checks that a folder, or its nearest existing parent, is writable and has free space.
fn check_folder(label: &str, folder: &Path, remedy: &str) -> Vec<Finding> {
    let mut ancestors = folder.ancestors();
    let existing = ancestors.find(|ancestor| ancestor.symlink_metadata().is_ok());
    let existing = existing.unwrap_or(Path::new("/"));
    let probe = existing.join(format!(".evaluations-doctor-{}", std::process::id()));
    let written = fs::write(&probe, b"probe").and_then(|()| fs::remove_file(&probe));
    match written {
        Ok(()) => vec![
            Finding::Good(format!("{label}: {}", folder.display())),
            check_room(existing),
        ],
        Err(error) => vec![Finding::Bad {
            what: format!("{label}: cannot write to {}: {error}", existing.display()),
            remedy: remedy.to_owned(),
        }],
    }
}

fn check_room(folder: &Path) -> Finding {
    match fs4::available_space(folder) {
        Ok(free) if free >= COMFORTABLE_BYTES => {
            Finding::Good(format!("free disk: {}", gigabytes(free)))
        }
        Ok(free) => Finding::Note(format!(
            "free disk: {}; enough for the samples, but large collections need more",
            gigabytes(free)
        )),
        Err(error) => Finding::Note(format!("free disk: unknown ({error})")),
    }
}

/// Counts the databases that earlier runs built.
pub(super) fn indexes(data: &Path) -> Finding {
    let folder = data.join("dbs");
    let databases = fs::read_dir(&folder).map_or(0, |entries| entries.flatten().count());
    Finding::Note(match databases {
        0 => "indexes: none yet; the first run of a dataset builds one".to_owned(),
        count => format!(
            "indexes: databases of {} in {}; if the settings change, a run builds a new index and keeps the old one",
            quantity::of(count, "dataset"),
            folder.display()
        ),
    })
}

#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn gigabytes(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}
