//! Pages of runs and of changes: from reports to the model of `evals_html::page`.
//!
//! Numbers are texts here, printed as on the console. Equal reports give equal pages.

mod case;
mod cases;
mod change;
mod column;
mod documents;
mod facts;
mod listing;
mod notice;
mod omission;
mod paged;
mod qa;
mod rank;
mod ranking;
mod retrieval;
mod run;
mod score;
mod sentence;
mod several;
mod source;
mod untyped;
mod write;

pub use self::change::ChangePage;
pub use self::documents::Documents;
pub use self::paged::HasPage;
pub use self::run::RunPage;
pub use self::score::shown_name;
pub use self::several::SeveralPage;
pub use self::source::PageSource;
pub use self::write::{write_file, write_opening};
