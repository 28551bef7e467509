use std::fmt;

use serde_json::json;
use sha2::{Digest, Sha256};

use evals_models::ModelIdentity;

/// Names a reranker: SHA-256 of its identity and its place, as JSON with the names of each object in order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RankerKey([u8; 32]);

/// Names the score of one text for one question: SHA-256 of the reranker's key, the repetition, and the SHA-256 of question and
/// text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScoreKey([u8; 32]);

impl RankerKey {
    /// The key of a reranker.
    ///
    /// `place` is the address of a server with whatever else is sent to it, for models whose identity has no digest of their
    /// weights: equal names at two servers need not be equal models. `None` says that the identity is enough.
    pub fn new(identity: &ModelIdentity, place: Option<&str>) -> Self {
        let value = json!({
            "digest": identity.digest,
            "name": identity.name,
            "place": place,
            "provider": identity.provider,
        });
        Self(Sha256::digest(value.to_string()).into())
    }

    /// The key of a text's score for a question. `repeat` is the repetition, from 1.
    pub fn of(&self, query: &str, text: &str, repeat: u32) -> ScoreKey {
        let key = Sha256::new()
            .chain_update(self.0)
            .chain_update(repeat.to_le_bytes())
            .chain_update(Sha256::digest(query))
            .chain_update(Sha256::digest(text));
        ScoreKey(key.finalize().into())
    }
}

impl ScoreKey {
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for RankerKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("RankerKey(")?;
        hexadecimal(&self.0, formatter)?;
        formatter.write_str(")")
    }
}

impl fmt::Debug for ScoreKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ScoreKey(")?;
        hexadecimal(&self.0, formatter)?;
        formatter.write_str(")")
    }
}

fn hexadecimal(bytes: &[u8], formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes
        .iter()
        .try_for_each(|byte| write!(formatter, "{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_a_score_depends_on_is_in_it() {
        let model = ModelIdentity::new("http", "ranker");
        let key = |model: &ModelIdentity, place| RankerKey::new(model, place).of("q", "text", 1);
        let ranker = RankerKey::new(&model, None);
        let mut keys = vec![
            ranker.of("q", "text", 1),
            ranker.of("qt", "ext", 1),
            ranker.of("q ", "text", 1),
            ranker.of("q", "text ", 1),
            ranker.of("text", "q", 1),
            ranker.of("q", "text", 2),
            key(&ModelIdentity::new("local", "ranker"), None),
            key(&ModelIdentity::new("http", "other"), None),
            key(&model.clone().with_digest("weights"), None),
            key(&model, Some("http://localhost:1")),
            key(&model, Some("http://localhost:2")),
        ];
        let all = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), all);
    }
}
