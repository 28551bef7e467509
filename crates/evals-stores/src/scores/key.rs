//! The key of a stored score.

use serde_json::json;
use sha2::{Digest, Sha256};

use crate::store::EntryKey;
use evals_models::ModelIdentity;

/// The key of a reranker: SHA-256 of its identity and its place, as JSON with sorted names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankerKey(EntryKey);

impl RankerKey {
    /// The key of a reranker.
    ///
    /// `place` is the address of a server and everything else that it is sent, for models without a digest of their weights:
    /// equal names at two servers need not be equal models. `None` means that the identity is enough.
    pub fn new(identity: &ModelIdentity, place: Option<&str>) -> Self {
        let value = json!({
            "digest": identity.digest,
            "name": identity.name,
            "place": place,
            "provider": identity.provider,
        });
        Self(EntryKey::of(value.to_string()))
    }

    /// The key of a text's score for a query: SHA-256 of the reranker's key, the repetition `repeat` from 1, and the SHA-256 of query and
    /// of text.
    pub fn of(&self, query: &str, text: &str, repeat: u32) -> EntryKey {
        let key = Sha256::new()
            .chain_update(self.0.as_ref())
            .chain_update(repeat.to_le_bytes())
            .chain_update(Sha256::digest(query))
            .chain_update(Sha256::digest(text));
        EntryKey::finish(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_depends_on_everything_that_a_score_depends_on() {
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
