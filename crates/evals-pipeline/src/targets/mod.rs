//! Systems under test: which one the user means, opening it, and recording its replies.

mod command_credential;
mod facts;
mod lancedb;
mod layers;
mod metered;
mod notice;
mod open;
mod outputs;
mod replies;

pub use self::facts::{DEPTH, SCORES, TargetFacts};
pub(crate) use self::layers::{FILE, located};
pub use self::layers::{check, chosen, layers};
pub(crate) use self::metered::metered;
pub use self::metered::{is_target, model, priced, with_price};
pub(crate) use self::open::{Opening, is_of_dataset, of_dataset, open};
pub(crate) use self::replies::{Recording, Replies, Reused, record, recorded};
