//! Shards: files whose names say how many belong together, as in `…-00000-of-00003.…`.

use std::collections::{BTreeMap, BTreeSet};

/// The first missing shard of an incomplete set.
pub(super) fn missing_shard(files: &[String]) -> Option<String> {
    let mut shards: BTreeMap<(&str, u32, &str), BTreeSet<u32>> = BTreeMap::new();
    for file in files {
        if let Some((stem, number, total, rest)) = shard(file) {
            shards
                .entry((stem, total, rest))
                .or_default()
                .insert(number);
        }
    }
    shards
        .into_iter()
        .find_map(|((stem, total, rest), numbers)| {
            let first = first_number(rest);
            let missing = (first..first + total).find(|number| !numbers.contains(number))?;
            Some(format!("{stem}-{missing:05}-of-{total:05}{rest}"))
        })
}

/// The number of the first shard: 0 for tables, 1 for weights.
fn first_number(rest: &str) -> u32 {
    u32::from(matches!(rest, ".safetensors" | ".bin"))
}

/// Whether a file is a shard.
pub(super) fn is_shard(file: &str) -> bool {
    shard(file).is_some()
}

/// Splits `data/test-00001-of-00003.parquet` into `data/test`, 1, 3 and `.parquet`.
fn shard(file: &str) -> Option<(&str, u32, u32, &str)> {
    let (before, after) = file.rsplit_once("-of-")?;
    let (stem, number) = before.rsplit_once('-')?;
    let total = after.get(..5)?;
    let is_number = |text: &str| text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(number) || !is_number(total) {
        return None;
    }
    Some((stem, number.parse().ok()?, total.parse().ok()?, &after[5..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shards(files: &[&str]) -> Option<String> {
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        missing_shard(&files)
    }

    #[test]
    fn a_missing_shard_is_found() {
        assert_eq!(
            shards(&[
                "c/x-00000-of-00002.parquet",
                "c/x-00001-of-00002.parquet",
                "test.jsonl"
            ]),
            None
        );
        assert_eq!(
            shards(&["c/x-00000-of-00003.parquet", "c/x-00002-of-00003.parquet"]).as_deref(),
            Some("c/x-00001-of-00003.parquet")
        );
        assert_eq!(shards(&["guide-of-names.csv"]), None);
        assert_eq!(
            shards(&["model-00001-of-00002.safetensors"]).as_deref(),
            Some("model-00002-of-00002.safetensors")
        );
        assert_eq!(
            shards(&[
                "model-00001-of-00002.safetensors",
                "model-00002-of-00002.safetensors"
            ]),
            None
        );
        assert!(is_shard("c/x-00000-of-00003.parquet") && !is_shard("c/0000.parquet"));
    }
}
