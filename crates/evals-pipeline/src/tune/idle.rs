//! Settings of our own search that have no effect beside others.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use evals_settings::{Knob, RERANK};
use serde_json::Value;

/// A prefix of settings, and a second setting: with those of its values for which the function is true, the first ones have no effect.
type Rule = (&'static str, &'static str, fn(&str) -> bool);

const RULES: [Rule; 5] = [
    ("search.fusion.", "search.profile", |it| {
        base(it) != "hybrid"
    }),
    ("search.fusion.weight", "search.fusion.method", |it| {
        it != "linear"
    }),
    ("search.fusion.k", "search.fusion.method", |it| it != "rrf"),
    ("search.index", "search.profile", |it| {
        base(it) == "bm25" || base(it) == "unranked"
    }),
    ("reranking.", "search.profile", |it| !it.ends_with(RERANK)),
];

/// The values of other knobs beside which a knob has no effect, as `evals_tune::Knob` has them.
///
/// # Errors
///
/// The knob has no effect beside any value that is tried.
pub(super) fn with(
    key: &str,
    space: &BTreeMap<String, Knob>,
    settings: &Value,
) -> Result<Vec<(usize, usize)>> {
    let mut idle = Vec::new();
    let rules = RULES
        .iter()
        .filter(|(start, decides, _)| key.starts_with(start) && key != *decides);
    for (_, decides, is_idle) in rules {
        let own = settings.pointer(&format!("/{}", decides.replace('.', "/")));
        let is_idle_with = |value: &Value| value.as_str().is_some_and(is_idle);
        let knob = space.iter().position(|(name, _)| name == decides);
        let tried = space.get(*decides).and_then(Knob::values);
        let (Some(knob), Some(values)) = (knob, tried) else {
            if let Some(own) = own.filter(|own| is_idle_with(own)) {
                bail!(
                    "`tune.space`: `{key}` has no effect with `{decides}: {}`; add values of `{decides}` to the space",
                    own.as_str().unwrap_or_default()
                );
            }
            continue;
        };
        let places = values
            .iter()
            .enumerate()
            .filter(|(_, value)| is_idle_with(value));
        let places: Vec<(usize, usize)> = places.map(|(place, _)| (knob, place)).collect();
        if places.len() == values.len() {
            bail!("`tune.space`: `{key}` has no effect with any of the values of `{decides}`");
        }
        idle.extend(places);
    }
    Ok(idle)
}

/// A profile without its reranking.
fn base(profile: &str) -> &str {
    profile.strip_suffix(RERANK).unwrap_or(profile)
}
