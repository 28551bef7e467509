//! The key of a score.

use crate::scores::*;

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
