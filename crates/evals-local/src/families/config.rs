//! What `config.json` states in every family: sizes, the activation, the base of rotary positions.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::encoder::{Activation, Heads, Rotary};
use crate::error::LocalError;
use crate::family::Family;
use crate::folder::Folder;

pub(super) const CONFIG: &str = "config.json";

/// Larger than any size of a known model. It bounds tables of positions, and products of sizes cannot overflow.
const LARGEST: usize = 1 << 20;

/// Most values in the tables of rotary positions (positions times head size): a gigabyte. Known models need half of that.
const LARGEST_TABLE: usize = 1 << 28;

/// Sizes of a model that can be run: other sizes would give wrong vectors or huge tables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Length of the vector of a token.
    pub(super) width: usize,
    pub(super) layers: usize,
    pub(super) heads: usize,
    pub(super) head_size: usize,
    /// Length of the vectors between the two maps of the second half of a layer.
    pub(super) wide: usize,
    /// `None` if the family has no limit.
    pub(super) positions: Option<usize>,
    stated: StatedSizes,
}

/// The keys by which errors name the sizes, which differ between families.
#[derive(Clone, Copy, Debug)]
struct StatedSizes {
    /// What decides on the size of heads.
    heads: (&'static str, usize),
    positions: Option<(&'static str, usize)>,
}

impl Sizes {
    /// Reads the sizes of a model.
    pub(super) fn read(folder: &Folder, family: Family) -> Result<Self, LocalError> {
        let config: Value = folder.required(CONFIG)?;
        let refused = |(key, size): (&'static str, usize)| {
            Err(folder.unsupported(CONFIG, key, size.to_string()))
        };
        let optional = |keys: &[&'static str]| optional_size(folder, &config, keys);
        let required = |keys: &[&'static str]| {
            optional(keys)?.ok_or_else(|| folder.unsupported(CONFIG, keys[0], "null"))
        };
        let (width_key, width) = required(&["hidden_size", "d_model", "n_embd"])?;
        let heads = required(&["num_attention_heads", "n_head"])?;
        // Only the heads of decoders may have a size of their own.
        let own = match family {
            Family::Qwen2 | Family::Qwen3 => optional(&["head_dim"])?,
            _ if !width.is_multiple_of(heads.1) => return refused(heads),
            Family::Xlnet => optional(&["d_head"])?,
            _ => None,
        };
        let head_size = own.map_or(width / heads.1, |(_, size)| size);
        // Half of the values of a distance are sines, half are cosines.
        if family == Family::Xlnet && !width.is_multiple_of(2) {
            return refused((width_key, width));
        }
        if let Some(own) = own
            && family == Family::Xlnet
            && head_size * heads.1 != width
        {
            return refused(own);
        }
        let positions = optional(&["max_position_embeddings", "n_positions"])?;
        Ok(Self {
            width,
            layers: required(&["num_hidden_layers", "n_layer"])?.1,
            heads: heads.1,
            head_size,
            wide: required(&["intermediate_size", "d_inner", "n_inner"])?.1,
            positions: positions.map(|(_, count)| count),
            stated: StatedSizes {
                heads: own.unwrap_or(heads),
                positions,
            },
        })
    }

    /// Heads of queries, keys and values that share the width between them.
    pub(super) fn even_heads(&self) -> Heads {
        Heads::sharing(self.width, self.heads)
    }

    /// The tables of rotary positions.
    pub(super) fn rotary(&self, folder: &Folder, base: f64) -> Result<Arc<Rotary>, LocalError> {
        let refused = |(key, size): (&'static str, usize)| {
            Err(folder.unsupported(CONFIG, key, size.to_string()))
        };
        // They rotate pairs of values.
        if !self.head_size.is_multiple_of(2) {
            return refused(self.stated.heads);
        }
        match self.stated.positions {
            Some((_, count)) if count * self.head_size <= LARGEST_TABLE => {
                Ok(Arc::new(Rotary::new(base, self.head_size, count)))
            }
            positions => refused(positions.unwrap_or(("max_position_embeddings", 0))),
        }
    }
}

/// The size under the first of `keys` that is stated.
fn optional_size(
    folder: &Folder,
    config: &Value,
    keys: &[&'static str],
) -> Result<Option<(&'static str, usize)>, LocalError> {
    let mut stated = keys.iter().map(|key| (*key, &config[*key]));
    let Some((key, value)) = stated.find(|(_, value)| !value.is_null()) else {
        return Ok(None);
    };
    let size = value.as_u64().and_then(|size| usize::try_from(size).ok());
    match size {
        Some(size) if (1..=LARGEST).contains(&size) => Ok(Some((key, size))),
        _ => Err(folder.unsupported(CONFIG, key, value.to_string())),
    }
}

/// Keys of rotary positions that two families share.
#[derive(Debug, Deserialize)]
pub(super) struct RopeConfig {
    #[serde(rename = "rope_theta")]
    base: Option<f64>,
    /// Newer configurations state the base and the scaling of positions here.
    #[serde(rename = "rope_parameters")]
    pub(super) parameters: Option<Map<String, Value>>,
    #[serde(rename = "rope_scaling")]
    pub(super) scaling: Option<Map<String, Value>>,
}

impl RopeConfig {
    /// Only rotation that is not scaled can be run.
    pub(super) const PERMITTED: [(&'static str, &'static [&'static str]); 4] = [
        ("rope_parameters.rope_type", &["default"]),
        ("rope_parameters.type", &["default"]),
        ("rope_scaling.rope_type", &["default"]),
        ("rope_scaling.type", &["default"]),
    ];

    /// The base, if it is stated.
    pub(super) fn base(&self) -> Option<f64> {
        let ropes = [&self.parameters, &self.scaling];
        let mut ropes = ropes.into_iter().flatten();
        let newer = ropes.find_map(|rope| rope.get("rope_theta")?.as_f64());
        newer.or(self.base)
    }
}

/// The default of configurations that name no activation.
pub(super) fn gelu() -> String {
    "gelu".to_owned()
}

/// The activation that `config.json` names under `key`.
pub(crate) fn activation(
    folder: &Folder,
    key: &'static str,
    name: &str,
) -> Result<Activation, LocalError> {
    Activation::named(name).ok_or_else(|| folder.unsupported(CONFIG, key, name))
}

/// Checks that `layer_types` has one entry for each layer, all of them `known`.
pub(super) fn check_layer_types(
    folder: &Folder,
    types: &[String],
    layers: usize,
    known: &[&str],
) -> Result<(), LocalError> {
    let refused = |value: String| Err(folder.unsupported(CONFIG, "layer_types", value));
    if types.len() != layers {
        return refused(format!("{} kinds for {layers} layers", types.len()));
    }
    match types.iter().find(|kind| !known.contains(&kind.as_str())) {
        Some(kind) => refused(kind.clone()),
        None => Ok(()),
    }
}
