//! A local server with pages of the stored runs.
//!
//! Every request passes `guard` first. The pages read run folders and a test set, and only labels and reviews are ever written.

mod address;
mod browser;
mod catalogue;
mod changes;
mod compare_page;
mod failure;
mod guard;
mod kind;
mod labelling;
mod lineage;
mod live;
mod protection;
mod reply;
mod reviewing;
mod router;
mod run_page;
mod runs_page;
mod server;
mod stored_page;
mod token;
mod trend_page;
mod viewer;
mod writing;

use std::ffi::OsStr;
use std::path::Path;

use anyhow::Result;
use evals_html::view::Link;
use evals_pipeline::exit::Exit;
use evals_pipeline::interruption::interruptible;
use evals_pipeline::session::Session;
use evals_questions::SetFolder;
use evals_runs::calibrations::CalibrationStore;

use self::catalogue::Catalogue;
use self::guard::Guard;
use self::reviewing::ReviewedSet;
use self::server::Server;
use self::token::Token;
use self::viewer::Viewer;

/// Serves the pages of the stored runs to this user, until the user interrupts. `run` names the run whose page comes first, instead of the
/// list of runs, or the folder of a test set to review. Opens a browser, unless `no_open`.
///
/// # Errors
///
/// If there is no such run, the set or its documents cannot be read, or the port of 127.0.0.1 cannot be listened on.
pub fn serve(
    session: &Session<'_>,
    run: Option<&OsStr>,
    port: Option<u16>,
    no_open: bool,
) -> Result<Exit> {
    let set = run.map(|path| SetFolder::new(Path::new(path)));
    let set = set.filter(SetFolder::has_questions);
    let named = match run {
        Some(wanted) if set.is_none() => {
            let run = session.stored_runs().find(wanted)?;
            Some(run.folder("`view` lists")?.clone())
        }
        _ => None,
    };
    let path = match (&set, &named) {
        (Some(_), _) => Link::review().into_text(),
        (None, Some(folder)) => Link::run(&folder.name()).into_text(),
        (None, None) => Link::runs().into_text(),
    };
    let calibrations = CalibrationStore::of(&session.directories);
    let catalogue = Catalogue::new(session.directories.runs(), named, calibrations);
    let printer = session.printer;
    interruptible(printer, async |interruption| {
        let set = match set {
            Some(folder) => Some(ReviewedSet::open(session, folder).await?),
            None => None,
        };
        let server = Server::bind(port).await?;
        let address = server.address();
        let token = Token::random()?;
        let url = address.url(&token.path(&path));
        printer.result(&format!("{url}\n"))?;
        printer.note("serving the pages at this address to this user only; Ctrl-C ends it");
        let is_wanted = browser::is_wanted(no_open, printer.stdout().is_terminal);
        let _forwarder = is_wanted.then(|| browser::open(printer, &url));
        let stop = interruption.abort_token();
        let viewer = Viewer::new(catalogue, stop.clone());
        let guarded = Guard { address, token };
        server
            .serve(guarded, router::pages(viewer, set), stop)
            .await?;
        Ok(Exit::Done)
    })
}
