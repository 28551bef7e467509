//! The key of a vector.

use crate::vectors::*;

fn model() -> ModelIdentity {
    ModelIdentity::new("openai", "größe").with_digest("at=http://localhost:1/v1")
}

#[test]
fn equals_the_digest_computed_in_python() {
    // Python 3.13:
    //   value = {"digest": …, "dimension": 384, "name": "größe", "place": None, "provider": "openai"}
    //   model = sha256(json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()).digest()
    //   sha256(model + b"q" + sha256("8 µm".encode()).digest()).hexdigest()
    let key = ModelKey::new(&model(), 384, None).of("8 µm", TextKind::Query);
    assert_eq!(
        key.to_string(),
        "3efe0a15208f1100312895f445203ebc6f81068fe4492c0cd4f0a402b5a18e11"
    );
}

#[test]
fn a_key_depends_on_everything_that_a_vector_depends_on() {
    let of = |model: &ModelIdentity, dimension, place| {
        ModelKey::new(model, dimension, place).of("text", TextKind::Query)
    };
    let renamed = ModelIdentity {
        name: "other".to_owned(),
        ..model()
    };
    let moved = ModelIdentity {
        provider: "ollama".to_owned(),
        ..model()
    };
    let key = ModelKey::new(&model(), 384, None);
    let mut keys = vec![
        key.of("text", TextKind::Query),
        key.of("text", TextKind::Document),
        key.of("text ", TextKind::Query),
        of(&model(), 256, None),
        of(&model(), 384, Some("http://localhost:2/v1")),
        of(&renamed, 384, None),
        of(&moved, 384, None),
        of(&model().with_digest("other weights"), 384, None),
    ];
    let all = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), all);
}
