//! Pages of runs and of changes: from reports to the model of `evals_html::page`.
//!
//! Numbers are texts here, printed as on the console. Equal reports give equal pages.

mod case;
mod cases;
mod change;
mod column;
mod documents;
mod facts;
mod indexed;
mod listing;
mod notice;
mod omission;
mod order;
mod paged;
mod qa;
mod rank;
mod ranking;
mod retrieval;
mod run;
mod score;
mod sentence;
mod settings;
mod several;
mod source;
mod untyped;
mod write;

pub(crate) use self::change::ChangePage;
pub(crate) use self::documents::Documents;
pub(crate) use self::paged::HasPage;
pub(crate) use self::run::RunPage;
pub(crate) use self::score::shown_name;
pub(crate) use self::several::SeveralPage;
pub(crate) use self::source::PageSource;
pub(crate) use self::write::{write_file, write_opening};
