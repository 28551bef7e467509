//! A local server with pages of the stored runs.
//!
//! Every request passes `guard` first. The pages read run folders, a test set or a pool, and only labels, reviews and grades are ever written.

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
use evals_pipeline::options::PoolArgs;
use evals_pipeline::session::Session;
use evals_questions::SetFolder;
use evals_runs::calibrations::CalibrationStore;

use self::catalogue::Catalogue;
use self::guard::Guard;
use self::reviewing::{GradedPool, ReviewedSet};
use self::server::Server;
use self::token::Token;
use self::viewer::Viewer;

/// What the browser shows first.
#[derive(Debug)]
pub enum Shown<'s> {
    /// The list of runs.
    Runs,
    /// The page of the run with this name, or the questions of the test set in this folder, to review.
    Named(&'s OsStr),
    /// The passages of a pool, to grade.
    Pool(&'s PoolArgs),
}

/// Serves the pages of the stored runs to this user, until the user interrupts. `shown` comes first. Opens a browser, unless `no_open`.
///
/// # Errors
///
/// If there is no such run, the set, the pool or its documents cannot be read, or the port of 127.0.0.1 cannot be listened on.
pub fn serve(
    session: &Session<'_>,
    shown: &Shown<'_>,
    port: Option<u16>,
    no_open: bool,
) -> Result<Exit> {
    let printer = session.printer;
    interruptible(printer, async |interruption| {
        let (mut named, mut reviewing, mut path) = (None, None, Link::runs());
        if let Shown::Named(wanted) = shown {
            let set = SetFolder::new(Path::new(wanted));
            if set.has_questions() {
                reviewing = Some(reviewing::pages(ReviewedSet::open(session, set).await?));
            } else {
                let run = session.stored_runs().find(wanted)?;
                let folder = run.folder("`view` lists")?.clone();
                path = Link::run(&folder.name());
                named = Some(folder);
            }
        } else if let Shown::Pool(arguments) = shown {
            let opening = GradedPool::open(session, arguments, interruption);
            reviewing = Some(reviewing::pages(Box::pin(opening).await?));
        }
        if reviewing.is_some() {
            path = Link::review();
        }
        let calibrations = CalibrationStore::of(&session.directories);
        let catalogue = Catalogue::new(session.directories.runs(), named, calibrations);
        let server = Server::bind(port).await?;
        let address = server.address();
        let token = Token::random()?;
        let url = address.url(&token.path(&path.into_text()));
        printer.result(&format!("{url}\n"))?;
        printer.note("serving the pages at this address to this user only; Ctrl-C ends it");
        let is_wanted = browser::is_wanted(no_open, printer.stdout().is_terminal);
        let _forwarder = is_wanted.then(|| browser::open(printer, &url));
        let stop = interruption.abort_token();
        let viewer = Viewer::new(catalogue, stop.clone());
        let guarded = Guard { address, token };
        let pages = router::pages(viewer, reviewing.unwrap_or_default());
        server.serve(guarded, pages, stop).await?;
        Ok(Exit::Done)
    })
}
