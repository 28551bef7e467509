//! The comparison of two runs.

use axum::extract::{Query, State};
use axum::response::Response;
use evals_html::page::Place;
use evals_html::view::up;
use evals_pages::ComparedRuns;
use evals_pages::page::PageSource;
use evals_pipeline::indexed_documents;
use evals_runs::calibrations::changes_by_people;
use evals_runs::run_folder::RunFolder;
use evals_runs::stored_runs::StoredRun;
use tokio::runtime::Handle;

use super::catalogue::Catalogue;
use super::failure::PageFailure;
use super::stored_page::{self, PageKey, StoredPage};
use super::viewer::Viewer;

/// The two runs that an address names: `before` and `after`, or in the list of runs, `run` twice in any order.
pub(super) async fn show(
    State(viewer): State<Viewer>,
    Query(wanted): Query<Vec<(String, String)>>,
) -> Result<Response, PageFailure> {
    let of = |name: &str| {
        let values = wanted.iter().filter(|(key, _)| key == name);
        values.map(|(_, value)| value.clone()).collect::<Vec<_>>()
    };
    let (named, chosen) = ([of("before"), of("after")].concat(), of("run"));
    let is_ordered = named.len() == 2;
    let Ok([before, after]) = <[String; 2]>::try_from(if is_ordered { named } else { chosen })
    else {
        return Err(PageFailure::bad_request(
            "Choose two runs in the list of runs.",
        ));
    };
    let found = viewer.read(move |catalogue| {
        let mut runs = [folder(catalogue, &before)?, folder(catalogue, &after)?];
        if !is_ordered {
            runs.sort_by_key(RunFolder::order);
        }
        Ok((PageKey::of(&runs.each_ref()), runs))
    });
    let (key, [before, after]) = found.await?;
    let page = viewer
        .pages()
        .get(key, move || Ok(page(before, after)?))
        .await?;
    stored_page::answer(page)
}

/// A listed run that is not running, because the figures of a running one still change.
fn folder(catalogue: &Catalogue, name: &str) -> Result<RunFolder, PageFailure> {
    let folder = catalogue.find(name)?;
    if folder.is_locked() {
        return Err(PageFailure::bad_request(format!(
            "Run `{name}` is still running: {}.",
            folder.remedy()
        )));
    }
    Ok(folder)
}

/// The page, as `evaluations compare` writes it into a file, with links to the viewer's pages.
fn page(before: RunFolder, after: RunFolder) -> anyhow::Result<StoredPage> {
    let runs = [StoredRun::of_folder(before)?, StoredRun::of_folder(after)?];
    let compared = ComparedRuns::read(&runs)?;
    let mut change = compared.explained(compared.change()?)?;
    change.by_people = changes_by_people(runs.each_ref(), &change);
    let source = PageSource {
        documents: Handle::current().block_on(indexed_documents::of_compared(&compared)),
        place: Place::Viewer {
            up: up("/compare"),
            links: Vec::new(),
        },
        ..PageSource::default()
    };
    let mut html = Vec::new();
    compared.write_change_page(&change, &source, &mut html)?;
    Ok(StoredPage {
        html,
        is_lasting: source.documents.absence().is_none(),
    })
}
