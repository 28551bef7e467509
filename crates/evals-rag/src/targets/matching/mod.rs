//! Matches the documents that a system returns to those of the corpus: by id, by a rule for ids, or by text.

mod corpus;
mod counts;
mod id_check;
mod matcher;
mod normalized;
mod returned;
mod rule;
mod settings;
#[cfg(test)]
mod tests;
mod text_index;

pub use corpus::{Corpus, CorpusError};
pub use counts::{MatchCounts, MatchRecord, ScoreUse};
pub use id_check::IdCheck;
pub use matcher::{How, MatchError, Matched, Matcher};
pub use returned::{Returned, Spread};
pub use rule::{IdRule, IdRuleError};
pub use settings::{MatchBy, Matching};
