//! `evaluations bench index`: compares exact and approximate searches of vectors.
//!
//! It copies the vectors to a table in a temporary folder, and does not change the user's index.

mod asked;
mod figures;
mod generated;
mod grid;
mod measurement;
mod tables;

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use evals_index::{Approximation, Store};
use evals_pages::figures::FigureFolder;
use evals_pipeline::exit::Exit;
use evals_pipeline::interruption::interruptible;
use evals_pipeline::session::Session;
use evals_terminal::progress;
use tempfile::TempDir;

use self::asked::Asked;
use self::figures::{Figures, SharedFacts, VectorFigures};
use self::grid::Grid;
use self::measurement::Measurement;
use crate::options::BenchIndexArgs;
use evals_pages::results::{check_out, show};

pub(super) fn execute(session: &Session<'_>, arguments: &BenchIndexArgs) -> Result<Exit> {
    check_out(&arguments.out)?;
    grid::check(&arguments.types, &arguments.grid)?;
    let folder = arguments.figures.as_deref();
    let drawings = folder.map(FigureFolder::create).transpose()?;
    let figures = interruptible_figures(session, arguments)?;
    let Some(figures) = figures else {
        return Ok(Exit::Interrupted);
    };
    show(session.printer, &figures, arguments.json, &arguments.out)?;
    if let Some(drawings) = drawings {
        let drawn: Vec<_> = tables::figure(&figures).into_iter().collect();
        session.printer.note(&drawings.write(&drawn)?);
    }
    Ok(Exit::Done)
}

/// The results; `None` if a signal interrupted the measurement.
fn interruptible_figures(
    session: &Session<'_>,
    arguments: &BenchIndexArgs,
) -> Result<Option<Figures>> {
    let mut figures = None;
    let exit = interruptible(session.printer, async |interruption| {
        let folder = temporary(&session.directories.data)?;
        let path = folder.path().display().to_string();
        let measuring = Box::pin(measure(session, arguments, &path));
        let measured = interruption.guard(measuring).await;
        remove(folder);
        figures = Some(measured?);
        Ok(Exit::Done)
    })?;
    Ok(figures.filter(|_| exit != Exit::Interrupted))
}

/// A folder for the vectors. They may need more room than the system's temporary folder has.
fn temporary(data: &Path) -> Result<TempDir> {
    fs::create_dir_all(data).with_context(|| format!("cannot create `{}`", data.display()))?;
    let folder = tempfile::Builder::new()
        .prefix("bench-index-")
        .tempdir_in(data);
    folder.with_context(|| format!("cannot create a temporary folder in `{}`", data.display()))
}

/// Removes the folder. After an interruption, a task of the engine may still add a file to it.
fn remove(folder: TempDir) {
    const ATTEMPTS: usize = 20;
    let path = folder.path().to_owned();
    drop(folder);
    for _ in 0..ATTEMPTS {
        if !path.exists() || fs::remove_dir_all(&path).is_ok() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

async fn measure(
    session: &Session<'_>,
    arguments: &BenchIndexArgs,
    folder: &str,
) -> Result<Figures> {
    let store = Store::open(folder).await?;
    let asked = match (&arguments.dataset, arguments.generated) {
        (Some(dataset), _) => {
            Box::pin(Asked::of_dataset(session, arguments, dataset, &store)).await?
        }
        (None, Some(size)) => Asked::generated(session, arguments, size, &store).await?,
        (None, None) => bail!("name a dataset, or use `--generated`"),
    };
    let searches = searches(session, arguments, &asked)?;
    let bar = progress::open_ended(session.printer, "measuring");
    let measurement = Measurement::new(&asked, arguments, &bar).await?;
    let of = searches.len() + 1;
    bar.set_message(format!("1/{of} exact"));
    let mut settings = vec![measurement.exact().await?];
    let mut number = 2;
    for shared in searches.chunk_by(|left, right| left.built == right.built) {
        settings.extend(measurement.of_index(shared, &mut number, of).await?);
    }
    bar.finish_and_clear();
    let vectors = VectorFigures {
        source: asked.source.clone(),
        count: asked.vectors.count(),
        dimension: asked.vectors.dimension(),
        questions: asked.questions(),
        bytes: asked.vectors.bytes().0,
    };
    let comparison = SharedFacts {
        k: measurement.k(),
        concurrency: arguments.concurrency[0].get(),
        seed: arguments.seed,
        least_recall: arguments.recall,
    };
    Ok(Figures::new(vectors, comparison, settings))
}

/// The approximate searches to measure. Searches of the same index are neighbours. Notes the settings that the grid leaves out.
fn searches(
    session: &Session<'_>,
    arguments: &BenchIndexArgs,
    asked: &Asked,
) -> Result<Vec<Approximation>> {
    let grid = Grid::new(
        &arguments.types,
        &arguments.grid,
        arguments.quick,
        asked.vectors.count(),
        asked.vectors.dimension(),
    )?;
    for left_out in &grid.left_out {
        session.printer.note(&left_out.to_string());
    }
    Ok(grid.searches)
}
