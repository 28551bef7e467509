//! The settings that are measured: each type over its parameters.

use std::num::NonZeroU32;

use anyhow::{Context as _, Result};
use evals_index::{Approximation, VectorSearch, VectorSearchKind};

use crate::cli::GridValues;

/// Searches with one kind of index each, grouped by the index that they share.
pub(super) fn searches(
    kinds: &[VectorSearchKind],
    own: &[GridValues],
    quick: bool,
    vectors: usize,
    dimension: usize,
) -> Result<Vec<Approximation>> {
    let mut searches: Vec<Approximation> = Vec::new();
    for &kind in kinds {
        let mut settings = vec![VectorSearch {
            kind,
            ..VectorSearch::default()
        }];
        // Partitions come first: the usual probes depend on them.
        for parameter in kind.parameters() {
            let set = own.iter().find(|it| it.parameter == *parameter);
            let each = settings.iter().flat_map(|settings| {
                let values = match set {
                    Some(set) => set.values.clone(),
                    None if quick => Vec::new(),
                    None => usual(settings, parameter, vectors, dimension),
                };
                with_each(settings, parameter, &values)
            });
            settings = each.collect();
        }
        for settings in settings {
            let search = Approximation::of(&settings, vectors, dimension)
                .with_context(|| format!("cannot measure `{}`", line(&settings)));
            let search = match search {
                // Too small an index for a type that nobody named is no failure of the others.
                Err(_) if own.is_empty() && kinds.len() > 1 => continue,
                search => search?,
            };
            searches.extend(search.filter(|it| !searches.contains(it)));
        }
    }
    Ok(searches)
}

/// The settings with each value of a parameter; as they are if there is none.
fn with_each(settings: &VectorSearch, parameter: &str, values: &[u32]) -> Vec<VectorSearch> {
    if values.is_empty() {
        return vec![settings.clone()];
    }
    let each = values.iter().map(|value| {
        let mut settings = settings.clone();
        set(&mut settings, parameter, *value);
        settings
    });
    each.collect()
}

fn set(settings: &mut VectorSearch, parameter: &str, value: u32) {
    let number = NonZeroU32::new(value);
    match parameter {
        "partitions" => settings.partitions = number,
        "sub_vectors" => settings.sub_vectors = number,
        "bits" => settings.bits = number,
        "m" => settings.m = number,
        "ef_construction" => settings.ef_construction = number,
        "probes" => settings.probes = number,
        "ef" => settings.ef = number,
        "refine" => settings.refine = Some(value),
        _ => unreachable!("the parameters of all types are listed"),
    }
}

/// The values of a parameter that are measured unless the command line has others; none for its default alone. `settings` has the values of
/// the parameters before it.
fn usual(settings: &VectorSearch, parameter: &str, vectors: usize, dimension: usize) -> Vec<u32> {
    let Ok(Some(default)) = Approximation::of(settings, vectors, dimension) else {
        return Vec::new();
    };
    let kind = settings.kind;
    let partitions = default.built.partitions;
    match parameter {
        "probes" if default.ef.is_none() => {
            // 1 partition, 5 %, 10 %, 25 %, and half of them.
            let shares = [partitions, 20, 10, 4, 2];
            let mut probes = shares.map(|share| partitions.div_ceil(share)).to_vec();
            probes.dedup();
            probes
        }
        "ef" => vec![20, 50, 100, 200],
        "refine"
            if matches!(
                kind,
                VectorSearchKind::IvfPq | VectorSearchKind::HnswPq | VectorSearchKind::IvfRq
            ) =>
        {
            vec![0, 10]
        }
        _ => Vec::new(),
    }
}

/// Settings as they are written in a settings file: `{type: ivf-pq, partitions: 20}`.
pub(super) fn line(settings: &VectorSearch) -> String {
    let written = serde_json::to_value(settings).unwrap_or_default();
    let members = written.as_object().into_iter().flatten();
    let members: Vec<String> = members
        .map(|(key, value)| match value.as_str() {
            Some(text) => format!("{key}: {text}"),
            None => format!("{key}: {value}"),
        })
        .collect();
    format!("{{{}}}", members.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(kinds: &[VectorSearchKind], own: &[GridValues], quick: bool) -> Vec<String> {
        let searches = searches(kinds, own, quick, 5183, 384).unwrap();
        searches.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_type_is_measured_over_its_usual_values_or_over_given_ones() {
        assert_eq!(
            shown(&[VectorSearchKind::IvfFlat], &[], false),
            [1, 4, 8, 18, 36].map(|probes| format!("ivf-flat: partitions 71, probes {probes}"))
        );
        let own = [
            GridValues {
                parameter: "partitions",
                values: vec![4, 8],
            },
            GridValues {
                parameter: "m",
                values: vec![10],
            },
        ];
        assert_eq!(
            shown(&[VectorSearchKind::IvfFlat], &own, true),
            [
                "ivf-flat: partitions 4, probes 4",
                "ivf-flat: partitions 8, probes 8"
            ]
        );
        assert_eq!(
            shown(&[VectorSearchKind::HnswSq], &[], true),
            ["hnsw-sq: partitions 1, m 20, ef_construction 300, probes 1, ef 100, refine 2"]
        );
    }

    #[test]
    fn a_type_that_the_vectors_are_too_few_for_is_left_out_unless_it_was_named() {
        let all = VectorSearchKind::ALL[1..].to_vec();
        let few = searches(&all, &[], true, 100, 16).unwrap();
        assert!(few.iter().all(|it| it.built.sub_vectors.is_none()));
        let error = searches(&[VectorSearchKind::IvfPq], &[], true, 100, 16).unwrap_err();
        assert_eq!(
            format!("{error:#}"),
            "cannot measure `{type: ivf-pq}`: `ivf-pq` is trained on at least 256 chunks, and the index has 100"
        );
    }

    #[test]
    fn settings_are_written_as_in_a_settings_file() {
        let searches = searches(&[VectorSearchKind::IvfPq], &[], true, 5183, 384).unwrap();
        assert_eq!(
            line(&searches[0].settings()),
            "{type: ivf-pq, partitions: 20, sub_vectors: 24, bits: 8, probes: 20, refine: 10}"
        );
    }
}
