//! `evaluations datasets download`: downloads datasets into the hub's cache.

use anyhow::{Context as _, Result};
use evals_data::{Catalog, HubWarning, Manifest, Source};
use evals_pipeline::downloads::fetch;
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;

use crate::cli::DownloadArgs;

pub(super) fn execute(session: &Session<'_>, arguments: &DownloadArgs) -> Result<Exit> {
    let catalog = Catalog::new(session.directories.manifests());
    let manifests = match arguments.dataset.as_str() {
        "all" => hub_datasets(session, &catalog),
        name => vec![session.manifest(name)?],
    };
    let runtime = tokio::runtime::Runtime::new().context("cannot start worker threads")?;
    let mut failed = None;
    for manifest in &manifests {
        match runtime.block_on(fetch(session.printer, manifest)) {
            Ok(collection) => {
                let files = collection.provenance().files();
                let bytes: u64 = files.iter().map(|file| file.size).sum();
                let files = match files.len() {
                    1 => "1 file".to_owned(),
                    several => format!("{several} files"),
                };
                let is_about_digests =
                    |warning: &HubWarning| matches!(warning, HubWarning::Unverified { .. });
                let verified = if collection.warnings().iter().any(is_about_digests) {
                    ""
                } else {
                    ", verified"
                };
                session.printer.note(&format!(
                    "{}: {files}, {:.1} MB{verified}",
                    manifest.name,
                    megabytes(bytes)
                ));
            }
            // An unreachable dataset must not keep the others from being downloaded.
            Err(error) if manifests.len() > 1 => {
                session
                    .printer
                    .warn(&format!("{}: {error:#}", manifest.name));
                failed = Some(error);
            }
            Err(error) => return Err(error),
        }
    }
    match failed {
        Some(error) => {
            Err(error.context("some datasets could not be downloaded; the last error was"))
        }
        None => Ok(Exit::Done),
    }
}

/// Every dataset on the hub, except the many members of families such as BEIR.
fn hub_datasets(session: &Session<'_>, catalog: &Catalog) -> Vec<Manifest> {
    let mut manifests = Vec::new();
    for manifest in catalog.manifests() {
        match manifest {
            Ok(manifest) if manifest.name.contains(':') => {}
            Ok(manifest)
                if manifest
                    .sources()
                    .any(|source| matches!(source, Source::Hub { .. })) =>
            {
                manifests.push(manifest);
            }
            Ok(_) => {}
            Err(error) => session
                .printer
                .warn(&format!("{:#}", anyhow::Error::from(error))),
        }
    }
    manifests
}

#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
