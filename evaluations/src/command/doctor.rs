//! `evaluations doctor`: is everything there that a run needs?

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use evals_data::HubSettings;
use evals_models::Embedder as _;

use super::Session;
use crate::choices::{self, Choices};
use crate::cli::DoctorArgs;
use crate::exit::Exit;
use crate::settings::{self, Resolved};

/// Least free space for a comfortable run; a collection of a million passages takes about this much.
const COMFORTABLE_BYTES: u64 = 2_000_000_000;

/// What one check found.
enum Finding {
    Good(String),
    /// Works, but the user may want to know.
    Note(String),
    /// Has to be mended, and how.
    Bad {
        what: String,
        mend: String,
    },
}

pub(super) fn execute(session: &Session<'_>, arguments: &DoctorArgs) -> Result<Exit> {
    let mut findings = check_settings(session, arguments);
    findings.extend(check_folder("data folder", &session.directories.data));
    findings.extend(check_hub(&HubSettings::from_env()));
    let mut text = String::new();
    let mut bad = 0;
    for finding in findings {
        let line = match finding {
            Finding::Good(what) => format!("ok    {what}\n"),
            Finding::Note(what) => format!("note  {what}\n"),
            Finding::Bad { what, mend } => {
                bad += 1;
                format!("bad   {what}\n      {mend}\n")
            }
        };
        text.push_str(&line);
    }
    session.printer.result(&text)?;
    Ok(if bad == 0 {
        Exit::Done
    } else {
        Exit::CheckFailed
    })
}

fn check_settings(session: &Session<'_>, arguments: &DoctorArgs) -> Vec<Finding> {
    let resolved = session
        .user_layers(&arguments.settings)
        .and_then(|layers| Ok(settings::resolve(layers)?))
        .and_then(|resolved| {
            Choices::of(&resolved)?;
            Ok(resolved)
        });
    match resolved {
        Ok(resolved) => {
            let origins = resolved.origins();
            let from = if origins.is_empty() {
                "built-in defaults".to_owned()
            } else {
                origins.join(", ")
            };
            vec![
                Finding::Good(format!("settings: {from}")),
                check_embedder(&resolved),
            ]
        }
        Err(error) => vec![Finding::Bad {
            what: format!("settings: {error:#}"),
            mend: "correct the file, or name another with --config".to_owned(),
        }],
    }
}

fn check_embedder(resolved: &Resolved) -> Finding {
    match choices::embedder(resolved) {
        Ok(embedder) => Finding::Good(format!("embedder: {}", embedder.identity())),
        Err(error) => Finding::Bad {
            what: format!("embedder: {error}"),
            mend: "profiles without embeddings, such as --profile bm25, work all the same"
                .to_owned(),
        },
    }
}

/// Whether a folder, or the nearest of its parents that exists, can be written and has room.
fn check_folder(label: &str, folder: &Path) -> Vec<Finding> {
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
            mend: "set EVALUATIONS_DATA_DIR to a folder that you can write to".to_owned(),
        }],
    }
}

fn check_room(folder: &Path) -> Finding {
    match fs4::available_space(folder) {
        Ok(free) if free >= COMFORTABLE_BYTES => {
            Finding::Good(format!("free disk: {}", gigabytes(free)))
        }
        Ok(free) => Finding::Note(format!(
            "free disk: {}; enough for the samples, a large collection needs more",
            gigabytes(free)
        )),
        Err(error) => Finding::Note(format!("free disk: unknown ({error})")),
    }
}

fn check_hub(settings: &HubSettings) -> Vec<Finding> {
    let cache = |cache: &PathBuf| {
        if cache.is_dir() {
            Finding::Good(format!("hub cache: {}", cache.display()))
        } else {
            Finding::Note(format!(
                "hub cache: {} (made by the first download)",
                cache.display()
            ))
        }
    };
    let reach = if settings.offline {
        Finding::Note(
            "hub: offline, as HF_HUB_OFFLINE says; only cached and bundled datasets can be run"
                .to_owned(),
        )
    } else {
        Finding::Good(format!("hub: {}", settings.endpoint))
    };
    let token = match settings.token {
        Some(_) => Finding::Good("hub token: set".to_owned()),
        None => Finding::Note(
            "hub token: none; only private and gated datasets need one (HF_TOKEN)".to_owned(),
        ),
    };
    vec![reach, cache(&settings.cache_dir), token]
}

#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn gigabytes(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}
