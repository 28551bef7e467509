//! The settings to measure: each type with several values of its parameters.

use std::fmt::{self, Display};
use std::num::NonZeroU32;

use anyhow::{Error, Result, bail};
use evals_index::Approximation;
use evals_rag::{VectorSearch, VectorSearchError, VectorSearchKind};

use crate::options::GridValues;

/// The searches to measure, and the settings that an index of these vectors cannot have.
#[derive(Debug)]
pub(super) struct Grid {
    /// Searches of the same index are neighbours.
    pub(super) searches: Vec<Approximation>,
    pub(super) left_out: Vec<LeftOut>,
}

/// Settings of one type that an index of these vectors cannot have, all for the same reason.
#[derive(Debug)]
pub(super) struct LeftOut {
    first: VectorSearch,
    count: usize,
    reason: VectorSearchError,
}

impl Display for LeftOut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, reason) = (line(&self.first), &self.reason);
        match self.count {
            1 => write!(formatter, "left out `{first}`: {reason}"),
            count => write!(
                formatter,
                "left out {count} settings of {}, such as `{first}`: {reason}",
                self.first.kind
            ),
        }
    }
}

impl Grid {
    /// The grid of these types, or of all types if `types` is empty. `own` holds the values of the command line, which replace the default ones.
    /// Fails if an index of these vectors can have no setting of a named type, or no setting at all.
    pub(super) fn new(
        named: &[VectorSearchKind],
        own: &[GridValues],
        quick: bool,
        vectors: usize,
        dimension: usize,
    ) -> Result<Self> {
        let kinds = if named.is_empty() {
            &VectorSearchKind::ALL[1..]
        } else {
            named
        };
        let mut grid = Self {
            searches: Vec::new(),
            left_out: Vec::new(),
        };
        for &kind in kinds {
            let mut left_out: Vec<LeftOut> = Vec::new();
            for settings in combinations(kind, own, quick, vectors, dimension) {
                match Approximation::of(&settings, vectors, dimension) {
                    Ok(search) => {
                        let new = search.filter(|it| !grid.searches.contains(it));
                        grid.searches.extend(new);
                    }
                    Err(reason) => add(&mut left_out, settings, reason),
                }
            }
            let has_searches = grid.searches.iter().any(|it| it.built.kind == kind);
            if let Some(first) = left_out.first()
                && !has_searches
                && !named.is_empty()
            {
                return Err(first.failure());
            }
            grid.left_out.extend(left_out);
        }
        match grid.left_out.first() {
            Some(first) if grid.searches.is_empty() => Err(first.failure()),
            _ => Ok(grid),
        }
    }
}

/// Fails for a parameter that no named type takes, because its values would measure nothing.
pub(super) fn check(named: &[VectorSearchKind], own: &[GridValues]) -> Result<()> {
    let listed = |kinds: Vec<&VectorSearchKind>| {
        let names: Vec<String> = kinds.iter().map(|kind| format!("`{kind}`")).collect();
        names.join(", ")
    };
    for GridValues { parameter, .. } in own {
        let takes = |kind: &&VectorSearchKind| kind.parameters().contains(parameter);
        if !named.is_empty() && !named.iter().any(|kind| takes(&kind)) {
            bail!(
                "no type of `--types` takes the parameter `{parameter}` of `--grid`; {} take it: add one of them, or leave the \
                 parameter out",
                listed(VectorSearchKind::ALL.iter().filter(takes).collect())
            );
        }
    }
    Ok(())
}

impl LeftOut {
    /// The error of a command that has nothing else to measure.
    fn failure(&self) -> Error {
        let context = format!("cannot measure `{}`", line(&self.first));
        Error::new(self.reason.clone()).context(context)
    }
}

fn add(left_out: &mut Vec<LeftOut>, settings: VectorSearch, reason: VectorSearchError) {
    match left_out.iter_mut().find(|it| it.reason == reason) {
        Some(same) => same.count += 1,
        None => left_out.push(LeftOut {
            first: settings,
            count: 1,
            reason,
        }),
    }
}

/// The settings of a type with each combination of values.
fn combinations(
    kind: VectorSearchKind,
    own: &[GridValues],
    quick: bool,
    vectors: usize,
    dimension: usize,
) -> Vec<VectorSearch> {
    let mut settings = vec![VectorSearch {
        kind,
        ..VectorSearch::default()
    }];
    // Partitions come first: the default probes depend on them.
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
    settings
}

/// The settings with each value of a parameter; unchanged without values.
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

/// The values of a parameter to measure unless the command line has others. Empty if the default is the only one. `settings` has the
/// values of the parameters before it.
fn usual(settings: &VectorSearch, parameter: &str, vectors: usize, dimension: usize) -> Vec<u32> {
    let Ok(Some(default)) = Approximation::of(settings, vectors, dimension) else {
        return Vec::new();
    };
    let kind = settings.kind;
    let partitions = default.built.partitions;
    match parameter {
        "probes" if default.ef.is_none() => {
            // 1 partition, and 5 %, 10 %, 25 % and 50 % of the partitions.
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

/// The text of the settings in a settings file: `{type: ivf-pq, partitions: 20}`.
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
        let grid = Grid::new(kinds, own, quick, 5183, 384).unwrap();
        grid.searches.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_type_is_measured_over_its_usual_values_or_over_given_ones() {
        assert_eq!(
            shown(&[VectorSearchKind::IvfFlat], &[], false),
            [1, 4, 8, 18, 36].map(|probes| format!("ivf-flat: partitions 71, probes {probes}"))
        );
        let own = [GridValues {
            parameter: "partitions",
            values: vec![4, 8],
        }];
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

    fn own(parameter: &'static str, values: &[u32]) -> GridValues {
        GridValues {
            parameter,
            values: values.to_vec(),
        }
    }

    #[test]
    fn a_combination_that_an_index_cannot_have_is_left_out() {
        let kinds = [VectorSearchKind::IvfPq, VectorSearchKind::HnswSq];
        let own = [own("probes", &[1, 4, 16]), own("refine", &[0, 20])];
        let grid = Grid::new(&kinds, &own, true, 5183, 384).unwrap();
        let kinds = grid.searches.iter().map(|it| it.built.kind);
        let count = |kind| kinds.clone().filter(|it| *it == kind).count();
        assert_eq!(count(VectorSearchKind::IvfPq), 6);
        assert_eq!(count(VectorSearchKind::HnswSq), 2);
        let left_out: Vec<String> = grid.left_out.iter().map(ToString::to_string).collect();
        assert_eq!(
            left_out,
            [
                "left out 4 settings of hnsw-sq, such as `{type: hnsw-sq, probes: 4, refine: 0}`: the index has no more partitions than 1"
            ]
        );
    }

    fn failure(kinds: &[VectorSearchKind], own: &[GridValues]) -> String {
        format!("{:#}", Grid::new(kinds, own, true, 100, 16).unwrap_err())
    }

    #[test]
    fn a_type_without_settings_is_left_out_unless_it_was_named() {
        let all = Grid::new(&[], &[], true, 100, 16).unwrap();
        assert!(all.searches.iter().all(|it| it.built.sub_vectors.is_none()));
        let left_out: Vec<String> = all.left_out.iter().map(ToString::to_string).collect();
        assert_eq!(
            left_out,
            ["ivf-pq", "hnsw-pq"].map(|kind| format!(
                "left out `{{type: {kind}}}`: the engine needs at least 256 chunks to train `{kind}`, and the index has 100"
            ))
        );
        let message = "cannot measure `{type: ivf-pq}`: the engine needs at least 256 chunks to train `ivf-pq`, and the index has 100";
        let (flat, pq) = (VectorSearchKind::IvfFlat, VectorSearchKind::IvfPq);
        assert_eq!(failure(&[pq], &[]), message);
        assert_eq!(
            failure(&[flat, pq], &[]),
            message,
            "also beside another type"
        );
    }

    #[test]
    fn a_parameter_that_no_named_type_takes_is_refused() {
        let (flat, pq) = (VectorSearchKind::IvfFlat, VectorSearchKind::HnswPq);
        let own = [own("probes", &[1]), own("sub_vectors", &[4])];
        let refused = check(&[flat], &own).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "no type of `--types` takes the parameter `sub_vectors` of `--grid`; `ivf-pq`, `hnsw-pq` take it: add one of them, or leave the parameter out"
        );
        check(&[flat, pq], &own).expect("one of them takes it");
        check(&[], &own).expect("all types are measured");
    }

    #[test]
    fn a_grid_without_any_setting_fails() {
        assert_eq!(
            failure(&[], &[own("partitions", &[101])]),
            "cannot measure `{type: ivf-flat, partitions: 101}`: `ivf-flat` has at most 100 for the 100 chunks of the index"
        );
    }

    #[test]
    fn settings_are_written_as_in_a_settings_file() {
        let grid = Grid::new(&[VectorSearchKind::IvfPq], &[], true, 5183, 384).unwrap();
        assert_eq!(
            line(&grid.searches[0].settings()),
            "{type: ivf-pq, partitions: 20, sub_vectors: 24, bits: 8, probes: 20, refine: 10}"
        );
    }
}
