//! Checks of the sizes that `config.json` states.

use serde_json::Value;

use super::config::CONFIG;
use crate::error::LocalError;
use crate::family::Family;
use crate::folder::Folder;

/// Larger than any size of a known model. It bounds tables of positions, and products of sizes cannot overflow.
const LARGEST: u64 = 1 << 20;

/// Most values in the tables of rotary positions (positions times head size): a gigabyte. Known models need half of that.
const LARGEST_TABLE: u64 = 1 << 28;

/// The families' keys for each size. A configuration has one key of each list.
const WIDTH: [&str; 3] = ["hidden_size", "d_model", "n_embd"];
const HEADS: [&str; 2] = ["num_attention_heads", "n_head"];
const HEAD_SIZE: [&str; 1] = ["head_dim"];
const POSITIONS: [&str; 2] = ["max_position_embeddings", "n_positions"];
const OTHERS: [&[&str]; 5] = [
    &["d_head", "attention_head_size"],
    &["num_hidden_layers", "n_layer"],
    &["intermediate_size", "d_inner", "n_inner"],
    &POSITIONS,
    &["global_attn_every_n_layers"],
];

/// Refuses impossible sizes, which would give wrong vectors or huge tables.
pub(super) fn check(folder: &Folder, family: Family) -> Result<(), LocalError> {
    let config: Value = folder.required(CONFIG)?;
    let stated = |keys: &[&'static str]| {
        let mut stated = keys.iter().map(|key| (*key, config[*key].as_u64()));
        stated.find_map(|(key, size)| Some((key, size?)))
    };
    let refused =
        |(key, size): (&'static str, u64)| Err(folder.unsupported(CONFIG, key, size.to_string()));
    let all = [&WIDTH[..], &HEADS, &HEAD_SIZE].into_iter().chain(OTHERS);
    for size in all.filter_map(stated) {
        if !(1..=LARGEST).contains(&size.1) {
            return refused(size);
        }
    }
    let (Some(width), Some(heads)) = (stated(&WIDTH), stated(&HEADS)) else {
        return Ok(());
    };
    // Only the heads of decoders may have a size of their own.
    let own = stated(&HEAD_SIZE).filter(|_| family.is_decoder());
    if own.is_none() && !width.1.is_multiple_of(heads.1) {
        return refused(heads);
    }
    // Rotary positions rotate pairs of values.
    let size = own.map_or(width.1 / heads.1, |(_, size)| size);
    if is_rotary(family) && !size.is_multiple_of(2) {
        return refused(own.unwrap_or(heads));
    }
    let positions = stated(&POSITIONS).filter(|_| is_rotary(family));
    if let Some(positions) = positions
        && positions.1.saturating_mul(size) > LARGEST_TABLE
    {
        return refused(positions);
    }
    // Half of the values of a distance are sines, half are cosines.
    if family == Family::Xlnet && !width.1.is_multiple_of(2) {
        return refused(width);
    }
    Ok(())
}

/// Whether the family has rotary positions.
fn is_rotary(family: Family) -> bool {
    family.is_decoder() || matches!(family, Family::ModernBert | Family::NomicBert)
}
