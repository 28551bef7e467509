//! Systems under test: which one the user means, opening it, and recording its replies.

mod command_credential;
mod facts;
mod layers;
mod metered;
mod notice;
mod open;
mod outputs;
mod replies;

pub(crate) use self::facts::{DEPTH, SCORES, TargetFacts};
pub(crate) use self::layers::{check, chosen, layers};
pub(crate) use self::metered::{is_target, metered, model, priced, with_price};
pub(crate) use self::open::{Opening, open};
pub(crate) use self::replies::{Recording, Replies, Reused, record, recorded};
